"""Links and switches as UFM's REST interface shows them, of what `ibnetdiscover` found in this moment.

The forms are those of the REST guides, sections Links and Systems. Only links that are up are found, as a subnet
manager finds no others. `source_guid` and `destination_guid` name systems, so of an HCA not the GUID of its port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .profiles import UfmProfile
from .queries import DiscoveredEnd, DiscoveredLink
from .requests import UfmRefused
from .topology import hex16


def shown_links(
    links: Iterable[DiscoveredLink], profile: UfmProfile, query: Mapping[str, str]
) -> list[dict[str, object]]:
    """Each link once. Raises UfmRefused for filters, which nobody here asks for."""
    if query:
        raise UfmRefused(400, f"the stand-in lists all links, and does not know {sorted(query)[0]}")
    found = {}
    for link in links:
        here, there = sorted((link.here, link.there), key=lambda end: (not end.is_switch, _port_name(end)))
        found[_port_name(here), _port_name(there)] = _shown(here, there, profile)
    return [found[names] for names in sorted(found)]


def shown_systems(links: Iterable[DiscoveredLink], query: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every switch that has a link. Raises UfmRefused for all other systems."""
    if query != {"type": "switch"}:
        raise UfmRefused(400, "the stand-in lists systems of type switch alone")
    switches = {end.guid: end.description for link in links for end in (link.here, link.there) if end.is_switch}
    return [
        {"guid": hex16(guid), "system_guid": hex16(guid), "system_name": name, "type": "switch", "ip": "0.0.0.0"}
        for guid, name in sorted(switches.items())
    ]


def _shown(source: DiscoveredEnd, destination: DiscoveredEnd, profile: UfmProfile) -> dict[str, object]:
    ends = (("source", source), ("destination", destination))
    found: dict[str, object] = {
        "name": ":".join(sorted((_port_name(source), _port_name(destination)))),
        "width": "IB_4x",
        "severity": "Info",
        "capabilities": [],
    }
    for role, end in ends:
        found[f"{role}_guid"] = hex16(end.guid if end.is_switch else end.guid - 1)
        found[f"{role}_port"] = str(end.port)
        found[f"{role}_port_dname"] = str(end.port) if end.is_switch else f"HCA-1/{end.port}"
        if profile.names_ports_of_links:
            found[f"{role}_port_name"] = _port_name(end)
            words = f"{end.description}:{end.port}" if end.is_switch else end.description
            found[f"{role}_port_node_description"] = words
    return found


def _port_name(end: DiscoveredEnd) -> str:
    return f"{hex16(end.guid)}_{end.port}"
