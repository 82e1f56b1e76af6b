"""GPU clusters as plans: what is there, in which order it comes and goes, and what stops a plan."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.site.inventory import Site
from interlock.planning import Plan, PlanningError
from interlock.planning.origins import request_path
from interlock.planning.removal import removal_of
from interlock.resources import BareMetalServer, PartitionKey, Port
from tests.builders.gpu_plans import claims, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, guid_of, node_name
from tests.planning.golden import plans

PARTITION = "acme-train-partition-compute"


def plan() -> Plan:
    return plans()["cluster"]


def node(found: Plan, name: str) -> BareMetalServer:
    spec = found.by_name[name].resource
    assert isinstance(spec, BareMetalServer)
    return spec


def test_a_partition_has_every_compute_port_of_every_node_as_a_full_member() -> None:
    wanted = {guid_of(1, number, rail) for number in (1, 2) for rail in range(1, 9)}
    found = plan().by_name[PARTITION].resource
    assert isinstance(found, PartitionKey)
    assert {member.guid for member in found.members} == wanted
    assert {member.membership for member in found.members} == {"full"}
    assert (found.infiniband, found.key, found.index0) == ("compute", 0x11, True)


def test_everything_of_a_cluster_is_its_own() -> None:
    found = plans()["clusters"]
    for item in found.resources:
        part = next((name for name in ("acme-train", "acme-serve") if item.name.startswith(name)), None)
        assert item.vpod == part, item.name


def test_a_node_is_a_whole_host_with_one_leg_in_band() -> None:
    first = node(plan(), "acme-train-node-0")
    assert (first.node, first.ports, len(first.legs)) == (node_name(1, 1), ("acme-train-node-0-cluster",), 1)
    port = plan().by_name["acme-train-node-0-cluster"].resource
    assert isinstance(port, Port)
    assert (port.vnic_type, port.address, port.network) == ("baremetal", "10.60.1.10", "acme-train-cluster")


def test_without_infiniband_there_is_no_partition() -> None:
    found = plans()["clusters"]
    assert [item.name for item in found.resources if isinstance(item.resource, PartitionKey)] == [PARTITION]
    assert "NCCL_IB_DISABLE=1" in node(found, "acme-serve-node-0").user_data
    assert "NCCL_IB_DISABLE" not in node(found, "acme-train-node-0").user_data


def test_a_node_comes_after_its_partition_and_goes_before_it() -> None:
    names = list(plan().by_name)
    removal = removal_of(plan())
    gone = {item.name: number for number, step in enumerate(removal.steps) for item in step}
    for index in (0, 1):
        name = f"acme-train-node-{index}"
        assert PARTITION in plan().by_name[name].after
        assert names.index(PARTITION) < names.index(name)
        assert gone[name] < gone[PARTITION]
    assert removal.released == (node_name(1, 1), node_name(1, 2))


def test_nodes_know_each_other() -> None:
    for index in (0, 1):
        text = node(plan(), f"acme-train-node-{index}").user_data
        assert f"hostname: acme-train-node-{index}" in text
        assert "10.60.1.10 acme-train-node-0" in text
        assert "10.60.1.11 acme-train-node-1" in text


def test_a_scheduler_has_its_files_and_the_first_node_controls() -> None:
    text = node(plans()["clusters"], "acme-train-node-1").user_data
    assert "SlurmctldHost=acme-train-node-0(10.60.2.10)" in text
    assert "/etc/slurm/topology.conf" in text
    assert "SwitchName=spine Switches=su[01-02]" in text
    assert "/etc/slurm" not in node(plans()["clusters"], "acme-serve-node-0").user_data


@pytest.mark.parametrize(
    ("name", "field", "path"),
    [
        ("acme-train-node-0", "image", "clusters.train.image"),
        ("acme-train-node-0", "node", "clusters.train.nodes"),
        (PARTITION, "infiniband", "clusters.train.fabric"),
        (PARTITION, None, "clusters.train"),
    ],
)
def test_what_a_line_of_the_request_asks_for_leads_back_to_it(name: str, field: str | None, path: str) -> None:
    assert request_path(plan(), plan().by_name[name], field) == path


def without_guid() -> Site:
    ports = gpu_site().gpu_node[node_name(1, 2)].ports
    return _with_ports(tuple(port.model_copy(update={"guid": None}) if port.rail == 3 else port for port in ports))


def _with_ports(ports: Any) -> Site:
    nodes = tuple(
        item.model_copy(update={"ports": ports}) if item.name == node_name(1, 2) else item
        for item in gpu_site().gpu_nodes
    )
    return gpu_site(gpu_nodes=nodes)


@pytest.mark.parametrize(
    ("site", "given", "said"),
    [
        (without_guid(), {}, "nobody states the GUID of compute3 of node su01-n02"),
        (_with_ports(()), {}, "node su01-n02 of cluster train has no compute port on an InfiniBand subnet"),
        (gpu_site(), {"partition_keys": {}}, "no P_Key on compute, where its nodes have ports"),
        (gpu_site(), {"partition_keys": {"compute": 1, "storage": 2}}, "a P_Key on storage, where it asks for no port"),
        (gpu_site(), {"hosts": ("su01-n01", "su09-n09")}, "host su09-n09, which is no GPU node of the site"),
        (gpu_site(), {"cluster_network": "elsewhere"}, "GPU node su01-n01 has no interface on elsewhere"),
        (gpu_site(), {"cluster_subnet": "10.60.1.0/28"}, "has no address .10"),
        (gpu_site(), {"hosts": ("su01-n01",)}, "does not hold what its request asks for"),
    ],
)
def test_what_stops_a_plan(site: Site, given: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanningError) as raised:
        clusters_planned(gpu_tenant("acme"), [claims(1, (1, 1), (1, 2), **given)], site)
    assert said in str(raised.value)


def test_a_cluster_without_infiniband_takes_no_key() -> None:
    request = gpu_tenant("acme", cluster(fabric="none"))
    with pytest.raises(PlanningError, match="a P_Key on compute, where it asks for no port"):
        clusters_planned(request, [claims(1, (1, 1), (1, 2))])
