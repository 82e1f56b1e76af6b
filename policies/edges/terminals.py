"""Shared devices of the operator that are cabled to switches, and routing instances of switches, as terminals (§5).

A declared device is split: each VLAN that it meets meets a copy of its own, and the copy is the device only while a
guard fails. What is not declared stays an ordinary node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.model.site.inventory import Sharing, Switch
from interlock.vocabulary import RoutingInstance
from policies.about import Fact, SiteFact
from policies.facts import identities as ids
from policies.facts.guards import sharing
from policies.facts.port_modes import SwitchEnd

from .guarded import unless
from .shape import Edge, Union

Missing = tuple[Fact, ...]


@dataclass(frozen=True)
class TerminalCopy:
    """What one segment meets of a declared device."""

    node: str
    segment: str
    #: The device as a whole.
    hub: str
    declared: tuple[Sharing, ...]
    #: Facts without which nobody knows whether it is on that segment at all.
    missing: Missing = ()
    rule: str = "E5"


def copies(union: Union) -> Iterator[TerminalCopy]:
    """Every copy of every declared device, VRF and switch."""
    yield from _cabled(union)
    for switch in union.site.shared_switches:
        for name, hub, vlans, missing in instances(union, switch):
            declared = union.site.shared.get(name, ())
            if declared:
                for segment in _met(union, switch, vlans):
                    yield TerminalCopy(ids.copy_at(hub, segment), segment, hub, declared, missing, "E10")
        declared = union.site.shared.get(switch.name, ())
        for found in addresses(union, switch) if declared else ():
            copy = ids.copy_at(found.node, found.segment)
            yield TerminalCopy(copy, found.segment, found.node, declared, found.missing, "E10")


def _cabled(union: Union) -> Iterator[TerminalCopy]:
    for end, port in union.site.declared_ends:
        declared, serial = union.site.shared_at(end), union.site.serial(end.device)
        node, hub = ids.part(serial, end.interface), ids.hypervisor(serial)
        for segment, missing in _segments(union, port):
            yield TerminalCopy(ids.copy_at(node, segment), segment, hub, declared, missing)


def _segments(union: Union, port: SwitchEnd) -> Iterator[tuple[str, Missing]]:
    """The segments behind a port; a promiscuous one meets every group of a private VLAN by itself."""
    carried = union.carried(port)
    perhaps = () if union.mode[port].known else tuple(vlan for vlan in union.vlans if vlan not in carried)
    switch, missing = union.site.site.switch[port.switch], (port_fact(union, port),)
    if union.mode[port].private is not None:
        yield from ((union.segment(port, vlan), ()) for vlan in carried)
        return
    yield from ((segment, ()) for segment in _met(union, switch, carried))
    yield from ((segment, missing) for segment in _met(union, switch, perhaps))


def _met(union: Union, switch: Switch, vlans: tuple[int, ...]) -> Iterator[str]:
    for vlan in vlans:
        yield ids.vlan_segment(ids.switch_bridge(switch.serial), vlan)
        yield from union.private_groups.get((switch.name, vlan), ())


def port_path(union: Union, end: SwitchEnd) -> str:
    """The place of a switch port in the site file, or of its mode where that is not one the proof follows."""
    path = f"switches.{end.switch}.ports.{end.port}"
    return f"{path}.mode" if union.mode[end].unmodelled else path


def port_fact(union: Union, end: SwitchEnd) -> SiteFact:
    """What that place states."""
    return SiteFact(port_path(union, end))


def instances(union: Union, switch: Switch) -> Iterator[tuple[str, str, tuple[int, ...], Missing]]:
    """(name, node, VLANs, unstated facts) of each routing instance of a switch."""
    if switch.ip_routing is not False and switch.routed_vlans != ():
        stated = {"ip_routing": switch.ip_routing, "routed_vlans": switch.routed_vlans}
        missing = tuple(SiteFact(f"switches.{switch.name}.{name}") for name, value in stated.items() if value is None)
        vlans = union.vlans if switch.routed_vlans is None else switch.routed_vlans
        yield switch.name, ids.default_vrf(switch.serial), vlans, missing
    for item in switch.vrfs:
        yield str(RoutingInstance(switch.name, item.name)), ids.vrf(switch.serial, item.name), item.vlans, ()


@dataclass(frozen=True)
class SwitchAddress:
    """An address of a switch in a VLAN, which is the operator's there whether or not the switch forwards."""

    node: str
    segment: str
    missing: Missing


def addresses(union: Union, switch: Switch) -> Iterator[SwitchAddress]:
    """Those that no routing instance known to forward has."""
    if switch.ip_routing is True and switch.routed_vlans is not None:
        return
    missing = () if switch.routed_vlans is not None else (SiteFact(f"switches.{switch.name}.routed_vlans"),)
    for vlan in union.vlans if switch.routed_vlans is None else switch.routed_vlans:
        for place, segment in enumerate(_met(union, switch, (vlan,))):
            # It answers each group of a private VLAN, and passes nothing on from one to the other.
            name = f"vlan-{vlan}-{place}" if place else f"vlan-{vlan}"
            yield SwitchAddress(ids.part(switch.serial, name), segment, missing)


def attachments(union: Union) -> Iterator[Edge]:
    """Copies are on their wire whatever the guards say."""
    yield from (Edge(copy.node, copy.segment, copy.rule, copy.missing) for copy in copies(union))


def passing(union: Union) -> Iterator[Edge]:
    """A copy is the whole device while a guard fails."""
    for copy in copies(union):
        yield from unless(sharing(union.site.site, copy.declared), "E9", copy.node, copy.hub)
