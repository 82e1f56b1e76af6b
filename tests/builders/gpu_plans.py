"""Plans of tenants with GPU clusters, on locks that are written by hand: node by node, VLAN by VLAN, key by key."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.model.lock.record import Allocation, ClusterAllocation, Footprint, Lock
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant
from interlock.planning import plan_tenant
from interlock.planning.plan import Plan
from interlock.planning.request_hashes import request_hash
from interlock.vocabulary.owners import OwnerId

from .gpu_sites import gpu_site, node_name
from .pod64 import owner_of, site_locked

#: Slice of the site that locks of these tests rest on: none, so that no plan here changes with it.
NO_SLICE = "sha256:" + "0" * 64


def claims(number: int, *nodes: tuple[int, int], **overrides: object) -> ClusterAllocation:
    """The claims of the cluster with this number, from 1: nodes by unit and number, all else by its number."""
    fields: dict[str, object] = {
        "hosts": tuple(node_name(*node) for node in nodes), "cluster_network": "inband",
        "cluster_vlan": 1500 + number, "cluster_subnet": f"10.60.{number}.0/24",
        "partition_keys": {"compute": 0x10 + number},
    }  # fmt: skip
    return ClusterAllocation.model_validate(fields | overrides)


def clusters_locked(request: Tenant, *given: ClusterAllocation) -> Lock:
    """A sealed lock that gives the tenant's clusters these claims, in their order."""
    named = {cluster.name: found for cluster, found in zip(request.clusters, given, strict=True)}
    return Lock(
        id=request.id, owner=OwnerId(owner_of(request.id)), serial=1, request=request_hash(request), site=NO_SLICE,
        allocation=Allocation(vpods={}, clusters=named), footprint=Footprint(classes=(), labels={}, exclusive=()),
    ).sealed()  # fmt: skip


def clusters_planned(request: Tenant, given: Sequence[ClusterAllocation], site: Site | None = None) -> Plan:
    """The plan of a tenant whose clusters have these claims."""
    site = site or gpu_site()
    return plan_tenant(site, site_locked(site), request, clusters_locked(request, *given))
