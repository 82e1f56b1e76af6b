"""vPODs with a machine that failed: TOP-28 those that are left are one run of IPU-Links.

At an end of the run a failed machine leaves a smaller vPOD, and TOP-24 warns. In its middle it leaves pieces without a
cable between them: no partition can span them, so the vPOD is invalid rather than degraded. A machine in maintenance
is there and comes back, so it makes no hole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.hardware import MACHINES
from interlock.model.site.inventory import Machine
from interlock.planning.blocks import maximal_blocks
from policies.about import Fact, components, devices
from policies.facts.kinds import VPodFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .racks import RACK, by_rack, machines_of
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts
from .topology import cut, pieces_of


def _whole(model: Model, _: Names) -> RuleAnswer:
    causes = (cause for vpod in model.plan.vpods for cause in _holes(model, vpod))
    return by_facts(len(model.plan.vpods), tuple(causes))


def _holes(model: Model, vpod: VPodFact) -> Iterator[Cause]:
    """Of each logical rack by itself: what joins racks is not what joins the machines in one."""
    racks = sorted(by_rack(machines_of(model, vpod.machines)).items())
    cuts = {rack: why for rack, members in racks if (why := _why_in_pieces(model, members)) is not None}
    if not cuts:
        return
    failed = {rack: [one for one in members if one.state == "failed"] for rack, members in racks}
    # What leads out leads out of every hole: a unit in one rack mends nothing in another.
    hint = _choices(
        model,
        vpod,
        [one for rack in cuts for one in failed[rack]],
        [_left(members) for _, members in racks],
    )
    for rack, (pieces, missing) in cuts.items():
        left = _left(dict(racks)[rack])
        yield Cause(
            key=(vpod.name, rack),
            message=f"vPOD {vpod.name} is in pieces: {_in_words(failed[rack])} failed between its machines",
            witness=(
                *(f"{one.name} has failed: {one.state_reason}" for one in failed[rack]),
                *pieces,
                *_too_large(model, vpod, left),
            ),
            hint=hint,
            missing=missing,
            specificity=81,
            about=(*components(vpod.name), *devices(*(one.name for one in failed[rack]))),
        )


def _why_in_pieces(model: Model, members: list[Machine]) -> tuple[tuple[str, ...], tuple[Fact, ...]] | None:
    """The pieces that failures leave of the machines of a rack, and what would have to be known; None: there are none.

    Machines that never were one run are TOP-03's.
    """
    left = _left(members)
    if len(left) == len(members) or not left or cut(model, members) is not None:
        return None
    return cut(model, left)


def _too_large(model: Model, vpod: VPodFact, left: list[Machine]) -> Iterator[str]:
    """Partitions for which no piece has the IPUs; nothing of several racks, which GW-Links join besides."""
    if len(vpod.machines) > RACK:
        return
    held = {machine.name: machine for machine in left}
    most = max(sum(MACHINES[held[name].generation].ipus.value for name in piece) for piece in pieces_of(model, left))
    for item in model.plan.partitions:
        if item.vpod == vpod.name and item.ipus > most:
            yield f"partition {item.name} is of {item.ipus} IPUs, and no piece has more than {most}"


def _left(members: list[Machine]) -> list[Machine]:
    return [machine for machine in members if machine.state != "failed"]


def _in_words(failed: Sequence[Machine]) -> str:
    """`ipum-02 (position 2)`: by the position the operator finds it in the rack."""
    return ", ".join(f"{one.name} (position {one.position})" for one in failed)


def _choices(model: Model, vpod: VPodFact, failed: Sequence[Machine], left: Sequence[list[Machine]]) -> str:
    """The ways out. What each does to partitions and servers, `interlock lock` says before it writes."""
    owner = model.plan.owner
    units = ", ".join(one.name for one in failed)
    replaced = f"put another unit in the place of {units} and write its serial and MAC addresses into the site file"
    blocks = (block for machines in left for block in _blocks(machines))
    piece = max(blocks, key=len)
    named = ", ".join(piece) if len(piece) < RACK else f"{piece[0]} to {piece[-1]}"
    smaller = f"shrink {vpod.name} to {len(piece)} ({named} stay, the largest aligned block that is left)"
    return f"{replaced}; or {smaller}; or move it: `interlock lock {owner} --move`"


def _blocks(machines: list[Machine]) -> Iterator[tuple[str, ...]]:
    """The aligned blocks of a rack that none of those that failed is in, by names."""
    at = {one.position - 1: one.name for one in machines}
    for first, size in maximal_blocks(sum(1 << bit for bit in at)):
        yield tuple(at[bit] for bit in range(first, first + size))


TOP_28 = Rule(
    id="TOP-28",
    title="the machines of a vPOD that have not failed are one connected run of IPU-Links",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a failed machine in the middle leaves pieces that no partition can span",
    source="derived: IPU-POD64 build and test guide, IPU-Link cabling: only neighbours are joined",
    needs=("machines of vPODs", "machines.state", "IPU-Link cables"),
    ask=_whole,
    of=Of.TENANT,
)
