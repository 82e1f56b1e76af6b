"""Meetings that an independent reading of the page found and the edges once did not have."""

from __future__ import annotations

import pytest

from interlock.model.lock.record import Released
from interlock.model.site.inventory import Site
from interlock.resources import Network, PartitionKey, PartitionMember, Port, Volume, VolumeAttachment
from policies import footprint, judge
from policies.edges.shape import GraphFragment, Relation, Union, premise
from policies.facts.identities import is_guid
from policies.facts.site import SiteFacts
from policies.footprints.neighbours import Neighbours
from tests.builders.pod64 import bare_metal_pod64, cable
from tests.policies.joining import NO, PERHAPS, YES, access, joined, marked, port, site_with, switch, tagged, vlan
from tests.policies.workspace import V, added, assumptions, full_site, judged, pair, verdicts, with_footprint

BOX, OTHER = "dev:box/eth0", "dev:other/eth0"
OPERATORS = "site:Project/controllers"
USED = marked(vlan("a", 100), vlan("a", 200))


def two_devices(*ports: tuple[tuple[int, int], ...] | None, **fields: object) -> Site:
    """Two devices on ports of one switch that take these tags."""
    made = (port(number, tagged=ranges) for number, ranges in enumerate(ports, start=1))
    return site_with(
        switch("a", *made), links=[("box:eth0", "a:1"), ("other:eth0", "a:2")], devices=["box", "other"], **fields
    )


# VLAN ids that nobody names: whoever may send any tag meets others by them.


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (((3000, 3999),), ((3000, 3999),), YES),
        (((3000, 3500),), ((3500, 3999),), YES),
        (((3000, 3499),), ((3500, 3999),), NO),
        (((3000, 3999),), None, YES),
        (((3000, 3000),), ((3000, 3000),), YES),
        (((3000, 3999),), (), NO),
    ],
)
def test_ids_that_only_lists_name(
    left: tuple[tuple[int, int], ...], right: tuple[tuple[int, int], ...] | None, expected: bool | None
) -> None:
    assert joined(two_devices(left, right), BOX, OTHER, USED) is expected


def test_one_id_stands_for_a_stretch() -> None:
    site = SiteFacts(two_devices(((140, 199), (300, 399)), ((150, 350),)))
    assert {(150, 199), (200, 299), (300, 350), (351, 399)} <= set(site.stretches)
    found = set(Union(site, [marked(vlan("a", 150))]).vlans)
    assert {150, 151, 200, 300, 351} <= found
    assert not found & set(range(152, 200))


def test_a_switch_that_does_not_keep_to_its_lists_joins_them_too() -> None:
    site = two_devices(((3000, 3499),), ((3500, 3999),), assumptions=assumptions(vlan_lists_enforced=None))
    assert joined(site, BOX, OTHER, USED) is PERHAPS


def test_a_released_vlan_on_an_unknown_network_is_named() -> None:
    lost = GraphFragment("acme", (), {}, (premise(Relation.SOMEWHERE, "lost:acme:1", "3333", "released"),))
    assert 3333 in Union(SiteFacts(full_site()), [lost]).vlans


# A port without a record, which a plan sets.


def test_what_a_port_was_before_a_plan_sets_it_is_unknown() -> None:
    site = site_with(switch("a"), links=[("box:eth0", "a:1")], devices=["box"])
    plan = GraphFragment("acme", (), {}, (premise(Relation.UNTAGGED, "SN-a", "1", "100"),))
    assert joined(site, BOX, vlan("a", 100), USED, plan) is YES
    assert joined(site, BOX, vlan("a", 200), USED, plan) is PERHAPS


def test_a_list_that_names_a_translated_vlan_as_it_is_on_the_wire() -> None:
    ends = tagged(1, 100, translations=((100, 200),)), tagged(1, 100)
    site = site_with(switch("a", ends[0]), switch("b", ends[1]), links=[("a:1", "b:1")])
    assert joined(site, vlan("a", 200), vlan("b", 100), marked(vlan("b", 100)), USED) is PERHAPS


# Whole hosts.


@pytest.mark.parametrize(("closed", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
def test_a_whole_host_reaches_its_bmc_whoever_has_it(closed: bool | None, expected: bool | None) -> None:
    whole = bare_metal_pod64()
    cables = (*whole.cables, cable("poplar-1:idrac", "mgmt-1:33"))
    site = whole.model_copy(update={"cables": cables, "assumptions": assumptions(in_band_closed=closed)})
    serial = site.host["poplar-1"].serial
    assert joined(site, f"dev:{serial}/ens161f0", f"dev:{serial}/idrac") is expected
    assert joined(site, f"dev:{serial}/ens161f0", f"dev:{serial}/eno1") is YES


# Footprints keep who met whom inside.


def lent(kind: str) -> dict[str, Network | Port]:
    """A network of the operator's in acme's plan, and acme's port on it that no server has yet."""
    segment = {"segmentation_id": 1900, "physical_network": "fabric100g"} if kind == "vlan" else {"segmentation_id": 9}
    network = Network.model_validate({"name": "net", "project": OPERATORS, "network_type": kind} | segment)
    spare = Port(
        name="spare", project="acme-project", network="net", subnet="none", address="10.9.9.9", vnic_type="normal"
    )
    return {"net": network, "spare": spare}


@pytest.mark.parametrize("kind", ["vlan", "vxlan"])
def test_a_port_without_a_server_on_the_operators_network(kind: str) -> None:
    site = full_site()
    acme, globex = pair(site)
    plan = acme.plan
    for name, item in lent(kind).items():
        plan = added(plan, name, "acme-train", item)
    assert judged(site, plan, globex).exit_code == 1
    assert footprint(site, plan).labels["port:acme:spare"] == ("acme",)
    assert "port:acme:spare" not in footprint(site, acme.plan).labels


def test_a_volume_at_the_operators_server() -> None:
    site = full_site()
    acme, _ = pair(site)
    server = next(item.name for item in acme.plan.resources if item.name.endswith("-controller"))
    volume = Volume(name="v", project="acme-project", size_gib=1, volume_type="site:VolumeType/x")
    plan = added(acme.plan, "vol", "acme-train", volume)
    attached = VolumeAttachment(project="acme-project", server=server, volume="vol")
    found = footprint(site, added(plan, "attached", "acme-train", attached))
    assert found.labels["vol:acme:vol"] == ("acme",)
    assert any("vol:acme:vol" in members for members in found.classes)


# P_Keys.


@pytest.mark.parametrize(
    ("bits", "membership", "claimed"),
    [(0x7FFF, "limited", False), (0x7FFF, "full", True), (0x0005, "limited", True), (0xFFFF, "limited", False)],
)
def test_limited_members_claim_nothing_in_the_default_key(bits: int, membership: str, claimed: bool) -> None:
    site = full_site()
    acme, _ = pair(site)
    member = PartitionMember.model_validate({"guid": "0" * 16, "membership": membership})
    plan = added(acme.plan, "key", "acme-train", PartitionKey(infiniband="ib-1", key=bits, members=(member,)))
    assert any(node.startswith("K:") for node in footprint(site, plan).exclusive) is claimed
    # One full member claims it, whatever the others are.
    other = PartitionMember(guid="1" * 16, membership="limited")
    plan = added(acme.plan, "key", "acme-train", PartitionKey(infiniband="ib-1", key=bits, members=(member, other)))
    assert any(node.startswith("K:") for node in footprint(site, plan).exclusive) is claimed


@pytest.mark.parametrize(
    ("name", "expected"),
    [("0123456789abcdef", True), ("0123456789ABCDEF", True), ("0123456789abcdeg", False), ("0123456789abcde", False)],
)
def test_a_guid_is_sixteen_hexadecimal_digits(name: str, expected: bool) -> None:
    """A device of sixteen letters, one of which is such a digit, is none."""
    assert is_guid(name) is expected


# What a tenant released is its own.


def test_a_tenant_cannot_let_go_of_what_another_uses() -> None:
    """Seen in its own judgement, beside all locks and beside its neighbours."""
    site = full_site()
    acme, globex = pair(site)
    taken = globex.lock.allocation.vpods["train"].ipu_data_vlan
    claim = Released(vpod="old", claim="ipu_data_vlan", value=f"fabric100g:{taken}")
    gave = with_footprint(site, acme.plan, acme.lock.model_copy(update={"released": (claim,)}))
    locks = [gave.lock, globex.lock]
    assert judge(site, acme.plan, [acme.lock, globex.lock]).exit_code == 0
    judgement = judge(site, gave.plan, locks)
    assert verdicts(judgement)["ISO-01"] == V
    assert judge(site, gave.plan, Neighbours.of(site, locks)) == judgement


@pytest.mark.parametrize(("machine", "number"), [("ipum-05", 1077), ("ipum-04", 1000)], ids=["gone", "taken again"])
def test_what_it_released_itself_does_not_stand_in_its_own_way(machine: str, number: int) -> None:
    site = full_site()
    acme, globex = pair(site)
    claims = (
        Released(vpod="old", claim="machines", value=machine),
        Released(vpod="old", claim="ipu_data_vlan", value=f"fabric100g:{number}"),
    )
    gave = with_footprint(site, acme.plan, acme.lock.model_copy(update={"released": claims}))
    locks = [gave.lock, globex.lock]
    assert judge(site, gave.plan, locks).exit_code == 0
    assert judge(site, gave.plan, Neighbours.of(site, locks)) == judge(site, gave.plan, locks)


def test_an_access_port_takes_no_tags() -> None:
    site = site_with(
        switch("a", access(1, 100), port(2, tagged=((3000, 3999),))),
        links=[("box:eth0", "a:1"), ("other:eth0", "a:2")],
        devices=["box", "other"],
    )
    assert joined(site, BOX, OTHER, USED) is NO
