"""What a cluster has besides its nodes, together: heads, a share, numbers that are not 0, 1, 2, and a release."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from typing import Any

import pytest
import yaml

from infra.reports.plan_nodes import node_lines, roll_lines
from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.model.site.offers import ShareTypeSpec
from interlock.model.site.storage_fabric import StorageAccess
from interlock.model.tenant.request import PublicServers, Roll, ShareRequest, Tenant
from interlock.planning import Plan, PlanningError, plan_tenant
from interlock.planning.cluster_life import leaving_nodes, node_steps
from interlock.planning.rolling import rolls
from interlock.resources import BareMetalServer, FloatingIp, PartitionKey, Port, Server, ShareAccess
from tests.builders.gpu_heads import headed, site_with_heads
from tests.builders.gpu_sites import gpu_tenant
from tests.builders.pod64 import locked, site_locked
from tests.builders.storage_halls import storage_site
from tests.builders.virtual_nodes import VIRTUAL, virtual_cluster, virtual_site, virtual_tenant
from tests.policies.test_rules_storage_fabrics import WAYS

BASE = site_with_heads()
SHARE = ShareRequest(name="data", size_gib=100, share_type="nfs", vpods=(), clusters=("train",), on_delete="keep")


def site(first: int = 2, last: int = 9) -> Site:
    """With heads' hypervisors, and an appliance at these offsets of each in-band subnet."""
    pools = BASE.pools.model_copy(update={"storage_vips": (first, last)})
    types = (ShareTypeSpec(name="nfs", storage_class="nfs-appliance"),)
    stated = {name: getattr(BASE, name) for name in Site.model_fields}
    return Site.model_validate(stated | {"pools": pools, "share_types": types})


def request(**of_cluster: Any) -> Tenant:
    """Two nodes, two heads and a share."""
    return gpu_tenant("acme", headed(2, **of_cluster), shares=(SHARE,))


def planned(lock: Lock, asked: Tenant, on: Site) -> Plan:
    return plan_tenant(on, site_locked(on), asked, lock)


def data_of(server: Server | BareMetalServer) -> dict[str, Any]:
    found = yaml.safe_load(server.user_data)
    assert isinstance(found, dict)
    return {file["path"]: file["content"] for file in found["write_files"]}


def test_heads_and_nodes_mount_the_share_each_as_it_is_told_the_path() -> None:
    lock, on = locked(site(), request()), site()
    plan = planned(lock, request(), on)
    heads = [found for item in plan.resources if isinstance(found := item.resource, Server)]
    nodes = [found for item in plan.resources if isinstance(found := item.resource, BareMetalServer)]
    vip = lock.allocation.clusters["train"].storage_vip
    servers: list[Server | BareMetalServer] = [*heads, *nodes]
    assert [server.shares for server in servers] == [("acme-data",)] * 4
    for server in servers:
        (mount,) = json.loads(data_of(server)["/etc/interlock/shares.json"])
        assert mount["source"] == f"{vip}:"
        unit = data_of(server)["/etc/systemd/system/interlock-shares.service"]
        # Nova tells a virtual server; a whole host has it on its config drive.
        assert ("--drive" in unit) == isinstance(server, BareMetalServer)


def test_no_appliance_gets_an_address_that_a_head_may_have() -> None:
    def offset(first: int) -> int:
        claims = locked(site(first), request()).allocation.clusters["train"]
        assert claims.storage_vip is not None
        return int(IPv4Address(claims.storage_vip)) & 0xFF

    assert [offset(first) for first in (2, 4, 5, 6)] == [2, 4, 7, 7]
    plan = planned(locked(site(5), request()), request(), site(5))
    addresses = [item.resource.address for item in plan.resources if isinstance(item.resource, Port)]
    vips = [item.resource.vip for item in plan.resources if isinstance(item.resource, ShareAccess)]
    assert not set(addresses) & set(vips)


def test_a_released_cluster_has_neither_heads_nor_nodes_and_keeps_what_is_its_own() -> None:
    on, before = site(), locked(site(), request())
    gone = request(state="released")
    lock = locked(on, gone, previous=before)
    old, new = before.allocation.clusters["train"], lock.allocation.clusters["train"]
    assert (new.hosts, new.heads, new.head_flavor, new.former) == ((), (), "", old.hosts)
    kept = ("cluster_vlan", "cluster_subnet", "partition_keys", "storage_vip")
    assert [getattr(new, name) for name in kept] == [getattr(old, name) for name in kept]
    plan = planned(lock, gone, on)
    made = (Server, BareMetalServer, FloatingIp, PartitionKey)
    assert not [item.name for item in plan.resources if isinstance(item.resource, made)]
    assert [item.resource.vip for item in plan.resources if isinstance(item.resource, ShareAccess)] == [new.storage_vip]
    settled = lock.model_copy(update={"released": ()})
    back = locked(on, request(), previous=settled).allocation.clusters["train"]
    assert (back.hosts, back.storage_vip, len(back.heads)) == (old.hosts, old.storage_vip, 2)


def test_with_numbers_of_their_own_nodes_are_known_to_the_scheduler_at_their_heads() -> None:
    on, before = site(), locked(site(), request())
    first, second = before.allocation.clusters["train"].hosts
    asked = request(nodes=1, without=(first,))
    lock = locked(on, asked, previous=before)
    assert lock.allocation.clusters["train"].numbered == {1: second}
    plan = planned(lock, asked, on)
    head = next(found for item in plan.resources if isinstance(found := item.resource, Server))
    text = data_of(head)["/etc/slurm/slurm.conf"]
    assert "acme-train-node-1" in text
    assert "acme-train-node-0" not in text


def test_of_a_released_cluster_nothing_is_declared_public() -> None:
    """A declaration without an entry is violated (EXPO-01)."""
    entry = PublicServers(vpod="train", servers=(0, 1), ssh_from=("198.51.100.0/24",))
    access = request().access.model_copy(update={"public": (entry,)})
    there, gone = (
        request(**state).model_copy(update={"access": access}) for state in ({}, {"state": "released"})
    )  # fmt: skip
    before = locked(site(), there)
    assert planned(before, there, site()).public == ("acme-train-head-0-public", "acme-train-head-1-public")
    plan = planned(locked(site(), gone, previous=before), gone, site())
    assert (plan.public, plan.public_from) == ((), {})


def test_with_heads_no_node_that_leaves_or_rolls_is_called_the_controller() -> None:
    on, before = site(), locked(site(), request())
    gone = request(state="released")
    after = locked(on, gone, previous=before)
    (leaving,) = leaving_nodes(gone, before, after)
    assert (leaving.runs_slurm, leaving.has_controller) == (True, False)
    steps = node_steps(planned(before, request(), on).canonical(), planned(after, gone, on))
    assert [(step.action, step.is_controller) for step in steps] == [("leaves", False)] * 2
    rolled = request(roll=Roll(image="next", drained=()))
    (roll,) = rolls(on, rolled, locked(on, rolled, previous=before))
    assert [(node.server[-1], node.is_controller) for node in roll.left] == [("0", False), ("1", False)]


@WAYS
def test_storage_ports_of_a_hypervisor_are_in_no_partition(access: StorageAccess) -> None:
    """A server on the node has its compute ports alone: a storage port in a tenant's partition would be two owners'."""
    on, asked = storage_site(access, virtual_site()), virtual_tenant()
    lock = locked(on, asked)
    assert set(lock.allocation.clusters["train"].partition_keys) == {"compute"}
    plan = planned(lock, asked, on)
    assert [item.name for item in plan.resources if isinstance(item.resource, PartitionKey)] == [
        "acme-train-partition-compute"
    ]


def test_a_node_that_is_not_wanted_is_none_that_the_cluster_could_have() -> None:
    on = virtual_site()
    held = locked(on, virtual_tenant("acme", virtual_cluster(2)))
    asked = virtual_tenant("acme", virtual_cluster(1, without=VIRTUAL))
    with pytest.raises(PlanningError, match=r"of which 0 are free [(]2 are given out or released[)]") as told:
        locked(on, asked, previous=held)
    assert "ask for" not in (told.value.hint or "")


def test_a_node_is_the_controller_only_where_there_are_no_heads() -> None:
    on, before = site(), locked(site(), request())
    asked = request(nodes=1, without=before.allocation.clusters["train"].hosts[:1])
    lock, plan = locked(on, asked, previous=before), planned(before, request(), on)
    (leaving,) = leaving_nodes(asked, before, lock)
    (step,) = node_steps(plan.canonical(), planned(lock, asked, on))
    rolled = request(roll=Roll(image="next", drained=()))
    (state,) = rolls(on, rolled, locked(on, rolled, previous=before))
    told = [str(leaving), *node_lines([step]), *roll_lines([state])]
    assert "acme-train-node-0" in str(leaving)
    assert [line for line in told if "controller" in line] == []
    assert [node.host for node in state.left] == list(before.allocation.clusters["train"].hosts)
