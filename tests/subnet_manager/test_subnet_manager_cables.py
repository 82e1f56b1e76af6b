"""The hall of `stacks/hall` on ibsim, with a real OpenSM: what an audit says of its cables and of all partitions.

Cables are swapped, adapters replaced and partitions made behind the model's back; each is found and named, and put
back nothing is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.audit.comparison import Audit, StackAudit
from infra.audit.report import as_json, as_table, verdict
from infra.audit.subnets import with_subnets
from infra.program.foreign_partitions import of_foreign_partitions
from infra.program.gate import Gate
from interlock.provider.audit.standing import Standing
from interlock.provider.clouds import Cloud
from interlock.provider.fabrics import Fabrics
from interlock.resources import PartitionKey
from interlock.ufm.loading import FabricAccess, FabricsRead
from sandbox.infiniband.faults import UfmFault
from sandbox.infiniband.partitions import ConfiguredPartition, Membership
from sandbox.infiniband.profiles import DOCUMENTED, NICO, NVCM, UfmProfile
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet, ManagerSettings
from sandbox.rack.reading import named
from tests.ufm.conftest import AT_ONCE

from .conftest import folder

NODE, OTHER = "hall-1-su01-n01", "hall-1-su01-n07"
LEAF = "hall-1-compute-su01-leaf"
OLD, NEW = "0002c903000a0101", "0002c903000aff01"
STACKS = ("hall-site", "hall-acme", "hall-globex", "hall-initech")
PROFILES = pytest.mark.parametrize("profile", [DOCUMENTED, NVCM, NICO], ids=lambda profile: profile.name)


@pytest.fixture(scope="module")
def hall() -> Iterator[LiveSubnet]:
    """The subnet of the rack `hall`."""
    rack = named("hall").infiniband
    assert rack is not None
    settings = ManagerSettings(subnet_prefix=rack.prefix)
    with LiveSubnet(rack.topology, folder("hall"), settings).running() as subnet:
        yield subnet


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate.open("hall")


def planned(gate: Gate, subnet: LiveSubnet) -> dict[str, dict[int, Membership]]:
    """The partitions of all plans, as an `up` of each makes them."""
    found: dict[str, dict[int, Membership]] = {}
    wanted = []
    for tenant in gate.stacks():
        for item in gate.plan(tenant).resources:
            if isinstance(item.resource, PartitionKey):
                members: dict[int, Membership] = {int(one.guid, 16): one.membership for one in item.resource.members}
                found[item.name] = members
                wanted.append(ConfiguredPartition(item.resource.key, item.name, members, index0=True))
    subnet.apply(wanted)
    return found


def fabrics_of(standin: StandIn, folder: Path) -> Fabrics:
    """How its UFM is asked."""
    by_token = "/ufmRest" not in standin.profile.prefixes
    file = folder / "secret"
    file.write_text(standin.token if by_token else standin.password)
    name = None if by_token else standin.user
    access = FabricAccess("compute", standin.url, name, file, None, Path(standin.ca_file), "fabrics.yaml:2:9")
    return Fabrics(AT_ONCE, lambda: FabricsRead(folder / "fabrics.yaml", {"compute": access}))


def audited(gate: Gate, standin: StandIn, folder: Path) -> Audit:
    """The part of an audit that is about subnets, of a site all of whose stacks are applied."""
    stacks = []
    for tenant in gate.stacks():
        plan, standing = gate.plan(tenant), Standing("Project", "p", ("id",))
        stacks.append(StackAudit(plan, gate.look_at(plan)[0].judgement, (standing,), (), None, False))
    found = Audit("hall", "sandbox", tuple(stacks), (), {}, 0, 0)
    return with_subnets(found, gate, fabrics_of(standin, folder))


def said(found: Audit) -> list[str]:
    """`<kind>: <where>` of each cable, and each partition with the reason."""
    partitions = [f"{item.id}: {item.why}" for item in found.unmanaged]
    return [*(f"{one.found}: {one.where}" for one in found.cables), *partitions]


@PROFILES
def test_subnet_manager_a_hall_as_it_is_stated(
    hall: LiveSubnet, gate: Gate, tmp_path: Path, profile: UfmProfile
) -> None:
    """All 324 cables, both ports of both UFMs and three partitions: nothing is found, in any form of the answers."""
    assert len(planned(gate, hall)) == 2
    with StandIn(hall, profile).serving() as standin:
        found = audited(gate, standin, tmp_path)
    assert (said(found), dict(found.unread), verdict(found)) == ([], {}, "no drift")
    assert found.requests == 5


def test_subnet_manager_swapped_cables_are_found_and_named(hall: LiveSubnet, gate: Gate, tmp_path: Path) -> None:
    planned(gate, hall)
    with StandIn(hall).serving() as standin:
        hall.swap_cables(f"{NODE}:compute1", f"{OTHER}:compute2")
        found = audited(gate, standin, tmp_path)
        assert said(found) == [
            f"other peer: cable {LEAF}1:1 to {NODE}:compute1", f"other peer: cable {LEAF}2:7 to {OTHER}:compute2",
        ]  # fmt: skip
        assert [one.stacks for one in found.cables] == [("hall-acme",), ()], "at whose node it is"
        assert verdict(found) == "drift"
        table = as_table(found, gate)
        assert f"CABLE compute: cable {LEAF}1:1 to {NODE}:compute1 (at hall-acme): the site has it; " in table
        assert f"{LEAF}1:1 with {OTHER}:compute2, and {NODE}:compute1 with {LEAF}2:7\n" in table
        first = as_json(found, gate)["cables"][0]
        assert (first["found"], first["drift"], first["nodes"]) == ("other peer", True, (NODE,))
        hall.swap_cables(f"{NODE}:compute1", f"{OTHER}:compute2")
        assert said(audited(gate, standin, tmp_path)) == []


def test_subnet_manager_a_replaced_adapter_and_a_cable_that_is_out(
    hall: LiveSubnet, gate: Gate, tmp_path: Path
) -> None:
    """The adapter is found by the port where it hangs; that its old GUID is in a partition is told there."""
    planned(gate, hall)
    with StandIn(hall).serving() as standin:
        hall.replace_hca(f"{NODE}:compute1", int(NEW, 16))
        (one,) = audited(gate, standin, tmp_path).cables
        assert (str(one.found), one.where, one.guids) == ("replaced", f"node {NODE}:compute1", (OLD, NEW))
        assert one.stacks == ("hall-acme",)
        hall.unplug(f"{NODE}:compute1")
        assert said(audited(gate, standin, tmp_path)) == [f"not found: cable {LEAF}1:1 to {NODE}:compute1"]
        hall.plug(f"{NODE}:compute1", int(OLD, 16))
        assert said(audited(gate, standin, tmp_path)) == []


def test_subnet_manager_partitions_that_no_plan_has(hall: LiveSubnet, gate: Gate, tmp_path: Path) -> None:
    """One with ports of two tenants' nodes, one with a GUID that is gone, one with a key of the pool, one of others."""
    planned(gate, hall)
    others = [int(f"0002c903000a0{node}08", 16) for node in (1, 5)]
    foreign: dict[int, dict[int, Membership]] = {
        0x300: dict.fromkeys(others, "full"),
        0x301: {int(NEW, 16): "limited"},
        0x0040: {hall.topology.guid("hall-1-ufm-1"): "full"},
        0x302: {hall.topology.guid("hall-1-ufm-1"): "full"},
    }
    hall.apply([*hall.partitions(), *(ConfiguredPartition(key, f"by-hand-{key}", who) for key, who in foreign.items())])
    with StandIn(hall).serving() as standin:
        found = audited(gate, standin, tmp_path)
    ports = f"{NODE}:compute8 0002c903000a0108 (full), hall-1-su01-n05:compute8 0002c903000a0508 (full)"
    assert said(found) == [
        "compute/0x0040: no plan has it, and its key is of the pool from which locks give keys out",
        f"compute/0x0300: no plan has it, and ports of nodes are in it: {ports}",
        f"compute/0x0301: no plan has it, and in it are GUIDs of which the subnet has no port: {NEW} (limited)",
    ]
    assert verdict(found) == "drift"
    table = as_table(found, gate)
    assert "FOREIGN PartitionKey by-hand-768 (compute/0x0300): no plan has it, and ports" in table
    held = {
        line.split(":")[0]: "1 unmanaged that its certificate does not cover" in line for line in table.splitlines()
    }
    assert {name: held[name] for name in STACKS} == dict(zip(STACKS, (False, True, True, False), strict=True))
    assert "not supported: an observed plan of these objects; the rules did not judge them" in table


def test_subnet_manager_full_members_of_the_default_partition(gate: Gate, tmp_path: Path) -> None:
    """Where the subnet manager makes everybody full, every port meets every other."""
    rack = named("hall").infiniband
    assert rack is not None
    settings = ManagerSettings(subnet_prefix=rack.prefix, default_membership="full")
    with LiveSubnet(rack.topology, folder("open"), settings).running() as subnet, StandIn(subnet).serving() as standin:
        (one,) = said(audited(gate, standin, tmp_path))
    assert one.startswith("compute/0x7fff: ports of nodes are full members of it, so they meet every port")
    assert one.endswith(" and 60 more")


@pytest.mark.parametrize(
    ("path", "status"), [("/resources/links", 503), ("/resources/systems", 500), ("/resources/pkeys", 403)]
)
def test_subnet_manager_an_answer_that_is_missing_is_unread_and_no_pass(
    hall: LiveSubnet, gate: Gate, tmp_path: Path, path: str, status: int
) -> None:
    with StandIn(hall).serving() as standin:
        standin.faults.add(UfmFault("GET", path, status=status, times=99))
        found = audited(gate, standin, tmp_path)
    assert said(found) == []
    assert f"status {status}" in found.unread["InfiniBand compute"]
    assert verdict(found) == "not readable"


def test_subnet_manager_another_subnet_under_the_name_says_nothing_of_this_one(gate: Gate, tmp_path: Path) -> None:
    rack = named("hall").infiniband
    assert rack is not None
    settings = ManagerSettings(subnet_prefix=rack.prefix + 1)
    with LiveSubnet(rack.topology, folder("other"), settings).running() as subnet, StandIn(subnet).serving() as standin:
        found = audited(gate, standin, tmp_path)
    assert (
        "manages the subnet fe80000000000002, and the site file states fe80000000000001"
        in (found.unread["InfiniBand compute"])
    )
    assert verdict(found) == "not readable"


def test_subnet_manager_preflight_names_a_partition_with_ports_of_the_plan(
    hall: LiveSubnet, gate: Gate, tmp_path: Path
) -> None:
    """Another tenant's own partition is none, and neither is one in which no port of this plan is."""
    planned(gate, hall)
    admission = gate.admission(gate.prove("acme"))
    with StandIn(hall).serving() as standin:
        cloud = Cloud("paper", AT_ONCE)
        cloud.fabrics = fabrics_of(standin, tmp_path)
        assert of_foreign_partitions(gate, admission, cloud) == []
        made = [
            ConfiguredPartition(0x300, "by-hand", {int(OLD, 16): "limited", int("0002c903000a0701", 16): "full"}),
            ConfiguredPartition(0x301, "beside", {int("0002c903000a0701", 16): "full"}),
        ]
        hall.apply([*hall.partitions(), *made])
        (fault,) = of_foreign_partitions(gate, admission, cloud)
    assert f"no plan has P_Key 0x0300 of compute, and ports of this plan are in it: {OLD} (limited)" in str(fault)
