"""Edges between and inside switches: translated ids, tagged native VLANs, Q-in-Q, overlays, routing instances."""

from __future__ import annotations

import pytest

from interlock.model.site.inventory import Lag, Site, Switch, SwitchPortConfig, Underlay
from interlock.model.site.physical import Vrf, Vtep
from interlock.planning import plan_site
from policies.edges.shape import GraphFragment, Relation, premise
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.graph.naming import Names
from tests.builders.pod64 import cable, site_locked
from tests.policies.joining import (
    NO,
    PERHAPS,
    YES,
    access,
    declared,
    joined,
    marked,
    missing,
    port,
    site_with,
    switch,
    tagged,
    vlan,
)
from tests.policies.workspace import assumptions

A100, B100, B200 = vlan("a", 100), vlan("b", 100), vlan("b", 200)
USED = marked(A100, B100, B200, vlan("a", 200))


def pair(left: SwitchPortConfig, right: SwitchPortConfig) -> Site:
    """Switches a and b, one cable between their ports 1."""
    return site_with(switch("a", left), switch("b", right), links=[("a:1", "b:1")])


# E1: translations. VLAN 100 of switch a is 200 on the wire.


def test_a_translation_counts_as_the_id_on_the_wire() -> None:
    site = pair(tagged(1, 100, translations=((200, 100),)), tagged(1, 100, 200))
    assert joined(site, A100, B200, USED) is YES
    assert joined(site, A100, B100, USED) is NO


def test_a_translation_at_both_ends_meets_inside() -> None:
    site = pair(tagged(1, 100, translations=((300, 100),)), tagged(1, 200, translations=((300, 200),)))
    assert joined(site, A100, B200, USED) is YES


def test_a_translation_of_an_id_that_the_list_leaves_out() -> None:
    site = pair(tagged(1, 100, translations=((300, 150),)), tagged(1, 300))
    assert joined(site, vlan("a", 150), vlan("b", 300), USED) is NO


def test_a_device_behind_a_translating_port_reaches_the_inner_vlan() -> None:
    one = switch("a", tagged(2, 100, translations=((300, 100),)))
    site = site_with(one, links=[("box:eth0", "a:2")], devices=["box"])
    assert joined(site, "dev:box/eth0", A100, USED) is YES


LEFT, RIGHT = tagged(1, 100, translations=((200, 100),)), tagged(1, 200, translations=((300, 200),))


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((LEFT, tagged(1, 100, 200)), "a port 1 translates 200 on the wire to VLAN 100"),
        (
            (tagged(1, 100, translations=((300, 100),)), RIGHT),
            "a port 1 translates 300 on the wire to VLAN 100; b port",
        ),
        ((port(1, untagged=100, tag_native=False), port(1, untagged=200, tag_native=False)), None),
    ],
    ids=["one end", "both ends", "native VLANs of two numbers"],
)
def test_a_witness_names_the_translation(ends: tuple[SwitchPortConfig, SwitchPortConfig], told: str | None) -> None:
    site = pair(*ends)
    share = GraphFragment("op", (), {A100: frozenset({"op"}), B200: frozenset({"op"})}, ())
    model = Model(SiteFacts(site), plan_facts(plan_site(site, site_locked(site))), share)
    words = Names(model).path(model.must, [A100, B200])
    assert words[0].startswith("a VLAN 100")
    assert words[1].startswith("b VLAN 200")
    assert ("translates" in words[1]) is (told is not None)
    assert told is None or told in words[1]
    assert model.must.has_edge(A100, B200)


def words_of(site: Site, *path: str) -> tuple[str, ...]:
    """A path between VLANs in words."""
    share = GraphFragment("op", (), {node: frozenset({"op"}) for node in path}, ())
    model = Model(SiteFacts(site), plan_facts(plan_site(site, site_locked(site))), share)
    return Names(model).path(model.may, path)


def test_a_witness_names_translations_at_both_ends_of_one_id() -> None:
    """100 here and 100 there, and nothing on the cable that says 100."""
    site = pair(LEFT, tagged(1, 100, translations=((200, 100),)))
    told = words_of(site, A100, B100)[1]
    assert "a port 1 translates 200 on the wire to VLAN 100; b port 1 translates 200" in told
    plain = pair(tagged(1, 100, 200), tagged(1, 100, 200))
    assert "translates" not in words_of(plain, A100, B100)[1]


def test_a_witness_names_the_translation_before_a_device() -> None:
    one = switch("a", tagged(2, 100, 300, translations=((200, 100),)))
    site = site_with(one, links=[("box:eth0", "a:2")], devices=["box"])
    there = ("dev:box/eth0", "port:SN-a/2", A100)
    told = words_of(site, *there)
    assert told[-1].startswith("a VLAN 100 (a port 2 translates 200 on the wire to VLAN 100)")
    assert "translates 200" in words_of(site, *there[::-1])[1]
    assert "translates" not in words_of(site, *there[:-1], vlan("a", 300))[-1]


def test_a_witness_names_the_translation_before_a_host() -> None:
    site = leg_at(tagged(2, 100, translations=((200, 100),)))
    assert "a port 2 translates 200 on the wire to VLAN 100" in words_of(site, LEG200, A100)[1]


# E2: `tag_native` makes a native VLAN one of the tagged ones, which the other end may take by a second tag (E21).


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((False, False), YES),
        ((None, False), PERHAPS),
        ((None, None), PERHAPS),
        ((True, False), PERHAPS),
        ((True, True), NO),
    ],
)
def test_native_vlans_whose_numbers_differ(states: tuple[bool, bool], expected: bool | None) -> None:
    left, right = (port(1, untagged=number, tag_native=state) for number, state in zip((100, 200), states, strict=True))
    assert joined(pair(left, right), A100, B200, USED) is expected


@pytest.mark.parametrize(("state", "expected"), [(True, YES), (False, PERHAPS), (None, PERHAPS)])
def test_a_native_vlan_that_the_other_end_carries_tagged(state: bool | None, expected: bool | None) -> None:
    site = pair(port(1, untagged=100, tag_native=state), tagged(1, 100))
    assert joined(site, A100, B100, USED) is expected
    assert ("switches.a.ports.1.tag_native" in missing(site, USED)) == (state is None)


@pytest.mark.parametrize(("state", "expected"), [(True, YES), (False, PERHAPS), (None, PERHAPS)])
def test_a_native_vlan_that_is_in_the_list_as_well(state: bool | None, expected: bool | None) -> None:
    """It leaves without a tag; whether the port takes frames that come with one, no record says."""
    site = pair(tagged(1, 100, untagged=100, tag_native=state), tagged(1, 100))
    assert joined(site, A100, B100, USED) is expected
    facts = {None: "switches.a.ports.1.tag_native", False: "whether a port 1 takes its untagged VLAN 100 with a tag"}
    # A second tag may name the VLAN of the first as well (E21).
    second = "whether a port 1 drops frames with a second tag in its untagged VLAN 100"
    assert missing(site, USED) == ({facts[state], second} if state in facts else set())


@pytest.mark.parametrize(("state", "expected"), [(True, YES), (False, PERHAPS), (None, PERHAPS)])
def test_a_translated_native_vlan_goes_by_the_id_on_the_wire(state: bool | None, expected: bool | None) -> None:
    """VLAN 100 of switch a is 200 on the wire, if it goes tagged at all."""
    site = pair(port(1, untagged=100, tag_native=state, translations=((200, 100),)), tagged(1, 200))
    assert joined(site, A100, B200, USED) is expected


@pytest.mark.parametrize(("state", "expected"), [(True, YES), (False, PERHAPS), (None, PERHAPS)])
def test_a_hypervisor_that_tags_the_native_vlan(state: bool | None, expected: bool | None) -> None:
    """E4: frames that an adapter tags with the native VLAN of its switch port."""
    one = switch("a", port(2, untagged=100, tag_native=state))
    base = site_with(one)
    cut = tuple(item for item in base.cables if str(item.a) != "poplar-1:ens161f0")
    site = site_with(one, cables=(*cut, cable("poplar-1:ens161f0", "a:2")))
    leg = "L:SN-poplar-1/ens161f0:100"
    assert joined(site, leg, A100, marked(leg, A100)) is expected


LEG100, LEG200 = (f"L:SN-poplar-1/ens161f0:{number}" for number in (100, 200))


def leg_at(*ports: SwitchPortConfig) -> Site:
    """A hypervisor's leg at port 2 of switch a."""
    one = switch("a", *ports)
    cut = tuple(item for item in site_with(one).cables if str(item.a) != "poplar-1:ens161f0")
    return site_with(one, cables=(*cut, cable("poplar-1:ens161f0", "a:2")))


def put_into(number: int) -> GraphFragment:
    """A plan that makes a VLAN the access VLAN of port 2 of switch a."""
    return GraphFragment("globex", (), {}, (premise(Relation.UNTAGGED, "SN-a", "2", str(number)),))


@pytest.mark.parametrize("state", [True, False, None])
@pytest.mark.parametrize("listed", [True, False])
def test_a_plan_takes_away_nothing_that_a_port_carries_tagged(state: bool | None, listed: bool) -> None:
    """Until it is applied the port takes the tag for certain; one that is not listed it may take afterwards."""
    site = leg_at(tagged(2, *([100] if listed else []), 200, tag_native=state))
    used = marked(LEG100, A100)
    assert joined(site, LEG100, A100, used) is (YES if listed else NO)
    assert joined(site, LEG100, A100, used, put_into(100)) is (YES if listed else PERHAPS)


def test_a_native_vlan_of_one_leg_that_the_other_carries_tagged() -> None:
    """Both are one logical port, and the second takes the tag for certain."""
    first, second = port(2, untagged=100), tagged(3, 100)
    legs = (Lag(name="bond", device="poplar-1", interfaces=("ens161f0", "ens161f1")),)
    one = switch("a", first, second)
    cut = tuple(item for item in site_with(one).cables if not str(item.a).startswith("poplar-1:ens161"))
    cables = (*cut, cable("poplar-1:ens161f0", "a:2"), cable("poplar-1:ens161f1", "a:3"))
    used = marked(LEG100, A100)
    assert joined(site_with(one, cables=cables), LEG100, A100, used) is PERHAPS
    assert joined(site_with(one, cables=cables, lags=legs), LEG100, A100, used) is YES


def test_the_tag_of_the_native_vlan_that_is_another_vlan_inside() -> None:
    """200 on the wire is 100 inside, whatever becomes of the native VLAN 200."""
    site = leg_at(tagged(2, 100, untagged=200, translations=((200, 100),)))
    used = marked(LEG200, A100, vlan("a", 200))
    assert joined(site, LEG200, A100, used) is YES
    assert joined(site, LEG200, vlan("a", 200), used) is PERHAPS


# E2: Q-in-Q is not followed, so it may join all.


def test_a_tunnel_port_may_join_everything() -> None:
    site = pair(port(1, mode="dot1q-tunnel", untagged=100), tagged(1, 200))
    assert joined(site, A100, B100, USED) is PERHAPS
    assert missing(site, USED) == {"switches.a.ports.1.mode"}


def test_a_device_behind_a_tunnel_port() -> None:
    one = switch("a", port(2, mode="dot1q-tunnel", untagged=200))
    site = site_with(one, links=[("box:eth0", "a:2")], devices=["box"])
    assert joined(site, "dev:box/eth0", A100, USED) is PERHAPS


# E3: switches map VLANs to overlays (examples 9 and 10).


def mapping(name: str, *vteps: Vtep) -> Switch:
    return switch(name, vteps=vteps)


def vxlan(number: int, vni: int, underlay: str = "spine") -> Vtep:
    return Vtep(vlan=number, vni=vni, underlay=underlay, encapsulation="vxlan")


def test_example_09_vlans_on_one_overlay() -> None:
    apart = site_with(mapping("a", vxlan(100, 7001)), mapping("b", vxlan(100, 7002)))
    assert joined(apart, A100, B100, USED) is NO
    one = site_with(mapping("a", vxlan(100, 7001)), mapping("b", vxlan(200, 7001)))
    assert joined(one, A100, B200, USED) is YES


def test_one_id_on_two_underlays() -> None:
    site = site_with(mapping("a", vxlan(100, 7001, "east")), mapping("b", vxlan(200, 7001, "west")))
    assert joined(site, A100, B200, USED) is NO


NEUTRONS = "V:sandbox:vxlan:5001"


@pytest.mark.parametrize(
    ("encapsulation", "neutron", "expected"),
    [("vxlan", True, YES), ("geneve", True, NO), (None, True, PERHAPS), ("vxlan", False, NO)],
)
def test_example_10_neutrons_overlays_and_those_of_switches(
    encapsulation: str | None, neutron: bool, expected: bool | None
) -> None:
    vtep = Vtep.model_validate({"vlan": 100, "vni": 5001, "underlay": "spine", "encapsulation": encapsulation})
    site = site_with(mapping("a", vtep), underlays=(Underlay(name="spine", neutron=neutron),))
    assert joined(site, NEUTRONS, A100, marked(NEUTRONS, A100)) is expected
    if encapsulation is None:
        assert missing(site, marked(NEUTRONS, A100)) == {"switches.a.vteps.100.encapsulation"}


def test_two_mappings_without_an_encapsulation_may_be_one() -> None:
    unsaid = Vtep(vlan=100, vni=7001, underlay="spine")
    site = site_with(mapping("a", unsaid), mapping("b", unsaid))
    assert joined(site, A100, B100, USED) is PERHAPS


# E10: routing instances beside the default one route always.


def test_a_vrf_joins_its_vlans_and_no_others() -> None:
    instances = (Vrf(name="red", vlans=(100, 200)), Vrf(name="blue", vlans=(300,)))
    site = site_with(switch("a", vrfs=instances))
    assert joined(site, A100, vlan("a", 200), USED) is YES
    assert joined(site, A100, "R:SN-a/red", USED) is YES
    assert joined(site, A100, vlan("a", 300), USED) is NO


def routed(number: int) -> SwitchPortConfig:
    return port(number, mode="routed")


@pytest.mark.parametrize(("routing", "expected"), [(True, YES), (False, NO), (None, PERHAPS)])
def test_a_routed_port_faces_an_access_port(routing: bool | None, expected: bool | None) -> None:
    links = [("a:1", "b:1"), ("b:2", "box:eth0"), ("a:2", "box:eth1")]
    one, other = switch("a", routed(1), routed(2), ip_routing=routing), switch("b", access(1, 100), access(2, 200))
    site = site_with(one, other, links=links, devices=["box"])
    assert joined(site, B100, "R:SN-a", USED) is expected
    assert joined(site, B200, "R:SN-a", USED) is NO
    assert joined(site, "dev:box/eth1", "R:SN-a", USED) is expected


def test_routed_links_join_routing_instances_and_no_vlans() -> None:
    """Example 9: the underlay of overlays."""
    one, other = switch("a", routed(1), ip_routing=True), switch("b", routed(1), ip_routing=True)
    site = site_with(one, other, links=[("a:1", "b:1")])
    assert joined(site, "R:SN-a", "R:SN-b", USED) is YES
    assert joined(site, A100, B100, USED) is NO
    assert joined(site, "R:SN-a", B100, USED) is NO


def test_a_hypervisor_behind_a_routed_port() -> None:
    one = switch("a", routed(2), ip_routing=True)
    cut = tuple(item for item in site_with(one).cables if str(item.a) != "poplar-1:ens161f0")
    site = site_with(one, cables=(*cut, cable("poplar-1:ens161f0", "a:2")))
    leg = "L:SN-poplar-1/ens161f0"
    assert joined(site, f"{leg}:0", "R:SN-a", marked(f"{leg}:0", f"{leg}:100")) is YES
    assert joined(site, f"{leg}:100", "R:SN-a", marked(f"{leg}:0", f"{leg}:100")) is NO


# A7: roles in a private VLAN.


def roles(*ports: SwitchPortConfig, **fields: object) -> Site:
    links = [(f"box-{item.port}:eth0", f"a:{item.port}") for item in ports]
    return site_with(switch("a", *ports), links=links, devices=[name.split(":")[0] for name, _ in links], **fields)


def box(number: int) -> str:
    return f"dev:box-{number}/eth0"


def test_isolated_ports_and_communities_without_a_promiscuous_port() -> None:
    site = roles(
        access(1, 100, private_vlan="isolated"),
        access(2, 100, private_vlan="isolated"),
        access(3, 100, private_vlan="red"),
        access(4, 100, private_vlan="red"),
        access(5, 100, private_vlan="blue"),
    )
    assert joined(site, box(3), box(4), USED) is YES
    for other in (2, 3, 5):
        assert joined(site, box(1), box(other), USED) is NO
    assert joined(site, box(3), box(5), USED) is NO


def test_a_promiscuous_port_that_may_pass_frames_on_makes_it_one_hub() -> None:
    site = roles(access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="red"), access(3, 100))
    assert joined(site, box(1), box(2), USED) is YES


def test_a_promiscuous_port_in_another_vlan_does_not_matter() -> None:
    site = roles(access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="red"), access(3, 200))
    assert joined(site, box(1), box(2), USED) is NO


def test_a_port_of_which_nobody_knows_the_mode_may_be_promiscuous() -> None:
    known = (access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="red"))
    site = site_with(
        switch("a", *known),
        links=[(f"box-{number}:eth0", f"a:{number}") for number in (1, 2, 3)],
        devices=["box-1", "box-2", "box-3"],
    )
    assert joined(site, box(1), box(2), USED) is PERHAPS


@pytest.mark.parametrize(("value", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
@pytest.mark.parametrize("guard", ["private_vlan_enforced", "single_trunk", "vlan_lists_enforced"])
def test_roles_rest_on_their_mechanism(guard: str, value: bool | None, expected: bool | None) -> None:
    ports = (access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="isolated"))
    site = roles(*ports, assumptions=assumptions(**{guard: value}))
    assert joined(site, box(1), box(2), USED) is expected


def test_a_routing_instance_in_a_private_vlan_passes_frames_on() -> None:
    ports = (access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="isolated"))
    links = [(f"box-{item.port}:eth0", f"a:{item.port}") for item in ports]
    one = switch("a", *ports, vrfs=(Vrf(name="red", vlans=(100,)),))
    assert joined(site_with(one, links=links, devices=["box-1", "box-2"]), box(1), box(2), USED) is YES


@pytest.mark.parametrize("routing", [True, None])
@pytest.mark.parametrize(("guard", "expected"), [(True, NO), (None, PERHAPS), (False, PERHAPS)])
def test_a_switch_that_may_route_in_a_private_vlan_passes_nothing_on_if_it_is_a_terminal(
    routing: bool | None, guard: bool | None, expected: bool | None
) -> None:
    """Found by a random run: in whichever VLANs it has an address, its declaration keeps the groups apart."""
    ports = (access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="isolated"))
    one = switch("a", *ports, routed_vlans=None, ip_routing=routing)
    links = [(f"box-{item.port}:eth0", f"a:{item.port}") for item in ports]
    shared = declared("a", "name-and-time", ipv4_forwarding_off=guard)
    site = site_with(one, links=links, devices=["box-1", "box-2"], sharing=shared)
    assert joined(site, box(1), box(2), USED) is expected
    assert joined(site_with(one, links=links, devices=["box-1", "box-2"]), box(1), box(2), USED) is PERHAPS
