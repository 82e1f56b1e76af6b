"""Partitions of InfiniBand: what each UFM says of each planned key, and which members its subnet no longer has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from interlock.provider.actuators import ACTUATORS, Target
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.fabrics import asking
from interlock.provider.partition_ownership import in_words, memberships, outsiders
from interlock.provider.state import as_seen, differing
from interlock.resources import Admitted, PartitionKey
from interlock.ufm.answers import FabricPartition
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import PartitionId

from .asked import AT_ONCE, Asked
from .standing import Standing

_BY_HAND = "take them out at UFM, and find out who put them in; an `up` refuses to change this partition until then"
_STALE = (
    "a port is down, or its HCA was replaced: correct the GUIDs in the site file, then run `pulumi up`, which takes "
    "the old one out before the node is used again"
)


def partitions(cloud: Cloud, asked: Iterable[Asked]) -> Iterator[tuple[Asked, Standing]]:
    """How each stands. A UFM that does not tell makes its partitions unread."""
    asked = list(asked)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from zip(asked, pool.map(lambda one: _standing(cloud, one.planned), asked), strict=True)


def _standing(cloud: Cloud, planned: Admitted) -> Standing:
    kind, name = planned.kind, planned.name
    spec = PartitionKey.model_validate(planned.spec)
    try:
        with asking():
            client = cloud.fabrics.of(spec.infiniband)
            partition, ports = client.partition(spec.key), client.ports()
        if partition is None:
            return Standing(kind, name, ())
        return _compared(cloud, Target(name, OwnerId(""), spec, {}), partition, ports)
    except Failure as failure:
        return Standing(kind, name, (), unread=failure.message)


def _compared(
    cloud: Cloud, target: Target[PartitionKey], partition: FabricPartition, ports: frozenset[str]
) -> Standing:
    kind, name, ident = target.spec.KIND, target.name, str(PartitionId.of(target.spec.infiniband, target.spec.key))
    seen = ACTUATORS[kind].read(cloud, ident, target)
    if seen is None:
        return Standing(kind, name, ())
    wanted, actual = target.spec.canonical(), as_seen(target, seen)
    differs = {field: (wanted[field], actual[field]) for field in sorted(differing(target, seen))}
    foreign = outsiders(partition, target.spec)
    # Of a shared one those of this stack: of others' members their own stacks are told.
    here = partition.guids & memberships(target.spec).keys() if target.spec.shared else partition.guids
    stale = sorted(here - ports)
    reasons = [f"in it are members that no plan puts there: {in_words(foreign)}"] if foreign else []
    reasons += [f"in it are GUIDs of which the subnet has no port: {', '.join(stale)}"] if stale else []
    hint = _BY_HAND if foreign else _STALE if stale else ""
    return Standing(kind, name, (ident,), differs, "; ".join(reasons), hint)
