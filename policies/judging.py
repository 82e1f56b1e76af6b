"""Plan + site + locks of all others -> judgement, and the one place where a `Proof` is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interlock.model.lock import Footprint, Lock, Released
from interlock.model.site import Site
from interlock.planning.plan import Plan
from interlock.resources import digest_of

from .boundary import footprint_of, lock_share
from .graph import Model
from .naming import Names
from .plan_facts import plan_facts
from .plan_share import plan_share
from .proof import Judgement, NotProved, Proof
from .rules import RULES, Rule
from .site_facts import SiteFacts


def footprint(site: Site, plan: Plan, released: Iterable[Released] = ()) -> Footprint:
    """What others could collide with in this plan and in what its owner released: goes into the lock."""
    facts = SiteFacts(site)
    return footprint_of(facts, plan_share(facts, plan_facts(plan)), released)


def judge(site: Site, plan: Plan, others: Sequence[Lock], rules: Sequence[Rule] = RULES) -> Judgement:
    """Ask every rule about one plan against the footprints of all other tenants of the site.

    The order of `others` does not matter, and a lock of the plan's own tenant among them is left out.
    """
    locks = sorted((lock for lock in others if lock.id != plan.tenant), key=lambda lock: lock.id)
    model = model_of(site, plan, locks)
    names = Names(model)
    return Judgement(
        site=plan.site,
        stack=plan.stack,
        plan_hash=plan.hash,
        # A lock's own hash was checked where it was read; without one it is made here.
        footprints=digest_of([[lock.id, lock.hash or lock.expected_hash()] for lock in locks]),
        results=tuple(
            rule.judge(model, names) for rule in rules if rule.of.speaks_to(is_tenant=model.plan.is_tenant)
        ),
        without_actuator=tuple(item.name for item in plan.without_actuator()),
    )


def prove(site: Site, plan: Plan, others: Sequence[Lock]) -> Proof:
    """The proof that the plan keeps tenants apart and can be built.

    Raises NotProved, with the whole judgement, if a rule of severity B or E is violated or not provable.
    """
    judgement = judge(site, plan, others)
    if judgement.exit_code:
        raise NotProved(judgement)
    return Proof(plan=plan, judgement=judgement)


def model_of(site: Site, plan: Plan, locks: Sequence[Lock]) -> Model:
    """The graphs that the rules are asked about."""
    facts = SiteFacts(site)
    own = plan_facts(plan)
    return Model(facts, own, plan_share(facts, own), [lock_share(lock) for lock in locks])
