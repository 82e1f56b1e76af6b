"""Node identities in the site's own names, for witnesses that people read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote

from policies.facts import identities as ids
from policies.facts.site import SiteFacts

from .model import Model

if TYPE_CHECKING:
    from .search import Graph

#: Nodes that are called by one word and the last part of their identity.
_WORDS = {
    "R": "router", "vol": "volume", "I": "V-IPU allocation", "K": "P_Key", "guid": "InfiniBand port",
    "N": "NVLink partition", "gpu": "GPU", "vip": "storage address",
    "mac": "MAC address",
}  # fmt: skip
_ENCAPSULATIONS = {"vxlan": "VXLAN", "geneve": "Geneve"}
_PARTS = {"rnic": "RNIC", "gw": "gateway", "bmc": "BMC"}


class Names:
    """Words for the nodes of one model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.site = model.site

    @cached_property
    def fixed(self) -> dict[str, str]:
        """What the site calls by one name. Of a clean plan nobody asks."""
        return _fixed_names(self.site)

    def of(self, node: str, before: str | None = None) -> str:
        """One node. `before` is the step before it: a port that follows its device is "its port"."""
        if node in self.fixed:
            return self.fixed[node]
        kind, _, rest = node.partition(":")
        last = unquote(rest.split(":")[-1])
        if "@" in rest and kind != "X":
            return self._copy(node, rest.rpartition("@")[2])
        match kind:
            case "L":
                return self._segment(node)
            case "X":
                name, _, router = rest.partition("@")
                return f"external network {unquote(name)}" + (" as that router meets it" if router else "")
            case "V":
                return self._overlay(*map(unquote, rest.split(":")))
            case "cap":
                return f"what {last} may plug in by itself"
            case "port":
                return self._port(node, last, before)
            case "ref":
                return f"{last}, which no file of this site describes"
            case _:
                return f"{_WORDS[kind]} {last}" if kind in _WORDS else last

    def _segment(self, node: str) -> str:
        bridge, vlan = ids.bridge_and_vlan(node)
        number = f"VLAN {vlan}" if vlan else "untagged frames"
        group = ids.private_group(node)
        if group is not None:
            number += f" as {unquote(group).replace('-', ' ', 1)} meets it"
        switch = self.site.switch_of_bridge.get(bridge)
        if switch is not None:
            return f"{switch.name} {number}"
        host = self.site.host_of_bridge.get(bridge)
        return f"{host[0].name} {host[1]} {number}" if host is not None else f"{bridge} {number}"

    def _overlay(self, underlay: str, encapsulation: str, number: str) -> str:
        where = "" if underlay == self.site.site.cloud else f" on {underlay}"
        return f"{_ENCAPSULATIONS[encapsulation]} {number}{where}"

    def _copy(self, node: str, vlan: str) -> str:
        """A declared device or routing instance as one VLAN meets it."""
        return f"{self.of(node.rpartition('@')[0])} as VLAN {vlan.partition('~')[0]} meets it"

    def _port(self, node: str, last: str, before: str | None) -> str:
        if "/" in node.partition(":")[2]:
            return f"switch port {last}"
        return f"its port {last}" if before is not None and before.startswith("dev:") else f"port {last}"

    def path(self, graph: Graph, nodes: Sequence[str]) -> tuple[str, ...]:
        """A path step by step; `?` marks a step that rests on a fact nobody stated."""
        return tuple(
            self._step(graph, node, nodes[index - 1] if index else None, at_end=index in (0, len(nodes) - 1))
            for index, node in enumerate(nodes)
        )

    def _step(self, graph: Graph, node: str, before: str | None, *, at_end: bool) -> str:
        facts = graph.edges[before, node] if before is not None else {"missing": (), "broken": ()}
        mark = "? " if facts["missing"] else ""
        reason = f" (not held: {', '.join(facts['broken'])})" if facts["broken"] else ""
        return f"{mark}{self.of(node, before)}{self._owners(node, at_end)}{reason}"

    def _owners(self, node: str, at_end: bool) -> str:
        labels = sorted(self.model.label(node))
        others = [label for label in labels if label != self.model.plan.owner]
        return f" [{', '.join(labels)}]" if labels and (at_end or others) else ""


def _fixed_names(site: SiteFacts) -> dict[str, str]:
    model = site.site
    found = {
        ids.foreigners(model.cloud): "a project that no file describes",
        ids.cloud_api(model.cloud): "the cloud",
        ids.share_service(model.cloud): "the storage appliance",
    }
    found[ids.external_hub(model.external.name)] = f"external network {model.external.name}"
    for machine in model.machines:
        found |= {ids.part(machine.serial, name): f"{word} of {machine.name}" for name, word in _PARTS.items()}
    for host in model.hosts:
        found[ids.hypervisor(host.serial)] = f"hypervisor {host.name}"
        found[ids.processors(host.serial)] = f"processors of {host.name}"
    for switch in model.switches:
        found[ids.default_vrf(switch.serial)] = f"{switch.name} as a router"
        found |= {ids.vrf(switch.serial, item.name): f"{switch.name} VRF {item.name}" for item in switch.vrfs}
        found[ids.fabric(switch.serial)] = f"{switch.name} across its VLANs"
    for end, port in site.device_ends:
        serial = model.switch[port.switch].serial
        found[ids.switch_port(serial, port.port)] = f"{port.switch} port {port.port}"
        if end.device not in model.machine:
            found |= dict.fromkeys(site.devices_behind(end), f"{end.device} {end.interface}")
            found.setdefault(ids.hypervisor(site.serial(end.device)), end.device)
    for subnet in model.infiniband:
        found[ids.fabric(subnet.prefix)] = f"{subnet.name} across its P_Keys"
    for a, _ in site.switch_links:
        found[ids.switch_port(model.switch[a.switch].serial, a.port)] = f"{a.switch} port {a.port}"
    return found


def missing_on(graph: Graph, nodes: Sequence[str]) -> tuple[str, ...]:
    """The unstated facts that a path rests on."""
    pairs = itertools.pairwise(nodes)
    return tuple(sorted({fact for a, b in pairs for fact in graph.edges[a, b]["missing"]}))
