"""vPODs with a machine that failed: TOP-28 those that are left are one run of IPU-Links.

At an end of the run a failed machine leaves a smaller vPOD, and TOP-24 warns. In its middle it leaves pieces without a
cable between them: no partition can span them, so the vPOD is invalid rather than degraded. So does a logical rack of
which all failed, between racks that GW-Links join over it; and where nothing is left there is no vPOD. A machine in
maintenance is there and comes back, so it makes no hole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.hardware import MACHINES
from interlock.model.site.inventory import Machine
from interlock.planning.blocks import maximal_blocks
from interlock.planning.gw_links import groups_of_racks
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
    """Of each logical rack by itself, then between racks: what joins racks is not what joins the machines in one."""
    racks = sorted(by_rack(machines_of(model, vpod.machines)).items())
    failed = {rack: [one for one in members if one.state == "failed"] for rack, members in racks}
    if racks and not any(_left(members) for _, members in racks):
        yield _nothing_left(model, vpod, [one for found in failed.values() for one in found])
        return
    cuts = {rack: why for rack, members in racks if (why := _why_in_pieces(model, members)) is not None}
    groups = _groups_left(model, dict(racks))
    if not cuts and not groups:
        return
    # Where no whole rack failed and racks are apart, everything that failed may have joined them.
    between = ([rack for rack, members in racks if failed[rack] == members] or [*failed]) if groups else []
    # What leads out leads out of every hole: a unit in one rack mends nothing in another.
    hint = _choices(
        model,
        vpod,
        [one for rack, found in failed.items() if rack in (*cuts, *between) for one in found],
        [_left(members) for _, members in racks],
    )
    if groups:
        lost = {rack: failed[rack] for rack in between if failed[rack]}
        yield _apart(vpod, groups, lost, {rack: len(members) for rack, members in racks}, hint)
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


def _nothing_left(model: Model, vpod: VPodFact, failed: list[Machine]) -> Cause:
    units = _range([one.name for one in failed])
    replaced = f"put other units in the place of {units} and write their serials and MAC addresses into the site file"
    return Cause(
        key=(vpod.name, ""),
        message=f"vPOD {vpod.name} has no machine left: all {len(failed)} have failed",
        witness=tuple(f"{one.name} has failed: {one.state_reason}" for one in failed),
        hint=f"{replaced}; or move it: `interlock lock {model.plan.owner} --move`",
        specificity=81,
        about=(*components(vpod.name), *devices(*(one.name for one in failed))),
    )


def _groups_left(model: Model, racks: dict[str, list[Machine]]) -> list[tuple[str, ...]]:
    """The groups that racks fall into; none if those that are left are one. Racks that never were are TOP-05's."""
    every = {rack: [one.name for one in members] for rack, members in racks.items()}
    left = {rack: [one.name for one in found] for rack, members in racks.items() if (found := _left(members))}
    groups = groups_of_racks(model.site.site, left)
    return groups if len(groups) > 1 and len(groups_of_racks(model.site.site, every)) == 1 else []


def _apart(
    vpod: VPodFact, groups: list[tuple[str, ...]], failed: dict[str, list[Machine]], of: dict[str, int], hint: str
) -> Cause:
    pieces = [f"logical rack {' – '.join(group)}" for group in groups]
    return Cause(
        key=(vpod.name, "racks"),
        message=f"vPOD {vpod.name} is in pieces: what joins its logical racks has failed",
        witness=(
            *(
                f"logical rack {rack}: {len(found)} of {of[rack]} machines have failed"
                for rack, found in failed.items()
            ),
            *(step for index, text in enumerate(pieces) for step in (("no GW-Link to",) if index else ()) + (text,)),
        ),
        hint=hint,
        specificity=81,
        about=(*components(vpod.name), *devices(*(one.name for found in failed.values() for one in found))),
    )


def _range(names: Sequence[str]) -> str:
    """All names; of a whole rack the first and the last."""
    return ", ".join(names) if len(names) < RACK else f"{names[0]} to {names[-1]}"


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
    units = _range([one.name for one in failed])
    replaced = f"put another unit in the place of {units} and write its serial and MAC addresses into the site file"
    blocks = (block for machines in left for block in _blocks(machines))
    piece = max(blocks, key=len)
    named = _range(piece)
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
    needs=("machines of vPODs", "machines.state", "IPU-Link cables", "GW-Link cables"),
    ask=_whole,
    of=Of.TENANT,
)
