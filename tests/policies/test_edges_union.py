"""Rows of the table that are resolved over all shares: every edge of a small world, and the facts that each lacks."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.site.inventory import (
    PhysicalNetwork,
    Site,
    SwitchPortConfig,
    Underlay,
)
from interlock.model.site.physical import Vrf, Vtep
from policies.edges.shape import GraphFragment, Relation, premise
from tests.builders.pod64 import external
from tests.policies.joining import access, declared, host, marked, port, row, small, switch, tagged, vlan

A100, A200, A300 = (vlan("a", number) for number in (100, 200, 300))
B100, B200, B300 = (vlan("b", number) for number in (100, 200, 300))
USED = marked(A100, A200)
STRANGERS = "foreign:sandbox"


def at(name: str, number: int) -> str:
    """The node of a switch port."""
    return f"port:SN-{name}/{number}"


def leg(number: int, interface: str = "e0") -> str:
    """A VLAN inside the host."""
    return f"L:SN-h/{interface}:{number}"


# E1 and E2: cables between switches.

TAGS, NATIVES = "cabled switches carry the same tagged VLAN", "cabled switches join their native VLANs"


def pair(left: SwitchPortConfig | None, right: SwitchPortConfig | None, **fields: object) -> Site:
    one, other = (switch(name, *([item] if item else [])) for name, item in (("a", left), ("b", right)))
    return small(one, other, links=(("a:1", "b:1"),), **fields)


def test_tags_that_both_ends_carry() -> None:
    assert row(TAGS, pair(tagged(1, 100, 200), tagged(1, 200, 300)), USED, marked(A300)) == {(A200, B200, ())}


@pytest.mark.parametrize("listed", [(), (100,)])
def test_a_native_vlan_that_arrives_with_its_tag(listed: tuple[int, ...]) -> None:
    """Whether the list names it or not: most switches take it."""
    site = pair(tagged(1, 100), tagged(1, *listed, untagged=100, tag_native=False))
    assert row(TAGS, site, USED) == {(A100, B100, ("whether b port 1 takes its untagged VLAN 100 with a tag",))}
    assert row(TAGS, pair(tagged(1, 200), tagged(1, *listed, untagged=100, tag_native=False)), USED) == set()
    lacking = ("switches.b.ports.1.tag_native",)
    assert row(TAGS, pair(tagged(1, 100), tagged(1, *listed, untagged=100)), USED) == {(A100, B100, lacking)}


def test_a_native_vlan_that_a_translation_gives_another_id() -> None:
    """It may come by its own id, and by that one; the list has neither."""
    item = port(1, untagged=100, tagged=((300, 300),), translations=((200, 100),), tag_native=False)
    words = ("whether b port 1 takes its untagged VLAN 100 with a tag",)
    assert row(TAGS, pair(tagged(1, 100, 200), item), USED) == {(A100, B100, words), (A200, B100, words)}


def test_what_is_unstated_of_both_ends_is_named_in_their_order() -> None:
    """Both list their native VLAN as well, and nobody says whether it bears its tag."""
    site = pair(tagged(1, 100, untagged=100), tagged(1, 100, untagged=100))
    first, second = ("switches.a.ports.1.tag_native",), ("switches.b.ports.1.tag_native",)
    assert row(TAGS, site, USED) == {(A100, B100, (*first, *second))}
    assert row(NATIVES, site, USED) == {(A100, B100, (*first, *second))}


def test_a_native_vlan_that_perhaps_bears_its_tag() -> None:
    site = pair(port(1, untagged=100), tagged(1, 100, untagged=200, tag_native=False))
    lacking = ("switches.a.ports.1.tag_native",)
    assert row(TAGS, site, USED) == {(A100, B100, lacking)}
    assert row(NATIVES, site, USED) == {(A100, B200, lacking)}


@pytest.mark.parametrize(("left", "right"), [(tagged(1, 100), None), (None, tagged(1, 100)), (None, None)])
def test_an_end_without_a_record_may_join_all(left: SwitchPortConfig | None, right: SwitchPortConfig | None) -> None:
    known = {"complete": ()}
    lacking = tuple(f"switches.{name}.ports.1" for name, end in (("a", left), ("b", right)) if end is None)
    link = at("a", 1)
    assert row(TAGS, pair(left, right, **known), USED) == {(link, node, lacking) for node in (A100, A200, B100, B200)}


def put_into(number: int) -> GraphFragment:
    """A plan that makes a VLAN the access VLAN of port 1 of switch a."""
    return GraphFragment("acme", (), {}, (premise(Relation.UNTAGGED, "SN-a", "1", str(number)),))


def test_a_plan_for_a_port_without_a_record_adds_nothing_to_what_may_be() -> None:
    """Neither between switches nor at a host: every VLAN is there already, for want of the record."""
    lacking = ("switches.a.ports.1",)
    found = row(TAGS, pair(None, tagged(1, 200), complete=()), USED, put_into(200))
    assert found == {(at("a", 1), node, lacking) for node in (A100, A200, B100, B200)}
    found = row(LEGS, legs(None, complete=()), marked(leg(200), A100), put_into(200))
    assert found == {(leg(200), node, lacking) for node in (A100, A200)}


# E4: host interfaces.

LEGS = "a host's interface carries the VLANs of its switch port"
KERNEL = "the operator's kernel hears what a switch port sends its host untagged"


def legs(one: SwitchPortConfig | None, **fields: Any) -> Site:
    """The host's first leg at port 1 of switch a; the second has no cable."""
    item = switch("a", *([one] if one else []))
    return small(item, **({"links": (("h:e0", "a:1"),), "hosts": (host(),)} | fields))


def test_a_leg_carries_the_tags_that_somebody_uses() -> None:
    used = marked(leg(0), leg(100), leg(300), leg(100, "e1"), A100, A200)
    assert row(LEGS, legs(tagged(1, 100, 200)), used) == {(leg(100), A100, ())}


@pytest.mark.parametrize(("state", "lacking"), [(False, ()), (None, ("switches.a.ports.1.tag_native",))])
def test_frames_without_a_tag_are_the_native_vlans(state: bool | None, lacking: tuple[str, ...]) -> None:
    site = legs(tagged(1, 100, untagged=200, tag_native=state))
    assert row(LEGS, site, marked(leg(0), A100, A200)) == {(leg(0), A200, lacking)}
    assert row(KERNEL, site, USED) == {("dev:SN-h/e0", A200, lacking)}


def test_a_leg_at_a_routed_port_meets_it_without_a_tag() -> None:
    site = legs(port(1, mode="routed"))
    assert row(LEGS, site, marked(leg(0), leg(100), A100)) == {(leg(0), at("a", 1), ())}


def test_a_leg_at_a_port_without_a_record_may_be_on_every_vlan() -> None:
    site = legs(None, complete=())
    lacking = ("switches.a.ports.1",)
    assert row(LEGS, site, marked(leg(100), A100, A200)) == {(leg(100), A100, lacking), (leg(100), A200, lacking)}
    assert row(KERNEL, site, USED) == {("dev:SN-h/e0", A100, lacking), ("dev:SN-h/e0", A200, lacking)}


def test_a_leg_whose_native_vlan_a_plan_sets() -> None:
    """Whether the port takes the tag of that VLAN as well, nobody knows; what else it reaches stays."""
    put = put_into(200)
    words = "whether a port 1 takes frames with the tag of the VLAN 200 that a plan sets there"
    site = legs(tagged(1, 100, tag_native=False))
    assert row(LEGS, site, marked(leg(200), leg(100), A200), put) == {(leg(200), A200, (words,)), (leg(100), A100, ())}
    # Its own record has it already.
    native = legs(tagged(1, 100, untagged=200, tag_native=False))
    taken = ("whether a port 1 takes its untagged VLAN 200 with a tag",)
    assert row(LEGS, native, marked(leg(200), A200), put) == {(leg(200), A200, taken)}
    unsaid = row(LEGS, legs(tagged(1, 100)), marked(leg(200), A200), put)
    assert unsaid == {(leg(200), A200, ("switches.a.ports.1.tag_native",))}


def test_a_plan_leaves_what_a_port_lists() -> None:
    assert row(LEGS, legs(tagged(1, 200)), marked(leg(200), A200), put_into(200)) == {(leg(200), A200, ())}


def test_a_vlan_of_a_leg_that_several_name() -> None:
    """A node of its own, a function that is held to no VLAN, and the external network: each alone is enough."""
    outside = external(physical_network="fabric", network_type="flat", vlan=None)
    site = legs(tagged(1, 100, untagged=200, tag_native=False), external=outside)
    taken = ("whether a port 1 takes its untagged VLAN 200 with a tag",)
    every = {(leg(0), A200, ()), (leg(100), A100, ()), (leg(200), A200, taken)}
    assert row(LEGS, site, marked(leg(100)), free()) == every


@pytest.mark.parametrize("number", [None, 300])
def test_the_external_network_for_itself_on_an_interface(number: int | None) -> None:
    """Flat: the kernel is not on it, and its frames have no tag. As a VLAN: the kernel is there, and it has one."""
    kind = "flat" if number is None else "vlan"
    outside = external(physical_network="fabric", network_type=kind, vlan=number)
    site = legs(tagged(1, 300, untagged=200, tag_native=False), external=outside)
    kernel = {("dev:SN-h/e0", A200, ())}
    assert row(KERNEL, site, USED) == (set() if number is None else kernel)
    assert row(LEGS, site, USED) == {(leg(0), A200, ()) if number is None else (leg(300), A300, ())}


def test_the_kernel_is_on_an_interface_beside_the_external_one() -> None:
    outside = external(physical_network="out")
    interfaces = {"out": ("e0",), "fabric": ("e1",)}
    site = small(
        switch("a", access(1, 100), access(2, 200)), links=(("h:e0", "a:1"), ("h:e1", "a:2")),
        hosts=(host(interfaces=interfaces),), external=outside,
    )  # fmt: skip
    assert row(KERNEL, site, USED) == {("dev:SN-h/e1", A200, ())}


# E5: what may send any frame.

ANY = "a device that may tag reaches the native and every tagged VLAN of its switch port"
FUNCTION = "port:acme:vf"


def free(interface: str = "e0", *more: tuple[str, str]) -> GraphFragment:
    """A virtual function that is held to no VLAN."""
    facts = [premise(Relation.EVERY_VLAN, FUNCTION, f"SN-h/{interface}")]
    facts += [premise(Relation.METAL, server, name) for server, name in more]
    return GraphFragment("acme", (), {A100: frozenset({"acme"}), A200: frozenset({"acme"})}, tuple(facts))


def kept(interface: str = "e0") -> tuple[str, ...]:
    """What nobody says of an adapter."""
    return (f"whether the adapter of SN-h/{interface} keeps the VLANs of its functions apart",)


@pytest.mark.parametrize(
    ("item", "certain"),
    [
        (tagged(1, 100), {100}),
        (access(1, 100), {0, 100}),
        (tagged(1, 100, untagged=200, tag_native=False), {0, 100, 200}),
    ],
)
def test_a_free_function_reaches_what_its_port_carries(item: SwitchPortConfig, certain: set[int]) -> None:
    expected = {(FUNCTION, leg(number), () if number in certain else kept()) for number in (0, 100, 200)}
    assert row(ANY, legs(item), free()) == expected
    # Each of these VLANs of the host leads to the switch.
    there = row(LEGS, legs(item), free())
    assert {near for near, _, _ in there} == {leg(number) for number in certain}


def test_a_free_function_at_an_interface_without_a_cable() -> None:
    expected = {(FUNCTION, leg(number, "e1"), kept("e1")) for number in (0, 100, 200)}
    assert row(ANY, legs(access(1, 100)), free("e1")) == expected


def test_a_server_that_is_its_host_sends_any_frame() -> None:
    """Nothing of the operator's stands between its root and the adapter."""
    known = row(ANY, legs(access(1, 100)), free("e0", (FUNCTION, "h")))
    assert known == {(FUNCTION, leg(number), ()) for number in (0, 100, 200)}
    other = row(ANY, legs(access(1, 100)), free("e0", ("dev:acme:other", "h")))
    assert (FUNCTION, leg(200), kept()) in other


@pytest.mark.parametrize("plug", ["bmc", "spare"])
def test_a_device_reaches_what_its_port_carries(plug: str) -> None:
    """A hypervisor's plug in no list may be an uplink: only a complete list says that it is none."""
    site = small(switch("a", tagged(1, 100)), links=((f"h:{plug}", "a:1"),), hosts=(host(),), complete=())
    lacking = ("complete.attachments.h",) if plug == "spare" else ()
    assert row(ANY, site, USED) == {(at("a", 1), A100, lacking)}


def test_a_device_behind_a_port_without_a_record() -> None:
    site = small(switch("a"), links=(("h:spare", "a:1"),), hosts=(host(),), complete=())
    lacking = ("switches.a.ports.1", "complete.attachments.h")
    assert row(ANY, site, USED) == {(at("a", 1), A100, lacking), (at("a", 1), A200, lacking)}


# E7: a port whose host has no interface there.

UNPLACED = "a port whose host has no interface on its network may be on any of its VLANs"


@pytest.mark.parametrize(
    ("name", "network", "lacking"),
    [
        ("h", "fabric", "hosts.h.provisioning"),
        ("h", "reach", "hosts.h.interfaces.reach"),
        ("nobody", "reach", "hosts.nobody.interfaces.reach"),
    ],
)
def test_a_port_without_a_place_may_be_on_every_vlan(name: str, network: str, lacking: str) -> None:
    networks = (PhysicalNetwork(name="fabric", switches=("a",)), PhysicalNetwork(name="reach", switches=("a",)))
    site = small(switch("a"), switch("b"), hosts=(host(),), physical_networks=networks)
    share = GraphFragment("acme", (), {}, (premise(Relation.UNPLACED, "port:acme:p", name, network, "100"),))
    expected = {("port:acme:p", node, (lacking,)) for node in (A100, A200)}
    assert row(UNPLACED, site, USED, share) == expected


def test_a_port_without_a_place_may_come_out_where_its_host_is_cabled() -> None:
    networks = (PhysicalNetwork(name="fabric", switches=("a",)), PhysicalNetwork(name="reach", switches=("b",)))
    made = (switch("a", SwitchPortConfig(port=1, mode="trunk", tagged=())), switch("b"))
    site = small(*made, hosts=(host(),), physical_networks=networks, links=(("h:p0", "a:1"),))
    share = GraphFragment("acme", (), {}, (premise(Relation.UNPLACED, "port:acme:p", "h", "reach", "100"),))
    lacking = ("hosts.h.interfaces.reach",)
    expected = {("port:acme:p", node, lacking) for node in (A100, B100)}
    assert row(UNPLACED, site, marked(A100, B100), share) == expected


def test_a_port_on_a_network_that_reaches_no_switch() -> None:
    share = GraphFragment("acme", (), {}, (premise(Relation.UNPLACED, "port:acme:p", "h", "none", "100"),))
    assert row(UNPLACED, small(switch("a"), hosts=(host(),)), USED, share) == set()


# E9: whole hosts.

WHOLE = "a host that is given out whole forwards between its interfaces"
SERVER = "dev:acme:metal"
METAL = GraphFragment("acme", (), {}, (premise(Relation.METAL, SERVER, "h"),))
BMC = ("hosts.h.bmc",)


def part(interface: str) -> str:
    return f"dev:SN-h/{interface}"


def whole(*plugs: str, **fields: Any) -> Site:
    """A host that is given out whole, cabled by these plugs, beside a hypervisor."""
    links = tuple((f"h:{plug}", f"a:{number}") for number, plug in enumerate(plugs, start=1))
    hosts = (host("other"), host(provisioning="bare-metal", **fields))
    return small(switch("a"), links=(*links, ("other:e0", "a:9"), ("other:e1", "a:10")), hosts=hosts)


def test_a_whole_host_joins_its_interfaces() -> None:
    found = row(WHOLE, whole("e0", "e1", "e2", "bmc"), METAL)
    assert found == {(part("e0"), part("e1"), ()), (part("e0"), part("e2"), ())}


def test_a_plug_of_a_whole_host_may_be_its_bmc() -> None:
    """Nobody stated which is the BMC: what is in no list may be it, or one of the host's own."""
    found = row(WHOLE, whole("e0", "mgmt", bmc=None), METAL)
    assert found == {
        (part("unstated-bmc"), part("mgmt"), BMC),
        (part("e0"), part("mgmt"), BMC),
        (SERVER, part("mgmt"), BMC),
    }


def test_a_whole_host_of_which_only_such_a_plug_is_cabled() -> None:
    found = row(WHOLE, whole("mgmt", bmc=None))
    assert found == {(part("unstated-bmc"), part("mgmt"), BMC)}


# E10: routing.

ROUTING = "a routing instance of a switch joins the VLANs in which it has an address"
FAR_END = "a routing instance is at the other end of a routed port's cable"


def test_addresses_of_a_switch() -> None:
    """One that routes joins them, one that does not has a node for each, and unstated is both, perhaps."""
    red = Vrf(name="red", vlans=(300,))
    vrf = ("R:SN-a/red", A300, ())
    routes = small(switch("a", ip_routing=True, routed_vlans=(100, 200), vrfs=(red,)))
    assert row(ROUTING, routes, USED) == {("R:SN-a", A100, ()), ("R:SN-a", A200, ()), vrf}
    none = small(switch("a", ip_routing=False, routed_vlans=(100, 200)))
    apart = {("dev:SN-a/vlan-100", A100, ()), ("dev:SN-a/vlan-200", A200, ())}
    assert row(ROUTING, none, USED) == apart
    unsaid = ("switches.a.ip_routing",)
    perhaps = {("R:SN-a", A100, unsaid), ("R:SN-a", A200, unsaid)}
    assert row(ROUTING, small(switch("a", ip_routing=None, routed_vlans=(100, 200))), USED) == apart | perhaps


def test_a_declared_routing_instance_is_another_row() -> None:
    red, blue = Vrf(name="red", vlans=(300,)), Vrf(name="blue", vlans=(100,))
    one = switch("a", ip_routing=None, routed_vlans=(200,), vrfs=(red, blue))
    only = small(one, sharing=declared("a/red"))
    unsaid = ("switches.a.ip_routing",)
    expected = {("R:SN-a/blue", A100, ()), ("R:SN-a", A200, unsaid), ("dev:SN-a/vlan-200", A200, ())}
    assert row(ROUTING, only, USED) == expected
    assert row(ROUTING, small(one, sharing=declared("a")), USED) == {
        ("R:SN-a/blue", A100, ()),
        ("R:SN-a/red", A300, ()),
    }


@pytest.mark.parametrize(("state", "lacking"), [(True, ()), (None, ("switches.a.ip_routing",)), (False, None)])
def test_a_routed_port(state: bool | None, lacking: tuple[str, ...] | None) -> None:
    left = switch("a", port(1, mode="routed"), ip_routing=state)
    own = set() if lacking is None else {("R:SN-a", at("a", 1), lacking)}
    for right, met in ((access(1, 100), {(B100, ())}), (port(1, mode="routed"), {(at("b", 1), ())})):
        site = small(left, switch("b", right, ip_routing=False), links=(("a:1", "b:1"),))
        back = {(at("b", 1), at("a", 1), ())} if right.mode == "routed" else set()
        assert row(FAR_END, site, USED) == own | back | {(at("a", 1), node, facts) for node, facts in met}
    unsaid = small(left, switch("b", port(1, untagged=100)), links=(("b:1", "a:1"),))
    assert row(FAR_END, unsaid, USED) == own | {(at("a", 1), B100, ("switches.b.ports.1.tag_native",))}


def test_a_switch_that_routes_is_at_its_routed_ports_alone() -> None:
    site = small(switch("a", access(1, 100), ip_routing=True), switch("b", access(1, 100)), links=(("a:1", "b:1"),))
    assert row(FAR_END, site, USED) == set()


# E3: overlays.

MAPPED, NEUTRONS = "a switch maps VLANs to overlays", "Neutron's overlays share their ids"


def test_a_mapping_without_an_encapsulation_may_be_any() -> None:
    site = small(
        switch(
            "a", vteps=(Vtep(vlan=100, vni=7, underlay="u"), Vtep(vlan=200, vni=8, underlay="u", encapsulation="vxlan"))
        )
    )
    lacking = ("switches.a.vteps.100.encapsulation",)
    assert row(MAPPED, site) == {
        (A100, "V:u:vxlan:7", lacking), (A100, "V:u:geneve:7", lacking), (A200, "V:u:vxlan:8", ()),
    }  # fmt: skip


def test_neutrons_overlays_on_each_underlay() -> None:
    own, wrapped, others = "V:sandbox:vxlan:7", "V:sandbox:geneve:8", "V:elsewhere:vxlan:9"
    underlays = (
        Underlay(name="yes", neutron=True), Underlay(name="no", neutron=False), Underlay(name="unsaid", neutron=None),
        Underlay(name="sandbox", neutron=True),
    )  # fmt: skip
    found = row(NEUTRONS, small(switch("a"), underlays=underlays), marked(own, wrapped, others))
    assert found == {(own, "V:yes:vxlan:7", ()), (own, "V:unsaid:vxlan:7", ("underlays.unsaid.neutron",))}


# E12: the external network's wire.

OUTSIDE = "the wire of the external network"


@pytest.mark.parametrize("number", [None, 300])
def test_the_external_network_is_at_every_host_and_switch(number: int | None) -> None:
    networks = (PhysicalNetwork(name="fabric", switches=("a",)), PhysicalNetwork(name="other", switches=("b",)))
    kind = "flat" if number is None else "vlan"
    site = small(
        switch("a"), switch("b"), physical_networks=networks,
        hosts=(host(), host("i", interfaces={"other": ("e0",)})),
        external=external(physical_network="fabric", network_type=kind, vlan=number),
    )  # fmt: skip
    wires = {leg(number or 0), leg(number or 0, "e1"), *([A300] if number else [])}
    assert row(OUTSIDE, site, USED) == {("X:external", wire, ()) for wire in wires}


# E13: rights, offers, lost claims.

OFFERED, GIVEN, LOST = (
    "every project may plug into a shared network", "who was given a right may plug in", "a released VLAN may be on",
)  # fmt: skip


def capable(*tenants: str) -> tuple[GraphFragment, ...]:
    return tuple(GraphFragment(name, (), {}, (premise(Relation.CAPABILITY, f"cap:{name}"),)) for name in tenants)


def test_an_offered_network_is_open_to_all() -> None:
    offer = GraphFragment("op", (), {}, (premise(Relation.OFFERED, A100),))
    found = row(OFFERED, small(switch("a")), offer, *capable("acme", "globex"))
    assert found == {(node, A100, ()) for node in ("cap:acme", "cap:globex", STRANGERS)}


@pytest.mark.parametrize(("holder", "end"), [("cap:acme", "cap:acme"), ("cap:op", "cap:op"), ("cap:nobody", STRANGERS)])
def test_who_has_a_right(holder: str, end: str) -> None:
    given = GraphFragment("globex", (), {}, (premise(Relation.RIGHT, A100, holder),))
    assert row(GIVEN, small(switch("a")), given, *capable("acme", "op")) == {(end, A100, ())}
    assert row(GIVEN, small(switch("a")), given, *capable("acme")) == {(end, A100, ())}


def test_a_released_vlan_of_which_the_network_is_lost() -> None:
    facts = (
        premise(Relation.SOMEWHERE, "lost:acme:1", "77", "VLAN 77"),
        premise(Relation.SOMEWHERE, "lost:acme:2", "no number", "VLAN ?"),
    )
    found = row(LOST, small(switch("a"), switch("b")), GraphFragment("acme", (), {}, facts))
    assert found == {("lost:acme:1", vlan(name, 77), ("physical network of VLAN 77",)) for name in "ab"}
