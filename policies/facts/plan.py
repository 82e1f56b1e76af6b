"""Plan -> facts. Owners follow from projects; vPODs and roles are what the plan states, never read off names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeVar

from interlock.planning.plan import ComponentType, Plan
from interlock.resources import (
    AddressScope,
    Network,
    RoleAssignment,
    Router,
    RouterInterface,
    S3Credential,
    ServiceUser,
    Subnet,
    SubnetPool,
    Volume,
)
from interlock.vocabulary.owners import RESERVED_OWNERS
from policies.about import OpenScope

from .access import AggregateFact, FlavorAccessFact, FlavorFact, KeypairFact, access_facts
from .data import (
    AttachmentFact,
    BucketFact,
    BucketPolicyFact,
    CredentialFact,
    ServiceUserFact,
    ShareAccessFact,
    ShareFact,
    VolumeFact,
    VolumeTypeFact,
)
from .fabric import AllocationFact, ClusterFact, NvlinkFact, PartitionFact, PartitionKeyFact, SwitchPortFact
from .kinds import (
    NetworkFact,
    PlanFacts,
    PortFact,
    RouterFact,
    SegmentRangeFact,
    ServerFact,
    SubnetFact,
    VPodFact,
)
from .plan_references import of_site, unresolved
from .reader import PlanReader
from .readings import READINGS, KindReading
from .rights import FloatingIpFact, ImageFact, RightFact, SecurityGroupFact, StoredCredentialFact, TrunkFact
from .vipu import AgentClusterFact, AgentFact, VipuFacts, VipuUserFact

F = TypeVar("F")


def plan_facts(plan: Plan, readings: Mapping[str, KindReading] = READINGS) -> PlanFacts:
    """The facts of a plan; `unread` names every resource of a kind that `readings` has no line for.

    Raises ValueError if the tenant is called like one of the labels that are no tenant's.
    """
    if plan.tenant in RESERVED_OWNERS:
        raise ValueError(f"a tenant cannot be called {plan.tenant!r}: the proof uses that word for another owner")
    reader = PlanReader(plan)
    found = _Found(reader, readings)
    return PlanFacts(
        owner=reader.owner,
        is_tenant=plan.tenant is not None,
        networks=found.of(NetworkFact),
        subnets=found.of(SubnetFact),
        ports=found.of(PortFact),
        servers=found.of(ServerFact),
        routers=found.of(RouterFact),
        switch_ports=found.of(SwitchPortFact),
        vpods=tuple(_vpods(plan, found)),
        clusters=tuple(_clusters(plan, found)),
        allocations=found.of(AllocationFact),
        partitions=found.of(PartitionFact),
        vipu=VipuFacts(found.of(AgentFact), found.of(AgentClusterFact), found.of(VipuUserFact)),
        keys=found.of(PartitionKeyFact),
        nvlinks=found.of(NvlinkFact),
        volume_types=found.of(VolumeTypeFact),
        volumes=found.of(VolumeFact),
        attachments=found.of(AttachmentFact),
        shares=found.of(ShareFact),
        accesses=found.of(ShareAccessFact),
        buckets=found.of(BucketFact),
        bucket_policies=found.of(BucketPolicyFact),
        users=found.of(ServiceUserFact),
        credentials=found.of(CredentialFact),
        ranges=found.of(SegmentRangeFact),
        trunks=found.of(TrunkFact),
        floating_ips=found.of(FloatingIpFact),
        rights=found.of(RightFact),
        stored_credentials=found.of(StoredCredentialFact),
        images=found.of(ImageFact),
        security_groups=found.of(SecurityGroupFact),
        flavors=found.of(FlavorFact),
        flavor_accesses=found.of(FlavorAccessFact),
        aggregates=found.of(AggregateFact),
        keypairs=found.of(KeypairFact),
        access=access_facts(reader),
        resources=len(plan.resources),
        unread=found.unread,
        hidden=tuple(_hidden(plan)),
        without_vpod=tuple(_without_vpod(plan)),
        other_vpod=tuple(_other_vpod(plan)),
        unresolved=tuple(unresolved(plan)),
        of_site=tuple(of_site(plan)),
        stray_interfaces=tuple(_stray_interfaces(reader)),
        to_pay=plan if plan.budget is not None else None,
        open_scopes=tuple(_open_scopes(reader)),
        separates_vpods=plan.separate == "vpods",
        untested=plan.untested,
    )


class _Found:
    """The facts of one plan by their type, and what there was no way to read."""

    def __init__(self, reader: PlanReader, readings: Mapping[str, KindReading]) -> None:
        lines = [(item, readings.get(item.resource.KIND)) for item in reader.plan.resources]
        made = ((line.fact, item) for item, line in lines if line is not None)
        self.by_type: defaultdict[type[object], list[object]] = defaultdict(list)
        for fact in (read(reader, item) for read, item in made if read is not None):
            self.by_type[type(fact)].append(fact)
        self.unread = tuple((item.resource.KIND, item.name) for item, line in lines if line is None)

    def of(self, kind: type[F]) -> tuple[F, ...]:
        """The facts of one type, in the order of the plan."""
        return tuple(fact for fact in self.by_type.get(kind, ()) if isinstance(fact, kind))


def _hidden(plan: Plan) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Everything is found by its plan name alone, so one name for two resources is as bad for two kinds as for one."""
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for item in plan.resources:
        kinds[item.name].append(item.resource.KIND)
    return ((name, tuple(found)) for name, found in kinds.items() if len(found) > 1)


def _open_scopes(reader: PlanReader) -> Iterable[OpenScope]:
    yield from (OpenScope("address scope", item.name) for item, spec in reader.all(AddressScope) if spec.shared)
    yield from (OpenScope("subnet pool", item.name) for item, spec in reader.all(SubnetPool) if spec.shared)
    yield from (OpenScope("subnet", name) for name in _unscoped(reader))


def is_ipv6(cidr: str) -> bool:
    """True for a prefix of IPv6, also one that is not well formed."""
    return ":" in cidr


def _unscoped(reader: PlanReader) -> Iterable[str]:
    """Subnets of external networks whose packets no scope tells apart: one holds addresses of one family only.

    A pool that is on the cloud already is not looked into here; without any scope in the plan the site's word decides.
    """
    outside = {item.name for item, spec in reader.all(Network) if spec.external}
    scopes = {item.name: spec.ip_version for item, spec in reader.all(AddressScope)}
    pools = {item.name: scopes.get(spec.address_scope) for item, spec in reader.all(SubnetPool)}
    for item, spec in reader.all(Subnet):
        family = 6 if is_ipv6(spec.cidr) else 4
        if spec.network not in outside:
            continue
        if spec.subnet_pool is None:
            yield from [item.name] if scopes or is_ipv6(spec.cidr) else []
        elif pools.get(spec.subnet_pool) not in (None, family):
            yield item.name


def _without_vpod(plan: Plan) -> Iterable[str]:
    """Plan files of before resources stated their vPOD have all of a vPOD's resources here."""
    return (item.name for item in plan.resources if item.vpod is None and plan.vpod_above(item.component) is not None)


def _other_vpod(plan: Plan) -> Iterable[tuple[str, str, str | None]]:
    """A plan that contradicts itself: what rules ask about one vPOD would be made as a part of another."""
    stated = ((item.name, item.vpod, plan.vpod_above(item.component)) for item in plan.resources)
    return ((name, vpod, above) for name, vpod, above in stated if vpod is not None and vpod != above)


def _stray_interfaces(reader: PlanReader) -> Iterable[tuple[str, str]]:
    interfaces = (spec for _, spec in reader.all(RouterInterface))
    return ((spec.router, spec.subnet) for spec in interfaces if not reader.is_own(spec.router, Router))


#: What a vPOD that is released still has.
_LEFT_OF_A_VPOD = (Volume, ServiceUser, RoleAssignment, S3Credential)


def _vpods(plan: Plan, found: _Found) -> Iterable[VPodFact]:
    metal = (server for server in found.of(ServerFact) if server.is_bare_metal)
    # Of one that is released data and who owns buckets are left: no machine, no network, no server to prove much of.
    there = {item.vpod for item in plan.resources if not isinstance(item.resource, _LEFT_OF_A_VPOD)}
    for name, hosts in _hosts(plan, metal, "VirtualPod"):
        if name not in there and any(item.vpod == name for item in plan.resources):
            continue
        yield VPodFact(name, tuple(sorted(plan.machines(name))), hosts)


def _clusters(plan: Plan, found: _Found) -> Iterable[ClusterFact]:
    """The servers of a cluster are its nodes, as bare metal or below a hypervisor, but for its heads."""
    inside = {item.name: plan.component.get(item.component) for item in plan.resources}
    named = {name for name, part in inside.items() if part is not None and part.type == "ClusterHead"}
    servers = found.of(ServerFact)
    heads = [server for server in servers if server.name in named and not server.is_bare_metal]
    behind = dict(_hosts(plan, heads, "GpuCluster"))
    nodes = (server for server in servers if server not in heads)
    return (ClusterFact(name, hosts, behind[name]) for name, hosts in _hosts(plan, nodes, "GpuCluster"))


def _hosts(plan: Plan, servers: Iterable[ServerFact], kind: ComponentType) -> Iterable[tuple[str, tuple[str, ...]]]:
    """(component, the hosts of these servers that are of it) of each component of one type."""
    listed = tuple(servers)
    for component in plan.components:
        if component.type == kind:
            yield component.name, tuple(sorted({item.host for item in listed if item.vpod == component.name}))
