"""The observed plan: a plan with the values of the live cloud, so that the same rules judge it.

What differs of a planned object stands in its fields; unmanaged resources are added as `found-…`. What no plan can hold
is listed, and then a proof of the rest proves nothing of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from interlock.planning import Plan
from interlock.planning.plan import Planned
from interlock.provider.audit.standing import Standing
from interlock.provider.audit.unmanaged import UnmanagedResource
from interlock.vocabulary import CloudId

from .controllers import stands_in
from .unmanaged_resources import RESOURCES_OF
from .words import NotExpressible, Words, name_of, named


@dataclass(frozen=True)
class ObservedPlan:
    """One stack."""

    plan: Plan
    #: What is there and stands in no plan's words.
    not_expressible: tuple[str, ...]


def observed_plan(words: Words, unmanaged: Iterable[UnmanagedResource]) -> ObservedPlan | None:
    """What is really there of one stack; None where a planned object is as no plan can say it."""
    added = _Additions(words)
    for resource in unmanaged:
        added.add(resource)
    drifted = {item.name: item for item in words.standings[words.plan.stack] if item.is_other_than_planned}
    kept = _planned(words.plan, drifted, added.names)
    if kept is None:
        return None
    return ObservedPlan(_with(words.plan, (*kept, *added.resources.values())), tuple(added.not_expressible))


def _planned(plan: Plan, drifted: Mapping[str, Standing], found: Mapping[str, str]) -> list[Planned] | None:
    """The planned objects that are there, without those that rest on one that is not."""
    kept: dict[str, Planned] = {}
    for item in plan.resources:
        own = (reference for _, reference in item.resource.references() if reference in plan.by_name)
        if all(name in kept or name == item.name for name in own):
            real = _real(item, drifted.get(item.name), found)
            if real is None:
                return None
            kept.update((one.name, one) for one in real)
    return list(kept.values())


def _real(item: Planned, standing: Standing | None, found: Mapping[str, str]) -> list[Planned] | None:
    """What is there of one planned object: it, or nothing; None if no plan can hold it."""
    if standing is None:
        return [item]
    if len(standing.ids) > 1:
        return None
    if not standing.ids or standing.reason:
        return []
    try:
        seen = {name: named(values[1], found) for name, values in standing.differs.items()}
        resource = type(item.resource).model_validate(item.resource.canonical() | seen)
    except (NotExpressible, ValidationError):
        return None
    return [item.model_copy(update={"resource": resource})]


def _with(plan: Plan, resources: tuple[Planned, ...]) -> Plan:
    """A plan of its own: a copy would keep the index of names of the old one, in which what was found is missing."""
    return Plan(**({name: getattr(plan, name) for name in Plan.model_fields} | {"resources": resources}))


@dataclass
class _Additions:
    """Unmanaged resources at one stack, as resources of its plan."""

    words: Words
    resources: dict[str, Planned] = field(default_factory=dict)
    not_expressible: list[str] = field(default_factory=list)
    #: An id as a field of a planned object has it -> name.
    names: dict[str, str] = field(default_factory=dict)

    def add(self, resource: UnmanagedResource) -> None:
        """Add it, or list it as what no plan can hold."""
        try:
            found = list(RESOURCES_OF[resource.kind](self.words, resource.id, name_of(resource.id)))
        except (LookupError, ValidationError):
            self.not_expressible.append(str(resource))
            return
        for name, one in found:
            component, vpod = stands_in(self.words.plan, one)
            # A router with several interfaces comes with each of them.
            self.resources.setdefault(name, Planned(name=name, component=component, vpod=vpod, resource=one))
            if resource.kind == one.KIND:
                self.names[str(CloudId(resource.id))] = name
