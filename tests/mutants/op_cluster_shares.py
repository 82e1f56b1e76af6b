"""Operators on shares that two clusters of one tenant mount: what is granted, and what an appliance joins."""

from __future__ import annotations

from random import Random

from interlock.resources import Share, ShareAccess
from tests.mutants.op_clusters import clustered
from tests.mutants.operator import Operator
from tests.mutants.workspaces import Workspace

#: Clusters of the first tenant -> their subnets, as `op_clusters` gives them.
_MOUNTING = {"gpu-a": "10.99.0", "gpu-b": "10.99.1"}


def _mounted(space: Workspace) -> Workspace | None:
    """Both clusters of the first tenant mount a share of its, where the site has an appliance that keeps apart."""
    found = clustered(space)
    if found is None or not any(item.kind == "storage-appliance" for item in found.site.sharing):
        return None
    tenant, project = found.asked, f"{found.asked}-project"
    share = Share(name=f"{tenant}-gpu", project=project, size_gib=1, share_type="site:ShareType/nfs")
    found = found.add(tenant, share.name, share)
    for name, subnet in _MOUNTING.items():
        access = ShareAccess(
            project=project, share=share.name, network=f"{tenant}-{name}-cluster", prefix=f"{subnet}.0/24",
            vip=f"{subnet}.2",
        )  # fmt: skip
        found = found.add(tenant, _access(tenant, name), access)
    return found


def _access(tenant: str, cluster: str) -> str:
    return f"{tenant}-gpu-access-{cluster}"


def mounted_by_both(space: Workspace, _: Random) -> Workspace | None:
    return _mounted(space)


def granted_beyond_the_cluster(space: Workspace, _: Random) -> Workspace | None:
    found = _mounted(space)
    return found and found.edit(found.asked, _access(found.asked, "gpu-a"), prefix="10.99.0.0/16")


def at_one_address(space: Workspace, _: Random) -> Workspace | None:
    """The address of one cluster's network stands on the other's as well."""
    found = _mounted(space)
    return found and found.edit(found.asked, _access(found.asked, "gpu-b"), vip="10.99.0.2")


def through_the_appliance(space: Workspace, _: Random) -> Workspace | None:
    found = _mounted(space)
    if found is None:
        return None
    sharing = (
        item.model_copy(update={"guards": item.guards | {"no_routing_between_vips": False}})
        if item.kind == "storage-appliance"
        else item
        for item in found.site.sharing
    )
    return found.with_site(sharing=tuple(sharing))


CLUSTER_SHARES = (
    Operator(
        "cluster-share-wide", "a share open beyond the in-band subnet of a cluster",
        granted_beyond_the_cluster, mounted_by_both, "SEC-14",
    ),
    Operator(
        "cluster-share-address", "one address of the appliance for two clusters of a tenant",
        at_one_address, mounted_by_both, "SEC-14", ("ISO-30",),
    ),
    Operator(
        "cluster-share-routed", "two clusters of a tenant behind an appliance that routes between its addresses",
        through_the_appliance, mounted_by_both, "ISO-30", ("ISO-02",),
    ),
)  # fmt: skip
