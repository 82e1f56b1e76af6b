"""Shares and buckets of GPU clusters as plans and locks have them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
import yaml

from interlock.model.lock.record import Allocation, ClusterAllocation
from interlock.model.tenant.request import Tenant
from interlock.planning import PlanningError, plan_tenant
from interlock.planning.guest.shares import DRIVE, PROGRAM, TABLE
from interlock.planning.origins import request_path
from interlock.planning.plan import Plan
from interlock.planning.removal import removal_of
from interlock.planning.request_hashes import request_hash
from interlock.resources import BareMetalServer, Bucket, BucketPolicy, ServiceUser, ShareAccess
from tests.builders.gpu_plans import claims, clusters_locked
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, storing_gpu_site
from tests.builders.pod64 import locked, site_locked
from tests.planning.golden import cluster_data, cluster_data_request


@cache
def planned() -> Plan:
    return cluster_data()


def files(plan: Plan, name: str) -> dict[str, str]:
    server = plan.by_name[name].resource
    assert isinstance(server, BareMetalServer)
    return {item["path"]: item["content"] for item in yaml.safe_load(server.user_data)["write_files"]}


def test_each_cluster_is_let_in_by_its_own_network_at_an_address_of_its_own() -> None:
    found = {item.name: item.resource for item in planned().resources if isinstance(item.resource, ShareAccess)}
    assert {name: (item.network, item.prefix, item.vip) for name, item in found.items()} == {
        "acme-datasets-access-train": ("acme-train-cluster", "10.60.1.0/24", "10.60.1.2"),
        "acme-datasets-access-serve": ("acme-serve-cluster", "10.60.3.0/24", "10.60.3.2"),
    }


def test_a_node_mounts_from_the_address_that_the_plan_opens_by_the_path_on_its_config_drive() -> None:
    for name, vip in (("acme-train-node-1", "10.60.1.2"), ("acme-serve-node-0", "10.60.3.2")):
        (mount,) = json.loads(files(planned(), name)[TABLE])
        assert (mount["share"], mount["source"], mount["mount"]) == ("acme-datasets", f"{vip}:", "/mnt/datasets")
        server = planned().by_name[name].resource
        assert isinstance(server, BareMetalServer)
        assert server.shares == ("acme-datasets",)
        assert f"ExecStart={PROGRAM} --drive {DRIVE}" in server.user_data


def test_the_bucket_is_made_with_the_key_of_the_first_cluster_and_both_have_users() -> None:
    bucket, policy = (planned().by_name[name].resource for name in ("acme-weights", "acme-weights-policy"))
    assert isinstance(bucket, Bucket)
    assert isinstance(policy, BucketPolicy)
    assert bucket.credential == "acme-train-s3-key"
    assert policy.users == ("acme-train-s3", "acme-serve-s3")
    assert policy.keys == ("acme-train-s3-key", "acme-serve-s3-key", "acme-serve-s3-key-2")


def test_nodes_are_told_no_key_and_clusters_without_buckets_have_no_user() -> None:
    assert "s3" not in json.dumps(files(planned(), "acme-train-node-0"))
    request = cluster_data_request().model_copy(update={"buckets": ()})
    given = claims(1, (1, 1), (1, 2), storage_vip="10.60.1.2"), claims(3, (1, 3), storage_vip="10.60.3.2")
    plan = plan_tenant(storing_gpu_site(), site_locked(storing_gpu_site()), request, clusters_locked(request, *given))
    assert not [item for item in plan.resources if isinstance(item.resource, ServiceUser)]


@pytest.mark.parametrize(
    ("name", "field", "path"),
    [
        ("acme-datasets-access-train", "network", "shares.datasets.clusters"),
        ("acme-datasets-access-train", "level", "shares.datasets.access"),
        ("acme-weights", "versioning", "buckets.weights.versioning"),
    ],
)
def test_the_line_of_the_request_is_known(name: str, field: str, path: str) -> None:
    assert request_path(planned(), planned().by_name[name], field) == path


def lock_of(request: Tenant, previous: Any = None) -> ClusterAllocation:
    return locked(storing_gpu_site(), request, (), previous).allocation.clusters["train"]


def test_a_lock_gives_the_appliance_an_address_and_keeps_it_while_a_share_is_mounted() -> None:
    asked = cluster_data_request()
    lock = locked(storing_gpu_site(), asked)
    train, serve = (lock.allocation.clusters[name] for name in ("train", "serve"))
    assert train.storage_vip == train.cluster_subnet.replace(".0/24", ".2")
    assert serve.storage_vip == serve.cluster_subnet.replace(".0/24", ".2")
    assert lock_of(asked, lock) == train
    without = asked.model_copy(update={"shares": ()})
    later = locked(storing_gpu_site(), without, (), lock)
    assert later.allocation.clusters["train"].storage_vip is None
    assert {(item.vpod, item.value) for item in later.released if item.claim == "storage_vip"} == {
        ("train", train.storage_vip), ("serve", serve.storage_vip)
    }  # fmt: skip
    # Nobody gets it before it is settled, also not who had it.
    assert lock_of(asked, later).storage_vip == train.cluster_subnet.replace(".0/24", ".3")


def test_a_cluster_without_shares_is_written_down_as_before() -> None:
    written = Allocation(vpods={}, clusters={"train": claims(1, (1, 1))}).model_dump(mode="json")
    assert "storage_vip" not in written["clusters"]["train"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clusters": ("nowhere",)}, "share datasets is for cluster nowhere, which acme does not ask for"),
        ({"vpods": ("train",)}, "share datasets is for vPOD train, which acme does not ask for"),
        ({}, "gives cluster train no storage_vip"),
    ],
)
def test_what_a_lock_does_not_hold_stops_the_plan(change: dict[str, object], words: str) -> None:
    asked = cluster_data_request()
    (share,) = asked.shares
    request = asked.model_copy(update={"shares": (share.model_copy(update=change),)})
    given = claims(1, (1, 1), (1, 2)), claims(3, (1, 3))
    with pytest.raises(PlanningError, match=words):
        plan_tenant(storing_gpu_site(), site_locked(storing_gpu_site()), request, clusters_locked(request, *given))


def test_a_site_without_addresses_for_the_appliance_is_told_who_needs_one() -> None:
    with pytest.raises(PlanningError, match="cluster train mounts a share, and the site has no address"):
        locked(gpu_site(), cluster_data_request())


def test_another_key_is_another_request() -> None:
    """That a request without is what it was before there were any, `clusters.json` of the golden plans holds."""
    rotated = gpu_tenant("acme", cluster().model_copy(update={"s3_keys": (1, 2)}))
    assert request_hash(gpu_tenant("acme")) != request_hash(rotated)


def test_a_destroy_says_what_is_in_the_way() -> None:
    assert {item.name for item in removal_of(planned()).refused} >= {"acme-datasets", "acme-weights"}
