"""What the subnet manager of a subnet has discovered: ports of hosts, switches, and the links between them.

The forms are those of the UFM Enterprise REST API Guide, sections Links and Systems. `source_guid` of a link is the
GUID of a system; that of the port stands in `source_port_name` (`<GUID>_<number>`), which releases from 6.20 on have,
and in `name`, which all have and which is sorted by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.vocabulary.digits import is_number

from .answers import UfmMisread, guid_of

#: `name` of a link: the names of both its ports.
_NAME = re.compile(r"([^:]+):([^:]+)")
#: What pages are counted by, in releases that page.
_PAGES = "num_of_pages"


@dataclass(frozen=True, order=True)
class LinkEnd:
    """One end of a link: the GUID of the port of an HCA, or of a switch as a whole, and the number of the port."""

    guid: str
    port: int

    def __str__(self) -> str:
        return f"{self.guid} port {self.port}"


@dataclass(frozen=True, order=True)
class FabricLink:
    """A link that is up; `a` sorts before `b`."""

    a: LinkEnd
    b: LinkEnd


@dataclass(frozen=True)
class DiscoveredFabric:
    """A subnet as its UFM shows it. Names of hosts are what whoever has root there says."""

    links: tuple[FabricLink, ...]
    #: GUID of each port of a host -> name of its system.
    hosts: Mapping[str, str]
    #: GUID of each switch -> its name.
    switches: Mapping[str, str]


def links_of(value: Any) -> tuple[FabricLink, ...]:
    """Every link once. Raises `UfmMisread`: a list that is not whole would make cables absent."""
    return tuple(sorted({_link(item) for item in _items(value, "links")}))


def hosts_of(value: Any) -> dict[str, str]:
    """GUID of each port -> name of its system, of a list of ports of hosts."""
    return {guid_of(item.get("guid")): str(item.get("system_name") or "") for item in _items(value, "ports")}


def switches_of(value: Any) -> dict[str, str]:
    """GUID -> name, of a list of switches."""
    found: dict[str, str] = {}
    for item in _items(value, "switches"):
        found[guid_of(item.get("guid") or item.get("system_guid"))] = str(item.get("system_name") or "")
    return found


def _items(value: Any, what: str) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        pages = str(value.get(_PAGES, 1))
        if not is_number(pages) or int(pages) > 1:
            raise UfmMisread(f"the list of {what} is one page of {pages[:20]}")
        value = value.get("data")
    if not isinstance(value, list):
        raise UfmMisread(f"the list of {what} is no list")
    for item in value:
        if not isinstance(item, Mapping):
            raise UfmMisread(f"one of the {what} is {type(item).__name__}, not an object")
        yield item


def _link(item: Mapping[str, Any]) -> FabricLink:
    names = [str(item.get(key) or "") for key in ("source_port_name", "destination_port_name")]
    if not all(names):
        both = _NAME.fullmatch(str(item.get("name") or ""))
        names = [] if both is None else [*both.groups()]
    if not names:
        raise UfmMisread(f"it does not say between which ports the link {str(item.get('name'))[:60]!r} is")
    a, b = sorted(map(_end, names))
    return FabricLink(a, b)


def _end(name: str) -> LinkEnd:
    guid, _, port = name.rpartition("_")
    if not is_number(port):
        raise UfmMisread(f"{name[:40]!r} is no name of a port (`<GUID>_<number>`)")
    return LinkEnd(guid_of(guid), int(port))
