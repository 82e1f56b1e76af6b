"""The prover's answer on a world, beside the oracle's. Only here and in the tests is the prover imported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.model.lock import Allocation, Footprint, Lock
from interlock.planning.plan import Plan
from policies import RULES, Judgement, footprint, judge

from .generator import told
from .oracle import Leaks, leaks
from .world import World

#: Rules that say that two owners meet. Others look at sizes, cables and names, which these worlds do not care for.
MEETING = ("ISO-01", "ISO-02", "ISO-11", "TOP-06", "FACT-01")
RULES_OF_MEETING = tuple(rule for rule in RULES if rule.id in MEETING)
#: A way by a port that nobody knows, or of which nobody can say what it carries (Q-in-Q): it may join everything at
#: both its ends, whatever the other end of its cable takes.
_UNKNOWN_PORT = re.compile(r"– \? \S+ (port \d+|\w+ VLAN \d+) – \?")


@dataclass(frozen=True)
class Difference:
    """A world on which the two do not agree."""

    seed: int
    plots: tuple[str, ...]
    #: `missed`: the oracle sees a meeting and the prover does not refuse; `vague`: it refuses, but not for certain;
    #: `over`: the prover refuses what the oracle finds clean.
    kind: str
    stack: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} {self.stack} seed {self.seed} {','.join(self.plots)}: {self.detail}"


def lock_of(world: World, tenant: str) -> Lock:
    """A lock with the tenant's footprint; nothing else of it is looked at."""
    released = world.released.get(tenant, ())
    empty = Footprint(classes=(), labels={}, exclusive=())
    lock = Lock(
        id=tenant, owner="0" * 32, serial=1, request="sha256:1", site="sha256:0", allocation=Allocation(vpods={}),
        released=released, footprint=empty,
    )  # fmt: skip
    return lock.model_copy(update={"footprint": footprint(world.site, world.plans[tenant], released)}).sealed()


def judgements(world: World, stacks: Sequence[str]) -> dict[str, Judgement]:
    """Stack -> what the prover says."""
    locks = [lock_of(world, tenant) for tenant in world.plans]
    plans = {"site": _site_plan(world), **world.plans}
    return {stack: judge(world.site, plans[stack], locks, rules=RULES_OF_MEETING) for stack in stacks}


def _site_plan(world: World) -> Plan:
    assert world.site_plan is not None, "the prover is asked about the operator's stack too"
    return world.site_plan


def differences(seed: int, every: bool = True) -> tuple[str, list[Difference]]:
    """The oracle's verdict on the world of this number, and where the prover says otherwise.

    `every`: for each stack; else for the operator's and one tenant's.
    """
    plots, world = told(seed)
    seen = leaks(world)
    tenants = sorted(world.plans)
    found = []
    stacks = ["site", *(tenants if every else [tenants[seed % len(tenants)]])]
    for stack, judgement in judgements(world, stacks).items():
        asked = as_asked(world, stack)
        known = seen if asked is world else leaks(asked)
        kind = compared(known, stack, judgement)
        if kind:
            found.append(Difference(seed, plots, kind, stack, _detail(known, stack, judgement)))
    return seen.verdict, found


def as_asked(world: World, stack: str) -> World:
    """What the prover is told of a world when it is asked about one stack.

    The operator's own plan is looked at only when it is asked about that: what meets through it is for the
    judgement of that stack to say.
    """
    if stack == "site" or not _site_plan(world).resources:
        return world
    return World(world.site, world.plans, None, world.released)


def compared(seen: Leaks, stack: str, judgement: Judgement) -> str:
    """How the prover's answer differs from what the oracle saw; empty if it does not."""
    must = [pair for pair in seen.must if stack in ("site", *pair)]
    may = [pair for pair in seen.may if stack in ("site", *pair)]
    if may and judgement.exit_code == 0:
        return "missed"
    if must and judgement.exit_code != 1:
        return "vague"
    # A plan answers for every component that it touches, so it may be refused for two others.
    return _over(judgement) if judgement.exit_code != 0 and not seen.may else ""


def _over(judgement: Judgement) -> str:
    """Why the prover refuses what the oracle finds clean; `over` alone: nobody knows."""
    if {item.rule for item in judgement.findings} == {"ISO-11"}:
        return "over: two claims of one owner on one wire"
    ways = [" – ".join(item.witness) for item in judgement.findings]
    if all("P_Key 0x7fff" in way for way in ways):
        return "over: the default key as a claim"
    if judgement.exit_code == 3 and all(_UNKNOWN_PORT.search(way) for way in ways):
        return "over: through a port that may join all"
    return "over"


def _detail(seen: Leaks, stack: str, judgement: Judgement) -> str:
    witness = next((f"{item.rule} {' – '.join(item.witness)}" for item in judgement.findings), "nothing found")
    pairs = [pair for pair in (*seen.must, *seen.may) if stack in ("site", *pair)]
    sights = [f"{'/'.join(sorted(pair))} {' – '.join(seen.traces[pair])}" for pair in pairs]
    sight = sights[0] if sights else "nothing seen"
    return f"exit {judgement.exit_code}\n   prover: {witness}\n   oracle: {sight}"
