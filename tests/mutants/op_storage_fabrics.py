"""Operators on storage fabrics: clients of the appliance that are left out, full, or in a key where it is not."""

from __future__ import annotations

from random import Random

from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.inventory import InfinibandSubnet, Site
from interlock.model.site.storage_fabric import StorageAccess, StorageFabric
from interlock.resources import PartitionKey
from tests.mutants.op_clusters import clustered, member
from tests.mutants.operator import Operator
from tests.mutants.sites import declared
from tests.mutants.workspaces import Workspace

_STORAGE, _APPLIANCE, _SHARED = "ib-storage", f"{0x7001:016x}", 0x0170


def client_of(node: int) -> str:
    """The GUID of a node's one storage port."""
    return f"{0x6000 + node:016x}"


def _storage(site: Site, access: StorageAccess) -> dict[str, object]:
    """A storage fabric for the nodes of `clustered`, with an appliance of one port."""
    stated = StorageFabric(access=access, appliance=(_APPLIANCE,), key=_SHARED if access == "shared" else None)
    subnet = InfinibandSubnet(name=_STORAGE, prefix="fe800000000000a2", storage=stated)
    filer = declared("filer", "object-store", _APPLIANCE)
    nodes = tuple(_with_port(node, number) for number, node in enumerate(site.gpu_nodes, start=1))
    return {"infiniband": (*site.infiniband, subnet), "gpu_nodes": nodes, "sharing": (*site.sharing, filer)}


def _with_port(node: GpuHost, number: int) -> GpuHost:
    port = HcaPort(name="storage1", use="storage", infiniband=_STORAGE, rail=1, guid=client_of(number))
    return node.model_copy(update={"ports": (*node.ports, port)})


def _stored(space: Workspace, access: StorageAccess) -> Workspace | None:
    """The clusters of `clustered`, each with storage; asked about the first tenant."""
    keys = {"gpu-a": 0x81, "gpu-b": 0x82, "gpu-c": 0x83} if access == "per-tenant" else {}
    return clustered(space, lambda site: _storage(site, access), {part: {_STORAGE: key} for part, key in keys.items()})


def _edited(space: Workspace, access: StorageAccess, guid: str, how: str | None, **fields: object) -> Workspace | None:
    """The partition for storage of `gpu-a`, in which this port is otherwise; `how` None: it is not in it."""
    found = _stored(space, access)
    if found is None:
        return None
    name = f"{found.asked}-gpu-a-partition-{_STORAGE}"
    kept = tuple(item for item in found.get(found.asked, name, PartitionKey).members if item.guid != guid)
    return found.edit(found.asked, name, members=kept if how is None else (*kept, member(guid, how)), **fields)


def client_left_out(space: Workspace, _: Random) -> Workspace | None:
    return _edited(space, "per-tenant", client_of(2), None)


def client_that_is_full(space: Workspace, _: Random) -> Workspace | None:
    """It joins its key to the appliance's port, which is in everybody's."""
    return _edited(space, "per-tenant", client_of(2), "full")


def appliance_left_out(space: Workspace, _: Random) -> Workspace | None:
    return _edited(space, "per-tenant", _APPLIANCE, None)


def key_without_the_appliance(space: Workspace, _: Random) -> Workspace | None:
    return _edited(space, "shared", client_of(2), "limited", key=_SHARED + 1)


def own_keys(space: Workspace, _: Random) -> Workspace | None:
    return _stored(space, "per-tenant")


def shared_key(space: Workspace, _: Random) -> Workspace | None:
    return _stored(space, "shared")


STORAGE_FABRICS = (
    Operator(
        "storage-left-out", "a storage port in no partition",
        client_left_out, own_keys, "TOP-27",
    ),
    Operator(
        "storage-full", "a client of the appliance that is full",
        client_that_is_full, own_keys, "ISO-21", ("ISO-02", "TOP-27"),
    ),
    Operator(
        "storage-deaf", "an appliance that is not in a cluster's partition",
        appliance_left_out, own_keys, "TOP-27",
    ),
    Operator(
        "storage-key", "another P_Key than the one that all share",
        key_without_the_appliance, shared_key, "TOP-27",
    ),
)  # fmt: skip
