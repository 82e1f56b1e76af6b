"""Stacks that fill one partition: each a provider process of its own, with one claims store for all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from interlock.provider.clouds import Cloud
from interlock.provider.turns import ClaimsPlace
from interlock.resources import PartitionKey, PartitionMember
from tests.ufm.conftest import GUIDS
from tests.ufm.partition_stack import KEY, PartitionStack

#: Ports of the appliance, by their numbers among `GUIDS`.
SERVERS = (0, 1)


def part(*clients: int, servers: tuple[int, ...] = SERVERS, key: int = KEY) -> PartitionKey:
    """A tenant's part: these clients."""
    members = tuple(PartitionMember(guid=GUIDS[number], membership="limited") for number in clients)
    return _shared(members, servers, key)


def appliance(*ports: int, servers: tuple[int, ...] | None = None) -> PartitionKey:
    """The operator's part: the appliance, by default both of its ports."""
    ports = ports or SERVERS
    members = tuple(PartitionMember(guid=GUIDS[number], membership="full") for number in ports)
    return _shared(members, servers or ports, KEY)


def _shared(members: tuple[PartitionMember, ...], servers: tuple[int, ...], key: int) -> PartitionKey:
    known = tuple(sorted(GUIDS[number] for number in servers))
    return PartitionKey(infiniband="ib-1", key=key, members=members, index0=False, shared=True, servers=known)


@dataclass
class SharingStack(PartitionStack):
    """One of several stacks of the site. A destroy runs no program, so it knows what its state records alone."""

    stack: str = "lyon-acme"
    has_program: bool = True

    @property
    def claims(self) -> str:
        """URL of the store."""
        return (self.folder / "claims").as_uri()

    def of(self, tenant: str) -> SharingStack:
        """Another stack at the same UFM and store, which has made nothing yet."""
        return replace(self, stack=f"lyon-{tenant}", state=None, inputs={}, held=frozenset())

    def destroy(self) -> None:
        self.has_program = False
        try:
            super().destroy()
        finally:
            self.has_program = True

    def _cloud(self) -> Cloud:
        cloud = super()._cloud()
        place = ClaimsPlace(self.claims, self.stack) if self.has_program else None
        cloud.claims_place = lambda: place
        return cloud
