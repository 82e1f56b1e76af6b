"""How tenants reach the storage appliance of an InfiniBand subnet: by a P_Key of their own, or by one for all."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from interlock.model.hall.values import Guid
from interlock.model.text.validation import FileModel
from interlock.resources import Frozen

from .values import PartitionKeyIds

StorageAccess = Literal["per-tenant", "shared"]


class StorageFabric(Frozen):
    """Where the appliance hangs on a storage subnet, and who may hear it. Clients are limited members either way."""

    access: StorageAccess
    #: GUIDs of the appliance's ports: the only full members.
    appliance: tuple[str, ...]
    #: The operator's P_Key of a shared one; None: each cluster has a key of the pool.
    key: int | None = None


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


class StorageFabricFile(FileModel):
    """How tenants reach the storage appliance of an InfiniBand subnet."""

    access: StorageAccess = Field(
        description="`per-tenant`: each GPU cluster has a P_Key of the pool there; `shared`: all clusters have one key "
        "of the operator's. Nodes are limited members either way, and hear the appliance alone"
    )
    appliance: Annotated[list[Guid], BeforeValidator(_listed)] = Field(
        description="port GUIDs of the appliance, which are full members; each is under `sharing` too"
    )
    key: PartitionKeyIds = Field(
        default=(), description="the P_Key of `shared`: one that the pool of the subnet holds back (`reserved`)"
    )


def storage_fabric(file: StorageFabricFile | None) -> StorageFabric | None:
    """That of the full form. Several keys were refused (`storage_fabric_checks`); the first stands for them."""
    if file is None:
        return None
    key = file.key[0] if file.key else None
    return StorageFabric(access=file.access, appliance=tuple(file.appliance), key=key)
