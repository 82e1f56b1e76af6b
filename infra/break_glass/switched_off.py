"""What is switched off at one stack, in fields that no plan holds, so that no `pulumi up` switches it on again.

Nothing is asked for it: an audit's lists show it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.provider.audit.listing import Listed
from interlock.provider.audit.standing import Standing
from interlock.resources import BareMetalServer, Resource

#: State of a server at Nova -> the word of the client that ends it.
_OFF = {
    "SHUTOFF": "start",
    "PAUSED": "unpause",
    "SUSPENDED": "resume",
    "SHELVED": "unshelve",
    "SHELVED_OFFLOADED": "unshelve",
    "RESCUE": "unrescue",
}
#: Kinds that Neutron can disable.
_OF_NEUTRON: Mapping[str, str] = {"Port": "port", "SwitchPort": "port", "Router": "router", "Network": "network"}


@dataclass(frozen=True)
class SwitchedOff:
    """One object, and the command that switches it on."""

    kind: str
    name: str
    what: str
    undo: str


def switched_off(standings: Iterable[Standing], found: Listed, specs: Mapping[str, Resource]) -> Iterator[SwitchedOff]:
    """Every planned object that is there and does not run, or does not forward. `specs`: by plan name."""
    for item in standings:
        if len(item.ids) != 1:
            continue
        (ident,) = item.ids
        if item.kind == "Server":
            yield from _server(item.name, ident, found.of("Server").get(ident, {}))
        elif item.kind in _OF_NEUTRON:
            listed = "Port" if item.kind == "SwitchPort" else item.kind
            if found.of(listed).get(ident, {}).get("admin_state_up") is False:
                undo = f"openstack {_OF_NEUTRON[item.kind]} set --enable {shlex.quote(ident)}"
                yield SwitchedOff(item.kind, item.name, "Neutron has it disabled", undo)
        elif item.kind == "BareMetalServer":
            nodes = [node for node in found.of("BareMetalNode").values() if _is_node(specs[item.name], node)]
            if nodes and nodes[0].get("power_state") == "power off":
                undo = f"openstack baremetal node power on {shlex.quote(str(nodes[0]['name']))}"
                yield SwitchedOff(item.kind, item.name, "its power is off", undo)


def _server(name: str, ident: str, listed: Mapping[str, Any]) -> Iterator[SwitchedOff]:
    status = str(listed.get("status", ""))
    if status in _OFF:
        yield SwitchedOff("Server", name, f"it is {status}", f"openstack server {_OFF[status]} {shlex.quote(ident)}")


def _is_node(spec: object, node: Mapping[str, Any]) -> bool:
    return isinstance(spec, BareMetalServer) and node.get("name") == spec.node
