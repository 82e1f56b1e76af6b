"""Plan + site + locks of all others -> judgement, and the one place where a `Proof` is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from interlock.model.lock.record import Allocation, Footprint, FormerKey, Lock, Released
from interlock.model.site.inventory import Site
from interlock.model.waivers import Waiver
from interlock.planning.plan import Plan
from interlock.resources import digest_of
from policies.edges.plan_fragment import plan_fragment

from .edges.residue import erases, with_former_keys, with_released, with_settled
from .edges.shape import GraphFragment
from .facts.kinds import PlanFacts
from .facts.plan import plan_facts
from .facts.site import SiteFacts
from .findings.causes import explained
from .findings.waivers import require_waivable, waived
from .footprints.applied import in_words, together
from .footprints.boundary import OPERATORS_LOCK, footprint_of, footprint_share, lock_share, owner_of
from .footprints.neighbours import Neighbours, mentioned
from .footprints.versions import boundary_digest, boundary_versions, met
from .graph.model import Model
from .graph.naming import Names
from .proof import Judgement, NotProved, Proof, RuleResult
from .rules import RULES, Rule
from .statement import statement


@dataclass(frozen=True)
class Read:
    """A plan as facts, and what it brings to a site."""

    facts: PlanFacts
    share: GraphFragment


def read(site: SiteFacts, plan: Plan) -> Read:
    """Read a plan: once for whoever asks for its footprint and for its judgement."""
    facts = plan_facts(plan)
    return Read(facts, plan_fragment(site, facts))


def footprint(
    site: Site | SiteFacts, plan: Plan, released: Iterable[Released] = (), former_keys: Iterable[FormerKey] = ()
) -> Footprint:
    """What others could collide with in this plan, in what its owner released, and in keys that it had."""
    facts = SiteFacts.of(site)
    return footprint_of(facts, read(facts, plan).share, released, former_keys)


def operators_part(site: Site | SiteFacts, plan: Plan) -> Lock:
    """The operator's own plan among the locks of tenants: what a right or a port of its own joins, it joins for all.

    No file holds it, for it follows from the site file; so it is not among the locks of which a judgement has the
    hash, but its versions count wherever it is met.
    """
    return Lock(
        id=OPERATORS_LOCK, owner=plan.owner, serial=0, request="", site="", allocation=Allocation(vpods={}),
        footprint=footprint(site, plan),
    ).sealed()  # fmt: skip


def judge(
    site: Site | SiteFacts,
    plan: Plan,
    others: Sequence[Lock] | Neighbours,
    rules: Sequence[Rule] = RULES,
    *,
    applied: Footprint | GraphFragment | None = None,
    waivers: Sequence[Waiver] = (),
    today: date | None = None,
    suggest: bool = False,
) -> Judgement:
    """Ask every rule about one plan, together with what is applied of it, against the footprints of all others.

    The order of `others` does not matter; `operators_part` is one of them. Of several plans on one site its facts are
    read once where the same `SiteFacts` is given for each. A lock of the plan's own stack among them is nobody else's:
    what it mentions counts as touched, since the plan may leave it, and what it released belongs to the plan until it
    is seen to be let go. With `Neighbours` the same is found by looking only at the locks that the plan can meet.
    Raises ValueError if those were made for another site.

    `waivers` let findings of a rule pass up to a day, `today` being that of UTC by default; raises NotWaivable.
    With `suggest` findings also say which entries to change, which takes a search for each.
    """
    return judged(seen_by(site, plan, others, applied), plan, rules, waivers=waivers, today=today, suggest=suggest)


def judged(
    seen: Seen,
    plan: Plan,
    rules: Sequence[Rule] = RULES,
    *,
    waivers: Sequence[Waiver] = (),
    today: date | None = None,
    suggest: bool = False,
) -> Judgement:
    """`judge`, of a model that is there already."""
    require_waivable(waivers, RULES)
    results = explained(seen.model, plan, asked(seen.model, rules), suggest=suggest)
    return Judgement(
        site=plan.site,
        stack=plan.stack,
        plan_hash=plan.hash,
        footprints=seen.footprints,
        results=results,
        without_actuator=tuple(item.name for item in plan.without_actuator()),
        applied_state=seen.applied,
        boundary=boundary_digest(boundary_versions(seen.model, seen.locks)),
        rule_set=digest_of([[rule.id, rule.title, rule.severity, rule.polarity] for rule in rules]),
        statement=statement(seen.model).digest,
        waivers=waived(waivers, results, RULES, today),
    )


def asked(model: Model, rules: Sequence[Rule]) -> tuple[RuleResult, ...]:
    """What those of the rules that speak of such a plan say; findings name no entries yet, and their ids are whole."""
    names = Names(model)
    return tuple(rule.judge(model, names) for rule in rules if rule.of.speaks_to(is_tenant=model.plan.is_tenant))


def prove(
    site: Site,
    plan: Plan,
    others: Sequence[Lock] | Neighbours,
    *,
    applied: Footprint | GraphFragment | None = None,
    waivers: Sequence[Waiver] = (),
    today: date | None = None,
    suggest: bool = False,
) -> Proof:
    """The proof that the plan keeps tenants apart and can be built, from what is applied on.

    Raises NotProved, with the whole judgement, if a rule of severity B or E is violated or not provable, and no
    waiver lets it pass.
    """
    seen = seen_by(site, plan, others, applied)
    judgement = judged(seen, plan, waivers=waivers, today=today, suggest=suggest)
    if judgement.exit_code:
        raise NotProved(judgement)
    return Proof(plan=plan, judgement=judgement, met=tuple(sorted(met(seen.model))))


@dataclass(frozen=True)
class Seen:
    """What a judgement is made of: the model, the locks in it, and a hash over all locks of the site.

    `applied` says in words what of the stack is applied and was looked at.
    """

    model: Model
    locks: tuple[Lock, ...]
    footprints: str
    applied: str


def seen_by(
    site: Site | SiteFacts,
    plan: Plan,
    others: Sequence[Lock] | Neighbours,
    applied: Footprint | GraphFragment | None = None,
    *,
    own: Read | None = None,
) -> Seen:
    """The model of one plan beside its others; `own`: the plan, if it was read."""
    if isinstance(others, Neighbours):
        if others.site.site is not SiteFacts.of(site).site:
            raise ValueError("these neighbours were made for another site")
        return _beside_neighbours(plan, own or read(others.site, plan), others, applied)
    itself = _lock_id(plan)
    before = [lock for lock in others if lock.id == itself]
    locks = sorted((lock for lock in others if lock.id != itself), key=lambda lock: lock.id)
    model = model_of(site, plan, locks, applied=applied, before=before, own=own)
    # A lock's own hash was checked where it was read; without one it is made here.
    return Seen(
        model,
        tuple(locks),
        digest_of([[lock.id, lock.hash or lock.expected_hash()] for lock in locks if lock.id != OPERATORS_LOCK]),
        in_words(applied),
    )


def _lock_id(plan: Plan) -> str:
    return plan.tenant or OPERATORS_LOCK


def model_of(
    site: Site | SiteFacts,
    plan: Plan,
    locks: Sequence[Lock],
    *,
    applied: Footprint | GraphFragment | None = None,
    before: Sequence[Lock] = (),
    own: Read | None = None,
) -> Model:
    """The graphs that the rules are asked about; `before`: the plan's own lock, `own`: the plan, if it was read."""
    facts = SiteFacts.of(site)
    own = own or read(facts, plan)
    share = _own_share(facts, own, before, applied)
    mentions = (node for lock in before for node in _mentioned_in(facts, lock))
    return Model(facts, own.facts, share, [lock_share(lock, facts) for lock in locks], before=mentions)


def _mentioned_in(site: SiteFacts, lock: Lock) -> Iterable[str]:
    """What a plan's own lock mentions; what was given out again after it is no more the plan's."""
    return mentioned(site, footprint_share(owner_of(lock), lock.footprint))


def _own_share(
    site: SiteFacts, own: Read, before: Iterable[Lock], applied: Footprint | GraphFragment | None
) -> GraphFragment:
    """What the plan brings, with what is applied of it and what its own lock says is not let go: claims and keys."""
    released = tuple(entry for lock in before for entry in lock.released)
    share = with_released(site, together(own.share, applied), released)
    share = with_former_keys(share, (entry for lock in before for entry in lock.former_keys))
    # Where cleaning erases nothing of it is left there, and the plan does not answer for who has it now.
    settled = (entry for lock in before for entry in lock.settled)
    return with_settled(site, share, (entry for entry in settled if not erases(site, entry.identity)))


def _beside_neighbours(plan: Plan, own: Read, others: Neighbours, applied: Footprint | GraphFragment | None) -> Seen:
    """The model over those locks only that the plan can meet: more until it meets no further one."""
    itself = frozenset({_lock_id(plan)})
    old_locks = others.locks(others.hashes.keys() & itself)
    share = _own_share(others.site, own, [lock for lock, _ in old_locks], applied)
    before = [node for lock, _ in old_locks for node in _mentioned_in(others.site, lock)]
    is_known = plan.tenant is not None and others.classes.knows(share)
    reached, vlans = others.meeting(before, share) if is_known else (frozenset(others.hashes), frozenset[int]())
    resolved = others.resolved(plan.tenant or "", share) if is_known else None
    while True:
        near = others.locks(reached - itself)
        shares = [brought for _, brought in near]
        model = Model(others.site, own.facts, share, shares, before=before, vlans=vlans, resolved=resolved)
        more, vlans = others.meeting((*before, *model.may), share) if is_known else (reached, vlans)
        if more <= reached:
            return Seen(model, tuple(lock for lock, _ in near), others.footprints(plan.tenant), in_words(applied))
        reached |= more
