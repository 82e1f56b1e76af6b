"""Roles in a private VLAN (E1, A7): isolated ports and communities hear promiscuous ports, and those only.

A group of a private VLAN is a segment of its own beside the VLAN that the promiscuous ports are on. The two are one
wherever the mechanism is not held, and wherever anything on a promiscuous port may pass frames on: roles hold only
where every promiscuous member is a terminal, which answers each group by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Sharing, Switch
from interlock.vocabulary import RoutingInstance
from policies.about import SaidFact, SiteFact
from policies.facts import identities as ids
from policies.facts.guards import GuardState, StatedFact, assumption_facts, sharing_facts
from policies.facts.port_modes import SwitchEnd

from .guarded import unless
from .shape import Edge, Union

#: What says whether a switch routes in a VLAN.
_OF_ROUTING = ("routed_vlans", "ip_routing")


def roles(union: Union) -> Iterator[Edge]:
    """Each group and the VLAN, unless roles are held and every promiscuous member is a terminal."""
    for (name, vlan), groups in union.private_groups.items():
        switch = union.site.site.switch[name]
        held = GuardState.of(_facts(union, switch, vlan))
        hub = ids.vlan_segment(ids.switch_bridge(switch.serial), vlan)
        for group in groups:
            yield from unless(held, "E1", group, hub)


def _facts(union: Union, switch: Switch, vlan: int) -> Iterator[StatedFact]:
    site = union.site.site
    yield from assumption_facts(site, "A7")
    # A switch that does not keep its VLANs apart keeps no groups apart.
    yield from assumption_facts(site, "A1")
    yield from _ports(union, switch, vlan)
    yield from _routing(union, switch, vlan)
    if any(item.vlan == vlan for item in switch.vteps):
        yield SaidFact(f"switches.{switch.name}.vteps.{vlan}: an overlay passes frames on"), False


def _ports(union: Union, switch: Switch, vlan: int) -> Iterator[StatedFact]:
    bridged = set(union.site.uplink.values())
    for end, port in union.site.device_ends:
        if port.switch == switch.name and union.mode[port].private is None:
            declared = () if port in bridged else union.site.shared_at(end)
            yield from _member(union, port, vlan, declared)
    for port in (port for link in union.site.switch_links for port in link):
        if port.switch == switch.name and union.mode[port].private is None:
            yield from _member(union, port, vlan, ())


def _member(union: Union, port: SwitchEnd, vlan: int, declared: tuple[Sharing, ...]) -> Iterator[StatedFact]:
    path = f"switches.{port.switch}.ports.{port.port}"
    if not union.mode[port].known:
        yield SiteFact(path), None
    if vlan in union.carried(port):
        yield from _passing(union, path, declared)


def _routing(union: Union, switch: Switch, vlan: int) -> Iterator[StatedFact]:
    path, declared = f"switches.{switch.name}", union.site.shared
    if switch.ip_routing is not False and (switch.routed_vlans is None or vlan in switch.routed_vlans):
        passing = _passing(union, f"{path}.routed_vlans", declared.get(switch.name, ()))
        unstated = [SiteFact(f"{path}.{key}") for key in _OF_ROUTING if getattr(switch, key) is None]
        # A switch that may not route here may not pass anything on: nothing is broken for certain.
        yield from _perhaps(unstated[0], passing) if unstated else passing
    for item in switch.vrfs:
        if vlan in item.vlans:
            named = str(RoutingInstance(switch.name, item.name))
            yield from _passing(union, f"{path}.vrfs.{item.name}", declared.get(named, ()))


def _perhaps(unstated: SiteFact, facts: Iterator[StatedFact]) -> Iterator[StatedFact]:
    """Facts that count only if an unstated one is so: none of them is broken, and where one is not held all may be."""
    found = tuple(facts)
    if any(value is not True for _, value in found):
        yield unstated, None
    yield from ((fact, value) for fact, value in found if value is not False)


def _passing(union: Union, path: str, declared: tuple[Sharing, ...]) -> Iterator[StatedFact]:
    """What keeps a promiscuous member from passing frames on."""
    if not declared:
        yield SaidFact(f"{path}: promiscuous, and no declared terminal"), False
    yield from sharing_facts(union.site.site, declared)
