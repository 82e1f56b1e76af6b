"""The plan: every resource of one stack after all that it refers to, every policy-relevant value known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

from pydantic import SerializeAsAny

from interlock.model.tenant.request import Budget
from interlock.resources import BareMetalServer, Frozen, Resource, SwitchPort, digest_of
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.owners import OwnerId

from .plan_hash import hashed_form, vpods_above

ComponentType = Literal[
    "Site", "TenantProject", "VirtualPod", "PoplarServer", "BareMetalServer", "VipuController", "GpuCluster",
    "ClusterHead", "ClusterNode", "Volume", "Share", "Bucket",
]  # fmt: skip
#: A node of a GPU cluster: a whole host, or the one virtual server on it.
CLUSTER_NODE: ComponentType = "ClusterNode"


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
    #: Name of the component of the vPOD or GPU cluster that it belongs to; None: to none, or nobody states it.
    vpod: str | None = None
    #: What a network of a vPOD or cluster is for; None for everything else, and where nobody states it.
    role: NetworkRole | None = None

    def canonical(self) -> dict[str, Any]:
        """The JSON form of the plan file."""
        return {
            "name": self.name,
            "component": self.component,
            "kind": self.resource.KIND,
            "after": list(self.after),
            "vpod": self.vpod,
            "role": self.role.value if self.role else None,
            "spec": self.resource.canonical(),
        }


class UntestedDevice(Frozen):
    """A machine or whole host that stands where `before` stood, and of which the lock notes no self-test."""

    vpod: str
    device: str
    serial: str
    before: str


class Plan(Frozen):
    """What one stack will be. Resources come after everything they refer to."""

    site: str
    stack: str
    #: None: the operator's own stack.
    tenant: str | None
    #: Owner id of this stack and of the site's stack.
    owner: OwnerId
    site_owner: OwnerId
    #: Of the slice of the site that a tenant's lock names; of the whole site for the operator's stack.
    site_hash: str
    request_hash: str
    components: tuple[Component, ...]
    resources: tuple[Planned, ...]
    #: Names of the resources that the request itself declares open to everybody: the entries from outside.
    public: tuple[str, ...] = ()
    #: Name of a public floating IP -> the prefixes that may come in by it: the request's, and those of the bastion.
    public_from: dict[str, tuple[str, ...]] = {}
    #: Whether the tenant's vPODs and clusters are kept apart from each other like tenants.
    separate: Literal["vpods", "no"] = "vpods"
    #: Most that the tenant wants to pay per month; None: no limit.
    budget: Budget | None = None
    #: Devices of its vPODs that replaced others and that nobody is known to have tested.
    untested: tuple[UntestedDevice, ...] = ()

    def canonical(self) -> dict[str, Any]:
        """The JSON form; equal plans are equal byte for byte."""
        # Plans in which these fields say nothing read as they did before there were any, and have the hash they had.
        later = {name for name in ("budget", "public_from", "untested") if not getattr(self, name)}
        head = self.model_dump(mode="json", exclude={"resources", *later})
        return head | {"resources": [item.canonical() for item in self.resources]}

    @cached_property
    def hash(self) -> str:
        """`sha256:` of the canonical form, shortened as `hashed_form` says."""
        return digest_of(hashed_form(self.canonical()))

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

    def vpod_above(self, component: str) -> str | None:
        """The vPOD or GPU cluster whose part a component is, by the component tree."""
        return self._vpod_of_component.get(component)

    @cached_property
    def _vpod_of_component(self) -> dict[str, str]:
        return vpods_above((item.name, item.type, item.parent) for item in self.components)

    def role_of(self, network: str) -> NetworkRole | None:
        """What a network of this plan is for, by its plan name; None if it states nothing, or is not of this plan."""
        item = self.by_name.get(network)
        return item.role if item is not None else None

    def machines(self, vpod: str) -> tuple[str, ...]:
        """The IPU-Machines of a vPOD, as planned: the devices whose switch ports it sets, without its whole hosts."""
        hosts = {item.resource.node for item in self.resources if isinstance(item.resource, BareMetalServer)}
        own = (item.resource for item in self.resources if item.vpod == vpod)
        devices = dict.fromkeys(port.device for port in own if isinstance(port, SwitchPort))
        return tuple(device for device in devices if device not in hosts)

    def without_actuator(self) -> tuple[Planned, ...]:
        """What is planned and proved and no actuator makes: there is none yet, or somebody else wires that switch."""
        return tuple(
            item for item in self.resources if not item.resource.is_declared and not item.resource.comes_with_another
        )
