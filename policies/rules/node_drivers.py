"""SW-01 to SW-04, SW-12, SW-18: driver, CUDA, operating system and kernel modules of a GPU node fit together."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.hardware.facts import Fact
from interlock.hardware.gpu.software import (
    CONTAINER_SYSTEMS,
    CUDA_DRIVERS,
    DGX_SYSTEMS,
    OPEN_MODULES_ALONE,
    SYSTEM_FLOORS,
    DriverBand,
    SystemFloor,
    begins_with,
    is_below,
    numbers,
)
from interlock.model.site.software import INBOX, NO_CLIENT
from policies.about import SaidFact
from policies.graph.model import Model
from policies.proof import Severity

from .node_software import NVIDIA, NodesOfOneKind, asked
from .rule import Cause, Of, Polarity, Rule

_NOTES = "operators' notes on AI infrastructure (one source, with errors)"
_NEEDS = ("gpu_nodes", "images.software", "servers")


def _band(nodes: NodesOfOneKind) -> DriverBand | None:
    """The drivers of the image's CUDA; None: not stated, or of a release that the catalogue has not."""
    cuda = nodes.software.cuda
    return CUDA_DRIVERS.get(numbers(cuda)[0]) if cuda is not None else None


def _uncatalogued(nodes: NodesOfOneKind, key: str, cuda: str) -> Cause:
    release = f"CUDA {numbers(cuda)[0]}"
    why = f"and which driver {release} needs is not in the catalogue"
    return nodes.cause(key, why, nodes.words("cuda"), missing=(SaidFact(f"the driver that {release} needs"),))


# SW-01


def _new_enough(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _drivers(nodes) if nodes.has_cuda else None


def _drivers(nodes: NodesOfOneKind) -> Iterator[Cause]:
    driver, cuda, band = nodes.software.driver, nodes.software.cuda, _band(nodes)
    if driver is None or cuda is None:
        yield nodes.unknown("driver", "CUDA needs a driver of its release or later", "driver", "cuda")
    elif band is None:
        yield _uncatalogued(nodes, "driver", cuda)
    elif is_below(driver, band.least.value):
        why = f"which has driver {driver}, and CUDA {cuda} needs {band.least.value} or later"
        yield nodes.cause("driver", why, (*nodes.words("driver", "cuda"), band.least.source))


# SW-02


def _in_band(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _beyond(nodes) if nodes.has_cuda else None


def _beyond(nodes: NodesOfOneKind) -> Iterator[Cause]:
    driver, cuda, band = nodes.software.driver, nodes.software.cuda, _band(nodes)
    if driver is None or cuda is None:
        yield nodes.unknown("band", "whether the driver is of CUDA's release is open", "driver", "cuda")
    elif band is None:
        yield _uncatalogued(nodes, "band", cuda)
    elif band.beyond is not None and not is_below(driver, band.beyond.value):
        why = f"whose driver {driver} runs CUDA {cuda} as an older program: its own release ends below"
        why = f"{why} {band.beyond.value}"
        yield nodes.cause("band", why, (*nodes.words("driver", "cuda"), band.beyond.source))


# SW-03


def _floor(system: str) -> SystemFloor | None:
    return next((floor for name, floor in SYSTEM_FLOORS.items() if begins_with(system, name)), None)


def _system(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _system_of(nodes) if nodes.has_cuda else None


def _system_of(nodes: NodesOfOneKind) -> Iterator[Cause]:
    system = nodes.software.os
    if system is None:
        yield nodes.unknown("system", "what a system asks of driver and CUDA differs", "os")
    elif any(begins_with(system, name) for name in CONTAINER_SYSTEMS):
        yield from _containers(nodes, system)
    elif (floor := _floor(system)) is not None:
        yield from _below_floor(nodes, system, floor)
    else:
        why = f"and nothing is known of what {system} asks of driver and CUDA"
        missing = (SaidFact(f"the drivers and CUDA that suit {system}"),)
        yield nodes.cause("system", why, nodes.words("os"), missing=missing, severity=Severity.WARN)


def _below_floor(nodes: NodesOfOneKind, system: str, floor: SystemFloor) -> Iterator[Cause]:
    driver, cuda = nodes.software.driver, nodes.software.cuda
    severity = Severity.WARN if floor.doubt else None
    if driver is None:
        yield nodes.unknown("floor", f"{system} asks for {floor.driver.value} or later", "driver", severity=severity)
    elif is_below(driver, floor.driver.value):
        why = f"whose {system} is used with driver {floor.driver.value} or later, and it has {driver}"
        witness = (*nodes.words("os", "driver"), floor.driver.source, *filter(None, (floor.doubt,)))
        yield nodes.cause("floor", why, witness, severity=severity)
    if floor.cuda is None:
        return
    if cuda is None:
        yield nodes.unknown("cuda", f"{system} is used with {floor.cuda.value}", "cuda", severity=Severity.WARN)
    elif is_below(cuda, floor.cuda.value) or (floor.before is not None and not is_below(cuda, floor.before.value)):
        before = "" if floor.before is None else f", before {floor.before.value}"
        why = f"whose {system} is used with CUDA from {floor.cuda.value}{before}, and it has {cuda}"
        yield nodes.cause("cuda", why, (*nodes.words("os", "cuda"), floor.cuda.source), severity=Severity.WARN)


def _containers(nodes: NodesOfOneKind, system: str) -> Iterator[Cause]:
    software = nodes.software
    if software.container_host is None:
        yield nodes.unknown("container", f"{system} is for containers only", "container_host")
    elif not software.container_host:
        why = f"whose {system} is for containers only, and the site says that it is no container host"
        yield nodes.cause("container", why, nodes.words("os", "container_host"))
    if software.lustre is None:
        yield nodes.unknown("client", f"{system} has no Lustre client", "lustre")
    elif software.lustre != NO_CLIENT:
        why = f"which states a Lustre client {software.lustre}, and {system} has none"
        yield nodes.cause("client", why, nodes.words("os", "lustre"))
    if nodes.uses_rdma:
        why = f"whose {system} does little of RDMA, and these nodes use a fabric"
        yield nodes.cause("rdma", why, nodes.words("os"), severity=Severity.WARN)


# SW-04


def _dgx(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    node = nodes.catalogued
    return _dgx_of(nodes) if node is not None and node.maker == NVIDIA else None


def _dgx_of(nodes: NodesOfOneKind) -> Iterator[Cause]:
    system = nodes.software.os
    if system is None:
        yield nodes.unknown("dgx", "DGX run some systems in production only", "os")
    elif not any(begins_with(system, name) for name in DGX_SYSTEMS):
        why = f"whose {system} is none that DGX run in production: {', '.join(DGX_SYSTEMS)}"
        yield nodes.cause("dgx", why, nodes.words("os"))


# SW-12


def _modules(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    needs = OPEN_MODULES_ALONE.get(nodes.gpu)
    if not nodes.has_cuda or (needs is not None and not needs.value):
        return None
    return _open_modules(nodes, needs)


def _open_modules(nodes: NodesOfOneKind, needs: Fact[bool] | None) -> Iterator[Cause]:
    is_open = nodes.software.open_kernel_module
    if is_open:
        return
    if needs is None:
        why = f"and whether {nodes.node_type} needs open kernel modules is not in the catalogue"
        missing = (SaidFact(f"the kernel modules that {nodes.node_type} needs"),)
        yield nodes.cause("modules", why, nodes.words("open_kernel_module"), missing=missing)
    elif is_open is None:
        why = f"a {nodes.gpu} works with open modules alone"
        yield nodes.unknown("modules", why, "open_kernel_module")
    else:
        why = f"whose driver has closed kernel modules, and a {nodes.gpu} works with open ones alone"
        yield nodes.cause("modules", why, (*nodes.words("open_kernel_module"), needs.source))


# SW-18


def _pinned(_: Model, nodes: NodesOfOneKind) -> Iterator[Cause] | None:
    return _pins(nodes) if nodes.has_cuda else None


def _pins(nodes: NodesOfOneKind) -> Iterator[Cause]:
    # A node by itself needs no OFED: NCCL then stays on NVLink.
    keys = ("cuda", "nccl", "ofed") if nodes.uses_rdma else ("cuda", "nccl")
    if nodes.unstated(*keys):
        yield nodes.unknown("pinned", "a job is repeatable on what is pinned only", *keys)
    stated = [(key, getattr(nodes.software, key)) for key in keys]
    loose = [key for key, said in stated if said is not None and said != INBOX and len(numbers(said)) < 2]
    if loose:
        why = f"which states no more than a major release of {' and '.join(loose)}: it is not pinned"
        yield nodes.cause("loose", why, nodes.words(*loose))


SW_01 = Rule(
    id="SW-01",
    title="the driver of a GPU node is new enough for the CUDA in its image",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="programs of CUDA end at their first call on an older driver",
    source="NVIDIA, CUDA compatibility, minor version compatibility: 450, 525, 580 for CUDA 11, 12, 13",
    needs=_NEEDS,
    ask=asked(_new_enough),
    of=Of.TENANT,
)
SW_02 = Rule(
    id="SW-02",
    title="the driver of a GPU node is of the same release as the CUDA in its image",
    severity=Severity.INFO,
    polarity=Polarity.BOTH,
    why="a later driver runs older CUDA, outside the range in which minor releases mix",
    source="NVIDIA, CUDA compatibility, minor version compatibility: below 525 for CUDA 11, below 580 for 12",
    needs=_NEEDS,
    ask=asked(_in_band),
    of=Of.TENANT,
)
SW_03 = Rule(
    id="SW-03",
    title="driver, CUDA and use of a GPU node suit its operating system",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="what nobody runs in production is found out by whoever runs it first",
    source=f"{_NOTES}; their driver 550 of Ubuntu 24.04 rests on a minimum of CUDA 12.5 that NVIDIA does not have: a "
    "warning, as is CUDA outside of what they list",
    needs=_NEEDS,
    ask=asked(_system),
    of=Of.TENANT,
)
SW_04 = Rule(
    id="SW-04",
    title="a DGX runs an operating system that DGX run in production",
    severity=Severity.WARN,
    polarity=Polarity.BOTH,
    why="NVIDIA supports DGX with its own packages, which are made for some systems",
    source=f"{_NOTES}, which name DGX OS and Ubuntu 22.04 alone; NVIDIA/deepops has Ubuntu 24.04, RHEL and Rocky 8 and"
    " 9 besides",
    needs=_NEEDS,
    ask=asked(_dgx),
    of=Of.TENANT,
)
SW_12 = Rule(
    id="SW-12",
    title="nodes with Grace or Blackwell have the open kernel modules",
    severity=Severity.ERROR,
    polarity=Polarity.BOTH,
    why="the closed modules do not support these GPUs",
    source="NVIDIA, developer blog of July 2024 on open GPU kernel modules; that GPUs before Hopper must have closed"
    " ones, as some notes say, is wrong: open ones serve Turing and later",
    needs=_NEEDS,
    ask=asked(_modules),
    of=Of.TENANT,
)
SW_18 = Rule(
    id="SW-18",
    title="CUDA, NCCL and, on a fabric, OFED of a GPU node's image are pinned",
    severity=Severity.WARN,
    polarity=Polarity.BOTH,
    why="three versions that were tested together say little about any other three",
    source=_NOTES,
    needs=_NEEDS,
    ask=asked(_pinned),
    of=Of.TENANT,
)
