"""What a GPU node has to show before it is given out: limits by node type, each with its source, and what shows it.

A limit of which no document that was read has a figure is None: then it is the operator's to state, in the site file
under `evidence.acceptance`, and until then no measurement counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.hardware.facts import Fact, derived, practice, primary

from .node_types import NODE_TYPES
from .nodes import NodeType, PortRole

_DCGM_SUITES = "NVIDIA/DCGM, nvvs/src/NvidiaValidationSuite.cpp, tests of the suites"
_DCGM_DIAG = "NVIDIA, DCGM documentation, dcgmi diag"
_NCCL_README = "NVIDIA/nccl-tests, README"
_PERFQUERY = "infiniband-diags, perfquery(8)"
_QUERY_ERRORS = "infiniband-diags, ibqueryerrors(8)"
_ATTEST = "NVIDIA, attestation CLI, nvattest"
_AZURE = "Azure/azurehpc-health-checks"

#: The suite that runs the hardware of a node for about a quarter of an hour; one below leaves most of it out.
DIAGNOSTIC_LEVEL: Fact[int] = primary(3, "", f"{_DCGM_DIAG}: 3, long hardware diagnostics")
#: Tests of that suite on every GPU. It has `nvbandwidth` and `eud` besides, where these are installed.
DIAGNOSTIC_TESTS: Fact[tuple[str, ...]] = primary(
    ("software", "memory", "pcie", "diagnostic", "memory_bandwidth", "targeted_stress", "targeted_power"),
    "",
    _DCGM_SUITES,
)
#: Errors of a port since its counters were cleared.
SYMBOL_ERRORS: Fact[int] = primary(0, "", f"{_QUERY_ERRORS}: the default threshold is zero")
LINK_DOWNED: Fact[int] = primary(0, "", f"{_QUERY_ERRORS}: the default threshold is zero")
#: Lanes of a port. One that came up narrower is slower, and no counter says so.
LANES: Fact[int] = derived(4, "", "a port of HDR or NDR at its full rate is 4x")


@dataclass(frozen=True)
class AllReduceLimit:
    """Bus bandwidth (GB/s, as nccl-tests print it) that an all-reduce inside a node has at least, by message size."""

    busbw: Fact[float]
    #: Bytes: with smaller messages another figure would be right.
    message: Fact[int]


@dataclass(frozen=True)
class AcceptanceLimits:
    """What a node of one type has to show; None: nobody published it."""

    gpus: Fact[int] | None
    #: None beside `has_nvswitches`: how many, no document says.
    nvswitches: Fact[int] | None
    has_nvswitches: bool
    #: Adapters with firmware of their own, each with one port or several.
    hcas: Fact[int] | None
    all_reduce: AllReduceLimit | None
    #: Ports on the compute fabric, and what each runs at (Gb/s). None beside `has_fabric`: no document says.
    ports: Fact[int] | None
    link: Fact[int] | None
    has_fabric: bool


def _azure(busbw: float, gibibytes: int, file: str) -> AllReduceLimit:
    """The limit by which one cloud refuses its own nodes with eight of these GPUs on NVSwitches."""
    source = f"{_AZURE}, conf/{file}: check_nccl_allreduce, eight GPUs of one node"
    return AllReduceLimit(practice(busbw, "GB/s", source), practice(gibibytes << 30, "B", source))


_A100 = _azure(228.0, 4, "nd96amsr_a100_v4.conf")
_H100 = _azure(460.0, 16, "nd96isr_h100_v5.conf")
_H200 = _azure(431.0, 16, "nd96isr_h200_v5.conf")

#: Of B200 no limit was found, and L40S have no NVLink: what is usual there depends on the host.
_ALL_REDUCE = {
    "dgx-a100": _A100,
    "dgx-h100": _H100,
    "dgx-h200": _H200,
    "gcore-a100": _A100,
    "gcore-a100-ib": _A100,
    "gcore-h100-ib": _H100,
    "gcore-h200-ib": _H200,
}

#: Of DGX with single-port cards for each GPU.
TEN_ADAPTERS: Fact[int] = derived(
    10, "", "eight single-port cards for compute and two of two ports for storage and in-band"
)
_HCAS = {"dgx-h100": TEN_ADAPTERS, "dgx-h200": TEN_ADAPTERS, "dgx-b200": TEN_ADAPTERS}


def limits_of(node_type: str) -> AcceptanceLimits | None:
    """What nodes of a type have to show; None for a type that is not in the catalogue."""
    node = NODE_TYPES.get(node_type)
    return None if node is None else _limits(node)


def _limits(node: NodeType) -> AcceptanceLimits:
    compute = node.ports_for(PortRole.COMPUTE)
    return AcceptanceLimits(
        gpus=node.gpus,
        nvswitches=node.nvswitches,
        has_nvswitches=node.nvlink is not None or node.nvswitches is not None,
        hcas=_HCAS.get(node.name),
        all_reduce=_ALL_REDUCE.get(node.name),
        ports=None if compute is None else compute.count,
        link=None if compute is None else compute.speed,
        has_fabric=node.has_rdma_fabric,
    )


@dataclass(frozen=True)
class Run:
    """Commands that show one thing of a node, and where their options are documented."""

    commands: tuple[str, ...]
    source: str


ATTEST = Run(
    ("nvattest attest --device gpu", "nvattest attest --device switch"),
    f"{_ATTEST}; adapters: NVIDIA, device attestation and CoRIM",
)
DIAGNOSE = Run(("dcgmi diag --run 3 --json",), _DCGM_DIAG)
MEASURE = Run(("all_reduce_perf -b 16G -e 16G -f 2 -g 8 -c 1",), f"{_NCCL_README}; -b and -e: the size of the limit")
CHECK_FABRIC = Run(
    ("perfquery -G <guid> (before: perfquery -R -G <guid>)", "ibqueryerrors -r -G <guid>"),
    f"{_PERFQUERY}; {_QUERY_ERRORS}",
)
