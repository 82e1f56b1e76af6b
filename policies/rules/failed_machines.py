"""vPODs with a machine that failed: TOP-28 those that are left are one run of IPU-Links.

At an end of the run a failed machine leaves a smaller vPOD, and TOP-24 warns. In its middle it leaves pieces without a
cable between them: no partition can span them, so the vPOD is invalid rather than degraded. A machine in maintenance
is there and comes back, so it makes no hole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.model.site.inventory import Machine
from interlock.planning.blocks import maximal_blocks
from policies.about import components, devices
from policies.facts.kinds import VPodFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .racks import by_rack, machines_of
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts
from .topology import cut


def _whole(model: Model, _: Names) -> RuleAnswer:
    causes = (cause for vpod in model.plan.vpods for cause in _holes(model, vpod))
    return by_facts(len(model.plan.vpods), tuple(causes))


def _holes(model: Model, vpod: VPodFact) -> Iterator[Cause]:
    """Of each logical rack by itself: what joins racks is not what joins the machines in one."""
    for rack, members in sorted(by_rack(machines_of(model, vpod.machines)).items()):
        left = [machine for machine in members if machine.state != "failed"]
        if len(left) == len(members) or not left:
            continue
        why, before = cut(model, left), cut(model, members)
        # Machines that never were one run are TOP-03's.
        if why is not None and before is None:
            witness, missing = why
            failed = sorted((one for one in members if one.state == "failed"), key=lambda one: one.position)
            yield Cause(
                key=(vpod.name, rack),
                message=f"vPOD {vpod.name} is in pieces: {_in_words(failed)} failed between its machines",
                witness=(*(f"{one.name} has failed: {one.state_reason}" for one in failed), *witness),
                hint=_choices(model, vpod, failed, left),
                missing=missing,
                specificity=81,
                about=(*components(vpod.name), *devices(*(one.name for one in failed))),
            )


def _in_words(failed: Sequence[Machine]) -> str:
    """`ipum-02 (position 2)`: by the position the operator finds it in the rack."""
    return ", ".join(f"{one.name} (position {one.position})" for one in failed)


def _choices(model: Model, vpod: VPodFact, failed: Sequence[Machine], left: Sequence[Machine]) -> str:
    """The ways out. What each does to partitions and servers, `interlock lock` says before it writes."""
    owner = model.plan.owner
    units = ", ".join(one.name for one in failed)
    replaced = f"put another unit in the place of {units} and write its serial and MAC addresses into the site file"
    at = {one.position - 1: one.name for one in left}
    first, size = max(maximal_blocks(sum(1 << bit for bit in at)), key=lambda block: block[1])
    piece = ", ".join(at[bit] for bit in range(first, first + size))
    smaller = f"shrink {vpod.name} to {size} ({piece} stay, the largest aligned block that is left)"
    return f"{replaced}; or {smaller}; or move it: `interlock lock {owner} --move`"


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
