"""References of a plan that lead nowhere, and those to objects of the site, of which the plan cannot tell whether they
do. Readers of single kinds see these as somebody's, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from interlock.planning.plan import Plan
from interlock.resources import BucketPolicy, Port, Project, Refers, Resource, Role, ServiceUser, Trunk
from interlock.vocabulary import Reference, Scheme

from .data import EVERYBODY


@dataclass(frozen=True)
class ReferenceFact:
    """That a field of a resource refers to an object."""

    #: Plan name of the resource, and its field.
    name: str
    field: str
    reference: str


#: What the cloud itself brings, or knows by name: who somebody is goes by a project.
_OF_CLOUD = frozenset({Role.KIND, "User", Project.KIND})


def unresolved(plan: Plan) -> Iterator[ReferenceFact]:
    """References to what neither the plan nor, of such a kind, the site or the cloud can have."""
    return (fact for fact, kinds in _references(plan) if not _may_be(plan, fact.reference, kinds))


def of_site(plan: Plan) -> Iterator[ReferenceFact]:
    """References to objects of the operator's stack, each object once: by whichever resource names it first."""
    found: dict[str, ReferenceFact] = {}
    for fact, _ in _references(plan):
        if Reference.scheme_of(fact.reference) is Scheme.SITE:
            found.setdefault(fact.reference, fact)
    return iter(found.values())


def _may_be(plan: Plan, reference: str, kinds: tuple[str, ...]) -> bool:
    scheme = Reference.scheme_of(reference)
    if scheme is None:
        found = plan.by_name.get(reference)
        return found is not None and found.resource.KIND in kinds
    kind = Reference.kind_of(reference)
    return kind in kinds and (scheme is Scheme.SITE or kind in _OF_CLOUD)


def _references(plan: Plan) -> Iterator[tuple[ReferenceFact, tuple[str, ...]]]:
    """Each reference, with the kinds that its field may name."""
    for item in plan.resources:
        spec, fields = item.resource, _fields(type(item.resource))
        for field, reference in (*spec.references(), *_inside(spec)):
            yield ReferenceFact(item.name, field, reference), fields[field]


@cache
def _fields(kind: type[Resource]) -> dict[str, tuple[str, ...]]:
    stated: dict[str, Refers] = kind.reference_fields()
    return {name: refers.kinds for name, refers in stated.items()} | _INSIDE.get(kind, {})


#: Fields whose elements hold references, although their specifications do not call them so.
_INSIDE: dict[type[Resource], dict[str, tuple[str, ...]]] = {
    Trunk: {"sub_ports": (Port.KIND,)},
    BucketPolicy: {"statements": (ServiceUser.KIND, "User")},
}


def _inside(spec: Resource) -> Iterator[tuple[str, str]]:
    if isinstance(spec, Trunk):
        yield from (("sub_ports", sub.port) for sub in spec.sub_ports)
    elif isinstance(spec, BucketPolicy):
        named = (principal for statement in spec.statements for principal in statement.principals)
        yield from (("statements", principal) for principal in named if principal != EVERYBODY)
