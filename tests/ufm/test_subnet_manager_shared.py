"""A shared partition with a real subnet manager: what ports hold, who hears whom, and runs that are killed in their
turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.provider.errors import Failure
from interlock.resources import PartitionKey, PartitionMember
from interlock.ufm.answers import Membership
from interlock.ufm.loading import FabricAccess
from sandbox.infiniband.partitions import ConfiguredPartition
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import hex16, rails
from tests.ufm.double import Double
from tests.ufm.partition_stack import KEY
from tests.ufm.shared_stack import SharingStack
from tests.ufm.test_subnet_manager_partitions import (
    DEFAULT,
    FULL,
    LIMITED,
    Cut,
    DeadlyStandIn,
    LiveStack,
    folder,
    tables,
)

#: The appliance's adapter; the others are nodes'.
FILER = "n0-r0"


@dataclass
class LiveSharing(SharingStack, LiveStack):
    """One of several stacks at a subnet with a subnet manager. The secret is written once: others read it meanwhile."""

    known: FabricAccess | None = None

    def way(self) -> FabricAccess:
        self.known = self.known or super().way()
        return self.known


@pytest.fixture(scope="module")
def shared() -> Iterator[LiveSubnet]:
    """Six nodes of one rail: the storage fabric, with the appliance at the first place."""
    with LiveSubnet(rails(6, 1), folder("storage")).running() as subnet:
        yield subnet


@pytest.fixture
def subnet(shared: LiveSubnet) -> LiveSubnet:
    shared.apply([])
    return shared


@pytest.fixture
def site(subnet: LiveSubnet, tmp_path: Path) -> Iterator[LiveSharing]:
    """The operator's stack, with the appliance in."""
    with DeadlyStandIn(subnet).serving() as standin:
        stack = LiveSharing(Double(frozenset()), tmp_path, standin=standin, stack="lyon-site")
        stack.up(part(subnet, full=(FILER,)))
        yield stack


def of(site: LiveSharing, tenant: str) -> LiveSharing:
    """A tenant's stack at the same UFM and claims store."""
    found = site.of(tenant)
    assert isinstance(found, LiveSharing)
    return found


def part(subnet: LiveSubnet, *clients: str, full: tuple[str, ...] = ()) -> PartitionKey:
    """A stack's part: clients, or the appliance."""
    named = [*((name, "limited") for name in clients), *((name, "full") for name in full)]
    members = [
        PartitionMember.model_validate({"guid": hex16(subnet.topology.guid(name)), "membership": how})
        for name, how in named
    ]
    servers = (hex16(subnet.topology.guid(FILER)),)
    return PartitionKey(infiniband="ib-1", key=KEY, members=tuple(members), index0=False, shared=True, servers=servers)


def with_clients(*clients: str) -> dict[str, tuple[int, ...]]:
    """The tables with the appliance as a full member and these as limited ones, behind the default key."""
    found: dict[str, tuple[int, ...]] = {FILER: (DEFAULT, FULL)}
    found.update(dict.fromkeys(clients, (DEFAULT, LIMITED)))
    return found


def test_subnet_manager_clients_reach_the_appliance_and_not_each_other(subnet: LiveSubnet, site: LiveSharing) -> None:
    acme, globex = of(site, "acme"), of(site, "globex")
    acme.up(part(subnet, "n1-r0", "n2-r0"))
    globex.up(part(subnet, "n3-r0"))
    assert tables(subnet) == with_clients("n1-r0", "n2-r0", "n3-r0")
    guid = subnet.topology.guid
    assert subnet.paths(guid("n1-r0"), guid(FILER))
    assert subnet.paths(guid("n3-r0"), guid(FILER))
    assert not subnet.paths(guid("n1-r0"), guid("n3-r0"))
    assert not subnet.paths(guid("n1-r0"), guid("n2-r0"))
    acme.destroy()
    assert tables(subnet) == with_clients("n3-r0")
    globex.destroy()
    site.destroy()
    assert tables(subnet) == {}


@pytest.mark.parametrize("cut", ["before", "middle", "after"])
@pytest.mark.parametrize("step", ["create", "grow", "shrink", "delete"])
def test_subnet_manager_a_writer_that_is_killed_in_its_turn(
    subnet: LiveSubnet, site: LiveSharing, step: str, cut: Cut
) -> None:
    """Its next run completes it; the other tenant's clients are in all the time, and nobody is silently full."""
    acme, globex = of(site, "acme"), of(site, "globex")
    globex.up(part(subnet, "n5-r0"))
    before, after = {
        "create": ((), ("n1-r0", "n2-r0")),
        "grow": (("n1-r0",), ("n1-r0", "n2-r0", "n3-r0")),
        "shrink": (("n1-r0", "n2-r0", "n3-r0"), ("n1-r0",)),
        "delete": (("n1-r0", "n2-r0"), ()),
    }[step]
    if before:
        acme.up(part(subnet, *before))
    acme.dies(part(subnet, *after) if after else None, cut)
    seen = tables(subnet)
    assert with_clients("n5-r0").items() <= seen.items()
    assert {name for name, rows in seen.items() if FULL in rows} == {FILER}
    acme.up(part(subnet, *after)) if after else acme.destroy()
    assert tables(subnet) == with_clients(*after, "n5-r0")


def test_subnet_manager_four_stacks_at_once_lose_nobody(subnet: LiveSubnet, site: LiveSharing) -> None:
    names = {"acme": "n1-r0", "globex": "n2-r0", "initech": "n3-r0", "hooli": "n4-r0"}
    failed: list[Failure] = []

    def work(tenant: str, client: str) -> None:
        try:
            of(site, tenant).up(part(subnet, client))
        except Failure as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in names.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert tables(subnet) == with_clients(*names.values())


def test_subnet_manager_a_foreign_administrators_full_member_stops_writers(
    subnet: LiveSubnet, site: LiveSharing
) -> None:
    acme = of(site, "acme")
    acme.up(part(subnet, "n1-r0"))
    stranger = hex16(subnet.topology.guid("n5-r0"))
    members: dict[int, Membership] = {subnet.topology.guid(name): "full" for name in (FILER, "n5-r0")}
    members[subnet.topology.guid("n1-r0")] = "limited"
    subnet.apply([ConfiguredPartition(KEY, "by-hand", members, index0=False)])
    assert f"{stranger} (full)" in acme.audited(part(subnet, "n1-r0")).reason
    with pytest.raises(Failure, match="full members are in it that are no servers"):
        acme.up(part(subnet, "n1-r0", "n2-r0"))
    assert "n2-r0" not in tables(subnet)
