"""The prover's answer on a world, beside the oracle's. Only here and in the tests is the prover imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from interlock.model.lock.record import Allocation, Footprint, FormerKey, Lock, Settled
from interlock.planning.plan import Plan
from interlock.resources import FloatingIp
from interlock.vocabulary.nodes import HeldHost, HeldMachine
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.ssh_keys import fingerprints
from policies import RULES, Judgement, footprint, judge
from policies.facts.site import SiteFacts
from policies.footprints.boundary import OPERATORS_LOCK, footprint_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.judging import Read, asked, model_of, operators_part, read
from policies.rules import RuleAnswer
from policies.rules.clusters import ISO_30
from policies.rules.data_network import ISO_03

from .completing import Decision, decided
from .explaining import explained
from .generator import told
from .oracle import Leaks, Pair, leaks
from .world import World

ENTRIES = frozenset({"Expo"})

#: Rules that say that two owners meet. Others look at sizes, cables and names, which these worlds do not care for.
MEETING = ("ISO-01", "ISO-02", "ISO-11", "TOP-06", "SEC-05", "FACT-01", "AUTH-01", "EXPO-01", "L3-08")
RULES_OF_MEETING = tuple(rule for rule in RULES if rule.id in MEETING)


def _apart(model: Model, names: Names) -> RuleAnswer:
    """Of ISO-03 only that vPODs do not meet: those of these worlds are not complete in other ways."""
    answer = ISO_03.ask(model, names)
    violated, unknown = (
        tuple(item for item in causes if isinstance(item.key, tuple) and item.key[0] == "vpods")
        for causes in (answer.violated, answer.unknown)
    )
    return RuleAnswer(answer.count, violated, unknown)


RULES_OF_MEETING += (replace(ISO_03, ask=_apart), ISO_30)
#: One world in so many is judged as an apply would be.
WHOLE = 25


@dataclass(frozen=True)
class Difference:
    """A world on which the two do not agree."""

    seed: int
    plots: tuple[str, ...]
    #: `missed`: the oracle sees a meeting and the prover does not refuse; `hasty`: it is certain of one, and in some
    #: completion nobody meets anybody; `vague`: it refuses, but not for certain; `over`: the prover refuses what the
    #: oracle finds clean. The last two are of a kind that is explained where a colon follows.
    kind: str
    stack: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} {self.stack} seed {self.seed} {','.join(self.plots)}: {self.detail}"


def lock_of(world: World, tenant: str) -> Lock:
    """A lock with the tenant's footprint; nothing else of it is looked at."""
    released, former = world.released.get(tenant, ()), _former_keys(world, tenant)
    return _lock(world, tenant, footprint(world.site, world.plans[tenant], released, former)).sealed()


def _former_keys(world: World, tenant: str) -> tuple[FormerKey, ...]:
    found = (name for line in world.former_keys.get(tenant, ()) for name in fingerprints(line))
    return tuple(FormerKey(fingerprint=name, since="2026-11-23T10:00:00Z") for name in sorted(set(found)))


def _lock(world: World, tenant: str, mark: Footprint) -> Lock:
    serials = {item.name: str(HeldMachine(item.serial)) for item in world.site.machines}
    serials |= {item.name: str(HeldHost(item.serial)) for item in world.site.hosts}
    names = world.cleaned.get(tenant, ())
    return Lock(
        id=tenant, owner=OwnerId("0" * 32), serial=1, request="sha256:1", site="sha256:0",
        allocation=Allocation(vpods={}), released=world.released.get(tenant, ()), footprint=mark,
        former_keys=_former_keys(world, tenant),
        settled=tuple(Settled(identity=serials[name], at="2026-11-23T10:00:00Z", by="Anne") for name in names),
    )  # fmt: skip


def judgements(world: World, stacks: Sequence[str]) -> dict[str, Judgement]:
    """Stack -> what the prover says."""
    plans = {"site": _site_plan(world), **world.plans}
    locks = [*(lock_of(world, tenant) for tenant in world.plans), *_operators(SiteFacts(world.site), world)]
    return {stack: judge(world.site, plans[stack], locks, rules=RULES_OF_MEETING) for stack in stacks}


def answers(world: World, stacks: Sequence[str]) -> dict[str, Judgement]:
    """The same verdicts and findings at half the cost: site and plans are read once, and nothing gets a digest.

    `test_quick_answers_are_judgements` holds the two together.
    """
    site, plans = SiteFacts(world.site), {"site": _site_plan(world), **world.plans}
    own = {stack: read(site, plan) for stack, plan in plans.items()}
    locks = _operators(site, world)
    for tenant in world.plans:
        gone = world.released.get(tenant, ()), _former_keys(world, tenant)
        locks.append(_lock(world, tenant, footprint_of(site, own[tenant].share, *gone, unknown=False)))
    return {stack: _answer(site, plans[stack], own[stack], locks) for stack in stacks}


def _operators(site: SiteFacts, world: World) -> list[Lock]:
    """The operator's own plan, a neighbour like any other; most worlds have nothing in it."""
    plan = _site_plan(world)
    return [operators_part(site, plan)] if plan.resources else []


def _answer(site: SiteFacts, plan: Plan, own: Read, locks: Sequence[Lock]) -> Judgement:
    itself = plan.tenant or OPERATORS_LOCK
    before = [lock for lock in locks if lock.id == itself]
    model = model_of(site, plan, [lock for lock in locks if lock.id != itself], before=before, own=own)
    results = asked(model, RULES_OF_MEETING)
    return Judgement(site=plan.site, stack=plan.stack, plan_hash="", footprints="", results=results)


def _site_plan(world: World) -> Plan:
    assert world.site_plan is not None, "the prover is asked about the operator's stack too"
    return world.site_plan


def differences(seed: int) -> list[Difference]:
    """Where the prover says otherwise than the oracle of the world of this number, asked about every stack."""
    plots, world = told(seed)
    return list(differing(seed, plots, world, leaks(world), decided(world), every=True))


def differing(
    seed: int, plots: tuple[str, ...], world: World, seen: Leaks, decision: Decision | None, *, every: bool
) -> Iterator[Difference]:
    """The same of a world of which the oracle's answer is known; None for `decision`: too much of it is not stated.

    `every`: asked about each stack; else about the operator's and one tenant's.
    """
    tenants = sorted(world.plans)
    stacks = ["site", *(tenants if every else [tenants[seed % len(tenants)]])]
    whole = seen, decision
    for stack, judgement in (answers if seed % WHOLE else judgements)(world, stacks).items():
        seen, decision = packets_and_calls(world) if stack == "site" and has_entries(world) else whole
        kind = compared(seen, stack, judgement) if decision is None else exactly(seen, decision, stack, judgement)
        if kind == "over":
            why = explained(world, judgement.findings)
            kind = f"{kind}: {why}" if why else kind
        if kind:
            yield Difference(seed, plots, kind, stack, _detail(seen, stack, judgement))


def compared(seen: Leaks, stack: str, judgement: Judgement) -> str:
    """How the prover's answer differs from what the oracle saw; empty if it does not."""
    must = [pair for pair in seen.must if concerns(stack, pair)]
    may = [pair for pair in seen.may if concerns(stack, pair)]
    if may and judgement.exit_code == 0:
        return "missed"
    if must and judgement.exit_code != 1:
        return "vague"
    # A plan answers for every component that it touches, so it may be refused for two others.
    return "over" if judgement.exit_code != 0 and not seen.may else ""


def concerns(stack: str, pair: Pair) -> bool:
    """Whether a stack is judged by who meets here: of vPODs their tenant's alone, and not the site's."""
    tenants = {name.rpartition("-")[0] for name in pair if "-" in name}
    return stack in tenants if tenants else stack in ("site", *pair)


def has_entries(world: World) -> bool:
    """There is a floating IP: whether it is declared is said in its tenant's own judgement, and not in the site's."""
    return any(FloatingIp.KIND in stack.by_kind for stack in world.stacks)


def packets_and_calls(world: World) -> tuple[Leaks, Decision | None]:
    """The oracle's answers but for entries from outside."""
    return leaks(world, ENTRIES), decided(world, ENTRIES)


#: Differences for which there is no reason. Those of another kind name theirs.
FAULTS = ("missed", "hasty", "vague", "over")
#: Why the prover cannot prove what the completions decide: it asks once, of all that any completion adds or has.
EXCLUDED = "over: what it takes to meet excludes itself"
OTHERWISE = "vague: each completion leaks by another way"


def exactly(seen: Leaks, decision: Decision, stack: str, judgement: Judgement) -> str:
    """The same of a world of which every completion was looked at: no doubt is left about the right answer.

    *Proved* and *violated* are right or wrong. *Not provable* is right where completions differ. Where they agree, the
    reason is named if one graph that has everything unknown at once, or nothing of it, cannot tell them apart.
    """
    some = [pair for pair in decision.some if concerns(stack, pair)]
    if judgement.exit_code == 0:
        return "missed" if some else ""
    if judgement.exit_code == 1:
        return "" if decision.always else "hasty"
    if decision.always and all(any(concerns(stack, pair) for pair in found.must) for found in decision.each):
        return "vague" if any(concerns(stack, pair) for pair in seen.must) else OTHERWISE
    if decision.some:
        return ""
    return EXCLUDED if seen.may else "over"


def _detail(seen: Leaks, stack: str, judgement: Judgement) -> str:
    witness = next((f"{item.rule} {' – '.join(item.witness)}" for item in judgement.findings), "nothing found")
    pairs = [pair for pair in (*seen.must, *seen.may) if concerns(stack, pair)]
    sights = [f"{'/'.join(sorted(pair))} {' – '.join(seen.traces[pair])}" for pair in pairs]
    sight = sights[0] if sights else "nothing seen"
    return f"exit {judgement.exit_code}\n   prover: {witness}\n   oracle: {sight}"
