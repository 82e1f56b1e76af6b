"""Partitions through the provider, at a real subnet manager: what OpenSM wrote into ports' tables counts.

The stand-in of UFM's interface in front of it keeps no table of its own (`sandbox.infiniband`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from interlock.provider.errors import Failure
from interlock.resources import PartitionKey, PartitionMember
from interlock.ufm.loading import FabricAccess
from sandbox.infiniband.faults import UfmFault
from sandbox.infiniband.partitions import ConfiguredPartition
from sandbox.infiniband.profiles import DOCUMENTED, NICO, NVCM, UfmProfile
from sandbox.infiniband.routes import UfmReply
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet
from sandbox.infiniband.topology import hex16, rails
from tests.conftest import ROOT
from tests.ufm.double import Double
from tests.ufm.partition_stack import KEY, PartitionStack

Cut = Literal["middle"]
#: Rows of a port's table: the tenant's key as a full and as a limited member, and the default one as a limited member.
FULL, LIMITED, DEFAULT = 0x8005, 0x0005, 0x7FFF


class DeadlyStandIn(StandIn):
    """Whoever asks dies at the request that is cut: nothing more is heard of that process."""

    is_dead = False

    def answer(self, method: str, target: str, authorization: str, body: bytes) -> tuple[UfmReply, UfmFault | None]:
        """As the stand-in does it, or nothing."""
        if self.is_dead:
            return UfmReply(500, ""), UfmFault("*", "*", cut="before")
        reply, fault = super().answer(method, target, authorization, body)
        self.is_dead = fault is not None and fault.cut is not None
        return reply, fault


@dataclass
class LiveStack(PartitionStack):
    """A stack at a stand-in, with a subnet manager behind it."""

    standin: StandIn | None = None

    def dies(self, spec: PartitionKey | None, cut: Cut) -> None:
        """A run (None: a destroy) that is killed at its first changing request; the state hears nothing of it."""
        assert isinstance(self.standin, DeadlyStandIn)
        before = self.state
        for method in ("POST", "PUT", "DELETE"):
            self.standin.faults.add(UfmFault(method, "*", cut=cut))
        with pytest.raises(Failure):
            self.destroy() if spec is None else self.up(spec)
        assert self.standin.is_dead
        self.standin.faults.clear()
        self.standin.is_dead, self.state = False, before

    def way(self) -> FabricAccess:
        assert self.standin is not None
        token = "/ufmRest" not in self.standin.profile.prefixes
        file = self.folder / "secret"
        file.write_text(self.standin.token if token else self.standin.password)
        name = None if token else self.standin.user
        return FabricAccess("ib-1", self.standin.url, name, file, None, Path(self.standin.ca_file), "fabrics.yaml:2:9")


def folder(name: str) -> Path:
    """Of this process's own: what a killed run left in it goes with the next one."""
    return ROOT / ".interlock" / f"test-ufm-{name}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"


@pytest.fixture(scope="module")
def shared() -> Iterator[LiveSubnet]:
    """Four nodes of two rails."""
    with LiveSubnet(rails(4, 2), folder("shared")).running() as subnet:
        yield subnet


@pytest.fixture
def subnet(shared: LiveSubnet) -> LiveSubnet:
    """The same, with the default partition alone."""
    shared.apply([])
    return shared


@pytest.fixture
def moving() -> Iterator[LiveSubnet]:
    """One of its own, whose adapters and manager may go."""
    with LiveSubnet(rails(3, 1), folder("moving")).running() as subnet:
        yield subnet


@pytest.fixture
def live(subnet: LiveSubnet, tmp_path: Path) -> Iterator[LiveStack]:
    """A stack at it, through a UFM as its guide has it."""
    with DeadlyStandIn(subnet).serving() as standin:
        yield LiveStack(Double(frozenset()), tmp_path, standin=standin)


def key(subnet: LiveSubnet, *full: str, limited: tuple[str, ...] = (), index0: bool = True) -> PartitionKey:
    """The planned partition, of adapters by their names."""
    members = [PartitionMember(guid=hex16(subnet.topology.guid(name)), membership="full") for name in full]
    members += [PartitionMember(guid=hex16(subnet.topology.guid(name)), membership="limited") for name in limited]
    return PartitionKey(infiniband="ib-1", key=KEY, members=tuple(members), index0=index0)


def tables(subnet: LiveSubnet) -> dict[str, tuple[int, ...]]:
    """Adapter -> keys of its port, where that has other ones than the default. The leaf's port enforces the same."""
    found, all_of_them = {}, subnet.tables()
    for hca in subnet.topology.hosts:
        ports = all_of_them[subnet.topology.guid(hca.name)]
        assert sorted(ports.host) == sorted(ports.leaf), hca.name
        if ports.host != (DEFAULT,):
            found[hca.name] = ports.host
    return found


def in_tables(spec: PartitionKey, subnet: LiveSubnet) -> bool:
    """True if the tables have exactly what is planned."""
    names = {hex16(subnet.topology.guid(hca.name)): hca.name for hca in subnet.topology.hosts}
    rows = {names[member.guid]: FULL if member.membership == "full" else LIMITED for member in spec.members}
    wanted = {name: (row, DEFAULT) if spec.index0 else (DEFAULT, row) for name, row in rows.items()}
    return tables(subnet) == wanted


@pytest.mark.parametrize("profile", [DOCUMENTED, NVCM, NICO], ids=lambda profile: profile.name)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_subnet_manager_has_what_is_planned(
    subnet: LiveSubnet, tmp_path: Path, profile: UfmProfile, asynchronous: bool
) -> None:
    with StandIn(subnet, profile, asynchronous=asynchronous).serving() as standin:
        live = LiveStack(Double(frozenset()), tmp_path, standin=standin)
        steps = [
            key(subnet, "n0-r0", "n1-r0"),
            key(subnet, "n0-r0", "n1-r0", "n2-r0"),
            key(subnet, "n1-r0", limited=("n2-r0",)),
            key(subnet, "n1-r0", limited=("n2-r0",), index0=False),
        ]
        for spec in steps:
            live.up(spec)
            assert in_tables(spec, subnet)
        assert subnet.paths(subnet.topology.guid("n1-r0"), subnet.topology.guid("n2-r0"))
        live.destroy()
        assert tables(subnet) == {}


@pytest.mark.parametrize("step", ["create", "create mixed", "grow", "shrink", "replace", "delete"])
def test_subnet_manager_a_request_that_breaks_off_is_completed_by_the_next_run(
    subnet: LiveSubnet, live: LiveStack, step: str
) -> None:
    """In its middle, with half of the members done; before and after it is a matter of tests/kills.

    Nobody who is planned as limited is ever full on the way, and nobody is lost.
    """
    both, mixed = key(subnet, "n0-r0", "n1-r0"), key(subnet, "n0-r0", limited=("n1-r0", "n2-r0"))
    before, after = {
        "create": (None, both),
        "create mixed": (None, mixed),
        "grow": (both, key(subnet, "n0-r0", "n1-r0", "n2-r0", "n3-r0")),
        "shrink": (key(subnet, "n0-r0", "n1-r0", "n2-r0", "n3-r0"), both),
        "replace": (key(subnet, "n3-r0"), mixed),
        "delete": (both, None),
    }[step]
    if before is not None:
        live.up(before)
    live.dies(after, "middle")
    limited = {"n1-r0", "n2-r0"} if after is mixed else set[str]()
    assert not {name for name, rows in tables(subnet).items() if name in limited and FULL in rows}
    if after is None:
        live.destroy()
        assert tables(subnet) == {}
    else:
        live.up(after)
        assert in_tables(after, subnet)
        live.destroy()


def test_subnet_manager_a_job_that_fails_changes_nothing_and_is_told(subnet: LiveSubnet, live: LiveStack) -> None:
    assert live.standin is not None
    spec = key(subnet, "n0-r0", "n1-r0")
    live.standin.faults.add(UfmFault("POST", "/resources/pkeys*", job_fails=True))
    with pytest.raises(Failure, match="ended as Completed With Errors: failed on demand"):
        live.up(spec)
    assert tables(subnet) == {}
    live.up(spec)
    assert in_tables(spec, subnet)


def test_subnet_manager_a_foreign_administrators_member_is_named_and_left(subnet: LiveSubnet, live: LiveStack) -> None:
    spec = key(subnet, "n0-r0", "n1-r0")
    live.up(spec)
    guids = {name: subnet.topology.guid(name) for name in ("n0-r0", "n1-r0", "n3-r1")}
    subnet.apply([ConfiguredPartition(KEY, "by-hand", dict.fromkeys(guids.values(), "full"), index0=True)])
    foreign = f"{hex16(guids['n3-r1'])} (full)"
    assert live.audited(spec).reason == f"in it are members that no plan puts there: {foreign}"
    with pytest.raises(Failure, match="has members that are not this stack's") as caught:
        live.up(spec)
    assert foreign in str(caught.value)
    with pytest.raises(Failure, match="members that this stack did not put in"):
        live.destroy()
    assert set(tables(subnet)) == set(guids)


def test_subnet_manager_trap_a_partition_of_our_key_made_by_hand(subnet: LiveSubnet, live: LiveStack) -> None:
    members = {subnet.topology.guid(name): "full" for name in ("n0-r0", "n3-r1")}
    subnet.apply([ConfiguredPartition(KEY, "acme-key", members, index0=True)])  # type: ignore[arg-type]
    before = tables(subnet)
    spec = key(subnet, "n0-r0", "n1-r0")
    with pytest.raises(Failure, match="is there already: it has members that are not this stack's"):
        live.up(spec)
    assert [str(fault) for fault in live.preflight(spec)]
    assert tables(subnet) == before


def test_subnet_manager_a_replaced_adapter_leaves_every_partition(moving: LiveSubnet, tmp_path: Path) -> None:
    spec = key(moving, "n0-r0", "n1-r0")
    old, new = moving.topology.guid("n1-r0"), 0x0002C9030ABC0001
    with StandIn(moving).serving() as standin:
        live = LiveStack(Double(frozenset()), tmp_path, standin=standin)
        live.up(spec)
        moving.replace_hca("n1-r0", new)
        stale = live.audited(spec)
        assert stale.reason == f"in it are GUIDs of which the subnet has no port: {hex16(old)}"
        members = (spec.members[0], PartitionMember(guid=hex16(new), membership="full"))
        after = spec.model_copy(update={"members": members})
        live.up(after)
        assert moving.host_table(new) == (FULL, DEFAULT)
        assert not live.audited(after).has_drifted
        assert old not in {guid for item in moving.partitions() for guid in item.members}


def test_subnet_manager_gone_nothing_is_lost(moving: LiveSubnet, tmp_path: Path) -> None:
    spec = key(moving, "n0-r0", "n1-r0")
    with StandIn(moving).serving() as standin:
        live = LiveStack(Double(frozenset()), tmp_path, standin=standin)
        live.up(spec)
        moving.stop_manager()
        with pytest.raises(Failure, match="status 503"):
            live.up(key(moving, "n0-r0", "n1-r0", "n2-r0"))
        assert "status 503" in live.audited(spec).unread or not live.audited(spec).has_drifted
        moving.start_manager()
        after = key(moving, "n0-r0", "n1-r0", "n2-r0")
        live.up(after)
        assert in_tables(after, moving)
