"""The typed outputs of components, and what a stack shows of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from components import BareMetalPoplarServer, GpuCluster, PoplarServer, SiteObjects, TenantProject, VirtualPod
from components.declaration import COMPUTED, SECRET
from interlock.provider.actuators import ACTUATORS
from interlock.resources import ID_OF, KINDS
from tests.builders.pod64 import vpod
from tests.components.declaring import Declared, declared, site_plan, tenant_plan
from tests.planning.golden import bare_metal, cluster_data, data, plans, public, two_clusters


@pytest.fixture(scope="module")
def acme() -> Declared:
    """The tenant's stack, declared."""
    return declared(tenant_plan())


@pytest.fixture
def root(acme: Declared) -> TenantProject:
    assert isinstance(acme.root, TenantProject)
    return acme.root


@pytest.fixture
def pod(root: TenantProject) -> VirtualPod:
    (found,) = root.vpods
    return found


Read = Callable[[pulumi.Output[Any]], Any]


def value(output: pulumi.Output[Any], read: Read = lambda output: output.future()) -> Any:
    """What an output resolved to; every registration has ended by now."""
    found: list[Any] = []

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def program() -> Any:
        return pulumi.Output.from_input(read(output)).apply(found.append)

    program()
    return found[0]


def test_a_tenant_has_its_project_vpods_and_buckets(root: TenantProject) -> None:
    assert value(root.project_id) == "id of acme-project"
    assert [part.name for part in root.vpods] == ["acme-train"]
    assert [part.bucket for part in root.buckets] == ["acme-data"]


def test_of_a_released_vpod_volumes_are_declared_where_they_stood() -> None:
    """Under the same parents: Pulumi would take a volume below another one for another volume."""
    left = declared(tenant_plan(vpods=(), released=(vpod(),)))
    assert isinstance(left.root, TenantProject)
    (pod,) = left.root.vpods
    assert pod.outputs() == {"machines": []}
    assert [server.outputs() for server in pod.poplar] == [{}, {}]
    for index in range(2):
        server = next(one for one in pod.poplar if one.name == f"acme-train-poplar-{index}")
        assert [*server.objects] == [f"acme-train-poplar-{index}-data"]


def test_a_vpod_names_its_machines_from_its_switch_ports(pod: VirtualPod) -> None:
    assert pod.machines == ["ipum-01", "ipum-02", "ipum-03", "ipum-04"]


def test_servers_come_by_index_with_their_address(pod: VirtualPod) -> None:
    assert [server.name for server in pod.poplar] == ["acme-train-poplar-0", "acme-train-poplar-1"]
    identities = [value(server.server_id) for server in pod.poplar if isinstance(server, PoplarServer)]
    assert identities == [f"id of {part.name}" for part in pod.poplar]
    addresses = [server.control_address for server in pod.poplar]
    assert len(set(addresses)) == 2
    assert all(address.startswith("10.30.") for address in addresses)


def test_the_controller_is_reached_on_the_control_network(pod: VirtualPod) -> None:
    assert value(pod.controller.server_id) == "id of acme-train-controller"
    assert pod.controller.control_address.startswith("10.30.")


def test_the_secret_key_is_a_secret_and_the_access_key_is_not(pod: VirtualPod) -> None:
    assert value(pod.s3_secret_key) == "hidden"
    assert value(pod.s3_secret_key, lambda output: output.is_secret()) is True
    assert value(pod.s3_access_key) == "AK"
    assert value(pod.s3_access_key, lambda output: output.is_secret()) is False


def test_the_engine_is_told_to_encrypt_the_secret_key(acme: Declared) -> None:
    assert list(acme.object("acme-train-s3-key").additionalSecretOutputs) == ["secret_key"]


def test_the_stack_shows_what_people_need_to_begin(acme: Declared) -> None:
    assert acme.outputs["project_id"] == "id of acme-project"
    assert acme.outputs["buckets"] == {"acme-data": {"bucket": "acme-data"}}
    pod = acme.outputs["vpods"]["acme-train"]
    assert set(pod) == {"machines", "poplar", "controller", "s3_access_key", "s3_secret_key"}
    assert set(pod["poplar"]) == {"acme-train-poplar-0", "acme-train-poplar-1"}
    assert pod["controller"]["server_id"] == "id of acme-train-controller"


def test_a_cluster_shows_its_s3_key_in_use_where_its_tenant_has_a_bucket() -> None:
    done = declared(cluster_data())
    assert isinstance(done.root, TenantProject)
    serve = next(part for part in done.root.clusters if part.name == "acme-serve").outputs()
    assert value(serve["s3_secret_key"]) == "hidden"
    assert value(serve["s3_secret_key"], lambda output: output.is_secret()) is True
    assert value(serve["s3_access_key"]) == "AK"
    assert list(done.object("acme-serve-s3-key-2").additionalSecretOutputs) == ["secret_key"]
    assert done.outputs["shares"]["acme-datasets"]["mounts"] == {
        "acme-train-cluster": "10.60.1.2", "acme-serve-cluster": "10.60.3.2"
    }  # fmt: skip
    without = declared(two_clusters()).outputs["clusters"]["acme-serve"]
    assert set(without) == {"heads", "nodes", "network", "partition_keys"}


def test_data_beside_servers_is_shown_by_name() -> None:
    done = declared(data())
    assert isinstance(done.root, TenantProject)
    assert [value(part.volume_id) for part in done.root.volumes] == ["id of acme-scratch", "id of acme-archive"]
    assert done.outputs["shares"] == {
        "acme-datasets": {
            "share_id": "id of acme-datasets",
            "export_path": "/exports/one",
            "mounts": {"acme-train-storage": "10.21.0.200", "acme-serve-storage": "10.21.1.200"},
        }
    }


def test_a_bare_metal_server_has_an_address_and_no_id() -> None:
    root = declared(bare_metal()).root
    assert isinstance(root, TenantProject)
    (pod,) = root.vpods
    assert all(isinstance(server, BareMetalPoplarServer) for server in pod.poplar)
    assert [server.outputs() for server in pod.poplar] == [
        {"control_address": "10.30.0.10"},
        {"control_address": "10.30.0.11"},
    ]


def test_the_site_shows_ids_by_name() -> None:
    done = declared(site_plan())
    assert isinstance(done.root, SiteObjects)
    assert value(done.root.ids["poplar.half"]) == "id of poplar.half"
    assert set(done.outputs["ids"]) == {item.name for item in done.plan.resources}


def test_a_public_server_shows_its_address_outside_and_others_show_none() -> None:
    done = declared(public())
    assert isinstance(done.root, TenantProject)
    (train,) = done.root.vpods
    first, second = train.outputs()["poplar"].values()
    assert (first["control_address"], second.keys()) == ("10.30.0.10", {"server_id", "control_address"})
    assert value(first["public_address"]) == "203.0.113.50"


def test_what_components_read_is_what_the_provider_computes() -> None:
    for kind, keys in COMPUTED.items():
        assert set(keys) <= set(ACTUATORS[kind].OUTPUTS)
        assert set(SECRET.get(kind, ())) == ACTUATORS[kind].SECRET


def test_nothing_that_the_provider_computes_hides_an_input() -> None:
    for kind, actuator in ACTUATORS.items():
        assert not {*KINDS[kind].model_fields, "owner"} & set(actuator.OUTPUTS)
        assert not [name for name in actuator.OUTPUTS if name.startswith(ID_OF)]


def test_a_cluster_shows_its_nodes_network_and_keys() -> None:
    root = declared(plans()["clusters"]).root
    assert isinstance(root, TenantProject)
    train, serve = root.clusters
    assert isinstance(train, GpuCluster)
    assert train.outputs() == {
        "heads": {},
        "nodes": {
            "acme-train-node-0": {"host": "su01-n01", "address": "10.60.2.10"},
            "acme-train-node-1": {"host": "su02-n01", "address": "10.60.2.11"},
        },
        "network": "acme-train-cluster",
        "partition_keys": {"compute": "0x0012"},
    }
    assert (serve.partition_keys, [node.host for node in serve.nodes]) == ({}, ["su02-n02"])
    assert list(root.outputs()["clusters"]) == ["acme-train", "acme-serve"]


def test_a_cluster_shows_its_heads_and_the_address_outside_of_a_public_one() -> None:
    root = declared(plans()["cluster-heads"]).root
    assert isinstance(root, TenantProject)
    (train,) = root.clusters
    assert isinstance(train, GpuCluster)
    first, second = train.outputs()["heads"].values()
    assert [head.address for head in train.heads] == ["10.60.1.5", "10.60.1.6"]
    assert first.keys() == {"server_id", "address", "public_address"}
    assert second.keys() == {"server_id", "address"}


def test_a_node_is_declared_after_its_partition() -> None:
    made = declared(plans()["cluster"])
    names = [item.name for item in made.requests]
    for index in (0, 1):
        assert names.index("acme-train-partition-compute") < names.index(f"acme-train-node-{index}")
