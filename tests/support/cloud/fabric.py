"""A simulated InfiniBand subnet beside the embedded cloud: a real OpenSM behind the stand-in of UFM's interface."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from interlock.resources import PartitionKey, PartitionMember
from sandbox.infiniband.partitions import ConfiguredPartition
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import hex16, rails
from tests.conftest import ROOT

#: Four nodes of one rail: GUIDs follow from it, before anything runs.
TOPOLOGY = rails(4, 1)
INFINIBAND = "ib-1"
#: The service of partitions in the provider's tables, and its listener at the proxy.
SERVICE, LISTENER = "infiniband", "ufm"


@dataclass(frozen=True)
class Fabric:
    """Both, as they run."""

    subnet: LiveSubnet
    standin: StandIn

    def inventory(self) -> Counter[tuple[str, ...]]:
        """Rows of the tables of adapters and of the leaf ports that they are cabled to, as OpenSM wrote them."""
        return Counter(
            (where, hex16(guid), f"{row:#06x}")
            for guid, ports in self.subnet.tables().items()
            for where, rows in (("P_Key of an adapter", ports.host), ("P_Key of a leaf port", ports.leaf))
            for row in rows
        )

    def members(self, key: int) -> dict[str, str]:
        """GUID -> membership in one partition, as OpenSM is told; nobody where there is none."""
        found = [item.members for item in self.subnet.partitions() if item.key == key]
        return {hex16(guid): kind for members in found for guid, kind in members.items()}

    def put(self, key: int, name: str, *adapters: str) -> None:
        """What a foreign administrator does: a partition of these adapters, all full."""
        rest = [item for item in self.subnet.partitions() if item.key != key]
        made = ConfiguredPartition(key, name, {TOPOLOGY.guid(adapter): "full" for adapter in adapters}, index0=True)
        self.subnet.apply([*rest, made])

    def clear(self) -> None:
        """The default partition alone."""
        self.subnet.apply([])


def partition(key: int, *adapters: str) -> PartitionKey:
    """A planned partition of these adapters, all full."""
    members = (PartitionMember(guid=hex16(TOPOLOGY.guid(name)), membership="full") for name in adapters)
    return PartitionKey(infiniband=INFINIBAND, key=key, members=tuple(members))


@contextmanager
def running(name: str) -> Iterator[Fabric]:
    """In a folder of this process's own: what a killed run left in it goes with the next one."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with (
        LiveSubnet(TOPOLOGY, ROOT / ".interlock" / f"test-fabric-{name}-{worker}").running() as subnet,
        StandIn(subnet).serving() as standin,
    ):
        yield Fabric(subnet, standin)
