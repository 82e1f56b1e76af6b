"""ISO-14 and ISO-15: which links between switches join two owners, and which lists and native VLANs are right."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.lock.record import Premise
from interlock.model.site.inventory import SegmentRangeSpec, Site, SwitchPortConfig
from interlock.model.site.ironic import Ironic, ServiceNetworks
from interlock.model.site.physical import Vrf, Vtep
from policies import Verdict
from policies.about import SiteDevice
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.proof import RuleResult
from tests.policies.exact_answers import (
    answer,
    drawn,
    host_vlan,
    identified,
    messages,
    only,
    plan_of,
    share,
    switch_vlan,
)
from tests.policies.test_examples_switches import WIDE, leaves
from tests.policies.test_rules_iso_links import with_uplink
from tests.policies.workspace import NA, N, P, V, changed

ONE, TWO, SPINE = (switch_vlan(name, 1000) for name in ("leaf-1", "leaf-2", "spine-1"))
MINE, THEIRS = ids.server("acme", "mine"), ids.server("globex", "theirs")


@cache
def site(listed: bool = False) -> SiteFacts:
    """Two leaves and a spine whose ports have no lists of VLANs, or wide ones."""
    return SiteFacts(leaves(tagged=WIDE if listed else None))


def claim(segment: str, owner: str) -> Premise:
    return premise(Relation.CLAIM, segment, owner, f"{owner}-net", f"VLAN 1000 of {owner}", "held")


def joined(
    rule: str,
    at: str = SPINE,
    *,
    facts: SiteFacts | None = None,
    claims: tuple[Premise, ...] = (),
    is_owned: bool = True,
) -> Model:
    """acme's server on leaf 1, globex's on another switch, with links between the three by one row of the table."""
    own = share("acme", [Edge(MINE, ONE, "E7")], {MINE: "acme"}, claims[:1])
    labels = {THEIRS: "globex"} if is_owned else {}
    links = [Edge(ONE, SPINE, rule), Edge(SPINE, TWO, rule), Edge(THEIRS, at, "E7")]
    return drawn(facts or site(), plan_of(), own, share("globex", links, labels, claims[1:]))


FIRST = "leaf-1 port 32 – spine-1 port 1"
MEET = "and with them two owners or claims"


def test_a_link_without_a_list() -> None:
    model = joined("E1")
    result = answer("ISO-14", model)
    found = only(result)
    assert found.message == (
        f"the trunk {FIRST}, without a list of VLANs at leaf-1 port 32, "
        f"joins leaf-1 VLAN 1000 and spine-1 VLAN 1000, {MEET}"
    )
    assert found.path == (MINE, ONE, SPINE, THEIRS)
    assert (found.verdict, found.specificity, result.count) == (V, 79, 1)
    assert found.id == identified("ISO-14", model, ONE, SPINE)
    assert answer("ISO-15", model).verdict is P


def test_each_link_on_the_way() -> None:
    """Two of them join leaf 1 with leaf 2."""
    found = messages(answer("ISO-14", joined("E1", at=TWO)))
    second = "leaf-2 port 32 – spine-1 port 2"
    assert found[1] == (
        f"the trunk {second}, without a list of VLANs at leaf-2 port 32, "
        f"joins spine-1 VLAN 1000 and leaf-2 VLAN 1000, {MEET}"
    )
    assert len(found) == 2


@pytest.mark.parametrize(
    ("near", "far", "guilty"),
    [
        ({"tagged": WIDE}, {"tagged": None}, "spine-1 port 1"),
        ({"tagged": None}, {"tagged": WIDE}, "leaf-1 port 32"),
        ({"tagged": WIDE}, {"tagged": WIDE}, None),
        # Whoever has no record has no missing list either: that is told of the port.
        ({}, {"tagged": WIDE}, None),
        ({}, {"tagged": None}, "spine-1 port 1"),
        # Filled is a trunk that does not list the VLAN itself.
        ({"tagged": (), "filled_by": "neutron"}, {"tagged": WIDE}, "leaf-1 port 32"),
        ({"tagged": ((999, 999),)}, {"tagged": ((1001, 1001),), "filled_by": "neutron"}, "spine-1 port 1"),
        ({"tagged": WIDE, "filled_by": "neutron"}, {"tagged": ((1000, 1000),), "filled_by": "neutron"}, None),
        # Only a trunk has a list to be without.
        ({"mode": "dot1q-tunnel", "tagged": None}, {"tagged": WIDE}, None),
    ],
)
def test_which_end_lacks_a_list(near: dict[str, object], far: dict[str, object], guilty: str | None) -> None:
    facts = SiteFacts(with_uplink(with_uplink(site().site, "leaf-1", 32, **near), "spine-1", 1, **far))
    found = messages(answer("ISO-14", joined("E1", facts=facts)))
    assert [item.partition(" at ")[2].partition(",")[0] for item in found] == ([guilty] if guilty else [])


def test_untagged_frames() -> None:
    result = answer("ISO-15", joined("E2"))
    assert only(result).message == f"the link {FIRST}, untagged, joins leaf-1 VLAN 1000 and spine-1 VLAN 1000, {MEET}"
    assert answer("ISO-14", joined("E2")).verdict is P


def test_a_link_that_the_site_does_not_describe() -> None:
    """From leaf to leaf no cable is listed; over a port that nobody configures it is told once."""
    own = share("acme", [Edge(MINE, ONE, "E7")], {MINE: "acme"})
    direct = share("globex", [Edge(ONE, TWO, "E2"), Edge(THEIRS, TWO, "E7")], {THEIRS: "globex"})
    found = only(answer("ISO-15", drawn(site(), plan_of(), own, direct)))
    words = f"a link whose ends nobody describes joins leaf-1 VLAN 1000 and leaf-2 VLAN 1000, {MEET}"
    assert found.message == words
    port = ids.switch_port("SN-leaf-1", 32)
    by_port = [Edge(ONE, port, "E2"), Edge(port, TWO, "E2"), Edge(THEIRS, TWO, "E7")]
    model = drawn(site(), plan_of(), own, share("globex", by_port, {THEIRS: "globex"}))
    assert only(answer("ISO-15", model)).message == words.replace("leaf-2 VLAN 1000", "leaf-1 port 32")


def test_the_way_into_a_host_is_no_link_between_switches() -> None:
    inside = host_vlan("poplar-1", "ens161f0", 1000)
    own = share("acme", [Edge(MINE, inside, "E7"), Edge(inside, ONE, "E1"), Edge(ONE, TWO, "E4")], {MINE: "acme"})
    other = share("globex", [Edge(THEIRS, TWO, "E7")], {THEIRS: "globex"})
    assert answer("ISO-14", drawn(site(), plan_of(), own, other)).verdict is P


def test_two_claims_that_a_link_joins() -> None:
    """Nobody needs to be plugged in; the way is from claim to claim."""
    found = only(answer("ISO-14", joined("E1", is_owned=False, claims=(claim(ONE, "acme"), claim(SPINE, "globex")))))
    assert found.path == (ONE, SPINE)
    mine = (claim(ONE, "acme"), claim(SPINE, "acme"))
    assert answer("ISO-14", joined("E1", is_owned=False, claims=mine)).verdict is P


def test_a_stranger_behind_a_port_of_ones_own() -> None:
    """Who has the server of acme's own port is not the link's fault; ISO-02 has it."""
    port = ids.neutron_port("acme", "p")
    own = share(
        "acme", [Edge(ONE, SPINE, "E1"), Edge(port, SPINE, "E7"), Edge(MINE, ONE, "E7")], {port: "acme", MINE: "acme"}
    )
    theirs = share("globex", [Edge(port, THEIRS, "E7")], {THEIRS: "globex"})
    model = drawn(site(), plan_of(), own, theirs)
    assert (answer("ISO-14", model).verdict, answer("ISO-02", model).verdict) == (P, V)


@pytest.mark.parametrize(("edges", "count"), [([Edge(ONE, switch_vlan("leaf-1", 1001), "E1")], 0), ([], 0)])
def test_a_segment_of_one_switch_has_no_links(edges: list[Edge], count: int) -> None:
    """Whoever meets there meets without one."""
    own = share("acme", [Edge(MINE, ONE, "E7"), *edges], {MINE: "acme"})
    both = share("globex", [Edge(THEIRS, ONE, "E7")], {THEIRS: "globex"})
    result = answer("ISO-14", drawn(site(), plan_of(), own, both))
    assert (result.verdict, result.count) == (NA, count)


def test_a_cable_from_a_switch_to_itself() -> None:
    """Two VLANs that it joins are no matter of a link between switches: ISO-01 tells of them."""
    again = switch_vlan("leaf-1", 1001)
    own = share("acme", [Edge(MINE, ONE, "E7")], {MINE: "acme"})
    looped = share("globex", [Edge(ONE, again, "E2"), Edge(THEIRS, again, "E7")], {THEIRS: "globex"})
    model = drawn(site(), plan_of(), own, looped)
    assert (answer("ISO-15", model).verdict, answer("ISO-01", model).verdict) == (NA, V)


def test_a_segment_that_the_plan_does_not_touch() -> None:
    """It is joined with acme's by a router only, so those two are told of it."""
    router, elsewhere = ids.router("acme", "r"), switch_vlan("leaf-1", 7)
    own = share("acme", [Edge(MINE, elsewhere, "E7"), Edge(MINE, router, "E7")], {MINE: "acme"})
    way = [Edge(router, ONE, "E10"), Edge(ONE, SPINE, "E1")]
    two = [share(name, [*way, Edge(ids.server(name, "s"), wire, "E7")], {ids.server(name, "s"): name})
           for name, wire in (("globex", ONE), ("initech", SPINE))]  # fmt: skip
    result = answer("ISO-14", drawn(site(), plan_of(), own, *two))
    assert (result.verdict, result.count) == (NA, 0)


# The links of the site.


def of_site(rule: str, of: Site) -> RuleResult:
    return answer(rule, drawn(SiteFacts(of), plan_of("op"), GraphFragment("op", (), {}, ())))


def listing(*vlans: int, **fields: object) -> Site:
    """One end of a link lists these VLANs besides the pools'."""
    whole = with_uplink(site(listed=True).site, "leaf-1", 32, tagged=(*WIDE, *((vlan, vlan) for vlan in vlans)))
    return changed(whole, **fields) if fields else whole


def with_switch(whole: Site, **fields: object) -> Site:
    """The site whose management switch has these fields."""
    switches = (item.model_copy(update=fields) if item.name == "mgmt-1" else item for item in whole.switches)
    return changed(whole, switches=tuple(switches))


def ranged(low: int, high: int, kind: str = "vlan") -> tuple[SegmentRangeSpec, ...]:
    fields = {"network_type": kind, "physical_network": "mgmt1g" if kind == "vlan" else None}
    return (SegmentRangeSpec.model_validate(fields | {"minimum": low, "maximum": high}),)


def ports_with(**fields: object) -> tuple[SwitchPortConfig, ...]:
    more = SwitchPortConfig.model_validate({"port": 30, "mode": "trunk"} | fields)
    return (*site().site.switch["mgmt-1"].ports, more)


def deploying(low: int, high: int) -> Ironic:
    """Ironic deploys and cleans on these VLANs."""
    networks = ServiceNetworks(physical_network="fabric", vlans=((low, high),), subnets=("10.90.0.0/20", 26))
    return Ironic(conductor_group="interlock", networks=(networks,))


NEW = 3210


@pytest.mark.parametrize(
    ("whole", "strange"),
    [
        (listing(), None),
        (listing(NEW), NEW),
        # The ids of pools and of ranges that Neutron has, from the first to the last.
        (listing(110, 199), None),
        (listing(109), 109),
        (listing(200), 200),
        (listing(3000), 3000),
        (listing(NEW, NEW + 2, segment_ranges=ranged(NEW, NEW + 2)), None),
        (listing(NEW + 3, segment_ranges=ranged(NEW, NEW + 2)), NEW + 3),
        (listing(NEW, segment_ranges=ranged(NEW, NEW + 2, "vxlan")), NEW),
        # What the site file uses itself: on an access port, with an address, under an overlay, on a wire.
        (with_switch(listing(NEW), ports=ports_with(mode="access", untagged=NEW)), None),
        (with_switch(listing(NEW), ports=ports_with(untagged=NEW)), NEW),
        (with_switch(listing(NEW), routed_vlans=(NEW,)), None),
        (with_switch(listing(NEW), routed_vlans=None), NEW),
        (with_switch(listing(NEW), vrfs=(Vrf(name="blue", vlans=(NEW,)),)), None),
        (with_switch(listing(NEW), vteps=(Vtep(vlan=NEW, vni=7, underlay="tunnels"),)), None),
        (with_switch(listing(NEW, NEW + 1), ports=ports_with(translations=((NEW, NEW + 1),))), None),
        (listing(NEW, NEW + 2, ironic=deploying(NEW, NEW + 2)), None),
        (listing(NEW - 1, ironic=deploying(NEW, NEW + 2)), NEW - 1),
        (listing(NEW + 3, ironic=deploying(NEW, NEW + 2)), NEW + 3),
        (listing(NEW, external=site().site.external.model_copy(update={"vlan": NEW})), None),
    ],
)
def test_which_vlans_a_link_may_carry(whole: Site, strange: int | None) -> None:
    result = of_site("ISO-14", whole)
    words = f"leaf-1 port 32 carries VLAN {strange}, which nothing in the site file declares"
    assert messages(result) == ([words] if strange else [])
    assert result.count == 4
    if strange:
        found = only(result)
        assert found.witness == ("leaf-1 port 32", words.removeprefix("leaf-1 port 32 "))
        assert found.hint == "list the VLANs that the devices behind this link need, at both ends"
        assert (found.verdict, found.specificity, found.subjects) == (V, 63, (SiteDevice("leaf-1"),))


def test_the_first_strange_vlan_of_a_list() -> None:
    """A range is looked at to its end."""
    whole = with_uplink(site(listed=True).site, "leaf-1", 32, tagged=((2998, 3001),))
    assert messages(of_site("ISO-14", whole)) == [
        "leaf-1 port 32 carries VLAN 3000, which nothing in the site file declares"
    ]
    ended = with_uplink(site(listed=True).site, "leaf-1", 32, tagged=((2998, 3000),))
    assert len(of_site("ISO-14", ended).findings) == 1


def test_a_port_that_nobody_describes() -> None:
    found = only(of_site("ISO-14", with_uplink(site(listed=True).site, "spine-1", 2)))
    assert found.message == "nobody states which VLANs spine-1 port 2 carries to the next switch"
    assert (found.verdict, found.missing, found.specificity) == (N, ("switches.spine-1.ports.2",), 63)


POOL = "an id that the pools give to tenants"
USED = "which is in use elsewhere in the site file"


@pytest.mark.parametrize(
    ("fields", "why", "verdict"),
    [
        ({"untagged": 1000, "tag_native": False}, POOL, V),
        ({"untagged": 1000}, POOL, N),
        ({"untagged": 1000, "tag_native": True}, "", P),
        ({"untagged": 1999, "tag_native": False}, POOL, V),
        ({"untagged": 110, "tag_native": False}, POOL, V),
        ({"untagged": 199, "tag_native": False}, POOL, V),
        ({"untagged": 10, "tag_native": False}, USED, V),
        ({"untagged": 3999, "tag_native": False}, "", P),
        ({"untagged": None, "tag_native": False}, "", P),
        # An access port has no native VLAN: what it sends is its one VLAN.
        ({"mode": "access", "untagged": 1000, "tag_native": False}, "", P),
    ],
)
def test_native_vlans_of_links(fields: dict[str, object], why: str, verdict: Verdict) -> None:
    result = of_site("ISO-15", with_uplink(site(listed=True).site, "leaf-1", 32, **fields))
    assert result.verdict is verdict
    words = f"leaf-1 port 32 sends VLAN {fields['untagged']} untagged, {why}"
    assert messages(result) == ([words] if why else [])
    if why:
        found = only(result)
        assert found.missing == (("switches.leaf-1.ports.32.tag_native",) if verdict is N else ())
        assert found.hint == "give the link a native VLAN that nobody uses, or none, or tag the native one"


@pytest.mark.parametrize(("untagged", "verdict"), [(NEW, V), (NEW + 1, P)])
def test_a_native_vlan_on_which_ironic_deploys_is_used(untagged: int, verdict: Verdict) -> None:
    """A node that is cleaned there would be reached by what comes untagged from the next switch."""
    whole = changed(site(listed=True).site, ironic=deploying(NEW, NEW))
    result = of_site("ISO-15", with_uplink(whole, "leaf-1", 32, untagged=untagged, tag_native=False))
    assert result.verdict is verdict
    assert messages(result) == ([f"leaf-1 port 32 sends VLAN {untagged} untagged, {USED}"] if verdict is V else [])
