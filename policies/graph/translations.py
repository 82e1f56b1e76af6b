"""Where a VLAN goes on under another id: the switch port that translates it, for witnesses."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.vocabulary.nodes import VlanNode, parse
from policies.edges.shape import Union
from policies.facts.kinds import SwitchEnd


def translation(union: Union, before: str, node: str) -> str:
    """` (…)`: which port has a VLAN under which id on the wire, where a step goes from one id to another by that.

    Empty for every other step, also between native VLANs of two numbers: those no port translates.
    """
    a, b = parse(before), parse(node)
    if not (isinstance(a, VlanNode) and isinstance(b, VlanNode)) or a.number == b.number:
        return ""
    said = dict.fromkeys(_said(union, a, b))
    return f" ({'; '.join(said)})" if said else ""


def _said(union: Union, a: VlanNode, b: VlanNode) -> Iterator[str]:
    for near, far in _cables(union, a, b):
        left, right = _wire_ids(union, near, a.number), _wire_ids(union, far, b.number)
        for tag in sorted(left & right):
            for end, vlan in ((near, a.number), (far, b.number)):
                if end is not None and tag != vlan:
                    yield f"{end.switch} port {end.port} translates {tag} on the wire to VLAN {vlan}"


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
