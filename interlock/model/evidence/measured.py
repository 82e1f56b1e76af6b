"""What a runner measured of a GPU node, as it stands in a file of evidence, and the same as frozen values.

One form for each step of acceptance. They hold figures, not verdicts: what is enough, `accepting` decides by the
catalogue and the site file.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from interlock.model.text.names import DisplayName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Count, Positive

from .steps import SeenStep
from .values import Moment

#: Devices whose firmware somebody with a physical function, or root on the node, can write.
FirmwareOf = Literal["hca", "gpu", "nvswitch"]
_BYTES = Annotated[int, Field(ge=1, le=1 << 40)]
#: Finite: infinity is more than any limit, and nothing that was measured.
_GB_S = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
_GUID = Annotated[str, Field(pattern="^[0-9A-Fa-f]{16}$")]
_TEST = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,39}$")]
TestResult = Literal["pass", "fail", "warn", "skip"]


@dataclass(frozen=True)
class AttestedDevices:
    """Devices of one kind whose firmware was attested, and every version that they run."""

    devices: int
    versions: tuple[str, ...]


@dataclass(frozen=True)
class FirmwareMeasured:
    """What was attested, by kind of device."""

    of: tuple[tuple[FirmwareOf, AttestedDevices], ...]


@dataclass(frozen=True)
class DiagnosticsMeasured:
    """What DCGM's diagnostics said: (test, result)."""

    level: int
    gpus: int
    tests: tuple[tuple[str, TestResult], ...]


@dataclass(frozen=True)
class PortMeasured:
    """One port on the compute fabric. `speed` in Gb/s of all lanes together."""

    name: str
    guid: str
    width: int
    speed: int
    symbol_errors: int
    link_downed: int


@dataclass(frozen=True)
class FabricMeasured:
    """Counters and links of ports, counted since `cleared`."""

    cleared: datetime.datetime
    ports: tuple[PortMeasured, ...]


class AttestedFile(FileModel):
    """Devices of one kind."""

    devices: Positive = Field(description="how many were attested against the maker's reference values")
    versions: list[DisplayName] = Field(description="every firmware version among them", min_length=1)

    def attested(self) -> AttestedDevices:
        """As a value."""
        return AttestedDevices(self.devices, tuple(self.versions))


class FirmwareFile(FileModel):
    """Firmware of a node."""

    hca: AttestedFile | None = Field(default=None, description="InfiniBand and Ethernet adapters")
    gpu: AttestedFile | None = Field(default=None, description="GPUs, their VBIOS included")
    nvswitch: AttestedFile | None = Field(default=None, description="NVSwitches")

    def measured(self) -> FirmwareMeasured:
        """As a value."""
        of: tuple[tuple[FirmwareOf, AttestedFile | None], ...] = (
            ("hca", self.hca), ("gpu", self.gpu), ("nvswitch", self.nvswitch),
        )  # fmt: skip
        return FirmwareMeasured(tuple((kind, found.attested()) for kind, found in of if found is not None))


class DiagnosticsFile(FileModel):
    """A run of DCGM's diagnostics."""

    level: Annotated[int, Field(ge=1, le=4)] = Field(description="the suite, as `--run` has it")
    gpus: Positive = Field(description="GPUs that it ran on")
    tests: dict[_TEST, TestResult] = Field(
        description="test, by its name in DCGM → the worst result of all GPUs: `pass`, `fail`, `warn` or `skip`"
    )

    def measured(self) -> DiagnosticsMeasured:
        """As a value."""
        return DiagnosticsMeasured(self.level, self.gpus, tuple(sorted(self.tests.items())))


class AllReduceFile(FileModel):
    """A run of `all_reduce_perf` of nccl-tests inside the node."""

    gpus: Positive = Field(description="GPUs that took part")
    message: _BYTES = Field(description="size of the message, in bytes")
    busbw: _GB_S = Field(description="bus bandwidth in GB/s, the lower of out-of-place and in-place")
    wrong: Count = Field(description="wrong results, `#wrong`, of both")

    def measured(self) -> AllReduceFile:
        """Itself: it has no lists."""
        return self


class FabricPortFile(FileModel):
    """A port of the node on the compute fabric."""

    guid: _GUID = Field(description="GUID of the port, read off the node")
    width: Positive = Field(description="lanes of the link as it is up: 4 for 4x")
    speed: Positive = Field(description="Gb/s of all lanes together, as `ibstat` gives the rate")
    symbol_errors: Count = Field(description="SymbolErrorCounter")
    link_downed: Count = Field(description="LinkDownedCounter")


class FabricFile(FileModel):
    """Counters of all compute ports of the node."""

    cleared: Moment = Field(description="when the counters were cleared, with the time zone: before the all-reduce")
    ports: dict[str, FabricPortFile] = Field(description="port, as the site names it → what was read")

    def measured(self) -> FabricMeasured:
        """As a value."""
        return FabricMeasured(
            self.cleared,
            tuple(
                PortMeasured(
                    name, port.guid.lower(), port.width, port.speed, port.symbol_errors, port.link_downed
                )
                for name, port in sorted(self.ports.items())
            ),
        )  # fmt: skip


Measured = FirmwareMeasured | DiagnosticsMeasured | AllReduceFile | FabricMeasured

#: Step of acceptance -> the key of an entry that holds what was measured.
MEASURED_KEY: Final[Mapping[SeenStep, str]] = {
    SeenStep.FIRMWARE_ATTESTED: "firmware",
    SeenStep.DIAGNOSED: "diagnostics",
    SeenStep.BANDWIDTH_MEASURED: "all_reduce",
    SeenStep.FABRIC_CHECKED: "fabric",
}
