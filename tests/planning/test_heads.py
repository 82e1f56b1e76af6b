"""Heads of GPU clusters: where they stand, what they are as a plan, and what they are told.

The site of `gpu_heads`: two hypervisors, each with room for two heads.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from interlock.model.lock.record import Lock
from interlock.model.tenant.request import HeadServers, Pins, SlurmOptions, Tenant
from interlock.planning import AllocationError, AllocationState, NeedsMove, Plan, allocate, plan_tenant
from interlock.planning.capacity import capacity
from interlock.planning.cleaning import cleaning
from interlock.planning.cluster_errors import recreated_of_cluster
from interlock.planning.cluster_guest import files_of_server, layout_of, texts_of_cluster
from interlock.planning.costs import cost_of
from interlock.planning.origins import request_path
from interlock.planning.out_of_service import held_out_of_service
from interlock.planning.scheduler.kubernetes import LABELS, VALUES
from interlock.planning.scope import ClusterScope
from interlock.planning.ways_in import ways_in
from interlock.resources import FloatingIp, Port, SecurityGroup, Server
from tests.builders.gpu_heads import FLAVOR, head_claims, headed, site_with_heads
from tests.builders.gpu_plans import clusters_planned
from tests.builders.gpu_sites import cluster, gpu_tenant
from tests.builders.pod64 import locked, site_locked
from tests.builders.states import DEAD, out

SITE = site_with_heads()
FROM = "198.51.100.0/24"


def tenant_with(count: int, name: str = "acme", **fields: object) -> Tenant:
    return gpu_tenant(name, headed(count, nodes=1), **fields)


def heads_of(lock: Lock) -> tuple[str, ...]:
    return lock.allocation.clusters["train"].heads


ACME = locked(SITE, tenant_with(2))


def planned(count: int = 1, **overrides: Any) -> Plan:
    """One cluster on written claims, with so many heads; `overrides`: of the cluster."""
    request = gpu_tenant("acme", headed(count, **overrides))
    return clusters_planned(request, [head_claims(1, (1, 1), (1, 2), heads=("head-1", "head-2")[:count])], SITE)


def told(plan: Plan, server: str) -> dict[str, dict[str, str]]:
    """Path -> item of `write_files` in the user data of a server."""
    document = yaml.safe_load(plan.by_name[server].resource.canonical()["user_data"])
    return {item["path"]: item for item in document["write_files"]}


class TestPlaces:
    def test_two_heads_stand_apart(self) -> None:
        assert heads_of(ACME) == ("head-1", "head-2")
        assert ACME.allocation.clusters["train"].head_flavor == FLAVOR

    def test_a_lock_without_heads_says_nothing_of_them(self) -> None:
        written = locked(SITE, gpu_tenant("acme")).model_dump(mode="json")["allocation"]["clusters"]["train"]
        assert not {"heads", "head_flavor"} & written.keys()

    def test_another_tenant_comes_where_most_is_left_and_then_nobody(self) -> None:
        locks = [ACME]
        for name, host in (("globex", "head-1"), ("initech", "head-2")):
            locks.append(locked(SITE, tenant_with(1, name), tuple(locks)))
            assert heads_of(locks[-1]) == (host,)
        with pytest.raises(AllocationError) as refused:
            locked(SITE, tenant_with(1, "hooli"), tuple(locks))
        assert refused.value.what.startswith("cluster train: no host on inband has room for one more head of gpu.head")
        assert "head-1 has 0 CPUs, 4 pages" in refused.value.closest

    def test_without_such_a_host(self) -> None:
        with pytest.raises(AllocationError, match="no hypervisor of role poplar has an interface on inband"):
            locked(site_with_heads(0), tenant_with(1))

    def test_they_stay_and_the_last_is_given_up(self) -> None:
        grown = locked(SITE, tenant_with(2), (), locked(SITE, tenant_with(1)))
        assert heads_of(grown) == ("head-1", "head-2")
        allocation, released = allocate(SITE, tenant_with(1), (), grown)
        assert allocation.clusters["train"].heads == ("head-1",)
        assert [(item.claim, item.value, item.flavor) for item in released] == [("heads", "head-2", FLAVOR)]

    def test_what_was_released_takes_room_and_needs_no_cleaning(self) -> None:
        """As much as it had, until it is settled: also while the lock that gives it up is made."""
        left = locked(SITE, tenant_with(2, state="gone"), (), ACME)
        assert [item for item in cleaning(SITE, [left]) if item.name.startswith("head")] == []
        rooms, before = AllocationState.of(SITE, [left]).hosts, AllocationState.of(SITE, [ACME]).hosts
        for host in (SITE.host["head-1"], SITE.host["head-2"]):
            assert rooms.room(host) == before.room(host)
            assert rooms.room(host).virtual_functions == 0
        assert heads_of(locked(SITE, tenant_with(1, "globex"), (left,))) == ("head-1",)
        fresh = locked(SITE, gpu_tenant("acme", headed(1, "lab", nodes=1)), (), ACME)
        assert fresh.allocation.clusters["lab"].heads == ("head-1",)

    def test_pins_are_taken_as_given(self) -> None:
        pinned = {"train": Pins(heads=("head-2", "head-2"))}
        both = locked(SITE, tenant_with(2, pins=pinned))
        assert heads_of(both) == ("head-2", "head-2")
        assert heads_of(locked(SITE, tenant_with(2, pins=pinned), (), both)) == ("head-2", "head-2")
        with pytest.raises(AllocationError, match="cluster train pins host head-2, which has no room for one more"):
            locked(SITE, tenant_with(2, "globex", pins=pinned), (both,))

    def test_a_flavour_that_its_host_has_no_room_for_needs_a_move(self) -> None:
        other = tuple(
            item.model_copy(update={"name": "gpu.large", "vcpus": 32}) for item in SITE.flavors if item.name == FLAVOR
        )
        site = site_with_heads(flavors=(*SITE.flavors, *other))
        mine = locked(site, tenant_with(1))
        others = [locked(site, tenant_with(1, "globex", pins={"train": Pins(heads=("head-1",))}), (mine,))]
        large = HeadServers(count=1, flavor="gpu.large", image="dgx-os")
        request = gpu_tenant("acme", headed(nodes=1, heads=large))
        with pytest.raises(NeedsMove, match="cluster train needs other hosts"):
            allocate(site, request, others, mine)
        moved, _ = allocate(site, request, others, mine, move=True)
        assert moved.clusters["train"].heads == ("head-2",)
        assert recreated_of_cluster(mine.allocation.clusters["train"], moved.clusters["train"]) == (
            "heads on head-1 (now head-2), and what is on their disks",
        )

    def test_a_host_that_failed_is_given_to_nobody_new(self) -> None:
        site = out(SITE, "head-1", state="failed", reason=DEAD)
        assert heads_of(locked(site, tenant_with(1))) == ("head-2",)
        kept = locked(site, tenant_with(2), (), ACME)
        assert heads_of(kept) == ("head-1", "head-2")
        idle = held_out_of_service(site, kept.allocation)
        assert [(item.claim, item.device, item.kind) for item in idle] == [("heads", "head-1", "the host of a head,")]

    def test_capacity_counts_heads_without_functions(self) -> None:
        def left(*locks: Lock) -> dict[str, int]:
            return {item.flavor: item.servers for item in capacity(SITE, locks).heads}

        assert left()[FLAVOR] == 4
        assert left(ACME)[FLAVOR] == 2


class TestPlans:
    def test_a_head_has_an_ordinary_port_in_band(self) -> None:
        plan = planned(2)
        for index, host in enumerate(("head-1", "head-2")):
            name = f"acme-train-head-{index}"
            port, server = plan.by_name[f"{name}-cluster"].resource, plan.by_name[name].resource
            assert isinstance(port, Port)
            assert isinstance(server, Server)
            assert (port.address, port.vnic_type) == (f"10.60.1.{5 + index}", "normal")
            assert (port.network, port.security_groups) == ("acme-train-cluster", ("acme-train-head-ssh",))
            assert (server.host, server.flavor, server.ports) == (host, f"site:Flavor/{FLAVOR}", (port.name,))
            assert plan.component[name].type == "ClusterHead"
            assert plan.by_name[name].vpod == "acme-train"

    def test_its_nodes_come_in_at_every_port_and_others_by_ssh(self) -> None:
        request = gpu_tenant("acme", headed())
        access = request.access.model_copy(update={"ssh_from": (FROM,)})
        found = clusters_planned(request.model_copy(update={"access": access}), [head_claims(1, (1, 1), (1, 2))], SITE)
        group = found.by_name["acme-train-head-ssh"].resource
        assert isinstance(group, SecurityGroup)
        inward = {
            (rule.protocol, rule.port_min, rule.remote_prefix) for rule in group.rules if rule.direction == "ingress"
        }
        assert inward == {(None, None, "10.60.1.0/24"), ("tcp", 22, FROM), ("icmp", None, FROM)}

    def test_a_public_head_has_a_floating_ip_and_a_filter_of_its_own(self) -> None:
        request = gpu_tenant("acme", headed(2))
        public = ({"vpod": "train", "servers": (1,), "ssh_from": (FROM,)},)
        access = type(request.access).model_validate(dict(request.access) | {"public": public})
        claims = [head_claims(1, (1, 1), (1, 2), heads=("head-1", "head-2"))]
        found = clusters_planned(request.model_copy(update={"access": access}), claims, SITE)
        entry = found.by_name["acme-train-head-1-public"].resource
        assert isinstance(entry, FloatingIp)
        assert (entry.port, entry.uplink) == ("acme-train-head-1-cluster", "acme-train-cluster-uplink")
        ports = {name: found.by_name[f"{name}-cluster"].resource for name in ("acme-train-head-0", "acme-train-head-1")}
        groups = [port.security_groups for port in ports.values() if isinstance(port, Port)]
        assert groups == [("acme-train-head-ssh",), ("acme-train-head-public",)]
        ways = ways_in(SITE, found)
        assert [(way.server, way.prefixes) for way in ways.servers] == [("acme-train-head-1", (FROM,))]
        assert ways.closed == ("acme-train-head-0",)

    def test_costs_count_its_cpus_and_memory(self) -> None:
        lines = {line.item: line.quantity for line in cost_of(SITE, planned(2)).lines}
        assert (lines["poplar-vcpu"], lines["poplar-ram-gib"]) == (32, 96)

    @pytest.mark.parametrize("field", ["flavor", "image"])
    def test_a_line_of_the_request_asks_for_it(self, field: str) -> None:
        plan = planned()
        assert request_path(plan, plan.by_name["acme-train-head-0"], field) == f"clusters.train.heads.{field}"

    def test_a_private_flavour_is_opened_for_the_tenant_first(self) -> None:
        closed = tuple(
            item.model_copy(update={"public": False}) if item.name == FLAVOR else item for item in SITE.flavors
        )
        site = site_with_heads(flavors=closed)
        lock = locked(site, tenant_with(1))
        plan = plan_tenant(site, site_locked(site), tenant_with(1), lock)
        assert f"acme-flavor-{FLAVOR}" in plan.by_name["acme-train-head-0"].after


class TestSchedulers:
    def test_the_first_head_controls_and_the_second_is_for_logging_in(self) -> None:
        plan = planned(2)
        for server in ("acme-train-head-0", "acme-train-head-1", "acme-train-node-0"):
            files = told(plan, server)
            conf = files["/etc/slurm/slurm.conf"]["content"]
            assert conf.count("SlurmctldHost=") == 1
            assert "SlurmctldHost=acme-train-head-0(10.60.1.5)\n" in conf
            assert "NodeName=acme-train-node-[0-1] NodeAddr=10.60.1.[10-11] " in conf
            assert "10.60.1.6 acme-train-head-1\n" in files["/etc/hosts"]["content"]
            assert ("/etc/nccl.conf" in files) == ("node" in server)

    def test_a_second_controller_has_the_state_of_the_first(self) -> None:
        plan = planned(2, slurm=SlurmOptions(controllers=2, state="/srv/slurm"))
        conf = told(plan, "acme-train-node-1")["/etc/slurm/slurm.conf"]["content"]
        assert [line for line in conf.splitlines() if line.startswith(("SlurmctldHost", "StateSave"))] == [
            "SlurmctldHost=acme-train-head-0(10.60.1.5)",
            "SlurmctldHost=acme-train-head-1(10.60.1.6)",
            "StateSaveLocation=/srv/slurm",
        ]

    def test_accounting_is_at_the_first_head_alone_and_nobody_else_reads_its_file(self) -> None:
        plan = planned(2, slurm=SlurmOptions(accounting=True))
        path = "/etc/slurm/slurmdbd.conf"
        first = told(plan, "acme-train-head-0")
        assert (first[path]["owner"], first[path]["permissions"]) == ("slurm:slurm", "0600")
        assert "DbdHost=acme-train-head-0\n" in first[path]["content"]
        assert "AccountingStorageHost=acme-train-head-0\n" in first["/etc/slurm/slurm.conf"]["content"]
        assert not any(path in told(plan, name) for name in ("acme-train-head-1", "acme-train-node-0"))

    def test_a_newer_release_is_marked_as_not_tested(self) -> None:
        files = told(planned(slurm=SlurmOptions(release="24.11")), "acme-train-node-0")
        assert files["/etc/slurm/slurm.conf"]["content"].startswith("# Slurm 24.11: not tested.")
        assert files["/etc/slurm/gres.conf"]["content"].startswith("AutoDetect=nvidia\n")

    def test_kubernetes_is_values_and_labels_and_nothing_on_servers(self) -> None:
        request = gpu_tenant("acme", cluster("train", scheduler="kubernetes"))
        claims = head_claims(1, (1, 1), (2, 1), heads=())
        scope = ClusterScope(site=SITE, tenant=request, cluster=request.clusters[0], claims=claims)
        texts = texts_of_cluster(scope)
        schema = json.loads((Path(__file__).parent / "openstack_cluster.schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(yaml.safe_load(texts[VALUES]), schema)
        assert list(yaml.safe_load(texts[LABELS])) == ["acme-train-node-0", "acme-train-node-1"]
        assert files_of_server(scope, layout_of(scope), "acme-train-node-0") == ()

    def test_texts_of_a_cluster_are_all_files_once_as_servers_have_them(self) -> None:
        slurm = SlurmOptions(accounting=True)
        request = gpu_tenant("acme", headed(1, fabric="none", slurm=slurm))
        claims = head_claims(1, (1, 1), (1, 2)).model_copy(update={"partition_keys": {}})
        scope = ClusterScope(site=SITE, tenant=request, cluster=request.clusters[0], claims=claims)
        servers = ("acme-train-head-0", "acme-train-node-0")
        told = {name: files_of_server(scope, layout_of(scope), name, has_gpus="node" in name) for name in servers}
        given = {file.path: file.content for files in told.values() for file in files}
        assert texts_of_cluster(scope) == given
        assert "NCCL_IB_DISABLE=1" in given["/etc/nccl.conf"]

    def test_without_a_scheduler_a_head_knows_its_nodes(self) -> None:
        files = told(planned(scheduler="none"), "acme-train-head-0")
        assert "10.60.1.11 acme-train-node-1\n" in files["/etc/hosts"]["content"]
        assert "acme-train-node-0 slots=8\n" in files["/etc/gpu-hostfile"]["content"]
        assert not any(path.startswith("/etc/slurm") for path in files)
