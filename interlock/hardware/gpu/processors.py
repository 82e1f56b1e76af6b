"""GPUs and accelerators: memory, bandwidth, and peak rates with and without structured sparsity."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from interlock.hardware.facts import Fact, derived, practice, primary

_GCORE = "Gcore, AI infrastructure documentation"
_NOTES = "operators' notes on AI infrastructure, rev. 2026-06-18"
_BASEPOD = "NVIDIA, DGX BasePOD reference architecture, core components"
_B200 = "NVIDIA, DGX B200 user guide, introduction"
_GB200 = "NVIDIA, DGX GB200 user guide, hardware"
_SPARSE = f"{_NOTES}: with 2:4 sparsity, which the notes do not say"
_HALF = "half of the rate with 2:4 sparsity"
_ROWS = f"{_GCORE}: printed for the A100, in a row that slipped"


@dataclass(frozen=True)
class PeakRate:
    """Peak rate in one number format, in TFLOP/s. Dense and sparse are never mixed: a table that does is wrong by 2."""

    dense: Fact[Decimal]
    sparse: Fact[Decimal]


@dataclass(frozen=True)
class GpuModel:
    """One GPU or accelerator. None is what no source that was read says: unknown, and never a pass."""

    name: str
    maker: str
    architecture: Fact[str] | None = None
    #: GB that a node of this catalogue shows.
    memory: Fact[int] | None = None
    #: TB/s to its own memory.
    bandwidth: Fact[Decimal] | None = None
    bf16: PeakRate | None = None
    fp8: PeakRate | None = None
    #: W of the GPU alone, not of the node.
    power: Fact[int] | None = None
    tensor_core_generation: Fact[int] | None = None
    transformer_engine: Fact[bool] | None = None


_HOPPER_BF16 = PeakRate(
    dense=derived(Decimal("989.5"), "TFLOP/s", _HALF), sparse=practice(Decimal(1979), "TFLOP/s", _SPARSE)
)
_HOPPER_FP8 = PeakRate(
    dense=derived(Decimal(1979), "TFLOP/s", _HALF), sparse=practice(Decimal(3958), "TFLOP/s", _SPARSE)
)
_HOPPER = primary("Hopper", "", f"{_BASEPOD}: eight Hopper GPUs")
_BLACKWELL = primary("Blackwell", "", f"{_GB200}: Blackwell GPUs beside Grace CPUs; not Hopper")

A100 = GpuModel(
    name="a100",
    maker="NVIDIA",
    architecture=practice("Ampere", "", "press reports of May 2020 on NVIDIA's documentation of the DGX A100"),
    memory=practice(80, "GB", f"{_GCORE}; there are DGX A100 of 320 GB, with 40 GB each"),
    tensor_core_generation=derived(3, "", f"one before the Hopper's fourth ({_ROWS})"),
    transformer_engine=derived(False, "", f"came with Hopper ({_ROWS})"),
)

H100 = GpuModel(
    name="h100",
    maker="NVIDIA",
    architecture=_HOPPER,
    memory=primary(80, "GB", f"{_BASEPOD}: 640 GB of eight"),
    bandwidth=practice(Decimal("3.35"), "TB/s", "training material on NVIDIA's systems, DGX generations compared"),
    bf16=_HOPPER_BF16,
    fp8=_HOPPER_FP8,
    power=practice(700, "W", f"{_NOTES}: 5.6 kW of eight, which is not the node's"),
    tensor_core_generation=practice(4, "", _ROWS),
    transformer_engine=practice(True, "", _ROWS),
)

H200 = GpuModel(
    name="h200",
    maker="NVIDIA",
    architecture=_HOPPER,
    memory=primary(141, "GB", f"{_BASEPOD}: 1128 GB of eight"),
    bandwidth=practice(Decimal("4.8"), "TB/s", "training material on NVIDIA's systems, DGX generations compared"),
    tensor_core_generation=derived(4, "", f"the Hopper's ({_ROWS})"),
    transformer_engine=derived(True, "", f"the Hopper's ({_ROWS})"),
)

B200 = GpuModel(
    name="b200",
    maker="NVIDIA",
    architecture=_BLACKWELL,
    memory=primary(180, "GB", f"{_B200}: 1440 GB of eight; 192 GB, often said, are not what the node shows"),
)

B300 = GpuModel(
    name="b300",
    maker="NVIDIA",
    architecture=primary("Blackwell", "", "NVIDIA, DGX SuperPOD B300 reference architecture, abstract"),
)

GB200 = GpuModel(
    name="gb200",
    maker="NVIDIA",
    architecture=_BLACKWELL,
    memory=derived(192, "GB", f"384 GB of a superchip ({_NOTES}) by its two GPUs ({_GB200})"),
)

L40S = GpuModel(
    name="l40s", maker="NVIDIA", memory=practice(48, "GB", _GCORE), power=practice(350, "W", f"{_NOTES}: of each GPU")
)

MI300X = GpuModel(
    name="mi300x", maker="AMD", memory=practice(192, "GB", _NOTES), power=practice(750, "W", f"{_NOTES}: of each GPU")
)

#: No figure of it agrees in two sources (128 and 144 GB are printed), so there is none here.
GAUDI_3 = GpuModel(name="gaudi-3", maker="Intel")
GAUDI_2 = GpuModel(name="gaudi-2", maker="Intel")
MAX_1550 = GpuModel(name="max-1550", maker="Intel")

#: Every GPU and accelerator of the catalogue.
GPUS = {model.name: model for model in (A100, H100, H200, B200, B300, GB200, L40S, MI300X, GAUDI_2, GAUDI_3, MAX_1550)}
