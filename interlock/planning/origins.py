"""Where in a request a planned value comes from, as a path of keys: `vpods.train.poplar.flavor`.

Names in a plan are `<tenant>-<part>-…`, so the component tree alone leads back to the request; `ORIGINS` is the
whole rule. What is not listed follows from the lock or from the design, and nobody wrote it down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.resources import Bucket, ShareAccess, StoredCredential
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.request_parts import RequestPart

from .guest.cluster_keys import MUNGE
from .plan import Component, ComponentType, Plan, Planned


@dataclass(frozen=True)
class Origin:
    """Resources of one kind in one component type: the path of the entry, and the key of each field below it."""

    component: ComponentType
    kind: str
    path: str
    keys: Mapping[str, str]


_VOLUME = {"size_gib": "size", "volume_type": "type", "on_delete": "on_delete", "encrypted": "encrypted"}

#: `{part}` is the vPOD, cluster, volume, share or bucket; `{own}` what follows its name and the kind of part.
ORIGINS = (
    Origin("TenantProject", "Project", "", {"description": "name"}),
    Origin("TenantProject", "Keypair", "access", {"public_key": "ssh_public_key"}),
    Origin("VirtualPod", "SecurityGroup", "access", {"rules": "ssh_from"}),
    Origin("VirtualPod", "SwitchPort", "vpods.{part}", {"device": "machines"}),
    Origin("PoplarServer", "Server", "vpods.{part}.poplar", {"flavor": "flavor", "image": "image"}),
    Origin("PoplarServer", "FloatingIp", "access.public.{part}", {"port": "servers"}),
    Origin("PoplarServer", "Volume", "vpods.{part}.poplar.volume", _VOLUME),
    Origin("PoplarServer", "StoredCredential", "vpods.{part}", {"credential": "s3_keys"}),
    Origin("BareMetalServer", "BareMetalServer", "vpods.{part}.poplar", {"image": "image", "node": "kind"}),
    Origin("VipuController", "SwitchPort", "vpods.{part}", {"device": "machines"}),
    Origin("VipuController", "VipuAgent", "vpods.{part}", {"machine": "machines"}),
    Origin("VipuController", "VipuCluster", "vpods.{part}", {"agents": "machines"}),
    Origin("VipuController", "VipuAllocation", "vpods.{part}", {"machines": "machines"}),
    Origin(
        "VipuController",
        "VipuPartition",
        "vpods.{part}.partitions.{own}",
        {key: key for key in ("ipus", "gcds", "replicas", "reconfigurable", "sync_type", "routing", "replaceable")},
    ),
    Origin("VipuController", "VipuUser", "vpods.{part}.poplar", {"name": "servers"}),
    Origin("VipuController", "StoredCredential", "vpods.{part}.poplar", {"place": "servers"}),
    Origin("GpuCluster", "PartitionKey", "clusters.{part}", {"infiniband": "fabric"}),
    Origin("GpuCluster", "SecurityGroup", "access", {"rules": "ssh_from"}),
    Origin("ClusterHead", "Server", "clusters.{part}.heads", {"flavor": "flavor", "image": "image"}),
    Origin("ClusterHead", "StoredCredential", "clusters.{part}", {"credential": "s3_keys"}),
    Origin("ClusterHead", "FloatingIp", "access.public.{part}", {"port": "servers"}),
    Origin("ClusterNode", "BareMetalServer", "clusters.{part}", {"image": "image", "node": "nodes"}),
    Origin("ClusterNode", "Server", "clusters.{part}", {"image": "image", "host": "nodes", "flavor": "type"}),
    Origin("ClusterNode", "StoredCredential", "clusters.{part}", {"credential": "s3_keys"}),
    Origin("GpuCluster", "SecurityGroup", "access", {"rules": "ssh_from"}),
    Origin("Volume", "Volume", "volumes.{part}", _VOLUME),
    Origin("Volume", "VolumeAttachment", "volumes.{part}", {"server": "server"}),
    Origin("Share", "Share", "shares.{part}", {"size_gib": "size", "share_type": "type", "on_delete": "on_delete"}),
    Origin("Share", "ShareAccess", "shares.{part}", {"level": "access", "network": "vpods"}),
    Origin("Bucket", "Bucket", "buckets.{part}", {key: key for key in (*Bucket.SETTINGS, "on_delete")}),
    Origin("Bucket", "BucketPolicy", "buckets.{part}", {}),
)

_BY_PLACE = {(item.component, item.kind): item for item in ORIGINS}

#: Component types whose name is `<tenant>-<part>`; everything below belongs to that part.
_PARTS: tuple[ComponentType, ...] = ("VirtualPod", "GpuCluster", "Volume", "Share", "Bucket")
#: What stands between the name of the part and the own name of a resource.
_BETWEEN = {"VipuPartition": "-partition-"}


def request_path(plan: Plan, item: Planned, field: str | None = None) -> str | None:
    """The path of a resource's entry in the request, or of one field of it. None: no line of it says so."""
    component = plan.component[item.component]
    origin = _BY_PLACE.get((component.type, item.resource.KIND))
    if origin is None or plan.tenant is None or (field is not None and field not in origin.keys):
        return None
    above = _part(plan, component)
    if above == plan.tenant:
        path = origin.path
    else:
        part = RequestPart.parse(plan.tenant, above)
        path = origin.path.format(part=part.name, own=part.below(item.name, _BETWEEN.get(item.resource.KIND, "-")))
    return path if field is None else f"{path}.{_key(plan, item, origin.keys[field])}".removeprefix(".")


def _key(plan: Plan, item: Planned, key: str) -> str:
    """What mounts a share stands under two keys, and so does the number of a key that servers are handed."""
    spec = item.resource
    if isinstance(spec, StoredCredential) and spec.item == MUNGE:
        return "scheduler.slurm.munge_key"
    of_cluster = isinstance(spec, ShareAccess) and plan.role_of(spec.network) is NetworkRole.CLUSTER
    return "clusters" if of_cluster and key == "vpods" else key


def _part(plan: Plan, component: Component) -> str:
    """Name of the component, at or above this one, that a line of the request asks for."""
    while component.type not in _PARTS and component.parent is not None:
        component = plan.component[component.parent]
    return component.name
