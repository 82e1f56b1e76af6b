"""What a share answers for: every node that it names, and at least one end of every edge that its premises make.

A premise may name no node at all, such as the VLAN that a plan sets on a switch port: what it joins are others' nodes.
A test compares this with the edges that really come and go with each share.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.vocabulary.nodes import switch_vlan
from policies.facts import identities as ids
from policies.facts.port_modes import SwitchEnd
from policies.facts.site import SiteFacts

from .shape import GraphFragment, Relation, private_group


def reached(site: SiteFacts, share: GraphFragment) -> Iterator[str]:
    """The nodes by which a share can change a class of the graph: it holds one node of each class that it changes."""
    yield from share.nodes
    for item in share.premises:
        if item.relation == Relation.UNTAGGED:
            serial, port, vlan = item.tuple
            yield from _set_port(site, serial, int(port), int(vlan))
        elif item.relation == Relation.CLAIM:
            yield from _filled(site, item.tuple[0])
        elif item.relation == Relation.OPEN_SCOPE:
            # No gateway to the external network filters any more, whoever's it is.
            yield ids.external_hub(site.site.external.name)


def _set_port(site: SiteFacts, serial: str, port: int, vlan: int) -> Iterator[str]:
    """A switch port that is put into a VLAN: whatever it joins, it joins to that VLAN, or to the port's group of it.

    All ports of its bundle are put there, perhaps on a second switch.
    """
    yield ids.switch_port(serial, port)
    yield ids.vlan_segment(ids.switch_bridge(serial), vlan)
    switch = site.switch_of_bridge.get(ids.switch_bridge(serial))
    for end in site.logical.bundle(SwitchEnd(switch.name, port)) if switch is not None else ():
        bridge, role = ids.switch_bridge(site.site.switch[end.switch].serial), site.configured(end).private
        yield ids.vlan_segment(bridge, vlan)
        if role is not None:
            yield private_group(bridge, vlan, end.port, role)


def _filled(site: SiteFacts, segment: str) -> Iterator[str]:
    """A claimed VLAN comes onto the filled trunks of its switch, and so onto a second switch by a bundle of both."""
    vlan = switch_vlan(segment)
    switch = site.switch_of_bridge.get(vlan.bridge) if vlan is not None else None
    if vlan is None or switch is None:
        return
    for port in switch.ports:
        if port.filled_by is not None:
            for end in site.logical.bundle(SwitchEnd(switch.name, port.port)):
                yield ids.vlan_segment(ids.switch_bridge(site.site.switch[end.switch].serial), vlan.number)
