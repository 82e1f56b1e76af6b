"""Frames with two tags: a switch reads the outer one only (docs/design/semantics.md §4, E21).

Where the VLAN of the outer tag leaves a port untagged, that tag is gone, and whoever is at the other end of the cable
reads the inner one: what was sent in the one VLAN comes to whichever other the sender wrote. Nothing comes back, so it
matters only where somebody may send: who is in the first VLAN follows from everything else that joins, and this is
decided after it. The operator's own devices write no second tag.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from interlock.vocabulary.nodes import ReferenceNode, parse
from policies.about import Fact, SaidFact
from policies.facts import identities as ids
from policies.facts.port_modes import SwitchEnd

from .joined import Joined
from .shape import Edge, Union
from .site_labels import site_labels

#: Row of these edges in the table.
SECOND_TAG = "E21"
_OPERATOR = frozenset({ids.OPERATOR})


def ways(union: Union, hosts: Iterable[str]) -> Iterator[Edge]:
    """From a VLAN that leaves a port untagged to each that the other end takes by a tag; `hosts`: VLANs of bridges.

    What the other end sends untagged itself is joined already (E2), with less that is unknown.
    """
    for link in union.site.switch_links:
        for near, far in (link, link[::-1]):
            if union.mode[near].untagged:
                yield from _untagged(union, near, _taken(union, far))
    behind: defaultdict[str, list[str]] = defaultdict(list)
    for node in sorted(hosts):
        behind[ids.bridge_and_vlan(node)[0]].append(node)
    for bridge, end in union.site.uplink.items():
        yield from _behind(union, end, bridge, behind[bridge])


def _behind(union: Union, end: SwitchEnd, bridge: str, nodes: Sequence[str]) -> Iterator[Edge]:
    """The same between a host's bridge and its switch port. What a host sends without a tag is in VLAN 0 there."""
    without = ids.vlan_segment(bridge, 0)
    yield from _untagged(union, end, [node for node in nodes if node != without])
    if without in nodes:
        missing = (SaidFact(f"whether the adapter of {bridge} drops frames with a second tag"),)
        yield from (Edge(without, taken, SECOND_TAG, missing) for taken in _taken(union, end))


def _untagged(union: Union, end: SwitchEnd, taken: Sequence[str]) -> Iterator[Edge]:
    for vlan, missing in union.natives(end) if union.mode[end].known else ():
        words = f"whether {end.switch} port {end.port} drops frames with a second tag in its untagged VLAN {vlan}"
        facts: tuple[Fact, ...] = (*missing, SaidFact(words))
        yield from (Edge(union.segment(end, vlan), other, SECOND_TAG, facts) for other in taken)


def _taken(union: Union, end: SwitchEnd) -> list[str]:
    """The VLANs that a port takes by some tag, and sends with one. An end of which nobody knows joins all anyway."""
    mode = union.mode[end]
    found = {vlan for tag in union.vlans for vlan in union.inside(end, tag)} - mode.untagged if mode.known else ()
    return [union.segment(end, vlan) for vlan in sorted(found)]


def second_tags(union: Union, found: Sequence[Edge], others: Sequence[Edge]) -> Iterator[Edge]:
    """Those of the ways found by which somebody may send; `others` is what joins besides.

    What comes by one of them may be sent on by the next. Who meets a declared device of whose audience he is not does
    not matter: that joins senders alone.
    """
    joined, left = Joined(others), list(found)
    senders = _senders(union, others)
    while True:
        from_here = {joined.top(node) for node in senders}
        now = [edge for edge in left if joined.top(edge.a) in from_here]
        if not now:
            return
        left = [edge for edge in left if joined.top(edge.a) not in from_here]
        yield from now
        for edge in now:
            joined.join(edge)


def _senders(union: Union, edges: Iterable[Edge]) -> set[str]:
    """Whatever is a tenant's, a stranger's or the world's."""
    labels = [*site_labels(union).items(), *(item for share in union.shares for item in share.labels.items())]
    nodes = {node for node, owners in labels if owners - _OPERATOR}
    # What neither a plan nor the site describes is a stranger's.
    ends = {end for edge in edges for end in (edge.a, edge.b)}
    return nodes | {node for node in ends if isinstance(parse(node), ReferenceNode)}
