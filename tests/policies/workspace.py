"""A site with two tenants, locked and planned, and ways to put one defect into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interlock.model.lock.record import Lock
from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import Assumption, Sharing, Site
from interlock.model.site.offers import SharingKind
from interlock.model.tenant.request import Tenant
from interlock.planning import plan_tenant
from interlock.planning.plan import Plan, Planned
from interlock.resources import Resource
from policies import Finding, Judgement, Verdict, footprint, judge
from policies.findings.report import by_specificity
from tests.builders.completeness import declared_complete
from tests.builders.pod64 import locked, pinned, pod64, site_locked, tenant

SHARED: dict[str, SharingKind] = {"external": "external-network", "vipu-controller": "vipu-controller"}
P, V, N, NA = Verdict.PROVED, Verdict.VIOLATED, Verdict.NOT_PROVABLE, Verdict.NOT_APPLICABLE


def full_site(**overrides: object) -> Site:
    """The small POD64 with every guard known to hold."""
    return pod64(**({"sharing": sharing(), "assumptions": assumptions()} | overrides))


def changed(site: Site, **fields: object) -> Site:
    """The site with whole fields replaced; a copy would keep what the old one cached.

    What is put beside it is listed, too: only who replaces `complete` leaves something unknown.
    """
    found = Site.model_validate({name: getattr(site, name) for name in Site.model_fields} | fields)
    return found if "complete" in fields or not site.complete else declared_complete(found)


def sharing(**changes: bool | None) -> tuple[Sharing, ...]:
    """Both declarations; `changes` set guards by name."""
    return tuple(
        Sharing(
            name=name,
            kind=kind,
            node=name,
            rule="SEC-03",
            audience=("*",),
            guards=_guards(SHARING_GUARDS[kind], changes),
        )
        for name, kind in SHARED.items()
    )


def assumptions(**changes: bool | None) -> tuple[Assumption, ...]:
    """Every assumption; `changes` set guards by name."""
    return tuple(Assumption(id=name, guards=_guards(known, changes)) for name, known in ASSUMPTION_GUARDS.items())


def _guards(known: Sequence[str], changes: dict[str, bool | None]) -> dict[str, bool | None]:
    return dict.fromkeys(known, True) | {name: value for name, value in changes.items() if name in known}


@dataclass(frozen=True)
class Made:
    """One tenant's plan and the lock that goes with it."""

    plan: Plan
    lock: Lock


def made(site: Site, wish: Tenant, others: Sequence[Lock] = (), **pins: object) -> Made:
    """Lock and plan a tenant; `pins` are claims of its vPOD `train`."""
    wish = wish.model_copy(update={"pins": pinned(**pins)}) if pins else wish
    lock = locked(site, wish, others)
    return with_footprint(site, plan_tenant(site, site_locked(site), wish, lock), lock)


def with_footprint(site: Site, plan: Plan, lock: Lock) -> Made:
    """The lock with the footprint of this plan."""
    mark = footprint(site, plan, lock.released, lock.former_keys)
    return Made(plan, lock.model_copy(update={"footprint": mark}).sealed())


def pair(site: Site, *, acme: dict[str, Any] | None = None, globex: dict[str, Any] | None = None) -> tuple[Made, Made]:
    """acme with 4 machines and 2 servers, globex with 8 and 1; pins for each."""
    first = made(site, tenant("acme"), **(acme or {}))
    return first, made(site, tenant("globex", machines=8, servers=1), [first.lock], **(globex or {}))


def edited(plan: Plan, name: str, **changes: object) -> Plan:
    """The plan with fields of one resource changed."""
    item = plan.by_name[name]
    return replaced(plan, item.model_copy(update={"resource": item.resource.model_copy(update=changes)}))


def replaced(plan: Plan, item: Planned) -> Plan:
    """The plan with the resource of this name replaced."""
    return _with(plan, tuple(item if old.name == item.name else old for old in plan.resources))


def added(plan: Plan, name: str, component: str, resource: Resource) -> Plan:
    """The plan with one more resource, a part of the vPOD that its component is in."""
    item = Planned(name=name, component=component, resource=resource, vpod=plan.vpod_above(component))
    return _with(plan, (*plan.resources, item))


def _with(plan: Plan, resources: tuple[Planned, ...]) -> Plan:
    # A fresh plan: a copy would keep the cached hash and index of the old one.
    fields = {name: getattr(plan, name) for name in Plan.model_fields} | {"resources": resources}
    return Plan(**fields)


def verdicts(judgement: Judgement) -> dict[str, Verdict]:
    """Rule -> verdict."""
    return {result.rule: result.verdict for result in judgement.results}


def first(judgement: Judgement) -> Finding:
    """The most specific finding."""
    return by_specificity(judgement)[0]


def text(finding: Finding) -> str:
    """The whole witness in one line."""
    return " – ".join(finding.witness)


def judged(site: Site, plan: Plan, *others: Made) -> Judgement:
    """The judgement of a plan against the locks of others."""
    return judge(site, plan, [other.lock for other in others])
