"""`evidence/*.yaml` of a site, as people write it: what was seen done to what one tenant released."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from interlock.model.text.names import DeviceName, DisplayName, Serial, SiteName, tenant_name
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Address, Count, Positive, Vlan, Vni
from interlock.model.text.yaml_reading import REQUEST, FileLimits

from .measured import AllReduceFile, DiagnosticsFile, FabricFile, FirmwareFile
from .values import Moment

_GUID = Annotated[str, Field(pattern="^[0-9A-Fa-f]{16}$")]
_HEX = re.compile("0x[0-9A-Fa-f]{1,4}")


def _key(value: object) -> object:
    """`interlock settle --format json` says 0x0001, which JSON has as text, and YAML as a number."""
    return int(value, 16) if isinstance(value, str) and _HEX.fullmatch(value) else value


_KEY = Annotated[int, Field(ge=1, le=0x7FFF), BeforeValidator(_key)]

_Step = Literal[
    "deregistered",
    "unwired",
    "power-cycled",
    "wiped",
    "self-tested",
    "firmware-attested",
    "diagnosed",
    "bandwidth-measured",
    "fabric-checked",
]

#: What an entry is about -> the other keys that say which one exactly.
SUBJECTS: dict[str, tuple[str, ...]] = {
    "machine": ("serial",),
    "host": ("serial",),
    "switch_port": ("switch", "serial"),
    "vlan": ("switch", "serial"),
    "vni": (),
    "storage_vip": (),
    "partition_key": ("infiniband",),
    "guid": (),
    "nvlink_partition": ("domain",),
    "gpu": ("domain",),
}


class SeenFile(FileModel):
    """One step that somebody saw, on one thing."""

    machine: DeviceName | None = Field(default=None, description="name of an IPU-Machine; needs `serial`")
    host: DeviceName | None = Field(default=None, description="name of a host given out whole; needs `serial`")
    switch_port: Positive | None = Field(default=None, description="number of a switch port; needs `switch`, `serial`")
    vlan: Vlan | None = Field(default=None, description="VLAN id on one switch; needs `switch`, `serial`")
    vni: Vni | None = Field(default=None, description="VXLAN id on the site's cloud")
    storage_vip: Address | None = Field(default=None, description="address of the storage appliance")
    partition_key: _KEY | None = Field(
        default=None, description='P_Key, its 15 bits, or as text, `"0x0001"`; needs `infiniband`'
    )
    guid: _GUID | None = Field(default=None, description="GUID of an InfiniBand port")
    nvlink_partition: Count | None = Field(default=None, description="NVLink partition; needs `domain`")
    gpu: Serial | None = Field(default=None, description="name of a GPU; needs `domain`")
    serial: Serial | None = Field(
        default=None, description="serial of the machine, host or switch, read off the device: a name is no identity"
    )
    switch: DeviceName | None = Field(default=None, description="name of the switch that was read back")
    infiniband: DeviceName | None = Field(default=None, description="name of the InfiniBand subnet")
    domain: Serial | None = Field(default=None, description="name of the NVLink domain")
    step: _Step = Field(
        description="`deregistered`: no partition of it is left and no V-IPU controller has its agent; `unwired`: read "
        "back from switch, manager or appliance that it is off there; `power-cycled`: started again by the operator, a "
        "host from the operator's own ramdisk; `wiped`: all that a holder can write is erased; `self-tested`: its "
        "self-test found nothing wrong; of a GPU node `firmware-attested`, `diagnosed`, `bandwidth-measured` and "
        "`fabric-checked`: measured, with the figures in the key of the step"
    )
    firmware: FirmwareFile | None = Field(
        default=None, description="of `firmware-attested`: devices whose firmware was attested"
    )
    diagnostics: DiagnosticsFile | None = Field(default=None, description="of `diagnosed`: what `dcgmi diag` said")
    all_reduce: AllReduceFile | None = Field(
        default=None, description="of `bandwidth-measured`: what `all_reduce_perf` of nccl-tests said"
    )
    fabric: FabricFile | None = Field(
        default=None, description="of `fabric-checked`: links and counters of each compute port"
    )
    at: Moment = Field(description="when it was seen, with the time zone")
    by: DisplayName = Field(description="who saw it")


class EvidenceFile(FileModel):
    """`evidence/<any name>.yaml`."""

    LIMITS: ClassVar[FileLimits] = REQUEST

    site: SiteName | None = Field(
        default=None,
        description="name of the site that this is about, so that no signature of it counts at another; needed where "
        "`evidence.signers` of the site is stated",
    )
    released_by: Annotated[str, BeforeValidator(tenant_name)] = Field(
        description="id of the tenant that released all of this"
    )
    seen: list[SeenFile] = Field(description="what was seen, in any order")
