"""Terminals, private VLANs and modes of switch ports: each edge with the facts that keep it, and why it is there."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.site.inventory import Lag, Site, SwitchPortConfig
from interlock.model.site.physical import Device, Vrf, Vtep
from policies.edges.private_vlans import roles
from policies.edges.shape import GraphFragment, Relation, Union, premise
from policies.edges.terminals import copies
from policies.facts.port_modes import SwitchEnd
from policies.facts.site import SiteFacts
from tests.policies.joining import access, declared, host, marked, port, row, small, switch, tagged, vlan
from tests.policies.workspace import assumptions

A100, A200, A300 = (vlan("a", number) for number in (100, 200, 300))
USED = marked(A100, A200)


def union(site: Site, *shares: GraphFragment) -> Union:
    return Union(SiteFacts(site), shares or [USED])


# Terminals.

MET = "each VLAN that a declared device meets, meets a copy of it"
RED, BLUE = f"{A100.replace(':100', '')}~group-red:100", f"{A100.replace(':100', '')}~port-2:100"


def shared(*ports: SwitchPortConfig, declare: str = "box", **fields: object) -> Site:
    """Devices at ports of switch a, of which `box`, at port 1, is declared."""
    names = {item.port: f"dev-{item.port}" for item in ports} | {1: "box"}
    links = tuple((f"{name}:eth0", f"a:{number}") for number, name in names.items())
    devices = tuple(Device(name=name, role="appliance") for name in names.values())
    routing = {name: fields.pop(name) for name in ("ip_routing", "routed_vlans", "vrfs", "vteps") if name in fields}
    one = switch("a", *ports, **routing)
    return small(one, links=links, devices=devices, **({"sharing": declared(declare)} | fields))


def copy_of(node: str, number: int | str) -> str:
    return f"{node}@{number}"


def test_a_declared_device_meets_what_its_port_carries() -> None:
    found = {(item.segment, item.hub, item.missing, item.rule) for item in copies(union(shared(tagged(1, 100))))}
    assert found == {(A100, "dev:box", (), "E5")}
    assert len(list(copies(union(shared(tagged(1, 100, 200)))))) == 2


def test_a_declared_device_behind_a_port_without_a_record_may_meet_all() -> None:
    site = shared(complete=())
    lacking = ("switches.a.ports.1",)
    assert {(far, facts) for _, far, facts in row(MET, site, USED)} == {(A100, lacking), (A200, lacking)}
    put = GraphFragment("acme", (), {}, (premise(Relation.UNTAGGED, "SN-a", "1", "100"),))
    # In the VLAN that a plan sets it is for certain, and only once.
    found = [(item.segment, tuple(map(str, item.missing))) for item in copies(union(site, USED, put))]
    assert found == [(A100, ()), (A200, lacking)]


def test_a_declared_device_at_a_promiscuous_port_meets_every_group() -> None:
    site = shared(access(1, 100), access(2, 100, private_vlan="isolated"), access(3, 100, private_vlan="red"))
    assert {far for _, far, _ in row(MET, site, USED)} == {A100, RED, BLUE}


def test_a_declared_device_in_a_group_meets_that_alone() -> None:
    site = shared(access(1, 100, private_vlan="red"), access(2, 100, private_vlan="isolated"))
    assert {(far, facts) for _, far, facts in row(MET, site, USED)} == {(RED, ())}


Met = set[tuple[str, tuple[str, ...]]]
IP, ROUTED = "switches.a.ip_routing", "switches.a.routed_vlans"


@pytest.mark.parametrize(
    ("routing", "vlans", "whole", "apart"),
    [
        (True, (100,), {(A100, ())}, set()),
        (None, (100,), {(A100, (IP,))}, {(A100, ())}),
        (False, (100,), set(), {(A100, ())}),
        (True, (), set(), set()),
        (None, (), set(), set()),
        (True, None, {(A100, (ROUTED,)), (A200, (ROUTED,))}, {(A100, (ROUTED,)), (A200, (ROUTED,))}),
        (None, None, {(A100, (IP, ROUTED)), (A200, (IP, ROUTED))}, {(A100, (ROUTED,)), (A200, (ROUTED,))}),
        (False, None, set(), {(A100, (ROUTED,)), (A200, (ROUTED,))}),
    ],
)
@pytest.mark.parametrize("declare", ["a", "nothing"])
def test_addresses_of_a_switch(
    routing: bool | None, vlans: tuple[int, ...] | None, whole: Met, apart: Met, declare: str
) -> None:
    """Declared it meets each VLAN as a copy, else as it is; where it does not forward, with each address by itself."""
    site = shared(declare=declare, ip_routing=routing, routed_vlans=vlans, complete=())
    title = MET if declare == "a" else "a routing instance of a switch joins the VLANs"
    found = {edge for edge in row(title, site, USED) if not edge[0].startswith("dev:box")}
    assert {edge[1:] for edge in found if edge[0].startswith("R:")} == whole
    assert {edge[1:] for edge in found if edge[0].startswith("dev:")} == apart
    assert {near.partition("@")[0] for near, _, _ in found if near.startswith("dev:")} == {
        f"dev:SN-a/vlan-{far.rpartition(':')[2]}" for far, _ in apart
    }


def test_an_address_of_a_switch_answers_each_group_by_itself() -> None:
    ports = (access(2, 100, private_vlan="isolated"), access(3, 100, private_vlan="red"))
    site = shared(*ports, declare="nothing", ip_routing=False, routed_vlans=(100,), complete=())
    found = row("a routing instance of a switch joins the VLANs", site, USED)
    names = ("vlan-100", "vlan-100-1", "vlan-100-2")
    assert {near for near, _, _ in found} == {f"dev:SN-a/{name}" for name in names}
    assert {far for _, far, _ in found} == {A100, RED, BLUE}


def test_only_what_is_declared_of_a_switch_is_split() -> None:
    instances = (Vrf(name="red", vlans=(100,)), Vrf(name="blue", vlans=(200,)))
    fields: dict[str, Any] = {"vrfs": instances, "ip_routing": True, "routed_vlans": (300,)}
    assert {item.hub for item in copies(union(shared(declare="a/red", **fields)))} == {"R:SN-a/red"}
    assert {item.hub for item in copies(union(shared(declare="a", **fields)))} == {"R:SN-a"}
    assert {item.rule for item in copies(union(shared(declare="a/red", **fields)))} == {"E10"}


# Private VLANs.

PRIVATE = (access(2, 100, private_vlan="isolated"), access(3, 100, private_vlan="red"))


def why(site: Site) -> tuple[list[str], list[str], bool]:
    """(what is broken, what is unstated, whether roles are held) of the groups of VLAN 100, all alike."""
    found = list(roles(union(site)))
    assert {(edge.a, edge.b) for edge in found} == {(BLUE, A100), (RED, A100)}
    (one,) = {(edge.broken, edge.missing, bool(edge.held)) for edge in found}
    return [str(fact) for fact in one[0]], [str(fact) for fact in one[1]], one[2]


def private(*ports: SwitchPortConfig, **fields: Any) -> Site:
    """Two groups of VLAN 100, and these ports besides."""
    return shared(*PRIVATE, *ports, **fields)


HEARS = "promiscuous, and no declared terminal"


def test_groups_beside_a_declared_terminal_are_apart() -> None:
    assert why(private(access(1, 100))) == ([], [], True)


def test_groups_beside_an_ordinary_device_are_one() -> None:
    assert why(private(access(1, 100), declare="nothing")) == ([f"switches.a.ports.1: {HEARS}"], [], False)
    assert why(private(access(1, 200), declare="nothing")) == ([], [], True)


def test_groups_beside_a_terminal_of_which_a_guard_fails() -> None:
    fact = "sharing.extra.guards.no_proxying"
    fails, unsaid = (private(access(1, 100), sharing=declared("box", no_proxying=value)) for value in (False, None))
    assert why(fails) == ([fact], [], False)
    assert why(unsaid) == ([], [fact], False)


def test_groups_beside_a_port_without_a_record() -> None:
    assert why(private(complete=())) == ([], ["switches.a.ports.1"], False)


@pytest.mark.parametrize("name", ["private_vlan_enforced", "vlan_lists_enforced"])
def test_groups_rest_on_assumptions(name: str) -> None:
    broken, unstated, _ = why(private(access(1, 100), assumptions=assumptions(**{name: False})))
    assert (len(broken), unstated) == (1, [])
    assert broken[0].endswith(name)


def test_groups_and_an_overlay_of_their_vlan() -> None:
    vtep = Vtep(vlan=100, vni=7, underlay="u", encapsulation="vxlan")
    broken = ["switches.a.vteps.100: an overlay passes frames on"]
    assert why(private(access(1, 100), vteps=(vtep,))) == (broken, [], False)
    other = vtep.model_copy(update={"vlan": 200})
    assert why(private(access(1, 100), vteps=(other,))) == ([], [], True)
    assert why(private(access(1, 100), vteps=(vtep, other)))[0] == broken


def linked(near: SwitchPortConfig | None, **fields: object) -> Site:
    """The groups, and a cable from port 9 of switch a to a switch b with a promiscuous port of its own."""
    one = switch("a", *PRIVATE, *([] if near is None else [near]))
    links = (("dev-2:eth0", "a:2"), ("dev-3:eth0", "a:3"), ("b:9", "a:9"), ("dev-4:eth0", "b:4"))
    return small(one, switch("b", tagged(9, 100), access(4, 100)), links=links, **fields)


def test_groups_and_a_cable_to_another_switch() -> None:
    """A link that carries the VLAN hears all; one with a role of its own, or without the VLAN, does not."""
    assert why(linked(tagged(9, 100))) == ([f"switches.a.ports.9: {HEARS}"], [], False)
    assert why(linked(tagged(9, 200))) == ([], [], True)
    assert why(linked(access(9, 100, private_vlan="red"))) == ([], [], True)
    assert why(linked(None, complete=())) == ([], ["switches.a.ports.9"], False)


def test_groups_and_a_hypervisors_leg() -> None:
    """Its host may be declared: what its guests send passes by it all the same."""
    one = switch("a", *PRIVATE, access(1, 100))
    links = (("h:e0", "a:1"), ("dev-2:eth0", "a:2"), ("dev-3:eth0", "a:3"))
    site = small(one, links=links, hosts=(host(),), sharing=declared("h"))
    assert why(site) == ([f"switches.a.ports.1: {HEARS}"], [], False)


@pytest.mark.parametrize(
    ("routing", "vlans", "declare", "expected"),
    [
        (True, (100,), "nothing", ([f"{ROUTED}: {HEARS}"], [], False)),
        (True, (100,), "a", ([], [], True)),
        (True, (200,), "nothing", ([], [], True)),
        (True, (), "nothing", ([], [], True)),
        (True, None, "a", ([], [], True)),
        (True, None, "nothing", ([], [ROUTED], False)),
        (None, None, "nothing", ([], [ROUTED], False)),
        (False, None, "nothing", ([], [], True)),
        (False, (100,), "nothing", ([], [], True)),
        (None, (100,), "nothing", ([], [IP], False)),
        (None, (100,), "a", ([], [], True)),
        (None, (200,), "nothing", ([], [], True)),
    ],
)
def test_groups_and_an_address_of_the_switch(
    routing: bool | None, vlans: tuple[int, ...] | None, declare: str, expected: tuple[list[str], list[str], bool]
) -> None:
    site = private(access(1, 200), declare=declare, ip_routing=routing, routed_vlans=vlans)
    assert why(site) == expected


def test_a_switch_that_may_route_with_a_guard_that_is_not_stated() -> None:
    fields: dict[str, Any] = {"ip_routing": None, "routed_vlans": (100,)}
    site = private(access(1, 200), sharing=declared("a", no_proxying=None), **fields)
    assert why(site) == ([], [IP, "sharing.extra.guards.no_proxying"], False)


@pytest.mark.parametrize(
    ("declare", "vlans", "expected"),
    [
        ("nothing", (100,), ([f"switches.a.vrfs.blue: {HEARS}"], [], False)),
        ("a/blue", (100,), ([], [], True)),
        ("a", (100,), ([f"switches.a.vrfs.blue: {HEARS}"], [], False)),
        ("nothing", (200,), ([], [], True)),
    ],
)
def test_groups_and_a_routing_instance(
    declare: str, vlans: tuple[int, ...], expected: tuple[list[str], list[str], bool]
) -> None:
    assert why(private(access(1, 200), declare=declare, vrfs=(Vrf(name="blue", vlans=vlans),))) == expected


# Modes of switch ports, resolved over all shares.


def test_ids_that_need_nodes() -> None:
    """Named in any way by anybody, once or twice; and one for each stretch between what lists divide."""
    facts = (
        premise(Relation.UNTAGGED, "SN-a", "1", "30"), premise(Relation.UNTAGGED, "SN-a", "2", "40"),
        premise(Relation.SOMEWHERE, "lost", "40", "w"), premise(Relation.SOMEWHERE, "lost", "50", "w"),
        premise(Relation.SOMEWHERE, "lost", "no number", "w"),
    )  # fmt: skip
    one = switch("a", tagged(1, 60), access(2, 30), port(3, tagged=((70, 79),)), access(4, 50))
    found = union(small(one), marked(vlan("a", 20)), GraphFragment("acme", (), {}, facts))
    assert found.named_vlans == {20, 30, 40, 50}
    assert found.vlans == (20, 30, 40, 50, 60, 70)


def test_ports_at_both_ends_of_a_link_have_a_mode() -> None:
    """Also where one port has two cables: that is a fault of the site, and another rule's."""
    site = small(switch("a", access(1, 100)), switch("b"), links=(("a:1", "b:1"), ("x:y", "a:1"), ("x:z", "b:2")))
    assert set(union(site).mode) == {SwitchEnd("a", 1), SwitchEnd("b", 1), SwitchEnd("b", 2)}


def put(number: int, at: str = "1") -> GraphFragment:
    return GraphFragment("acme", (), {}, (premise(Relation.UNTAGGED, "SN-a", at, str(number)),))


def test_what_a_plan_sets_is_added_to_what_a_port_is() -> None:
    site = small(switch("a", port(1, untagged=100)), links=(("x:y", "a:1"),))
    mode = union(site, put(200), put(100)).mode[SwitchEnd("a", 1)]
    assert mode.untagged == {100, 200}
    assert not mode.perhaps_tagged
    other = union(site, put(200)).mode[SwitchEnd("a", 1)]
    assert other.untagged == {100, 200}
    assert other.perhaps_tagged == {100}
    assert union(site, put(100, at="2")).mode[SwitchEnd("a", 1)].untagged == {100}


def bundled(*ports: SwitchPortConfig) -> Union:
    """Port 1 and 2 of switch a are one logical port."""
    lag = Lag(name="bond", device="x", interfaces=("y", "z"))
    return union(small(switch("a", *ports), links=(("x:y", "a:1"), ("x:z", "a:2")), lags=(lag,)))


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ((tagged(1, 100), tagged(2, 100)), True),
        ((tagged(1, 100), access(2, 100)), True),
        ((tagged(1, 100, untagged=100), tagged(2, 100)), True),
        ((tagged(1, 100, untagged=100), access(2, 100)), False),
        ((access(1, 100), tagged(2, 200)), False),
    ],
)
def test_what_a_bundle_surely_carries_with_its_tag(ports: tuple[SwitchPortConfig, ...], expected: bool) -> None:
    found = bundled(*ports)
    assert [found.surely_tagged(SwitchEnd("a", number), 100, 100) for number in (1, 2)] == [expected, expected]


@pytest.mark.parametrize(
    ("state", "lacking"),
    [
        (True, []),
        (None, ["switches.a.ports.1.tag_native"]),
        (False, ["whether a port 1 takes its untagged VLAN 100 with a tag"]),
    ],
)
def test_a_tag_that_a_port_lists_and_sends_without(state: bool | None, lacking: list[str]) -> None:
    site = small(switch("a", tagged(1, 100, untagged=100, tag_native=state)), links=(("x:y", "a:1"),))
    found = union(site).inside(SwitchEnd("a", 1), 100)
    assert {number: list(map(str, facts)) for number, facts in found.items()} == {100: lacking}
    # What a plan sets beside it takes no certainty away.
    if state is True:
        assert union(site, put(100)).inside(SwitchEnd("a", 1), 100) == {100: ()}


@pytest.mark.parametrize(
    ("listed", "shares", "expected"),
    [
        # The list names what is inside: what a plan sets, or nobody, as the native VLAN changes nothing of it.
        (300, [], {300: []}),
        (300, [300], {300: []}),
        # It names the id on the wire: which of both passes, the make of the switch decides.
        (200, [], {200: ["switches.a.ports.1.tagged"], 300: ["switches.a.ports.1.tagged"]}),
    ],
)
def test_a_translated_tag(listed: int, shares: list[int], expected: dict[int, list[str]]) -> None:
    item = tagged(1, listed, translations=((200, 300),), tag_native=bool(shares))
    site = small(switch("a", item), links=(("x:y", "a:1"),))
    found = union(site, USED, *map(put, shares)).inside(SwitchEnd("a", 1), 200)
    assert {number: list(map(str, facts)) for number, facts in found.items()} == expected


def test_what_a_device_behind_a_translating_port_reaches() -> None:
    """200 on the wire is 300 inside; a list that names 200 is taken to let in either."""
    site = small(switch("a", tagged(1, 200, translations=((200, 300),))), links=(("x:y", "a:1"),))
    assert union(site, USED).carried(SwitchEnd("a", 1)) == (200, 300)
    inner = small(switch("a", tagged(1, 300, translations=((200, 300),))), links=(("x:y", "a:1"),))
    assert union(inner, USED).carried(SwitchEnd("a", 1)) == (300,)
    plain = small(switch("a", tagged(1, 100, 300)), links=(("x:y", "a:1"),))
    assert union(plain, marked(A100, A300)).carried(SwitchEnd("a", 1)) == (100, 300)


def test_nodes_that_a_share_names() -> None:
    """Ends of edges, labels and identities in premises; words are none."""
    fact = premise(Relation.CLAIM, A300, "acme", "net", "VLAN 300 on fabric", "held")
    assert GraphFragment("acme", (), {A100: frozenset({"acme"})}, (fact,)).nodes == {A100, A300}
