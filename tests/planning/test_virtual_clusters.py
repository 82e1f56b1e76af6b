"""Clusters of virtual servers that take GPU nodes whole: which nodes they get, what is planned, what is said."""

from __future__ import annotations

import pytest

from infra.locking.conflicts import _overfull
from infra.reports.plan_nodes import node_lines
from interlock.hardware.gpu.passing_through import PassedDevices, passed_devices
from interlock.hardware.verdicts import PlacementVerdict
from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant
from interlock.planning import AllocationState, NeedsMove, Plan, PlanningError, plan_site
from interlock.planning.claims import Claim
from interlock.planning.cluster_life import node_steps
from interlock.planning.costs import cost_of
from interlock.planning.hashes import SiteHashes
from interlock.planning.removal import removal_of
from interlock.planning.request_hashes import request_hash
from interlock.resources import Aggregate, Flavor, FlavorAccess, Port, SecurityGroup, Server
from interlock.vocabulary import Claimant
from tests.builders.gpu_heads import headed, site_with_heads
from tests.builders.gpu_plans import claims, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_tenant
from tests.builders.pod64 import locked, site_locked
from tests.builders.virtual_nodes import FLAVOR, VIRTUAL, virtual_cluster, virtual_site, virtual_tenant, whole_flavor

SITE = virtual_site()


def plan() -> Plan:
    return clusters_planned(virtual_tenant(), [claims(1, (2, 3))], SITE)


def nodes(lock: Lock) -> tuple[str, ...]:
    return lock.allocation.clusters["train"].hosts


def given(request: Tenant, *others: Lock, site: Site = SITE) -> tuple[str, ...]:
    return nodes(locked(site, request, others))


def test_each_kind_gets_nodes_of_its_own() -> None:
    assert set(given(virtual_tenant("acme", virtual_cluster(2)))) == set(VIRTUAL)
    assert not set(given(gpu_tenant("acme", cluster(nodes=4)))) & set(VIRTUAL)


def test_one_that_is_given_out_is_not_given_again() -> None:
    first = locked(SITE, virtual_tenant())
    assert {*nodes(first), *given(virtual_tenant("globex"), first)} == set(VIRTUAL)
    with pytest.raises(PlanningError, match="needs 2 dgx-h100 nodes of one hall"):
        given(virtual_tenant("globex", virtual_cluster(2)), first)


def test_a_head_is_put_on_no_node() -> None:
    """Though both are hypervisors on its network with room: whoever is there has the GPUs of it."""
    nobody_else = virtual_site(base=site_with_heads(0))
    with pytest.raises(PlanningError, match="no hypervisor of role poplar has an interface on inband"):
        given(gpu_tenant("acme", headed()), site=nobody_else)
    beside = locked(virtual_site(base=site_with_heads(1)), gpu_tenant("acme", headed()))
    assert beside.allocation.clusters["train"].heads == ("head-1",)


def test_a_node_of_one_lock_is_held_once_and_of_two_it_is_told() -> None:
    claims_of = [Claim("hosts", VIRTUAL[0], Claimant(name, "train")) for name in ("acme", "globex")]
    for held, said in ((claims_of[:1], []), (claims_of, [f"host {VIRTUAL[0]} (given out whole)"])):
        allocated = AllocationState(SITE)
        for claim in held:
            allocated.add(claim)
        assert [what for what, _ in _overfull(SITE, allocated, held)] == said


def test_a_site_without_such_nodes() -> None:
    metal = SITE.with_parts(hosts=tuple(item.model_copy(update={"provisioning": "bare-metal"}) for item in SITE.hosts))
    with pytest.raises(PlanningError, match="of the kind vm: they are given out as bare-metal"):
        given(virtual_tenant(), site=metal)


def test_the_plan_of_a_node() -> None:
    found = plan().by_name
    server, port = found["acme-train-node-0"].resource, found["acme-train-node-0-cluster"].resource
    assert isinstance(server, Server)
    assert isinstance(port, Port)
    assert (server.host, server.flavor, server.ports) == (VIRTUAL[0], f"site:Flavor/{FLAVOR}", (port.name,))
    assert (port.vnic_type, port.security_groups) == ("normal", ("acme-train-nodes",))
    assert {"acme-train-partition-compute", f"acme-flavor-{FLAVOR}"} <= set(found["acme-train-node-0"].after)
    group = found["acme-train-nodes"].resource
    assert isinstance(group, SecurityGroup)
    inside = [rule.remote_prefix for rule in group.rules if rule.direction == "ingress" and rule.protocol is None]
    assert inside == ["10.60.1.0/24"]
    assert isinstance(found[f"acme-flavor-{FLAVOR}"].resource, FlavorAccess)
    assert "SwitchPort" not in {item.resource.KIND for item in plan().resources}


def test_the_operators_flavour_asks_for_every_device_of_the_node() -> None:
    found = plan_site(SITE, site_locked(SITE)).by_name
    flavor, fence = found[FLAVOR].resource, found["gpu-hosts"].resource
    assert isinstance(flavor, Flavor)
    assert isinstance(fence, Aggregate)
    assert flavor.extra_specs == {
        "pci_passthrough:alias": "h100:8,nvswitch:4,hca:8", "hw:numa_nodes": "2", "hw:cpu_policy": "dedicated",
        "hw:mem_page_size": "1GB", "aggregate_instance_extra_specs:interlock_role": "gpu",
    }  # fmt: skip
    assert fence.hosts == VIRTUAL


@pytest.mark.parametrize(
    ("node_type", "counts"),
    [
        ("dgx-h100", (("gpu", 8), ("nvswitch", 4), ("hca", 8))),
        ("dgx-a100", (("gpu", 8), ("nvswitch", 6), ("hca", 8))),
        ("gcore-l40s", (("gpu", 8),)),
    ],
)
def test_devices_of_a_node(node_type: str, counts: tuple[tuple[str, int], ...]) -> None:
    found = passed_devices(node_type)
    assert isinstance(found, PassedDevices)
    assert found.counts == counts


@pytest.mark.parametrize("node_type", ["dgx-b200", "gcore-h100-ib", "gaudi-3", "nothing"])
def test_types_that_cannot_be_handed_out_so(node_type: str) -> None:
    assert isinstance(passed_devices(node_type), PlacementVerdict)


def test_without_a_flavour_there_is_no_plan() -> None:
    bare = virtual_site(whole_flavor(whole_node=None, role="infra"))
    with pytest.raises(PlanningError, match="no flavour of the site hands out a dgx-h100 whole"):
        clusters_planned(virtual_tenant(), [claims(1, (2, 3))], bare)


def test_a_cluster_changes_its_kind_only_by_a_move() -> None:
    before = locked(SITE, virtual_tenant())
    metal = gpu_tenant("acme", cluster(nodes=1))
    with pytest.raises(NeedsMove, match="asks for nodes of the kind bare-metal and has others"):
        locked(SITE, metal, previous=before)


def test_a_node_is_paid_by_its_gpus_and_is_nobodys_after_it() -> None:
    found = {line.item: line.quantity for line in cost_of(SITE, plan()).lines}
    assert found["gpu-dgx-h100"] == 8
    assert "poplar-vcpu" not in found
    assert removal_of(plan()).released == (VIRTUAL[0],)


def test_requests_and_sites_of_before_keep_their_hashes() -> None:
    metal = gpu_tenant("acme", cluster(nodes=1))
    assert "kind" not in str(request_hash(metal))
    assert request_hash(metal) != request_hash(virtual_tenant())
    lock = locked(SITE, virtual_tenant())
    unstated = whole_flavor(whole_node=whole_flavor().whole_node.model_copy(update={"one_time_use": None}))  # type: ignore[union-attr]
    other = virtual_site(unstated)
    assert SiteHashes(SITE).slice_hash(lock.allocation) == SiteHashes(other).slice_hash(lock.allocation)


def test_what_becomes_of_a_node_is_told_as_of_bare_metal() -> None:
    two = clusters_planned(virtual_tenant("acme", virtual_cluster(2)), [claims(1, (2, 3), (2, 4))], SITE)
    gone, come = node_steps(two.canonical(), plan()), node_steps(plan().canonical(), two)
    assert [(step.server, step.action, step.is_virtual) for step in (*gone, *come)] == [
        ("acme-train-node-1", "leaves", True),
        ("acme-train-node-1", "comes", True),
    ]
    first, then = node_lines(gone)
    assert "out of the partition first, then deleted, its devices kept back; nobody's until it is settled" in first
    assert "end what runs on acme-train-node-1" in then
    assert next(node_lines(come)).endswith("first; created")
    another = virtual_tenant("acme", virtual_cluster(image="next"))
    newer = SITE.images[-1].model_copy(update={"name": "next"})
    other = clusters_planned(another, [claims(1, (2, 3))], SITE.with_parts(images=(*SITE.images, newer)))
    # Neither of its disks nor of a roll anything is said: an apply does not do it.
    (refused,) = node_lines(node_steps(plan().canonical(), other))
    assert "has another image on su02-n03, dgx-os → next: `pulumi up` refuses" in refused
    assert "say `state: released`, settle it, then ask for it with the new image" in refused
