"""Where the entries that findings are about stand: `file:line:column` in a request, the site file or a lock."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from infra.locking.places import Places
from interlock.model.load import Workspace
from interlock.model.tenant.request import Pins
from interlock.model.text.source import Step
from interlock.planning import Plan
from interlock.planning.origins import request_path
from interlock.planning.plan import Component, Planned
from interlock.resources import Network, Subnet
from interlock.vocabulary import CLAIMS_OF, Position
from interlock.vocabulary.entries import EntryKind, SpecEntry
from interlock.vocabulary.request_parts import RequestPart
from policies.facts.identities import OPERATOR
from policies.findings.report import EntryPlace

#: Kind of a resource -> the claim that it comes from; networks and subnets have theirs by what they are for.
_CLAIMS = {"SwitchPort": "machines", "VipuAllocation": "machines", "ShareAccess": "storage_vip"}
#: The same of what a GPU cluster has.
_OF_CLUSTERS = {"SwitchPort": "hosts", "BareMetalServer": "hosts", "Server": "hosts", "PartitionKey": "partition_keys"}
#: Type of a component -> the section of the request in which its entry stands.
_SECTIONS = {"VirtualPod": "vpods", "GpuCluster": "clusters"}
#: Kind -> the field that its rules are about, where the request has a line of its own for it.
_DECIDES = {"SecurityGroup": "rules", "Keypair": "public_key", "VolumeAttachment": "server"}


@dataclass(frozen=True)
class FindingPlaces:
    """The files of one site, and the plan whose findings are told."""

    workspace: Workspace
    plan: Plan

    @cached_property
    def _locks(self) -> Places:
        return Places(self.workspace)

    def __call__(self, entries: tuple[SpecEntry, ...]) -> tuple[EntryPlace, ...]:
        """The place of each entry, in their order."""
        return tuple(_place(self.position(entry), entry) for entry in entries)

    def position(self, entry: SpecEntry) -> str:
        """`file:line:column` of an entry; of the nearest thing above where it says nothing itself."""
        match entry.kind:
            case EntryKind.SITE:
                return self.workspace.fact_position(entry.name)
            case EntryKind.LOCK:
                return self._of_lock(entry.name)
            case EntryKind.RESOURCE:
                return self._of_resource(entry.name)

    def planned(self, name: str) -> str:
        """`file:line:column` of what a resource of the plan comes from."""
        return self._of_resource(name)

    def _of_lock(self, tenant: str) -> str:
        """Another's claims: what its lock holds; the operator's part follows from the site file."""
        if tenant == OPERATOR:
            return self.workspace.position()
        return self._locks.position(tenant, ("allocation",))

    def _of_resource(self, name: str) -> str:
        if self.plan.tenant is None:
            return self.workspace.position()
        item = self.plan.by_name.get(name)
        if item is None:
            return self._of_component(self.plan.component.get(name))
        claim, vpod = self._claim(item), _vpod(self.plan, item)
        pinned = claim is not None and vpod is not None and self._is_pinned(vpod, claim)
        if claim is not None and vpod is not None and pinned:
            return self._of_request(("pins", vpod, claim))
        path = request_path(self.plan, item, _DECIDES.get(item.resource.KIND)) or request_path(self.plan, item)
        if path:
            return self._of_request(tuple(path.split(".")))
        if claim is not None and vpod is not None:
            section = "clusters" if self._is_of_cluster(item) else "vpods"
            return self._locks.position(self.plan.tenant, ("allocation", section, vpod, claim))
        return self._of_component(self.plan.component[item.component])

    def _is_pinned(self, vpod: str, claim: str) -> bool:
        request = self.workspace.tenants.get(self.plan.tenant or "")
        pins = request.pins.get(vpod, Pins()) if request is not None else Pins()
        return getattr(pins, claim, None) is not None

    def _of_component(self, component: Component | None) -> str:
        """A vPOD or cluster, or whatever else of the request the component is a part of."""
        part = component
        while part is not None and part.type not in _SECTIONS:
            part = self.plan.component.get(part.parent or "")
        return self._of_request((_SECTIONS[part.type], _short(self.plan, part.name)) if part is not None else ())

    def _is_of_cluster(self, item: Planned) -> bool:
        part = self.plan.component.get(item.vpod or "")
        return part is not None and part.type == "GpuCluster"

    def _claim(self, item: Planned) -> str | None:
        """The claim that a resource is made from; in a cluster switch ports follow from its nodes."""
        if self._is_of_cluster(item) and item.resource.KIND in _OF_CLUSTERS:
            part = self.plan.component.get(item.component)
            if item.resource.KIND == "Server" and part is not None and part.type == "ClusterHead":
                return "heads"
            return _OF_CLUSTERS[item.resource.KIND]
        return _claim(self.plan, item)

    def _of_request(self, path: tuple[Step, ...]) -> str:
        return self.workspace.position(*path, tenant=self.plan.tenant)


def _claim(plan: Plan, item: Planned) -> str | None:
    """The claim of the lock that a resource is made from: `ipu_data_vlan`, `control_subnet`, `machines` …"""
    spec = item.resource
    if isinstance(spec, Network) and item.role is not None:
        return CLAIMS_OF[item.role].segment(spec.network_type)
    if isinstance(spec, Subnet) and (role := plan.role_of(spec.network)) is not None:
        return CLAIMS_OF[role].subnet
    return _CLAIMS.get(spec.KIND)


def _vpod(plan: Plan, item: Planned) -> str | None:
    """Name in the request of the vPOD that a resource belongs to."""
    return _short(plan, item.vpod) if item.vpod is not None else None


def _short(plan: Plan, vpod: str) -> str:
    return RequestPart.parse(plan.tenant or "", vpod).name


def _place(position: str, entry: SpecEntry) -> EntryPlace:
    """A file without lines counts as its first one."""
    place = Position.parse(position)
    return EntryPlace(file=place.file, line=place.line, column=place.column, entry=entry)
