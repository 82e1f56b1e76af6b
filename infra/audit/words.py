"""What ids of the cloud mean in the plan of one stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from interlock.planning import Plan
from interlock.provider.audit.controllers import ReadController
from interlock.provider.audit.listing import Listed
from interlock.provider.audit.standing import Standing
from interlock.resources import RoleAssignment
from interlock.vocabulary import CloudId, Reference
from interlock.vocabulary.pair_ids import RoleAssignmentId


class NotExpressible(LookupError):
    """No plan can hold it."""


@dataclass(frozen=True)
class Words:
    """What ids mean in the plan of one stack. `standings`: of every stack of the site."""

    plan: Plan
    plans: Mapping[str, Plan]
    standings: Mapping[str, Iterable[Standing]]
    found: Listed
    #: Uuid of its server -> V-IPU controller.
    controllers: Mapping[str, ReadController] = field(default_factory=dict)

    @cached_property
    def _references(self) -> Mapping[tuple[str, str], str]:
        """(kind, id) -> reference, of everything that is there once."""
        return {
            (item.kind, item.ids[0]): reference
            for stack, items in self.standings.items()
            for item in items
            if len(item.ids) == 1 and (reference := self._reference(self.plans[stack], item)) is not None
        }

    def _reference(self, plan: Plan, item: Standing) -> str | None:
        if plan.stack == self.plan.stack:
            return item.name
        if plan.tenant is None:
            return Reference.site(item.kind, item.name)
        # Of another tenant a plan can name the project; that is who somebody is.
        return Reference.cloud("Project", plan.tenant) if item.kind == "Project" else None

    @cached_property
    def planned(self) -> frozenset[tuple[str, str]]:
        """(kind, id) of everything that any stack planned."""
        every = (item for items in self.standings.values() for item in items)
        return frozenset((item.kind, ident) for item in every for ident in item.ids)

    def of(self, kind: str, ident: str) -> str:
        """Raises `NotExpressible` for what this plan cannot refer to."""
        if not self.has(kind, ident):
            raise NotExpressible(f"{kind} {ident}")
        return self._references[kind, ident]

    def has(self, kind: str, ident: str) -> bool:
        """True for what this plan can refer to."""
        return (kind, ident) in self._references

    def all(self, kind: str) -> dict[str, str]:
        """Id -> reference."""
        return {ident: reference for (of, ident), reference in self._references.items() if of == kind}

    def project(self, ident: str) -> str:
        """A project that nobody knows is a stranger's."""
        return self._references.get(("Project", ident), Reference.cloud("Project", ident))

    def user(self, ident: str) -> str:
        """Whom the plan gives a role. Raises `NotExpressible` for everybody else: in a plan a user is a member."""
        if ident not in self._members:
            raise NotExpressible(f"user {ident}")
        return self._members[ident]

    @cached_property
    def _members(self) -> Mapping[str, str]:
        """Id -> reference: by the id in what is there, for names are shared by people of other domains."""
        assigned = ((self.plan.by_name[item.name].resource, item.ids) for item in self.standings[self.plan.stack])
        return {
            RoleAssignmentId.parse(ids[0]).user: spec.user
            for spec, ids in assigned
            if isinstance(spec, RoleAssignment) and len(ids) == 1
        }

    def role(self, ident: str) -> str:
        """One of ours, or one that the cloud brings."""
        name = self.found.of("Role").get(ident, {}).get("name", ident)
        return self._references.get(("Role", ident), Reference.cloud("Role", name))


def named(value: Any, found: Mapping[str, str]) -> Any:
    """Ids of unmanaged resources, by their names in the observed plan."""
    if isinstance(value, list):
        return [named(one, found) for one in value]
    if isinstance(value, dict):
        return {name: named(one, found) for name, one in value.items()}
    if CloudId.named(value) is None:
        return value
    if value not in found:
        raise NotExpressible(value)
    return found[value]


def name_of(ident: str) -> str:
    """Its plan name."""
    return f"found-{ident.replace('/', '-')}"
