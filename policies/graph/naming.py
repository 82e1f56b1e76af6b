"""Node identities in the site's own names, for witnesses that people read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from interlock.vocabulary.nodes import (
    AllocationNode,
    CapabilityNode,
    Copy,
    DeviceNode,
    ExternalNetworkNode,
    FormerHolderNode,
    GpuNode,
    InfinibandPortNode,
    MacAddress,
    NeutronPortNode,
    Node,
    NvlinkPartitionNode,
    OperatedNode,
    OverlayNode,
    PartitionKeyNode,
    ReferenceNode,
    RouterNode,
    ShareAddressNode,
    SwitchPortNode,
    SwitchRouterNode,
    VlanNode,
    VolumeNode,
    is_device,
    last_part,
    parse,
)
from policies.about import Fact, in_order, listed
from policies.edges.cleaned import KEEPER
from policies.facts import identities as ids
from policies.facts.site import SiteFacts

from .model import Model
from .translations import translation

if TYPE_CHECKING:
    from .search import Graph

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
        match parse(node):
            case VlanNode() as vlan:
                return self._segment(vlan)
            case OverlayNode() as overlay:
                return self._overlay(overlay)
            case ExternalNetworkNode(name, router):
                return f"external network {name}" + ("" if router is None else " as that router meets it")
            case (DeviceNode(copy=Copy(vlan=vlan)) | SwitchRouterNode(copy=Copy(vlan=vlan))) as shared:
                return f"{self.of(str(replace(shared, copy=None)))} as VLAN {vlan} meets it"
            case FormerHolderNode(owner, identity):
                return f"what {owner} may have left on {self._device(identity)}"
            case OperatedNode(serial, service) if service == KEEPER:
                return f"the operator, who has {self._named(serial)} if nothing was left on it"
            case NeutronPortNode(name=name):
                return f"its port {name}" if before is not None and is_device(before) else f"port {name}"
            case other:
                return _in_a_word(other)

    def _segment(self, vlan: VlanNode) -> str:
        bridge = vlan.bridge
        number = f"VLAN {vlan.number}" if vlan.number else "untagged frames"
        if vlan.group is not None:
            number += f" as {vlan.group.replace('-', ' ', 1)} meets it"
        switch = self.site.switch_of_bridge.get(bridge)
        if switch is not None:
            return f"{switch.name} {number}"
        host = self.site.host_of_bridge.get(bridge)
        return f"{host[0].name} {host[1]} {number}" if host is not None else f"{bridge} {number}"

    def _device(self, identity: str) -> str:
        return self._named(getattr(parse(identity), "serial", identity))

    def _named(self, serial: str) -> str:
        names = {item.serial: item.name for item in self.site.site.machines}
        names |= {item.serial: item.name for item in self.site.site.hosts}
        return names.get(serial, serial)

    def _overlay(self, overlay: OverlayNode) -> str:
        where = "" if overlay.underlay == self.site.site.cloud else f" on {overlay.underlay}"
        return f"{_ENCAPSULATIONS[overlay.encapsulation]} {overlay.number}{where}"

    def path(self, graph: Graph, nodes: Sequence[str], *, marked: bool = True) -> tuple[str, ...]:
        """A path step by step; if it is `marked`, with a `?` before a step that rests on a fact nobody stated."""
        steps = (
            self._step(graph, node, nodes[index - 1] if index else None, at_end=index in (0, len(nodes) - 1))
            for index, node in enumerate(nodes)
        )
        return tuple(f"{'? ' if marked and is_doubtful else ''}{words}" for words, is_doubtful in steps)

    def _step(self, graph: Graph, node: str, before: str | None, *, at_end: bool) -> tuple[str, bool]:
        """A step in words, and whether it rests on a fact nobody stated."""
        facts = graph.edges[before, node] if before is not None else {"missing": (), "broken": ()}
        reason = f" (not held: {listed(facts['broken'])})" if facts["broken"] else ""
        translated = "" if before is None else translation(self.model.union, before, node)
        return f"{self.of(node, before)}{translated}{self._owners(node, at_end)}{reason}", bool(facts["missing"])

    def _owners(self, node: str, at_end: bool) -> str:
        labels = sorted(self.model.label(node))
        others = [label for label in labels if label != self.model.plan.owner]
        return f" [{', '.join(labels)}]" if labels and (at_end or others) else ""


def _in_a_word(node: Node) -> str:
    """A node that goes by one word and its own name."""
    match node:
        case CapabilityNode(tenant):
            return f"what {tenant} may plug in by itself"
        case OperatedNode(place, service):
            return f"{service.replace('-', ' ')} of {place}"
        case ReferenceNode(reference):
            return f"{reference}, which no file of this site describes"
        case _:
            last = last_part(node)
            return f"{_WORDS[type(node)]} {last}" if type(node) in _WORDS else last


_WORDS: dict[type, str] = {
    RouterNode: "router",
    SwitchRouterNode: "router",
    VolumeNode: "volume",
    AllocationNode: "V-IPU allocation",
    PartitionKeyNode: "P_Key",
    InfinibandPortNode: "InfiniBand port",
    NvlinkPartitionNode: "NVLink partition",
    GpuNode: "GPU",
    ShareAddressNode: "storage address",
    MacAddress: "MAC address",
    SwitchPortNode: "switch port",
}


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
    for subnet in model.infiniband:
        found[ids.fabric(subnet.prefix)] = f"{subnet.name} across its P_Keys"
    for a, _ in site.switch_links:
        found[ids.switch_port(model.switch[a.switch].serial, a.port)] = f"{a.switch} port {a.port}"
    return found


def missing_on(graph: Graph, nodes: Sequence[str]) -> tuple[Fact, ...]:
    """The unstated facts that a path rests on."""
    pairs = itertools.pairwise(nodes)
    return in_order(fact for a, b in pairs for fact in graph.edges[a, b]["missing"])
