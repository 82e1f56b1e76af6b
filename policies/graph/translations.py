"""Where a VLAN goes on under another id: the switch port that translates it, for witnesses."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.vocabulary.nodes import Node, SwitchPortNode, VlanNode, parse
from policies.edges.shape import Union
from policies.facts.port_modes import SwitchEnd


def translation(union: Union, before: str, node: str) -> str:
    """` (…)`: which port has a VLAN under which id on the wire, where a step goes by another id than that of a VLAN.

    Empty for every other step, also between native VLANs of two numbers: those no port translates.
    """
    said = dict.fromkeys(_told(union, parse(before), parse(node)))
    return f" ({'; '.join(said)})" if said else ""


def _told(union: Union, before: Node, node: Node) -> Iterator[str]:
    match before, node:
        case (VlanNode() as a, VlanNode() as b):
            yield from _said(union, a, b)
        case (SwitchPortNode() as port, VlanNode() as vlan) | (VlanNode() as vlan, SwitchPortNode() as port):
            yield from _behind(union, port, vlan)


def _behind(union: Union, port: SwitchPortNode, vlan: VlanNode) -> Iterator[str]:
    """A device that reaches a VLAN by another id."""
    switch = _switch(union, vlan)
    if switch is not None and union.site.site.switch[switch].serial == port.serial:
        end = SwitchEnd(switch, port.number)
        yield from (_words(end, tag, vlan.number) for tag in sorted(_wire_ids(union, end, vlan.number) - {vlan.number}))


def _words(end: SwitchEnd, tag: int, vlan: int) -> str:
    return f"{end.switch} port {end.port} translates {tag} on the wire to VLAN {vlan}"


def _said(union: Union, a: VlanNode, b: VlanNode) -> Iterator[str]:
    for near, far in _cables(union, a, b):
        left, right = _wire_ids(union, near, a.number), _wire_ids(union, far, b.number)
        for tag in sorted(left & right):
            for end, vlan in ((near, a.number), (far, b.number)):
                if end is not None and tag != vlan:
                    yield _words(end, tag, vlan)


def _cables(union: Union, a: VlanNode, b: VlanNode) -> Iterator[tuple[SwitchEnd | None, SwitchEnd | None]]:
    """The ends of the cables between two bridges, the end of a host being none."""
    names = [_switch(union, vlan) for vlan in (a, b)]
    for one, other in union.site.switch_links:
        for near, far in ((one, other), (other, one)):
            if [near.switch, far.switch] == names:
                yield near, far
    for vlan, is_far in ((a, False), (b, True)):
        end = union.site.uplink.get(vlan.bridge)
        if end is not None and end.switch == names[not is_far]:
            yield (end, None) if is_far else (None, end)


def _switch(union: Union, vlan: VlanNode) -> str | None:
    switch = union.site.switch_of_bridge.get(vlan.bridge)
    return None if switch is None else switch.name


def _wire_ids(union: Union, end: SwitchEnd | None, vlan: int) -> set[int]:
    """By which ids a VLAN goes on the wire at a port; at a host as it is."""
    mode = union.mode.get(end) if end is not None else None
    translated = {wire for wire, inner in mode.translations if inner == vlan} if mode is not None else set[int]()
    return translated or {vlan}
