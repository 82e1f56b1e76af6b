"""Keys of GPU clusters as plans and user data have them: who is handed which, by what, and what no document says."""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

import pytest
import yaml

from infra.reports.plan_keys import key_lines
from infra.reports.plan_tree import tree
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import BucketRequest, SlurmOptions
from interlock.planning import PlanningError, not_makeable
from interlock.planning.cluster_guest import texts_of_cluster
from interlock.planning.guest.cluster_keys import (
    MUNGE_KEY,
    PORT,
    PROGRAM,
    SERVER_PROGRAM,
    SERVER_TABLE,
    TABLE,
)
from interlock.planning.guest.programs import program_source
from interlock.planning.origins import request_path
from interlock.planning.plan import Plan
from interlock.planning.removal import removal_of
from interlock.planning.request_hashes import request_hash
from interlock.planning.scope import ClusterScope
from interlock.resources import RoleAssignment, S3Credential, SecurityGroup, StoredCredential
from interlock.resources.asked_names import TABLE as FETCHED
from tests.builders.gpu_heads import head_claims, headed, site_with_heads
from tests.builders.gpu_plans import claims, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant
from tests.builders.virtual_nodes import virtual_cluster, virtual_site

BUCKET = BucketRequest(name="weights", versioning=True, on_delete="keep")
HEADS = ("acme-train-head-0", "acme-train-head-1")
NODES = ("acme-train-node-0", "acme-train-node-1")


def handing(site: Site) -> Site:
    return site.model_copy(update={"channel": True})


def planned(*, channel: bool = True, bucket: bool = True, **overrides: Any) -> Plan:
    """Two heads and two whole hosts."""
    request = gpu_tenant("acme", headed(2, **overrides), buckets=(BUCKET,) if bucket else ())
    site = handing(site_with_heads()) if channel else site_with_heads()
    return clusters_planned(request, [head_claims(1, (1, 1), (1, 2), heads=("head-1", "head-2"))], site)


def handed(plan: Plan) -> dict[str, StoredCredential]:
    found = {item.name: item.resource for item in plan.resources}
    return {name: item for name, item in found.items() if isinstance(item, StoredCredential)}


def told(plan: Plan, server: str) -> dict[str, str]:
    document = yaml.safe_load(plan.by_name[server].resource.canonical()["user_data"])
    return {item["path"]: item["content"] for item in document["write_files"]}


def test_heads_fetch_both_keys_and_nodes_have_them_of_the_heads() -> None:
    found = handed(planned())
    keys = {"s3-keys": ("acme-train-s3-key", "s3"), "munge-key": ("acme-train-munge-key", "munge")}
    assert {name: (item.credential, item.item, item.place, item.by) for name, item in found.items()} == {
        f"{server}-{word}": (*keys[word], server, () if server in HEADS else HEADS)
        for server in (*HEADS, *NODES)
        for word in keys
    }
    # The engine makes what waits for heads; what a head gives is proved, and in nobody's way.
    assert {item.place for item in found.values() if item.is_declared} == set(HEADS)
    assert {item.place for item in found.values() if item.comes_with_another} == set(NODES)
    assert not [item for item in not_makeable(planned(bucket=False)) if item.kind == "StoredCredential"]


def test_munges_key_is_of_a_user_without_a_role() -> None:
    plan = planned()
    key = plan.by_name["acme-train-munge-key"].resource
    assert isinstance(key, S3Credential)
    assert (key.opens, key.user, key.number) == ("munge", "acme-train-munge", 1)
    with_roles = {item.resource.user for item in plan.resources if isinstance(item.resource, RoleAssignment)}
    assert "acme-train-s3" in with_roles
    assert "acme-train-munge" not in with_roles


def test_documents_have_names_and_addresses_and_no_key() -> None:
    plan = planned()
    head, node = told(plan, HEADS[1]), told(plan, NODES[0])
    assert json.loads(head[FETCHED]) == ["munge", "s3"]
    assert json.loads(head[SERVER_TABLE]) == {
        "address": "10.60.1.6", "port": PORT, "nodes": "acme-train-node-", "items": ["munge", "s3"],
    }  # fmt: skip
    assert json.loads(head[TABLE])["heads"] == []
    table = json.loads(node[TABLE])
    assert (table["heads"], table["port"], table["items"]) == (["10.60.1.5", "10.60.1.6"], PORT, ["munge", "s3"])
    assert (table["places"]["munge"]["path"], table["places"]["munge"]["owner"]) == (MUNGE_KEY, "munge")
    # Nova answers no question of a whole host, and it gives nothing on.
    assert not {FETCHED, SERVER_TABLE} & node.keys()


def test_the_port_is_open_to_the_clusters_own_network_alone() -> None:
    """Also where a head has a floating IP: it leads to the address at which the head listens."""
    plan = planned()
    groups = [item.resource for item in plan.resources if isinstance(item.resource, SecurityGroup)]
    assert groups
    for group in groups:
        rules = [rule for rule in group.rules if rule.direction == "ingress" and rule.protocol in (None, "tcp")]
        open_to = {
            rule.remote_prefix
            for rule in rules
            if rule.port_min is None or rule.port_min <= PORT <= (rule.port_max or 0)
        }
        assert open_to == {"10.60.1.0/24"}


@pytest.mark.parametrize(
    ("plan", "kinds"),
    [
        (planned(channel=False), set()),
        (planned(scheduler="none"), {"s3"}),
        (planned(bucket=False), {"munge"}),
        (planned(bucket=False, scheduler="none"), set()),
    ],
    ids=["no channel", "no Slurm", "no bucket", "neither"],
)
def test_what_is_not_there_is_not_handed(plan: Plan, kinds: set[str]) -> None:
    assert {item.item for item in handed(plan).values()} == kinds
    assert ("acme-train-munge" in plan.by_name) == ("munge" in kinds)
    assert (SERVER_TABLE in told(plan, HEADS[0]), TABLE in told(plan, NODES[0])) == (bool(kinds), bool(kinds))


def test_without_heads_whole_hosts_are_handed_nothing_and_the_plan_says_who_brings_the_key() -> None:
    request, given = gpu_tenant("acme", cluster(scheduler="slurm"), buckets=(BUCKET,)), claims(1, (1, 1), (1, 2))
    site = handing(gpu_site())
    plan = clusters_planned(request, [given], site)
    assert handed(plan) == {}
    assert PROGRAM not in told(plan, NODES[0])
    scope = ClusterScope(site=site, tenant=request, cluster=request.clusters[0], claims=given)
    texts = {"train": texts_of_cluster(scope)}
    assert list(key_lines(plan, texts)) == [
        f"  train: its tenant brings munge's key, {MUNGE_KEY} on each server: nothing hands one over"
    ]
    assert list(key_lines(planned(), texts)) == [
        "  train: munge's key is made; heads fetch it, and give it to each node in band"
    ]
    assert list(key_lines(planned(), {"train": {}})) == []


def test_virtual_nodes_fetch_theirs_themselves() -> None:
    request = gpu_tenant("acme", virtual_cluster(1, scheduler="slurm"), buckets=(BUCKET,))
    plan = clusters_planned(request, [claims(1, (2, 3))], handing(virtual_site()))
    found = handed(plan)
    assert {(item.place, item.item, item.by) for item in found.values()} == {
        ("acme-train-node-0", "munge", ()), ("acme-train-node-0", "s3", ())
    }  # fmt: skip
    files = told(plan, "acme-train-node-0")
    assert json.loads(files[FETCHED]) == ["munge", "s3"]
    assert json.loads(files[TABLE])["heads"] == []
    assert SERVER_PROGRAM not in files


def test_another_number_is_another_key_for_all() -> None:
    rotated = SlurmOptions(munge_key=2)
    plan = planned(slurm=rotated)
    assert {item.credential for item in handed(plan).values() if item.item == "munge"} == {"acme-train-munge-key-2"}
    assert "acme-train-munge-key" not in plan.by_name
    assert request_hash(gpu_tenant("acme", headed(2))) != request_hash(gpu_tenant("acme", headed(2, slurm=rotated)))
    with pytest.raises(PlanningError, match="key number 2, and nothing hands keys to its servers"):
        planned(channel=False, slurm=rotated)


def test_each_line_of_a_plan_leads_to_the_request_and_to_its_end() -> None:
    plan = planned()
    for server in (HEADS[0], NODES[0]):
        munge, s3 = plan.by_name[f"{server}-munge-key"], plan.by_name[f"{server}-s3-keys"]
        assert request_path(plan, munge, "credential") == "clusters.train.scheduler.slurm.munge_key"
        assert request_path(plan, s3, "credential") == "clusters.train.s3_keys"
    text = tree(plan)
    assert "in acme-train-node-0, fetched as munge, from acme-train-head-0 acme-train-head-1  [in band]" in text
    assert "in acme-train-head-0, fetched as munge\n" in text
    (step,) = (item for one in removal_of(plan).steps for item in one if item.name == "acme-train-node-0-munge-key")
    assert step.detail == "it is on the host's disks, which are cleaned when the host is undeployed"


@pytest.mark.parametrize("module", ["keys_in_guest", "key_server_in_guest"])
def test_the_programs_run_with_the_python_of_old_images(module: str) -> None:
    tree_of = ast.parse(program_source(module), feature_version=(3, 8))
    imported = {name.name for node in ast.walk(tree_of) if isinstance(node, ast.Import) for name in node.names}
    assert imported <= sys.stdlib_module_names
