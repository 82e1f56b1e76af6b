"""A GPU hall with a storage fabric: two storage ports on each node of `gpu_site`, and an appliance with two ports.

su01-n01 … ── storage1, storage2 ──┐
                                   ├── InfiniBand subnet `storage`
filer: cc01, cc02 ─────────────────┘
"""

from __future__ import annotations

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.guards import SHARING, SHARING_GUARDS
from interlock.model.site.inventory import InfinibandSubnet, PartitionKeyPool, Sharing, Site
from interlock.model.site.storage_fabric import StorageAccess, StorageFabric

from .gpu_plans import claims
from .gpu_sites import gpu_site

STORAGE = "storage"
PREFIX = "fe80000000000002"
APPLIANCE = ("0002ca000000cc01", "0002ca000000cc02")
#: Held back by the pool, for the operator's own partition.
SHARED_KEY = 0x0070


def client_of(unit: int, number: int, rail: int) -> str:
    """The GUID of a storage port."""
    return f"0002ca{unit:02x}{number:04x}{rail:04x}"


def storage_site(access: StorageAccess, site: Site | None = None, **overrides: object) -> Site:
    """The site with a storage fabric; `overrides` replace whole fields of `Site`."""
    site = site or gpu_site()
    key = SHARED_KEY if access == "shared" else None
    subnet = InfinibandSubnet(
        name=STORAGE, prefix=PREFIX, storage=StorageFabric(access=access, appliance=APPLIANCE, key=key)
    )
    pool = PartitionKeyPool(infiniband=STORAGE, keys=((1, 0x7F),), reserved=(SHARED_KEY,))
    fields: dict[str, object] = {
        "infiniband": (*site.infiniband, subnet),
        "gpu_nodes": tuple(_with_storage(node) for node in site.gpu_nodes),
        "pools": site.pools.model_copy(update={"partition_keys": (*site.pools.partition_keys, pool)}),
        "sharing": (*site.sharing, *(declared(guid) for guid in APPLIANCE)),
    }
    return site.with_parts(**(fields | overrides))


def declared(guid: str, **guards: bool | None) -> Sharing:
    """A port of the appliance as a terminal."""
    known: dict[str, bool | None] = dict.fromkeys(SHARING_GUARDS["object-store"], True)
    return Sharing(
        name=f"filer-{guid[-4:]}", kind="object-store", node=guid, audience=("*",), guards=known | guards,
        rule=SHARING["object-store"].rule,
    )  # fmt: skip


def storage_claims(access: StorageAccess, number: int, *nodes: tuple[int, int]) -> ClusterAllocation:
    """The claims of a cluster there: with a key of its own for storage, where there are such."""
    keys = {"compute": 0x10 + number} | ({STORAGE: 0x20 + number} if access == "per-tenant" else {})
    return claims(number, *nodes, partition_keys=keys)


def _with_storage(node: GpuHost) -> GpuHost:
    number = int(node.name.rpartition("-n")[2])
    ports = (
        HcaPort(
            name=f"storage{rail}", use="storage", infiniband=STORAGE, rail=rail, guid=client_of(node.unit, number, rail)
        )
        for rail in (1, 2)
    )
    return node.model_copy(update={"ports": (*node.ports, *ports)})
