"""What GPU nodes of a type have to show before they are given out, as far as the operator states it.

A figure here takes the place of the catalogue's (`interlock.hardware.gpu.acceptance`); where neither has one, no
measurement counts.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from interlock.model.text.names import DisplayName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Count, Positive
from interlock.resources import Frozen

_BYTES = Annotated[int, Field(ge=1, le=1 << 40)]
_GB_S = Annotated[float, Field(ge=1, le=1_000_000, allow_inf_nan=False)]


class AcceptanceTerms(Frozen):
    """Of one node type; None or empty: the operator says nothing of it."""

    node_type: str
    #: GB/s of bus bandwidth at least, with messages of so many bytes at least.
    busbw: float | None = None
    message: int | None = None
    #: Gb/s of each compute port at least, and errors since the counters were cleared at most.
    link: int | None = None
    symbol_errors: int | None = None
    link_downed: int | None = None
    #: Devices that have to be attested.
    hcas: int | None = None
    nvswitches: int | None = None
    #: `hca`, `gpu` and `nvswitch` -> the firmware versions that the operator accepts.
    firmware: dict[str, tuple[str, ...]] = {}


class AcceptedFirmwareFile(FileModel):
    """Firmware versions that the operator accepts."""

    hca: list[DisplayName] = Field(default=[], description="of InfiniBand and Ethernet adapters")
    gpu: list[DisplayName] = Field(default=[], description="of GPUs, as VBIOS versions")
    nvswitch: list[DisplayName] = Field(default=[], description="of NVSwitches")


class AcceptanceTermsFile(FileModel):
    """What nodes of one type have to show."""

    busbw: _GB_S | None = Field(
        default=None, description="bus bandwidth of an all-reduce over the GPUs of a node, GB/s at least"
    )
    message: _BYTES | None = Field(default=None, description="size of its message, bytes at least")
    link: Positive | None = Field(default=None, description="rate of each compute port, Gb/s at least")
    symbol_errors: Count | None = Field(
        default=None, description="symbol errors of a compute port since its counters were cleared, at most; default 0"
    )
    link_downed: Count | None = Field(
        default=None, description="how often a compute port went down since then, at most; default 0"
    )
    hcas: Positive | None = Field(default=None, description="adapters of a node, all of which are attested")
    nvswitches: Positive | None = Field(default=None, description="NVSwitches of a node, all of which are attested")
    firmware: AcceptedFirmwareFile = Field(
        default_factory=AcceptedFirmwareFile, description="firmware versions that count; without them none does"
    )

    def terms(self, node_type: str) -> AcceptanceTerms:
        """In full form."""
        stated = self.model_dump(exclude={"firmware"})
        accepted = {kind: tuple(versions) for kind, versions in self.firmware.model_dump().items() if versions}
        return AcceptanceTerms(node_type=node_type, firmware=accepted, **stated)
