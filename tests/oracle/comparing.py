"""The prover's answer on a world, beside the oracle's. Only here and in the tests is the prover imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from interlock.model.lock.record import Allocation, Footprint, Lock, Settled
from interlock.model.site.inventory import Site, Switch
from interlock.planning.plan import Plan
from interlock.resources import FloatingIp
from interlock.vocabulary.nodes import HeldHost, HeldMachine
from interlock.vocabulary.owners import OwnerId
from policies import RULES, Judgement, footprint, judge
from policies.facts.site import SiteFacts
from policies.footprints.boundary import OPERATORS_LOCK, footprint_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.judging import Read, asked, model_of, operators_part, read
from policies.proof import Finding, Verdict
from policies.rules import RuleAnswer
from policies.rules.data_network import ISO_03

from .completing import Decision, decided
from .generator import told
from .oracle import Leaks, Pair, leaks
from .readings import Facts, PortId
from .world import World

M = TypeVar("M", Site, Switch)
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


RULES_OF_MEETING += (replace(ISO_03, ask=_apart),)
#: One world in so many is judged as an apply would be.
WHOLE = 25
#: A way by a port that nobody knows, or of which nobody can say what it carries (Q-in-Q): it may join everything at
#: both its ends, whatever the other end of its cable takes. In brackets: what is known of it, as its translations.
_UNKNOWN_PORT = re.compile(r"– \? \S+ (port \d+|\w+ VLAN \d+)( \([^()]*\))? – \?")
#: The fact that a port has no record, or carries tags inside tags.
_PORT_FACT = re.compile(r"switches\.\S+\.ports\.\d+(\.mode)?")


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
    released = world.released.get(tenant, ())
    return _lock(world, tenant, footprint(world.site, world.plans[tenant], released)).sealed()


def _lock(world: World, tenant: str, mark: Footprint) -> Lock:
    serials = {item.name: str(HeldMachine(item.serial)) for item in world.site.machines}
    serials |= {item.name: str(HeldHost(item.serial)) for item in world.site.hosts}
    names = world.cleaned.get(tenant, ())
    return Lock(
        id=tenant, owner=OwnerId("0" * 32), serial=1, request="sha256:1", site="sha256:0",
        allocation=Allocation(vpods={}), released=world.released.get(tenant, ()), footprint=mark,
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
        released = world.released.get(tenant, ())
        locks.append(_lock(world, tenant, footprint_of(site, own[tenant].share, released, unknown=False)))
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


def explained(world: World, findings: Sequence[Finding]) -> str:
    """Why the prover refuses what the oracle finds clean; empty unless every single finding has a reason.

    Two kinds are known. Second tags (E21) pass one way only, and the graph has no direction. The other kind:

    acme and globex have VLAN 1001, each on its own leaf. The uplink of leaf-2 has no record, that of
    leaf-1 lets nothing pass. The oracle sends a frame into leaf-1's port and it is gone: clean. The prover looks at
    the end that nobody knows, says that it may join everything at both, whatever the other end takes, and finds ISO-01,
    ISO-02 and ISO-11 not provable. Each of the three goes by that cable, and the oracle itself says *perhaps* once it
    does not know leaf-1's port either, so each is explained. A fourth finding by any other way, or one that is
    violated for certain, would leave the world unexplained: `over`, which no run may have.
    """
    kinds = {_kind(world, finding) for finding in findings}
    return "" if "" in kinds else " and ".join(sorted(kinds))


def _kind(world: World, finding: Finding) -> str:
    """The kind of over-report that a finding is; empty: none that is known."""
    way = " – ".join(finding.witness)
    # A second tag passes one way only; the graph has no direction, and joins what two such ways from one VLAN lead to.
    if finding.verdict is Verdict.NOT_PROVABLE and any("second tag" in fact for fact in map(str, finding.missing)):
        return "by second tags, which the graph takes for both ways"
    # Who may call a controller, or use a share from its addresses, is found by the same cable, and told without the
    # way there: then the facts say it.
    is_right = finding.rule == "AUTH-01" and {*map(bool, map(_PORT_FACT.fullmatch, finding.missing))} == {True}
    is_by_unknown = finding.verdict is Verdict.NOT_PROVABLE and (_UNKNOWN_PORT.search(way) or is_right)
    return "through a port that may join all" if is_by_unknown and leaks(_loosened(world)).may else ""


def _loosened(world: World) -> World:
    """The same world, where nobody knows the other end either of a cable between switches with one unknown end."""
    facts = Facts(world)
    beside = {pair[::step][0] for pair in facts.ends[0] for step in (1, -1) if _is_unknown(facts, pair[::step][1])}
    switches = (
        _with(item, ports=tuple(port for port in item.ports if (item.name, port.port) not in beside))
        for item in world.site.switches
    )
    return replace(world, site=_with(world.site, switches=tuple(switches)))


def _is_unknown(facts: Facts, at: PortId) -> bool:
    return any(setting.mode in ("unknown", "dot1q-tunnel") for setting in facts.of_port(*at))


def _with(model: M, **fields: object) -> M:
    """Recreated, for a copy would keep what the old one cached."""
    return type(model)(**{name: getattr(model, name) for name in type(model).model_fields} | fields)


def _detail(seen: Leaks, stack: str, judgement: Judgement) -> str:
    witness = next((f"{item.rule} {' – '.join(item.witness)}" for item in judgement.findings), "nothing found")
    pairs = [pair for pair in (*seen.must, *seen.may) if concerns(stack, pair)]
    sights = [f"{'/'.join(sorted(pair))} {' – '.join(seen.traces[pair])}" for pair in pairs]
    sight = sights[0] if sights else "nothing seen"
    return f"exit {judgement.exit_code}\n   prover: {witness}\n   oracle: {sight}"
