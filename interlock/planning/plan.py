"""The plan: every resource of one stack in component-tree order, every policy-relevant value known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

from pydantic import SerializeAsAny

from interlock.resources import Frozen, Resource, digest_of

ComponentType = Literal[
    "Site", "TenantProject", "VirtualPod", "PoplarServer", "BareMetalServer", "VipuController", "Volume", "Share",
    "Bucket",
]  # fmt: skip


class Component(Frozen):
    """A node of the component tree; `parent` is the name of another, or None at the root of the stack."""

    name: str
    type: ComponentType
    parent: str | None = None


class Planned(Frozen):
    """One resource: `name` is its plan name, logical name and, where the kind has one, its name on the cloud."""

    name: str
    component: str
    resource: SerializeAsAny[Resource]
    #: Plan names that must exist first although no field refers to them (a quota, the operator's own role).
    after: tuple[str, ...] = ()

    def canonical(self) -> dict[str, Any]:
        """The JSON form of the plan file."""
        return {
            "name": self.name,
            "component": self.component,
            "kind": self.resource.KIND,
            "after": list(self.after),
            "spec": self.resource.canonical(),
        }


class Plan(Frozen):
    """What one stack will be. Resources come after everything they refer to."""

    site: str
    stack: str
    #: None: the operator's own stack.
    tenant: str | None
    #: Owner id of this stack and of the site's stack.
    owner: str
    site_owner: str
    #: Of the slice of the site that a tenant's lock names; of the whole site for the operator's stack.
    site_hash: str
    request_hash: str
    components: tuple[Component, ...]
    resources: tuple[Planned, ...]
    #: Names of the resources that the request itself declares open to everybody: the entries from outside.
    public: tuple[str, ...] = ()
    #: Whether the tenant's vPODs are kept apart from each other like tenants.
    separate: Literal["vpods", "no"] = "vpods"

    def canonical(self) -> dict[str, Any]:
        """The JSON form; equal plans are equal byte for byte."""
        head = self.model_dump(mode="json", exclude={"resources"})
        return head | {"resources": [item.canonical() for item in self.resources]}

    @cached_property
    def hash(self) -> str:
        """`sha256:` of the canonical form."""
        return digest_of(self.canonical())

    @cached_property
    def by_name(self) -> dict[str, Planned]:
        """Resources by plan name."""
        return {item.name: item for item in self.resources}

    @cached_property
    def component(self) -> dict[str, Component]:
        """Components by name."""
        return {item.name: item for item in self.components}

    def of(self, component: str) -> Iterator[Planned]:
        """The resources directly below one component, in order."""
        return (item for item in self.resources if item.component == component)

    def without_actuator(self) -> tuple[Planned, ...]:
        """What is planned and proved but cannot be made yet."""
        return tuple(item for item in self.resources if not item.resource.HAS_ACTUATOR)
