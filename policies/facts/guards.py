"""Which guard facts the proof uses: the assumptions of docs/design/semantics.md and the guards of declared sharing.

The names are those of `interlock.model.site.guards`. Each can decide a verdict: true removes edges, false adds
them, not stated makes the plan not provable. A guard that is listed nowhere but stated counts the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import Sharing, Site
from policies.about import Fact, SiteFact

#: Guard of A5 that counts only where two owners sit on one host.
BETWEEN_OWNERS = "mitigations"

#: The audience that is everybody.
EVERYBODY = "*"

#: A fact, and what is stated of it.
StatedFact = tuple[Fact, bool | None]
#: The same of a fact that the site file has: `sharing.<name>.guards.<guard>`, `assumptions.<id>.<guard>`.
StatedInSite = tuple[SiteFact, bool | None]


@dataclass(frozen=True)
class GuardState:
    """Whether something is held: True, False, or None with the facts that would decide it."""

    value: bool | None
    missing: tuple[Fact, ...] = ()
    #: Guards known to be false.
    broken: tuple[Fact, ...] = ()
    #: Every fact that it takes.
    guards: tuple[Fact, ...] = ()

    @staticmethod
    def of(facts: Iterable[StatedFact]) -> GuardState:
        """All of `facts` (fact, value): one false decides, else one unknown does."""
        known = tuple(facts)
        broken = tuple(fact for fact, value in known if value is False)
        missing = tuple(fact for fact, value in known if value is None)
        value = False if broken else (None if missing else True)
        return GuardState(value, () if broken else missing, broken, tuple(fact for fact, _ in known))


def assumption(site: Site, name: str, *, only: str | None = None, without: str | None = None) -> GuardState:
    """Whether an assumption is held; `only` and `without` select one of its guards or all but one."""
    head = f"assumptions.{name}."
    return GuardState.of(
        (fact, value)
        for fact, value in assumption_facts(site, name)
        if fact.path != f"{head}{without}" and only in (None, fact.path.removeprefix(head))
    )


def assumption_facts(site: Site, name: str) -> tuple[StatedInSite, ...]:
    """Every guard of an assumption, stated or not."""
    stated = {guard: value for item in site.assumptions if item.id == name for guard, value in item.guards.items()}
    facts = dict.fromkeys(ASSUMPTION_GUARDS.get(name, ())) | stated
    return tuple((SiteFact(f"assumptions.{name}.{guard}"), value) for guard, value in sorted(facts.items()))


def lacking(site: Site, now: datetime) -> dict[str, tuple[str, ...]]:
    """Guard that rests on evidence -> why it does not hold at this moment; those that hold are left out."""
    each = ((item.id, guard, rests) for item in site.assumptions for guard, rests in item.evidence.items())
    return {f"assumptions.{name}.{guard}": why for name, guard, rests in each if (why := rests.lacking(now))}


def denied(site: Site, now: datetime) -> dict[str, tuple[str, ...]]:
    """Guard that does not hold at this moment, by evidence -> which devices said so."""
    each = ((item.id, guard, rests) for item in site.assumptions for guard, rests in item.evidence.items())
    return {f"assumptions.{name}.{guard}": who for name, guard, rests in each if (who := rests.denied(now))}


def sharing(site: Site, declarations: Iterable[Sharing]) -> GuardState:
    """Whether all guards of these are held. An external network without an address scope filters nothing."""
    return GuardState.of(sharing_facts(site, declarations))


def sharing_facts(site: Site, declarations: Iterable[Sharing]) -> tuple[StatedInSite, ...]:
    """Every guard of these, stated or not."""
    stated: list[StatedInSite] = []
    for declared in declarations:
        facts = dict.fromkeys(SHARING_GUARDS[declared.kind]) | declared.guards
        head = f"sharing.{declared.name}.guards"
        stated += [(SiteFact(f"{head}.{guard}"), value) for guard, value in sorted(facts.items())]
        if declared.kind == "external-network":
            stated.append((SiteFact("external.address_scope"), site.external.address_scope is not None))
    return tuple(stated)


def welcome(declared: Iterable[Sharing], tenant: str) -> bool:
    """True if one of these declarations names the tenant, or everybody."""
    return any({EVERYBODY, tenant} & set(item.audience) for item in declared)
