"""`tenants/<id>.yaml` as a tenant writes it; `tenant_expansion` makes the full form of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from .names import DeviceNames, DisplayName, PartName, UserName
from .site_file import Positive
from .validation import FileModel
from .values import GiB, Prefix, PublicKey

OnDelete = Literal["keep", "erase"]
VlanId = Annotated[int, Field(ge=1, le=4094)]


class VolumeFile(FileModel):
    """A volume; `volume: 100GiB` is short for `volume: {size: 100GiB}`."""

    size: GiB
    type: str | None = None
    on_delete: OnDelete | None = None


def _volume(value: Any) -> Any:
    return value if isinstance(value, dict) or value is None else {"size": value}


def _empty_mapping(value: Any) -> Any:
    """`checkpoints:` with nothing after it means all defaults."""
    return {} if value is None else value


_SIZE_OR_MAPPING = WithJsonSchema({"anyOf": [{"type": "string", "examples": ["100GiB"]}, {"type": "object"}]})


class PoplarFile(FileModel):
    """The Poplar servers of a vPOD."""

    servers: Positive = 1
    flavor: str | None = None
    image: str | None = None
    volume: Annotated[VolumeFile | None, BeforeValidator(_volume), _SIZE_OR_MAPPING] = None


class VPodFile(FileModel):
    """A vPOD: `machines:` or `ipus:`, exactly one of them."""

    machines: int | None = None
    ipus: int | None = None
    poplar: PoplarFile = Field(default_factory=PoplarFile)


class BucketFile(FileModel):
    """A bucket."""

    versioning: bool = True
    on_delete: OnDelete | None = None


class AccessFile(FileModel):
    """Who may look, and who may log in. Without `ssh_from`, nobody can from outside."""

    members: list[UserName] = Field(default_factory=list)
    ssh_public_key: PublicKey
    ssh_from: list[Prefix] = Field(default_factory=list)


class PinsFile(FileModel):
    """Claims that the lock takes as given."""

    machines: DeviceNames | None = None
    hosts: DeviceNames | None = None
    ipu_data_vlan: VlanId | None = None
    storage_vlan: VlanId | None = None
    management_vlan: VlanId | None = None
    control_vni: Annotated[int, Field(ge=1, lt=1 << 24)] | None = None
    ipu_data_subnet: Prefix | None = None
    storage_subnet: Prefix | None = None
    control_subnet: Prefix | None = None
    management_subnet: Prefix | None = None


class TenantFile(FileModel):
    """`tenants/<id>.yaml`."""

    name: DisplayName
    on_delete: OnDelete = "keep"
    access: AccessFile
    vpods: dict[PartName, VPodFile]
    buckets: dict[PartName, Annotated[BucketFile, BeforeValidator(_empty_mapping)]] = Field(
        default_factory=dict
    )
    pins: dict[str, PinsFile] = Field(default_factory=dict)
