"""The cables of one LAG are one logical port: what is set on one member holds for every way out (semantics §4, E1)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interlock.model.site.inventory import Lag, Site, SwitchPortConfig
from policies.edges.reach import reached
from policies.edges.shape import GraphFragment, Relation, premise
from policies.facts.site import SiteFacts
from tests.policies.joining import NO, PERHAPS, YES, access, joined, marked, port, site_with, switch, tagged, vlan

A100, B100, B200 = vlan("a", 100), vlan("b", 100), vlan("b", 200)
USED = marked(A100, B100, B200)
Ports = Sequence[SwitchPortConfig]


def pair(left: Ports, right: Ports, *lags: Lag) -> Site:
    """Switches a and b, with a cable between their ports 1 and one between their ports 2."""
    links = [("a:1", "b:1"), ("a:2", "b:2")]
    return site_with(switch("a", *left), switch("b", *right), links=links, lags=lags)


def bundle(device: str, *interfaces: str) -> Lag:
    return Lag(name="uplink", device=device, interfaces=interfaces)


def untagged(serial: str, number: int, vlan_id: int) -> GraphFragment:
    """What a plan sets on a switch port."""
    asked = premise(Relation.UNTAGGED, serial, str(number), str(vlan_id))
    return GraphFragment("acme", (), {}, (asked,))


ONE_LEG_EACH = ([tagged(1, 100), tagged(2)], [tagged(1), tagged(2, 100)])


@pytest.mark.parametrize("lag", [bundle("a", "1", "2"), bundle("b", "1", "2")])
def test_a_vlan_on_one_leg_leaves_by_the_other(lag: Lag) -> None:
    assert joined(pair(*ONE_LEG_EACH, lag), A100, B100, USED) is YES
    assert joined(pair(*ONE_LEG_EACH), A100, B100, USED) is NO


def test_a_plan_sets_the_whole_bundle_by_one_of_its_ports() -> None:
    """E2: port 1 of b has no native VLAN, port 2 has."""
    site = pair([tagged(1), tagged(2)], [tagged(1), tagged(2, untagged=200, tag_native=False)], bundle("a", "1", "2"))
    asked = untagged("SN-a", 1, 100)
    assert joined(site, A100, B200, USED, asked) is YES
    assert {A100, "port:SN-a/1"} <= set(reached(SiteFacts(site), asked))
    assert joined(pair(site.switch["a"].ports, site.switch["b"].ports), A100, B200, USED, asked) is NO


def test_a_member_without_a_record_leaves_the_bundle_unknown() -> None:
    site = pair([tagged(1)], [tagged(1), tagged(2)], bundle("a", "1", "2"))
    assert joined(site, A100, B100, USED) is PERHAPS


def test_what_one_member_translates_another_takes_as_it_is() -> None:
    """A translation counts for its member; the plain id passes by the other."""
    left = [tagged(1, 100, translations=((200, 100),)), tagged(2, 100)]
    site = pair(left, [tagged(1, 200), tagged(2, 100)], bundle("a", "1", "2"))
    assert joined(site, A100, B200, USED) is YES
    assert joined(site, A100, B100, USED) is YES


def test_one_bundle_to_two_switches() -> None:
    """MLAG: b and c have one logical port towards a, so c's leg carries what b's carries."""
    links = [("a:1", "b:1"), ("a:2", "c:1")]
    switches = (switch("a", tagged(1, 100), tagged(2, 100)), switch("b", tagged(1, 100)), switch("c", tagged(1)))
    site = site_with(*switches, links=links, lags=(bundle("a", "1", "2"),))
    used = marked(A100, vlan("c", 100))
    assert joined(site, A100, vlan("c", 100), used) is YES
    assert vlan("c", 300) in set(reached(SiteFacts(site), untagged("SN-b", 1, 300)))


def test_a_disabled_member_carries_nothing() -> None:
    """A known fact that takes edges away: the leg to c is shut at c."""
    links = [("a:1", "b:1"), ("a:2", "c:1")]
    switches = (
        switch("a", tagged(1, 100), tagged(2)),
        switch("b", tagged(1, 100)),
        switch("c", port(1, mode="disabled")),
    )
    site = site_with(*switches, links=links, lags=(bundle("a", "1", "2"),))
    assert joined(site, A100, vlan("c", 100), marked(A100, vlan("c", 100))) is NO
    assert joined(site, A100, B100, USED) is YES


def test_the_legs_of_a_host_are_one_port() -> None:
    """Behind its second leg a device hears what the first one is let into."""
    box = switch("a", access(1, 100), access(2, 200))
    links = [("box:e0", "a:1"), ("box:e1", "a:2")]
    device, second = "dev:box/e0", vlan("a", 200)
    site = site_with(box, links=links, devices=["box"])
    assert joined(site, device, second, marked(second)) is NO
    site = site_with(box, links=links, devices=["box"], lags=(bundle("box", "e0", "e1"),))
    assert joined(site, device, second, marked(second)) is YES
