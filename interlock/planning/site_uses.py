"""What plans say of objects of the operator's stack: what a tenant's uses, and what the operator's offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.resources import KINDS, Admitted, Effect, is_site_reference
from interlock.store.records import SiteUse
from interlock.store.site_objects import OFFERED

from .plan import Plan


@dataclass(frozen=True)
class Move:
    """A field of a tenant's resource that is to name another object of the operator's than the one applied."""

    kind: str
    resource: str
    field: str
    #: References; empty: there is no such resource or reference, before or after.
    before: tuple[str, ...]
    after: tuple[str, ...]
    #: What it does: an effect of the field, `created`, or `deleted`.
    does: str
    #: Why it cannot be done, where it is forbidden.
    reason: str = ""

    @property
    def is_refused(self) -> bool:
        """True if `pulumi up` refuses it."""
        return self.does == Effect.FORBIDDEN


def uses_of(plan: Plan) -> tuple[SiteUse, ...]:
    """Each field of a tenant's plan that names an object of the operator's stack, in the order of the plan."""
    if plan.tenant is None:
        return ()
    return tuple(
        SiteUse(kind=item.resource.KIND, name=item.name, field=field, reference=reference)
        for item in plan.resources
        if item.resource.is_declared
        for field, reference in item.resource.references()
        if is_site_reference(reference)
    )


def offers_of(plan: Plan) -> tuple[Admitted, ...]:
    """What of the operator's plan tenants can use, in the order of the plan; nothing of a tenant's."""
    if plan.tenant is not None:
        return ()
    return tuple(
        Admitted(name=item.name, kind=item.resource.KIND, spec=item.resource.canonical())
        for item in plan.resources
        if item.resource.KIND in OFFERED
    )


def moves_between(before: Iterable[SiteUse], after: Iterable[SiteUse]) -> Iterator[Move]:
    """What a tenant's `up` does to come from one to the other, resource by resource."""
    old, new = _by_field(before), _by_field(after)
    named = {kind_and_name(key) for key in old}, {kind_and_name(key) for key in new}
    for key in dict.fromkeys((*old, *new)):
        was, becomes = old.get(key, ()), new.get(key, ())
        if was == becomes:
            continue
        kind, name, field = key
        does, reason = "", ""
        if (kind, name) not in named[1]:
            does = "deleted"
        elif (kind, name) not in named[0]:
            does = "created"
        else:
            change = KINDS[kind].change_of(field, _value(was), _value(becomes))
            does, reason = str(change.effect), change.reason if change.effect is Effect.FORBIDDEN else ""
        yield Move(kind, name, field, was, becomes, does, reason)


def kind_and_name(key: tuple[str, str, str]) -> tuple[str, str]:
    """The resource of a field."""
    return key[0], key[1]


def _by_field(uses: Iterable[SiteUse]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for use in uses:
        key = (use.kind, use.name, use.field)
        found[key] = (*found.get(key, ()), use.reference)
    return found


def _value(references: tuple[str, ...]) -> str | None:
    """The value of a field with one reference; of several, as while a run has not ended, the oldest."""
    return references[0] if references else None
