"""What a lock records of a plan."""

from __future__ import annotations

from policies import footprint
from policies.edges.shape import Relation
from tests.builders.pod64 import tenant, tor
from tests.policies.workspace import N, P, assumptions, edited, full_site, judged, made, pair, verdicts

SITE = full_site()


def test_nodes_of_the_tenants_own_are_left_out() -> None:
    mark = made(SITE, tenant("acme")).lock.footprint
    nodes = {node for members in mark.classes for node in members} | set(mark.labels)
    assert not any(node.startswith("port:acme:acme-train-poplar") for node in nodes)
    assert "L:SN-tor-1:1000" in nodes
    assert "dev:SN-ipum-01/rnic" in nodes


def test_the_partition_joins_what_the_tenants_servers_join() -> None:
    mark = made(SITE, tenant("acme")).lock.footprint
    joined = next(members for members in mark.classes if "L:SN-poplar-1/ens161f0:1000" in members)
    assert {"L:SN-poplar-1/ens161f0:2000", "V:sandbox:vxlan:5000", "R:acme:acme-router"} <= set(joined)
    assert "dev:acme:acme-train-controller" not in joined  # a terminal: split while its guards are held


def test_it_is_canonical() -> None:
    mark = made(SITE, tenant("acme")).lock.footprint
    assert list(mark.classes) == sorted(tuple(sorted(members)) for members in mark.classes)
    assert list(mark.exclusive) == sorted(set(mark.exclusive))
    assert list(mark.premises) == sorted(mark.premises, key=lambda item: (item.relation, item.tuple))


def test_labels_and_claims() -> None:
    mark = made(SITE, tenant("acme")).lock.footprint
    assert mark.labels["L:SN-tor-1:1000"] == ("acme",)
    assert mark.labels["L:SN-mgmt-1:110"] == ("op",)
    claims = {item.tuple[0] for item in mark.premises if item.relation == Relation.CLAIM}
    assert claims == {"L:SN-tor-1:1000", "L:SN-tor-1:2000", "L:SN-mgmt-1:110", "V:sandbox:vxlan:5000"}
    assert "machine:SN-ipum-01" in mark.exclusive


def test_marks_of_what_was_unknown_when_the_lock_was_written() -> None:
    acme = made(SITE, tenant("acme"))
    assert acme.lock.footprint.unknown == ()
    unsure = footprint(full_site(assumptions=assumptions(no_forwarding=None)), acme.plan)
    assert len(unsure.unknown) == 4  # the RNIC and gateway of each of its machines
    assert all(mark.endswith(": assumptions.A3.no_forwarding") for mark in unsure.unknown)


def test_a_fact_that_goes_missing_elsewhere_is_unknown_here() -> None:
    """globex's function reaches what its host's port carries; nobody knows any more what that is."""
    acme, globex = pair(SITE, globex={"hosts": ("poplar-4",)})
    ports = tuple(port for port in tor().ports if port.port not in (23, 24))
    site = full_site(switches=(tor().model_copy(update={"ports": ports}), SITE.switch["mgmt-1"]))
    judgement = judged(site, acme.plan, globex)
    assert verdicts(judgement)["ISO-02"] == N
    assert {fact for item in judgement.findings for fact in item.missing} == {
        "switches.tor-1.ports.23",
        "switches.tor-1.ports.24",
    }
    assert verdicts(judged(SITE, acme.plan, globex))["ISO-02"] == P


def test_editing_one_tenant_leaves_the_footprint_of_another() -> None:
    acme, globex = pair(SITE)
    edited(globex.plan, "globex-train-storage", segmentation_id=2500)
    assert footprint(SITE, acme.plan) == acme.lock.footprint
