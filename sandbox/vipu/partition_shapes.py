"""What a partition is asked to be, and whether it may: sizes, GCDs, replicas, routing, synchronisation."""

from __future__ import annotations

from dataclasses import dataclass

from .objects import Cluster
from .refusals import VipuRefused
from .scene import Call

#: Spelling of a command -> name in tables. `dnc`, `swnc` and `btnc` are assumed.
ROUTINGS = {
    "default": "DEFAULT",
    "ringswnc": "RINGSWNC",
    "ring-swnc": "RINGSWNC",
    "dnc": "DNC",
    "swnc": "SWNC",
    "btnc": "BTNC",
}
RINGS = frozenset({"RINGSWNC"})
C2, POD_NATIVE = "c2-compatible", "pod-native-default"


@dataclass(frozen=True)
class PartitionShape:
    """What was asked for, with every default filled in."""

    size: int
    gcds: int
    replicas: int
    routing: str | None
    sync_type: str
    reconfigurable: bool
    index: int | None


def shape_of(call: Call) -> PartitionShape:
    """The shape that a command asks for. Raises VipuRefused."""
    size = int(call.required("size"))
    if not _power_of_two(size):
        raise VipuRefused("size", size=size)
    older, newer = call.number("gcd-sync-replicas"), call.number("total-num-replicas")
    if older is not None and newer is not None:
        raise VipuRefused("both", first="--gcd-sync-replicas", second="--total-num-replicas")
    gcds = call.number("num-gcds")
    gcds = 1 if gcds is None else gcds
    if gcds < 1 or size % gcds or not _power_of_two(size // gcds):
        raise VipuRefused("gcds", gcds=gcds, size=size)
    replicas = next((item for item in (older, newer) if item is not None), gcds)
    if replicas < 1 or replicas % gcds:
        raise VipuRefused("replicas", replicas=replicas, gcds=gcds)
    routing = call.text("routing")
    if routing is not None:
        routing = ROUTINGS[call.word("routing", tuple(ROUTINGS), "default")]
    sync_type, reconfigurable = _synchronised(call)
    return PartitionShape(size, gcds, replicas, routing, sync_type, reconfigurable, call.number("index"))


def _synchronised(call: Call) -> tuple[str, bool]:
    """The sync type, and whether the partition is reconfigurable: only with c2-compatible, by default then.

    With `--index` another sync type is no error. What becomes of `--reconfigurable` then is assumed: it does not count.
    """
    wanted = call.given("reconfigurable")
    sync_type = call.word("sync-type", (C2, POD_NATIVE), C2 if wanted else POD_NATIVE)
    if wanted and sync_type != C2 and call.number("index") is None:
        raise VipuRefused("reconfigurable", value=sync_type)
    return sync_type, wanted and sync_type == C2


def _power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def routing_in(shape: PartitionShape, cluster: Cluster, machines: int, domains: int) -> str:
    """The routing of a partition on so many machines in so many IPU-Link domains. Raises VipuRefused."""
    length = len(cluster.agents) // cluster.domains
    ring = cluster.topology == "torus" and machines == length * domains
    if shape.routing in RINGS and not ring:
        raise VipuRefused("ring", value=shape.routing)
    if domains > 1:
        if shape.reconfigurable:
            raise VipuRefused("reconfigurable-domains")
        if shape.gcds % domains:
            raise VipuRefused("gcds-of-domains", gcds=shape.gcds, domains=domains)
    if shape.routing is not None:
        return shape.routing
    return "RINGSWNC" if ring else "DEFAULT"
