"""Second tags (E21): every way of one in a small world, and by which somebody may send."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.site.inventory import Site, SwitchPortConfig
from policies.edges.shape import Edge, GraphFragment, Relation, Union, premise
from policies.edges.union import second_tag_ways
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.footprints.neighbours import Classes
from tests.builders.pod64 import external
from tests.policies.joining import (
    NO,
    PERHAPS,
    access,
    declared,
    host,
    joined,
    marked,
    port,
    row,
    small,
    switch,
    tagged,
    vlan,
)

ROW = "the next switch reads a second tag"
A100, A200, A300 = (vlan("a", number) for number in (100, 200, 300))
B100, B200, B300 = (vlan("b", number) for number in (100, 200, 300))
C100, C200, C300 = (vlan("c", number) for number in (100, 200, 300))


def native(number: int, untagged: int, *vlans: int, **fields: Any) -> SwitchPortConfig:
    """A trunk that sends one VLAN untagged."""
    return tagged(number, *vlans, **{"untagged": untagged, "tag_native": False} | fields)


def pair(left: SwitchPortConfig, right: SwitchPortConfig, **fields: object) -> Site:
    return small(switch("a", left), switch("b", right), links=(("a:1", "b:1"),), **fields)


def drops(name: str, number: int, untagged: int) -> str:
    return f"whether {name} port {number} drops frames with a second tag in its untagged VLAN {untagged}"


def test_from_what_leaves_untagged_to_what_is_taken_by_a_tag() -> None:
    site = pair(native(1, 100, 200), tagged(1, 200, 300))
    assert row(ROW, site, marked(A100, A200, A300)) == {
        (A100, B200, (drops("a", 1, 100),)), (A100, B300, (drops("a", 1, 100),)),
    }  # fmt: skip
    # An access port sends its VLAN untagged as well.
    assert row(ROW, pair(access(1, 100), tagged(1, 200)), marked(A100)) == {(A100, B200, (drops("a", 1, 100),))}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (tagged(1, 100, 200), tagged(1, 200)),
        (native(1, 100, 200, tag_native=True), tagged(1, 200)),
        (native(1, 100), access(1, 200)),
        (native(1, 100), native(1, 200)),
        (port(1, mode="routed"), tagged(1, 200)),
        (native(1, 100), port(1, mode="routed")),
        (port(1, mode="disabled"), tagged(1, 200)),
    ],
    ids=["no native", "tagged", "access port", "two natives", "routed", "to a routed one", "disabled"],
)
def test_no_way(left: SwitchPortConfig, right: SwitchPortConfig) -> None:
    """Two native VLANs are joined by E2, whatever is written behind."""
    assert row(ROW, pair(left, right), marked(A100, A200, B100, B200)) == set()


def test_a_tag_of_which_nobody_says_whether_it_stays() -> None:
    lacking = ("switches.a.ports.1.tag_native", drops("a", 1, 100))
    assert row(ROW, pair(native(1, 100, tag_native=None), tagged(1, 200)), marked(A100)) == {(A100, B200, lacking)}


def test_by_the_id_on_the_wire_and_into_a_group() -> None:
    translating = tagged(1, 300, translations=((200, 300),), private_vlan="red")
    expected = {(A100, "L:SN-b~group-red:300", (drops("a", 1, 100),))}
    assert row(ROW, pair(native(1, 100), translating), marked(A100)) == expected


# Who may send.


def test_nobody_in_the_first_vlan() -> None:
    """Neither where somebody is in the second one, nor the operator in the first."""
    site = pair(native(1, 100), tagged(1, 200, 300))
    assert row(ROW, site, marked(B200), marked(B300, owner="globex")) == set()
    assert joined(site, B200, B300, marked(B200), marked(B300, owner="globex")) is NO
    assert row(ROW, site, marked(A100, owner="op"), marked(B300)) == set()
    assert len(second_tag_ways(Union(SiteFacts(site), [marked(B200, B300)]))) == 2


@pytest.mark.parametrize("owner", ["acme", "foreign", "world"])
def test_whoever_is_not_the_operator(owner: str) -> None:
    assert row(ROW, pair(native(1, 100), tagged(1, 200)), marked(A100, owner=owner), marked(B200)) != set()


def test_a_sender_whom_nobody_describes() -> None:
    """What neither a plan nor the site describes is a stranger's, and the operator's plan refers to it there."""
    stray = ids.unresolved("site:Router/x")
    site = pair(native(1, 100), tagged(1, 200))
    told = GraphFragment("op", (Edge(stray, A100, "E10"),), {A100: frozenset({"op"})}, ())
    assert row(ROW, site, told, marked(B200)) == {(A100, B200, (drops("a", 1, 100),))}


def test_whoever_may_become_a_sender_is_judged_beside_all_behind_the_way() -> None:
    """Nobody is in VLAN 100, so the graph does not join it with 200; a plan that comes to it has to look there."""
    site = SiteFacts(pair(native(1, 100), tagged(1, 200)))
    classes = Classes.of(site, {"globex": marked(B200, owner="globex")}).of_node
    assert classes[A100] == classes[B200]


def test_a_sender_on_another_switch() -> None:
    """By what joins besides: acme's is on c, in a VLAN that a link carries to a."""
    ports = tagged(2, 100), tagged(1, 100)
    site = small(
        switch("a", native(1, 100, 300), ports[0]), switch("b", tagged(1, 200)), switch("c", ports[1]),
        links=(("a:1", "b:1"), ("a:2", "c:1")),
    )  # fmt: skip
    assert row(ROW, site, marked(C100), marked(B200)) == {(A100, B200, (drops("a", 1, 100),))}
    assert joined(site, C100, B200, marked(C100), marked(B200)) is PERHAPS


def test_from_one_way_to_the_next() -> None:
    """What comes into VLAN 200 of b may go on from there, untagged as well, to c."""
    site = small(
        switch("a", native(1, 100)), switch("b", tagged(1, 200), native(2, 200)), switch("c", tagged(1, 300)),
        links=(("a:1", "b:1"), ("b:2", "c:1")),
    )  # fmt: skip
    assert row(ROW, site, marked(A100), marked(C300)) == {
        (A100, B200, (drops("a", 1, 100),)), (B200, C300, (drops("b", 2, 200),)),
    }  # fmt: skip
    assert row(ROW, site, marked(B200), marked(C300)) == {(B200, C300, (drops("b", 2, 200),))}


def test_a_device_for_another_audience_leads_no_further() -> None:
    """acme meets the copy of the switch's address in VLAN 200, which is for globex: that is the instance itself then,
    and its copy in VLAN 300 is none as long as nobody is there whom it is not for."""
    ports = tagged(1, 200), native(2, 300)
    site = small(
        switch("a", native(1, 100)), switch("b", *ports, ip_routing=True, routed_vlans=(200, 300)),
        switch("c", tagged(1, 100)),
        links=(("a:1", "b:1"), ("b:2", "c:1")), sharing=declared("b", "name-and-time", "globex"),
    )  # fmt: skip
    assert row(ROW, site, marked(A100)) == {(A100, B200, (drops("a", 1, 100),))}
    assert joined(site, A100, "R:SN-b", marked(A100)) is PERHAPS
    assert joined(site, A100, B300, marked(A100)) is NO


# Hosts.


def leg(number: int) -> str:
    return f"L:SN-h/e0:{number}"


def test_between_a_port_and_the_bridge_behind_it() -> None:
    site = small(switch("a", native(1, 100, 200)), links=(("h:e0", "a:1"),), hosts=(host(),))
    assert row(ROW, site, marked(A100), marked(leg(200), leg(300))) == {
        (A100, leg(200), (drops("a", 1, 100),)), (A100, leg(300), (drops("a", 1, 100),)),
    }  # fmt: skip
    adapter = ("whether the adapter of SN-h/e0 drops frames with a second tag",)
    untagged = small(switch("a", tagged(1, 200)), links=(("h:e0", "a:1"),), hosts=(host(),))
    assert row(ROW, untagged, marked(leg(0)), marked(A200)) == {(leg(0), A200, adapter)}
    assert row(ROW, untagged, marked(leg(300)), marked(A200)) == set()


def test_the_world_is_on_a_bridge_that_the_external_network_has() -> None:
    outside = external(physical_network="fabric", network_type="flat", vlan=None)
    site = small(switch("a", native(1, 100, 200)), links=(("h:e0", "a:1"),), hosts=(host(),), external=outside)
    adapter = ("whether the adapter of SN-h/e0 drops frames with a second tag",)
    assert row(ROW, site, marked(leg(200))) == {(leg(0), A200, adapter), (A100, leg(200), (drops("a", 1, 100),))}


def test_an_end_without_a_record_joins_all_anyway() -> None:
    """A plan sets a VLAN there: what the port was before is unknown, and that is a row of its own."""
    site = small(switch("a"), switch("b", tagged(1, 200)), links=(("a:1", "b:1"),), complete=())
    put = GraphFragment("acme", (), {}, (premise(Relation.UNTAGGED, "SN-a", "1", "100"),))
    assert row(ROW, site, marked(A100, B200), put) == set()
    assert joined(site, A100, B200, marked(A100, B200), put) is PERHAPS
    stated = pair(tagged(1, 300), tagged(1, 200))
    assert row(ROW, stated, marked(A100, B200), put) == {(A100, B200, (drops("a", 1, 100),))}
