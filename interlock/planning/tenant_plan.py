"""A tenant's stack: its project, its vPODs and GPU clusters, its data; empty for a tenant that is to go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.model.lock.record import Lock, SiteLock, VPodAllocation
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant
from interlock.resources import FlavorAccess, Keypair, Project, Resource, RoleAssignment, Router
from interlock.vocabulary import Reference, StackName
from interlock.vocabulary.references import ADMIN_ROLE, EXTERNAL_REFERENCE, OPERATOR_USER, READER_ROLE

from .cluster_plan import write_cluster
from .errors import PlanningError, asked_by
from .plan import Plan, Planned, UntestedDevice
from .plan_builder import PlanBuilder
from .public_servers import public_entries
from .quotas import quota_for, share_quota_for
from .released_vpods import write_released
from .request_hashes import request_hash
from .scope import ClusterScope, VPodScope, access_name, private_flavors
from .tenant_data import public_names, write_data, write_shares
from .vpod_plan import write_vpod


def plan_tenant(site: Site, site_lock: SiteLock, tenant: Tenant, lock: Lock) -> Plan:
    """The plan of the stack `<site>-<tenant id>`. A tenant with `state: gone` has nothing in it.

    Raises PlanningError if the lock does not hold what the request asks for, or if the site lacks a
    cable, flavour or subnet size that the plan needs.
    """
    _check_lock(tenant, lock)
    builder = PlanBuilder()
    if tenant.state == "present":
        _write_tenant(site, tenant, lock, builder)
    entries = public_entries(site, tenant)
    return Plan(
        site=site.name,
        stack=str(StackName(site.name, tenant.id)),
        tenant=tenant.id,
        owner=lock.owner,
        site_owner=site_lock.owner,
        # What the lock rests on, not the whole site: a rack that is added elsewhere leaves this plan as it is.
        site_hash=lock.site,
        request_hash=request_hash(tenant),
        components=tuple(builder.components),
        resources=_guarded(site, tenant, builder),
        public=(*public_names(tenant), *entries),
        public_from=entries,
        separate=tenant.separate,
        budget=tenant.budget,
        untested=tuple(_untested(tenant, lock)),
    )


def _untested(tenant: Tenant, lock: Lock) -> Iterator[UntestedDevice]:
    """Of the vPODs and clusters that there are to be, as the lock notes them."""
    if tenant.state != "present":
        return
    given = [(vpod.name, lock.allocation.vpods[vpod.name]) for vpod in tenant.vpods]
    devices = [(name, ("machines", claims.machines)) for name, claims in given]
    devices += [(name, ("hosts", claims.hosts)) for name, claims in given]
    devices += [(item.name, ("hosts", lock.allocation.clusters[item.name].hosts)) for item in tenant.clusters]
    for name, (claim, held) in devices:
        for one in lock.replaced:
            if one.claim == claim and one.device in held:
                yield UntestedDevice(vpod=name, device=one.device, serial=one.serial, before=one.before)


def _write_tenant(site: Site, tenant: Tenant, lock: Lock, builder: PlanBuilder) -> None:
    builder.component(tenant.id, "TenantProject")
    _write_project(site, tenant, builder)
    write_shares(tenant, builder)
    for vpod in tenant.vpods:
        claims = lock.allocation.vpods[vpod.name]
        with asked_by("vpods", vpod.name):
            write_vpod(VPodScope(site=site, tenant=tenant, vpod=vpod, claims=claims), builder)
    for vpod in tenant.released:
        with asked_by("vpods", vpod.name):
            write_released(site, tenant, vpod, builder)
    for cluster in tenant.clusters:
        given = lock.allocation.clusters[cluster.name]
        with asked_by("clusters", cluster.name):
            write_cluster(ClusterScope(site=site, tenant=tenant, cluster=cluster, claims=given), builder)
    write_data(site, tenant, lock.allocation, builder)
    builder.check_names()


def _write_project(site: Site, tenant: Tenant, builder: PlanBuilder) -> None:
    """All but the quota, which is known only when everything else is written down."""
    project = f"{tenant.id}-project"
    builder.add(project, Project(name=tenant.id, domain=site.domain, description=tenant.name))
    builder.add(f"{tenant.id}-operator", RoleAssignment(project=project, user=OPERATOR_USER, role=ADMIN_ROLE))
    for member in tenant.access.members:
        role = RoleAssignment(project=project, user=Reference.cloud("User", member), role=READER_ROLE)
        builder.add(f"{tenant.id}-member-{member}", role)
    if tenant.access.ssh_public_key is not None:
        key = f"{tenant.id}-key"
        builder.add(key, Keypair(name=key, public_key=tenant.access.ssh_public_key))
    router = f"{tenant.id}-router"
    builder.add(router, Router(name=router, project=project, external_network=EXTERNAL_REFERENCE))
    for flavor in sorted(private_flavors(site, tenant)):
        builder.add(access_name(tenant, flavor), FlavorAccess(project=project, flavor=Reference.site("Flavor", flavor)))


def _guarded(site: Site, tenant: Tenant, builder: PlanBuilder) -> tuple[Planned, ...]:
    """Everything, the quotas in their place. What lies in the project waits for them and for the operator's role."""
    if not builder.resources:
        return ()
    project, operator, quota = (f"{tenant.id}-{part}" for part in ("project", "operator", "quota"))
    resources = [item.resource for item in builder.resources]
    limits: dict[str, Resource] = {quota: quota_for(site, project, resources)}
    if any(item.KIND == "Share" for item in resources):
        limits[f"{tenant.id}-share-quota"] = share_quota_for(site, project, resources)
    first = [Planned(name=name, component=tenant.id, resource=item, after=(operator,)) for name, item in limits.items()]
    before, rest = builder.resources[:2], builder.resources[2:]
    waiting = [
        item.model_copy(update={"after": (*_limits_of(item.resource, limits), operator, *item.after)})
        if _in_project(item.resource, project)
        else item
        for item in rest
    ]
    return (*before, *first, *waiting)


def _limits_of(resource: Resource, limits: Mapping[str, Resource]) -> tuple[str, ...]:
    """The quotas that a resource waits for: that of shares concerns shares alone."""
    of_shares = resource.KIND in ("Share", "ShareAccess")
    return tuple(name for name, item in limits.items() if of_shares or item.KIND == "Quota")


def _in_project(resource: Resource, project: str) -> bool:
    """True also for keypairs: the operator's user owns them, but Nova takes them with the project's token."""
    return getattr(resource, "project", None) == project or isinstance(resource, Keypair)


def _check_lock(tenant: Tenant, lock: Lock) -> None:
    there = tenant.state == "present"
    asked = {vpod.name: (vpod.machines, vpod.poplar.servers) for vpod in (tenant.vpods if there else ())}
    nodes = {item.name: (item.nodes_now, item.heads_now) for item in (tenant.clusters if there else ())}
    given = lock.allocation
    locked = {name: (len(claims.hosts), len(claims.heads)) for name, claims in given.clusters.items()}
    if asked != {name: _size(vpod) for name, vpod in given.vpods.items()} or nodes != locked:
        raise PlanningError(
            f"the lock of {tenant.id} does not hold what its request asks for",
            f"run `interlock lock {tenant.id}`",
        )


def _size(vpod: VPodAllocation) -> tuple[int, int]:
    return (len(vpod.machines), len(vpod.hosts))
