"""InfiniBand subnets as a whole: what each UFM says of links, ports, switches and of all partitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from interlock.model.site.inventory import InfinibandSubnet
from interlock.provider.errors import Failure, refused
from interlock.provider.fabrics import Fabrics, asking
from interlock.provider.partition_ownership import in_words
from interlock.ufm.answers import DEFAULT_KEY, KEY_BITS, FabricMember, FabricPartition
from interlock.ufm.discovered import DiscoveredFabric
from interlock.vocabulary.pair_ids import PartitionId

from .asked import AT_ONCE
from .unmanaged import UnmanagedResource

#: Requests that one subnet takes: which it is, links, ports, switches, and all partitions.
REQUESTS_OF_SUBNET = 5
_TAKE_OUT = "take these members out at UFM, and find out who put them in"


@dataclass(frozen=True)
class ReadSubnet:
    """One subnet. `unread`: why nothing of it is known; then the rest is empty."""

    infiniband: str
    fabric: DiscoveredFabric = field(default_factory=lambda: DiscoveredFabric((), {}, {}))
    partitions: Mapping[int, FabricPartition] = field(default_factory=dict)
    unread: str = ""


@dataclass(frozen=True)
class SubnetTerritory:
    """What of one subnet is a site's own."""

    infiniband: str
    #: GUID of each port of a node -> the port, in words.
    ports: Mapping[str, str]
    #: Keys that any plan has, applied or not.
    planned: Collection[int]
    #: Keys that locks give out, inclusive ranges.
    pool: tuple[tuple[int, int], ...] = ()
    #: Key of a partition that several stacks fill -> GUIDs that any of them may have there. A stack looks after its own
    #: members alone, so nobody else would miss a stranger.
    shared: Mapping[int, frozenset[str]] = field(default_factory=dict)


def read_subnets(fabrics: Fabrics, subnets: Iterable[InfinibandSubnet]) -> tuple[ReadSubnet, ...]:
    """Each of them, in their order. A UFM that does not tell makes its subnet unread."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return tuple(pool.map(lambda subnet: _read(fabrics, subnet), subnets))


def _read(fabrics: Fabrics, subnet: InfinibandSubnet) -> ReadSubnet:
    try:
        _check_prefix(fabrics, subnet)
        with asking():
            client = fabrics.of(subnet.name)
            return ReadSubnet(subnet.name, client.fabric(), client.partitions())
    except Failure as failure:
        return ReadSubnet(subnet.name, unread=failure.message)


def _check_prefix(fabrics: Fabrics, subnet: InfinibandSubnet) -> None:
    if (present := fabrics.prefix(subnet.name)) != subnet.prefix:
        what = f"its UFM in fabrics.yaml manages the subnet {present}, and the site file states {subnet.prefix}"
        raise refused(what, "correct `url` there, or `prefix` in the site file")


def foreign_partitions(read: ReadSubnet, territory: SubnetTerritory) -> Iterator[UnmanagedResource]:
    """Partitions that no plan has and that meet the site: its ports, its keys, or GUIDs that are gone.

    Of the default partition, in which everybody is, its full members: they meet every port of the subnet. Of one that
    several stacks fill, members that none of them has.
    """
    for key, partition in sorted(read.partitions.items()):
        if key & KEY_BITS == DEFAULT_KEY:
            reasons = list(_of_default(partition, territory))
        elif key in territory.shared:
            reasons = list(_of_shared(partition, territory))
        elif key in territory.planned:
            continue
        else:
            reasons = list(_of_unplanned(partition, read, territory))
        if reasons:
            ident = PartitionId.of(read.infiniband, key)
            yield UnmanagedResource(
                "PartitionKey", str(ident), partition.name, orphan=False, stack="", why="; ".join(reasons),
                hint=_TAKE_OUT if partition.members else "delete it at UFM, or reserve its key in the pool",
            )  # fmt: skip


def _of_default(partition: FabricPartition, territory: SubnetTerritory) -> Iterator[str]:
    full = [one for one in partition.members if one.membership == "full" and one.guid in territory.ports]
    if full:
        yield f"ports of nodes are full members of it, so they meet every port of the subnet: {_named(full, territory)}"


def _of_shared(partition: FabricPartition, territory: SubnetTerritory) -> Iterator[str]:
    strangers = [one for one in partition.members if one.guid not in territory.shared[partition.key]]
    if strangers:
        named = ", ".join(territory.ports.get(one.guid, "no port of the site") for one in strangers[:4])
        yield f"several stacks fill it, and no plan has these members: {in_words(strangers)} ({named})"


def _of_unplanned(partition: FabricPartition, read: ReadSubnet, territory: SubnetTerritory) -> Iterator[str]:
    own = [one for one in partition.members if one.guid in territory.ports]
    gone = [one for one in partition.members if one.guid not in read.fabric.hosts]
    if own:
        yield f"no plan has it, and ports of nodes are in it: {_named(own, territory)}"
    if gone:
        yield f"no plan has it, and in it are GUIDs of which the subnet has no port: {in_words(gone)}"
    if any(first <= partition.key <= last for first, last in territory.pool):
        yield "no plan has it, and its key is of the pool from which locks give keys out"


def _named(members: Iterable[FabricMember], territory: SubnetTerritory) -> str:
    listed = [f"{territory.ports[one.guid]} {one.guid} ({one.membership})" for one in members]
    more = f" and {len(listed) - 4} more" if len(listed) > 4 else ""
    return ", ".join(listed[:4]) + more
