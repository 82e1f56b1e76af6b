"""GPU clusters the whole way: request, plan, proof, engine, Ironic, Neutron and its switches, a real subnet manager.

The tests are steps of one story, in this order, on an embedded cloud of their own with the rack `hall`. The operator's
part is done as an operator does it: the site is applied, and its nodes are enrolled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from keystoneauth1.adapter import Adapter
from openstack.config import OpenStackConfig
from openstack.connection import Connection

from interlock.channel import Desk, Shelf
from interlock.provider.actuators.bare_metal_node import DEPLOYED_WITH
from interlock.retry import RetryPolicy
from interlock.ufm.client import UfmClient
from interlock.ufm.loading import load_fabrics
from interlock.ufm.transport import UfmTransport
from sandbox.infiniband.racks import port_name
from sandbox.infiniband.subnet import LiveSubnet, PortTables
from sandbox.infiniband.topology import SubnetTopology
from sandbox.rack.reading import named
from tests.builders.accepted import figures
from tests.conftest import HALL, Sandbox, cloud_folder
from tests.e2e.project import Project
from tests.e2e.s3 import client
from tests.infra.evidence import now
from tests.sandbox.switch_sessions import QUARANTINE, clients

RACK = "hall"
SITE, ACME, GLOBEX = (f"hall-{name}" for name in ("site", "acme", "globex"))
#: Nodes of both tenants and one that nobody has, as their locks have it.
OF_ACME, OF_GLOBEX, IDLE = range(1, 5), range(5, 7), 8
RAILS = range(1, 9)
#: Versions that runs of acceptance are held against.
FIRMWARE = """evidence:
  max_age: 30d
  acceptance:
    dgx-h100: {firmware: {hca: ["28.39.3560"], gpu: ["96.00.89.00.01"], nvswitch: ["96.10.55.00.01"]}}
"""
#: Rows of a port's table: a full member's keys, that of acme first, and the default one as a limited member.
ACMES, GLOBEXS, NOBODYS = (0x8001, 0x7FFF), (0x8002, 0x7FFF), (0x7FFF,)


@dataclass(frozen=True)
class Hall:
    """The applied site, its cloud, and what is cabled."""

    project: Project
    sandbox: Sandbox
    cloud: Any
    topology: SubnetTopology

    @property
    def ufm(self) -> UfmClient:
        """The stand-in, asked as the provider asks it."""
        access = load_fabrics(self.sandbox.dir / "fabrics.yaml").fabrics["compute"]
        return UfmClient(UfmTransport(access, RetryPolicy()))

    def guid(self, number: int, rail: int) -> int:
        """GUID of a node's port."""
        return self.topology.guid(port_name(node(number), rail))

    @contextmanager
    def asked(self) -> Iterator[LiveSubnet]:
        """The subnet as anybody sees it who asks from the subnet manager's port."""
        seen = LiveSubnet(self.topology, self.sandbox.dir / "state" / "infiniband")
        try:
            yield seen
        finally:
            seen.stop()

    def paths(self, a: int, b: int) -> tuple[int, ...]:
        """P_Keys of the paths between the first ports of two nodes."""
        with self.asked() as seen:
            return seen.paths(self.guid(a, 1), self.guid(b, 1))

    def tables(self) -> dict[int, set[PortTables]]:
        """Number of each node -> the tables that its ports and their leaves' have, as OpenSM wrote them."""
        with self.asked() as seen:
            found = seen.tables()
        return {number: {found[self.guid(number, rail)] for rail in RAILS} for number in range(1, 9)}

    def vlans(self) -> list[int]:
        """VLAN of each node's in-band port, as the switch says it."""
        switch = clients(self.sandbox.dir)["inband-1"]
        return [switch.vlan_of(f"Ethernet{number}/1")[1] for number in range(1, 9)]

    def instances(self, *numbers: int) -> list[str]:
        """Who Ironic lent these nodes to, each time anew: the same for a node that was left alone."""
        return [str(self.cloud.baremetal.get_node(node(number)).instance_id) for number in numbers]

    def ask(self, old: str, new: str) -> str:
        """Change acme's request, lock it and apply it; returns what the lock said."""
        self.project.edit("hall/tenants/acme.yaml", old, new)
        said = self.project.must(self.project.interlock("lock", "acme", "--site", RACK)).text
        self.project.must(self.project.plain_up(ACME))
        return said

    def states(self) -> list[str]:
        """Ironic's state of each node with InfiniBand."""
        return [self.cloud.baremetal.get_node(node(number)).provision_state for number in range(1, 9)]


def node(number: int) -> str:
    """Name of a node."""
    return f"hall-1-su01-n{number:02}"


def both(keys: tuple[int, ...]) -> set[PortTables]:
    """The port and its leaf's have the same keys: switches enforce what the port is told."""
    return {PortTables(keys, keys)}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """The site is applied, and its nodes are enrolled; the cloud is stopped at the end, whatever happened."""
    sandbox = Sandbox(cloud_folder(HALL))
    sandbox.supervise("reset", "--rack", RACK)
    try:
        project = Project.make(tmp_path_factory.mktemp("hall") / "project", sandbox.clouds_yaml)
        project.edit("hall/site.yaml", "\nname: hall\n", "\nname: hall\nchannel: true\n")
        for tenant in ("acme", "globex", "initech"):
            project.must(project.interlock("lock", tenant, "--site", RACK))
        project.init(SITE, ACME, GLOBEX)
        project.must(project.plain_up(SITE))
        _enrol(project, sandbox)
        subnet = named(RACK).infiniband
        assert subnet is not None
        known = OpenStackConfig(config_files=[str(sandbox.clouds_yaml)], load_envvars=False)
        with Connection(config=known.get_one(sandbox.cloud)) as cloud:
            yield Hall(project, sandbox, cloud, subnet.topology)
    finally:
        sandbox.supervise("down")


def _enrol(project: Project, sandbox: Sandbox) -> None:
    listed: Path = project.folder / "nodes.json"
    listed.write_text(project.must(project.interlock("nodes", "--site", RACK, "--json")).out)
    assert len(json.loads(listed.read_text())["nodes"]) == 10
    sandbox.supervise("enrol", str(listed))


def test_nobody_is_in_a_partition_before_a_tenant_comes(hall: Hall) -> None:
    assert hall.tables() == dict.fromkeys(range(1, 9), both(NOBODYS))
    assert hall.vlans() == [QUARANTINE] * 8
    assert hall.states() == ["available"] * 8


def test_a_tenant_has_nodes_a_vlan_and_a_partition_at_index_0(hall: Hall) -> None:
    hall.project.must(hall.project.up(ACME))
    assert hall.tables() == {number: both(ACMES if number in OF_ACME else NOBODYS) for number in range(1, 9)}
    assert hall.vlans() == [1000] * 4 + [QUARANTINE] * 4
    assert hall.states() == ["active"] * 4 + ["available"] * 4
    hall.project.unchanged(ACME)


def test_two_tenants_have_no_path_to_each_other(hall: Hall) -> None:
    hall.project.must(hall.project.up(GLOBEX))
    assert hall.tables() == {
        number: both(ACMES if number in OF_ACME else GLOBEXS if number in OF_GLOBEX else NOBODYS)
        for number in range(1, 9)
    }
    assert hall.paths(1, 4) == (0x8001,)
    assert hall.paths(5, 6) == (0x8002,)
    assert hall.paths(1, 5) == ()


def test_a_user_is_told_where_the_nodes_are(hall: Hall) -> None:
    cluster = hall.project.output(ACME)["clusters"]["acme-train"]
    assert cluster["partition_keys"] == {"compute": "0x0001"}
    assert [one["host"] for one in cluster["nodes"].values()] == [node(number) for number in OF_ACME]


def test_its_nodes_are_told_of_its_share_which_opens_to_their_network_alone(hall: Hall) -> None:
    share = hall.project.output(ACME)["shares"]["acme-datasets"]
    assert share["mounts"] == {"acme-train-cluster": "10.60.0.2"}
    rules = hall.cloud.shared_file_system.get(
        f"/share-access-rules?share_id={share['share_id']}", headers={"X-OpenStack-Manila-API-Version": "2.74"}
    ).json()["access_list"]
    assert [(rule["access_to"], rule["access_level"], rule["state"]) for rule in rules] == [
        ("10.60.0.0/24", "rw", "active")
    ]
    infos = [hall.cloud.baremetal.get_node(node(number)).instance_info for number in OF_ACME]
    assert [info[DEPLOYED_WITH]["shares"] for info in infos] == [["acme-datasets"]] * 4


def test_the_key_of_the_cluster_opens_its_bucket_and_stands_in_nothing_that_nodes_are_told(hall: Hall) -> None:
    told = hall.project.output(ACME, "--show-secrets")["clusters"]["acme-train"]
    own = client(hall.cloud, told["s3_access_key"], told["s3_secret_key"])
    bucket = hall.project.output(ACME)["buckets"]["acme-checkpoints"]["bucket"]
    own.put_object(Bucket=bucket, Key="step-1", Body=b"weights")
    assert own.get_object(Bucket=bucket, Key="step-1")["Body"].read() == b"weights"
    infos = [hall.cloud.baremetal.get_node(node(number)).instance_info for number in OF_ACME]
    assert not any(told["s3_secret_key"] in json.dumps(info) for info in infos)
    files = [file for file in (hall.project.folder / "state").rglob("*") if file.is_file()]
    assert not any(told["s3_secret_key"].encode() in file.read_bytes() for file in files)


def test_the_head_is_a_server_of_its_hypervisor_that_is_reached_from_outside(hall: Hall) -> None:
    told = hall.project.output(ACME)["clusters"]["acme-train"]["heads"]["acme-train-head-0"]
    server = hall.cloud.compute.get_server(told["server_id"])
    assert (server.status, server.hypervisor_hostname, told["address"]) == ("ACTIVE", "head-1", "10.60.0.5")
    entry = next(hall.cloud.network.ips(floating_ip_address=told["public_address"]))
    assert entry.fixed_ip_address == told["address"]


def test_the_keys_of_the_cluster_wait_for_its_head_and_stand_in_no_state(hall: Hall) -> None:
    head = hall.project.output(ACME)["clusters"]["acme-train"]["heads"]["acme-train-head-0"]["server_id"]
    shelf = Shelf(Adapter(hall.cloud.session, service_type="key-manager", min_version="1", max_version="1.latest"))
    assert {ticket.item: ticket.taken for ticket in shelf.tickets(head)} == {"munge": None, "s3": None}
    desk = Desk(shelf, gap=timedelta(0))
    desk.ask(head)
    munge = desk.ask(head).items["munge"]
    assert len(bytes.fromhex(munge)) == 128
    files = [file for file in (hall.project.folder / "state").rglob("*") if file.is_file()]
    assert not any(munge.encode() in file.read_bytes() for file in files)
    hall.project.unchanged(ACME)


def test_the_password_of_ufm_is_in_no_state(hall: Hall) -> None:
    entry = yaml.safe_load((hall.sandbox.dir / "fabrics.yaml").read_text())["fabrics"]["compute"]
    secret = Path(entry["password_file"]).read_text().strip().encode()
    files = [file for file in (hall.project.folder / "state").rglob("*") if file.is_file()]
    assert any(b"acme-train-partition-compute" in file.read_bytes() for file in files)
    assert not any(secret in file.read_bytes() for file in files)


def test_an_audit_finds_a_stranger_in_a_partition_and_an_up_leaves_it_there(hall: Hall) -> None:
    hall.project.must(hall.project.interlock("audit", "--site", RACK))
    stranger = f"{hall.guid(IDLE, 1):016x}"
    hall.ufm.add(0x0001, [stranger], "full", index0=False, ip_over_ib=True)
    found = hall.project.interlock("audit", "--site", RACK)
    assert found.code != 0
    assert stranger in found.text
    refused = hall.project.plain_up(ACME, "--refresh")
    assert refused.code != 0
    assert stranger in refused.text
    partition = hall.ufm.partition(0x0001)
    assert partition is not None
    assert stranger in partition.guids
    hall.ufm.remove(0x0001, [stranger])
    hall.project.must(hall.project.plain_up(ACME, "--refresh"))
    hall.project.must(hall.project.interlock("audit", "--site", RACK))


def test_the_partitions_are_there_after_a_restart_of_the_subnet_manager(hall: Hall) -> None:
    before = hall.tables()
    hall.sandbox.supervise("down")
    hall.sandbox.supervise("up")
    assert hall.tables() == before


def test_a_tenant_that_leaves_gives_everything_back(hall: Hall) -> None:
    hall.project.must(hall.project.pulumi("destroy", GLOBEX, "--yes"))
    assert hall.ufm.partition(0x0002) is None
    assert hall.tables() == {number: both(ACMES if number in OF_ACME else NOBODYS) for number in range(1, 9)}
    assert hall.vlans() == [1000] * 4 + [QUARANTINE] * 4
    assert hall.states() == ["active"] * 4 + ["available"] * 4


def test_another_node_comes_in_the_place_of_one_that_is_named_and_no_other_is_touched(hall: Hall) -> None:
    before = hall.instances(1, 3, 4)
    said = hall.ask("nodes: 4\n", f"nodes: 4\n    without: [{node(2)}]\n")
    assert f"{node(2)} leaves, and what is on its own disks is lost" in said
    assert hall.instances(1, 3, 4) == before
    assert hall.tables() == {number: both(ACMES if number in (1, 3, 4, 7) else NOBODYS) for number in range(1, 9)}
    assert hall.vlans() == [1000, QUARANTINE, 1000, 1000, QUARANTINE, QUARANTINE, 1000, QUARANTINE]
    assert hall.states() == [
        "active", "available", "active", "active", "available", "available", "active", "available",
    ]  # fmt: skip
    nodes = hall.project.output(ACME)["clusters"]["acme-train"]["nodes"]
    assert nodes["acme-train-node-1"] == {"host": node(7), "address": "10.60.0.11"}


def test_a_cluster_shrinks_by_the_node_that_is_named(hall: Hall) -> None:
    before = hall.instances(1, 4, 7)
    hall.ask(f"nodes: 4\n    without: [{node(2)}]\n", f"nodes: 3\n    without: [{node(2)}, {node(3)}]\n")
    assert hall.instances(1, 4, 7) == before
    assert hall.tables() == {number: both(ACMES if number in (1, 4, 7) else NOBODYS) for number in range(1, 9)}
    assert list(hall.project.output(ACME)["clusters"]["acme-train"]["nodes"]) == [
        f"acme-train-node-{number}" for number in (0, 1, 3)
    ]


def test_a_released_cluster_has_no_nodes_and_no_partition_and_keeps_its_network(hall: Hall) -> None:
    hall.ask(f"nodes: 3\n    without: [{node(2)}, {node(3)}]\n", "nodes: 3\n    state: released\n")
    assert hall.ufm.partition(0x0001) is None
    assert hall.tables() == dict.fromkeys(range(1, 9), both(NOBODYS))
    assert hall.vlans() == [QUARANTINE] * 8
    assert hall.states() == ["available"] * 8
    assert hall.cloud.network.find_network("acme-train-cluster") is not None
    hall.project.must(hall.project.interlock("audit", "--site", RACK))


def test_a_released_cluster_comes_back_to_its_nodes_once_they_are_settled(hall: Hall) -> None:
    hall.project.edit("hall/site.yaml", "evidence: {max_age: 30d}\n", FIRMWARE)
    waiting = hall.project.interlock("settle", "acme", "--site", RACK, "--format", "json")
    assert waiting.code == 3, waiting.text
    folder = hall.project.folder / "stacks" / "hall" / "evidence"
    folder.mkdir(exist_ok=True)
    seen = [_seen(hall, one) for one in json.loads(waiting.out)["evidence"]]
    (folder / "acceptance-1.json").write_text(json.dumps({"site": RACK, "released_by": "acme", "seen": seen}))
    hall.project.must(hall.project.interlock("settle", "acme", "--site", RACK))
    hall.ask("nodes: 3\n    state: released\n", "nodes: 3\n")
    assert hall.tables() == {number: both(ACMES if number in (1, 4, 7) else NOBODYS) for number in range(1, 9)}
    assert hall.vlans() == [1000, QUARANTINE, QUARANTINE, 1000, QUARANTINE, QUARANTINE, 1000, QUARANTINE]
    hall.project.unchanged(ACME)


def _seen(hall: Hall, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a runner writes of one step that settling asks for, with figures that are enough."""
    step = wanted["step"]
    entry = {**wanted["about"], "step": step, "at": now(), "by": "runner-1", **figures().get(step, {})}
    if "fabric" in entry:
        like, number = entry["fabric"]["ports"]["compute1"], int(entry["host"][-2:])
        ports = {f"compute{rail}": {**like, "guid": f"{hall.guid(number, rail):016x}"} for rail in RAILS}
        entry["fabric"] = {"cleared": now(minutes=10), "ports": ports}
    return entry
