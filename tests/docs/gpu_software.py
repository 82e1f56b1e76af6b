"""The generated part of docs/how-to/gpu-software.md: which software fits which, with sources."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.hardware import Fact
from interlock.hardware.gpu.software import (
    CONTAINER_SYSTEMS,
    CUDA_DRIVERS,
    DGX_SYSTEMS,
    MIG_DRIVERS,
    OPEN_MODULES_ALONE,
    SYSCTLS_GONE,
    SYSTEM_FLOORS,
)

from .tables import table


def software(_old: str) -> str:
    """Every figure of the catalogue of software with its source; equal sources stand together."""
    told: dict[tuple[str, str], list[str]] = {}
    for words, fact in _facts():
        told.setdefault((fact.provenance.value, fact.source), []).append(words)
    rows = (["; ".join(words), provenance, source] for (provenance, source), words in told.items())
    return table(["what", "provenance", "source"], rows)


def _facts() -> Iterator[tuple[str, Fact[str] | Fact[bool]]]:
    for release, band in CUDA_DRIVERS.items():
        yield f"CUDA {release}: driver {band.least.value} or later", band.least
        if band.beyond is not None:
            yield f"CUDA {release}: as an older program from driver {band.beyond.value}", band.beyond
    for system, floor in SYSTEM_FLOORS.items():
        yield f"{system}: driver {floor.driver.value} or later", floor.driver
        if floor.cuda is not None:
            yield f"{system}: CUDA from {floor.cuda.value}", floor.cuda
        if floor.before is not None:
            yield f"{system}: CUDA before {floor.before.value}", floor.before
    yield from ((f"{system}: {fact.value}", fact) for system, fact in CONTAINER_SYSTEMS.items())
    yield from ((f"DGX: {fact.value}", fact) for fact in DGX_SYSTEMS.values())
    for gpu, fact in MIG_DRIVERS.items():
        yield f"MIG of {gpu}: {f'driver {fact.value} or later' if fact.value else 'none'}", fact
    for gpu, alone in OPEN_MODULES_ALONE.items():
        yield f"{gpu}: {'open kernel modules alone' if alone.value else 'either kind of kernel modules'}", alone
    yield from ((f"no {key} from kernel {fact.value}", fact) for key, fact in SYSCTLS_GONE.items())
