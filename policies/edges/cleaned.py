"""Devices that were cleaned and that nobody has, while it is not known whether cleaning erases.

Either nothing is left on such a device, and it is the operator's, or something is, and it is its former holder's
(docs/design/semantics.md §3). One graph has room for one of the two. Where the former holder's things are on the same
wire anyway, only the first can be a conflict, and elsewhere only the second: which of them it is follows from
everything else that joins, and is decided after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interlock.vocabulary.nodes import FormerHolderNode, HeldHost, HeldMachine, parse
from policies.about import Fact
from policies.facts import identities as ids

from .joined import Joined
from .residue import cleaned_by
from .shape import Edge, Relation, Union

#: Row of these edges in the table.
CLEANED = "A9"
#: The operator, as the one who has what was cleaned.
KEEPER = "keeper"


@dataclass(frozen=True)
class Doubted:
    """A device of which nobody knows whether it is its former holder's or the operator's."""

    node: str
    #: The tenant that had it.
    owner: str
    #: The operator as the one who has it.
    keeper: str
    #: Assumptions that cleaning it rests on.
    rests_on: tuple[str, ...]
    missing: tuple[Fact, ...]


def doubted(union: Union) -> tuple[Doubted, ...]:
    """All of them. One that somebody has is that tenant's, and one on which something is left for certain nobody's."""
    return tuple(_doubted(union))


def _doubted(union: Union) -> Iterator[Doubted]:
    settled = [*_settled(union)]
    taken = {node for share in union.shares for node, labels in share.labels.items() if labels} if settled else ()
    for former, device in settled:
        names, held = cleaned_by(former.identity), parse(former.identity)
        states = [union.site.assumption(name) for name in names]
        missing = tuple(fact for state in states for fact in state.missing)
        if not missing or any(state.value is False for state in states):
            continue
        if isinstance(held, HeldMachine | HeldHost) and device in union.site.lendable and device not in taken:
            yield Doubted(device, former.owner, ids.operated(held.serial, KEEPER), names, missing)


def _settled(union: Union) -> Iterator[tuple[FormerHolderNode, str]]:
    """What a former holder may have left, and the device that it may be on."""
    for former, device in union.facts(Relation.SETTLED):
        node = parse(former)
        if isinstance(node, FormerHolderNode):
            yield node, device


def perhaps_operators(union: Union, devices: Sequence[Doubted], others: Sequence[Edge]) -> Iterator[Edge]:
    """An edge to the operator from each device that its former holder's things meet; `others` is what joins besides.

    What was left on others for the same reason is not counted: where it is there, this one is not the operator's.
    """
    joined = Joined(others)
    rests_on = {str(former): cleaned_by(former.identity) for former, _ in _settled(union)}
    for names in sorted({device.rests_on for device in devices}):
        alike = {former for former, found in rests_on.items() if found == names}
        owned = {
            (label, joined.top(node))
            for share in union.shares
            for node, labels in share.labels.items()
            for label in labels
            if node not in alike
        }
        for device in devices:
            if device.rests_on == names and (device.owner, joined.top(device.node)) in owned:
                yield Edge(device.node, device.keeper, CLEANED, device.missing)
