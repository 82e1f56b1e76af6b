"""What a V-IPU partition may be: a power of two of IPUs inside one allocation, and the options that agree."""

from __future__ import annotations

from collections.abc import Iterator

from .sizes import IPUS_PER_LOGICAL_RACK, is_power_of_two

#: Sync type that a reconfigurable partition must have.
RECONFIGURABLE_SYNC = "c2-compatible"


def partition_faults(
    ipus: int,
    gcds: int = 1,
    replicas: int = 1,
    *,
    allocation_ipus: int,
    reconfigurable: bool = False,
    sync_type: str = "c2-compatible",
    routing: str = "default",
    torus: bool,
) -> tuple[str, ...]:
    """Everything that is wrong with a partition, in the operator's words; empty if nothing is.

    `allocation_ipus`: IPUs of the allocation that it is cut from; `torus`: whether that closes to rings.
    Basis: Graphcore, V-IPU user guide, partitions; the ring rules follow from the cables that there are.
    """
    return (
        *_size_faults(ipus, allocation_ipus),
        *_domain_faults(ipus, gcds, replicas),
        *_option_faults(ipus, allocation_ipus, reconfigurable, sync_type, routing, torus),
    )


def _size_faults(ipus: int, allocation_ipus: int) -> Iterator[str]:
    if not is_power_of_two(ipus):
        yield f"{ipus} IPUs: a partition has 1, 2, 4, 8 … IPUs"
    if ipus > allocation_ipus:
        yield f"{ipus} IPUs: its allocation has {allocation_ipus}, and a partition never spans two"


def _domain_faults(ipus: int, gcds: int, replicas: int) -> Iterator[str]:
    if gcds < 1 or replicas < 1:
        yield f"{gcds} GCDs and {replicas} replicas: each is at least 1"
        return
    if ipus % gcds:
        yield f"{gcds} GCDs of {ipus} IPUs: each graph compile domain has the same number of IPUs"
    elif is_power_of_two(ipus) and not is_power_of_two(ipus // gcds):
        yield f"{gcds} GCDs of {ipus} IPUs: {ipus // gcds} IPUs each is no power of two"
    if replicas % gcds:
        yield f"{replicas} replicas over {gcds} GCDs: each graph compile domain has the same number of replicas"


def _option_faults(
    ipus: int, allocation_ipus: int, reconfigurable: bool, sync_type: str, routing: str, torus: bool
) -> Iterator[str]:
    if reconfigurable and sync_type != RECONFIGURABLE_SYNC:
        yield f"reconfigurable with sync type {sync_type}: a reconfigurable partition needs {RECONFIGURABLE_SYNC}"
    if not is_ring(routing):
        return
    whole = min(allocation_ipus, IPUS_PER_LOGICAL_RACK.value)
    if not torus:
        yield f"routing {routing} on a mesh: rings need the cable from the last machine back to the first"
    elif ipus < whole:
        yield f"routing {routing} on {ipus} of {whole} IPUs: a part of the ring is a path"


def is_ring(routing: str) -> bool:
    """True for routings that need closed rings (`ringswnc`, `RINGSWNC`, `ring-swnc`)."""
    return routing.lower().startswith("ring")
