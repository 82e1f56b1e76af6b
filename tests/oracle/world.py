"""What the oracle is asked about: a site, the plans on it, and what was given up and is not settled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from interlock.model.lock.record import Released
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan, Planned
from interlock.resources import Resource

K = TypeVar("K", bound=Resource)

OP, OUTSIDE, FOREIGN = "op", "world", "foreign"


@dataclass(frozen=True)
class World:
    """Plans by tenant id; `site_plan` None: the operator plans nothing of its own."""

    site: Site
    plans: Mapping[str, Plan]
    site_plan: Plan | None = None
    released: Mapping[str, tuple[Released, ...]] = field(default_factory=dict)
    #: Tenant -> machines and whole hosts that it had, and that were cleaned and given out again after it.
    cleaned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Tenant -> lines of public keys that its request named once, and that its servers may have.
    former_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: (table, device) of what nobody listed and is there all the same.
    unlisted: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """Every plan with its owner, the operator's first."""
        own = (Stack(self, OP, self.site_plan),) if self.site_plan is not None else ()
        return (*own, *(Stack(self, tenant, plan) for tenant, plan in self.plans.items()))

    def given_up(self) -> Iterator[tuple[str, Released]]:
        """(former holder, claim) of everything released."""
        for tenant, entries in self.released.items():
            for entry in entries:
                yield tenant, entry

    def had(self, device: str) -> Iterator[str]:
        """Former holders after whom a device was cleaned."""
        yield from (tenant for tenant, names in self.cleaned.items() if device in names)


@dataclass(frozen=True)
class Stack:
    """One plan, and whose it is."""

    world: World
    owner: str
    plan: Plan

    @cached_property
    def by_kind(self) -> dict[str, list[Planned]]:
        """Resources of each kind."""
        found: dict[str, list[Planned]] = {}
        for item in self.plan.resources:
            found.setdefault(item.resource.KIND, []).append(item)
        return found

    def all(self, kind: type[K]) -> Iterator[tuple[str, K]]:
        """(plan name, resource) of every resource of this kind."""
        for item in self.by_kind.get(kind.KIND, ()):
            if isinstance(item.resource, kind):
                yield item.name, item.resource

    def find(self, kind: type[K], reference: str) -> tuple[Stack, str, K] | None:
        """What a reference leads to: in this plan, or in the operator's for `site:`; None if nothing is there."""
        home, name = self._home(reference)
        if home is None or name not in home.plan.by_name:
            return None
        resource = home.plan.by_name[name].resource
        return (home, name, resource) if isinstance(resource, kind) else None

    def _home(self, reference: str) -> tuple[Stack | None, str]:
        if not reference.startswith("site:"):
            return self, reference
        site = next((stack for stack in self.world.stacks if stack.owner == OP), None)
        return site, reference.partition("/")[2]

    def owner_of(self, project: str | None) -> str:
        """Whose the objects of a project are: a name or a tag never says it, only where the project stands."""
        if project is None or project.startswith("site:"):
            return OP
        return self.owner if project in self.plan.by_name else FOREIGN
