"""A partition beside a cloud: the provider as Pulumi starts it, with a real subnet manager behind `fabrics.yaml`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.provider.clouds import Cloud
from interlock.resources import PartitionKey, PartitionMember
from sandbox.infiniband.partitions import ConfiguredPartition
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import hex16, rails
from tests.conftest import ROOT
from tests.support.engine.process import Process, Refused
from tests.support.engine.stack import Stack

NAME, KEY = "erin-key", 0x0011


@pytest.fixture(scope="module")
def subnet() -> Iterator[LiveSubnet]:
    """Three nodes of one rail."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with LiveSubnet(rails(3, 1), ROOT / ".interlock" / f"test-subnet-provider-{worker}").running() as found:
        yield found


@pytest.fixture
def standin(subnet: LiveSubnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """Named by a file as an operator writes it."""
    subnet.apply([])
    with StandIn(subnet).serving() as found:
        (tmp_path / "password").write_text(f"{found.password}\n")
        (tmp_path / "password").chmod(0o600)
        file = tmp_path / "fabrics.yaml"
        login = f"username: {found.user}, password_file: password, ca_file: {found.ca_file}"
        file.write_text(f"fabrics:\n  ib-1: {{url: '{found.url}', {login}}}\n")
        monkeypatch.setenv("INTERLOCK_FABRICS", str(file))
        yield found


def partition(subnet: LiveSubnet, *names: str) -> PartitionKey:
    """Of these adapters, all full."""
    guids = (hex16(subnet.topology.guid(name)) for name in names)
    members = tuple(PartitionMember(guid=guid, membership="full") for guid in guids)
    return PartitionKey(infiniband="ib-1", key=KEY, members=members)


@pytest.fixture
def erin(operator: Cloud, process: Process, folder: Path, subnet: LiveSubnet, standin: StandIn) -> Stack:
    """A stack of one partition."""
    del operator, standin
    return Stack(process, "lyon-erin", "e41e00", {NAME: partition(subnet, "n0-r0", "n1-r0")}, "5172e1", folder)


def members(subnet: LiveSubnet) -> set[str]:
    """Adapters whose port has the key as a full member, and first."""
    first = KEY | 0x8000
    tables = subnet.tables()
    return {hca.name for hca in subnet.topology.hosts if tables[subnet.topology.guid(hca.name)].host[0] == first}


def test_subnet_manager_life_of_a_partition_in_a_stack(erin: Stack, subnet: LiveSubnet, standin: StandIn) -> None:
    assert erin.admit(preview=False) == []
    assert erin.check(NAME) == []
    made = erin.create(NAME)
    assert (made.id, members(subnet)) == ("ib-1/0x0011", {"n0-r0", "n1-r0"})
    assert erin.read(NAME) == made
    assert erin.diff(NAME) == {}
    # A crash lost the id: what is there is adopted, and not written again.
    writes = len([method for method, _ in standin.requests if method != "GET"])
    assert erin.create(NAME) == made
    assert len([method for method, _ in standin.requests if method != "GET"]) == writes
    erin.resources[NAME] = partition(subnet, "n1-r0", "n2-r0")
    assert erin.admit(preview=False) == []
    assert erin.diff(NAME) == {"members": False}
    changed = erin.update(NAME)
    assert members(subnet) == {"n1-r0", "n2-r0"}
    assert standin.password not in f"{made}{changed}{erin.process.notes}"
    erin.delete(NAME)
    assert members(subnet) == set()
    assert erin.state == {}


def test_subnet_manager_trap_a_partition_that_somebody_made_by_hand(erin: Stack, subnet: LiveSubnet) -> None:
    guids = [subnet.topology.guid(name) for name in ("n0-r0", "n2-r0")]
    subnet.apply([ConfiguredPartition(KEY, NAME, dict.fromkeys(guids, "full"), index0=True)])
    foreign = hex16(guids[1])
    assert any(foreign in fault for fault in erin.admit(preview=False)) or foreign in refused(erin)
    assert members(subnet) == {"n0-r0", "n2-r0"}
    subnet.apply([])


def refused(stack: Stack) -> str:
    """What the creation says."""
    with pytest.raises(Refused) as caught:
        stack.create(NAME)
    return str(caught.value)


def test_subnet_manager_wrong_password_is_told_before_anything_is_made(
    erin: Stack, standin: StandIn, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text("canary-of-a-password")
    (fault,) = erin.admit()
    assert "status 401" in fault
    assert str(tmp_path / "fabrics.yaml") in fault
    assert "canary" not in fault
    assert not [method for method, _ in standin.requests if method != "GET"]


def test_subnet_manager_without_its_file_is_told(erin: Stack, tmp_path: Path) -> None:
    (tmp_path / "fabrics.yaml").unlink()
    (fault,) = erin.admit()
    assert "nobody knows where the UFM of ib-1 is" in fault
    assert "docs/reference/fabrics-file.md" in fault
