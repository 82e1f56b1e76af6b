"""What a switch says against what the site states and plans set; and what it hears against the list of cables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interlock.hardware import SWITCHES
from interlock.model.site.inventory import Endpoint, Site, Switch, SwitchPortConfig, Vrf
from interlock.resources import SwitchPort
from interlock.switches.comparison import PlannedPort, compare
from interlock.switches.errors import SwitchUnread
from interlock.switches.filled import PlannedNetwork
from interlock.switches.findings import FindingKind, SwitchFinding
from interlock.switches.names import port_names
from interlock.switches.observed import Neighbour, ObservedPort, ObservedSwitch, RoutedVlan
from tests.builders.pod64 import pod64

NAMES = {number: SWITCHES["arista-7060x"].default_port_name(number) for number in range(1, 35)}
DOWN = ObservedPort(name="", admin_up=False, mode="access", access_vlan=1, allowed=((1, 4094),), native_vlan=1)
ACCESS = replace(DOWN, admin_up=True, oper_up=True, tags_native=False, access_vlan=1001)
TRUNK = replace(ACCESS, mode="trunk", native_vlan=1, allowed=((1000, 2999),))
NATIVE_12 = replace(TRUNK, native_vlan=12, allowed=((12, 12), (100, 199)))


def site(*ports: SwitchPortConfig, **more: Any) -> Site:
    """The small site, with these ports alone stated on tor-1, and without cables."""
    base = pod64()
    tor = base.switch["tor-1"]
    changed = Switch(**{**dict(tor), "model": "arista-7060x", "ports": ports, "routed_vlans": None, **more})
    rest = {name: getattr(base, name) for name in Site.model_fields}
    return Site(**{**rest, "switches": (changed, base.switch["mgmt-1"]), "cables": ()})


def seen(ports: dict[int, ObservedPort | None] | None = None, **more: Any) -> ObservedSwitch:
    """A switch all of whose ports are shut, but for these; None: it does not know the port."""
    found = {NAMES[number]: replace(DOWN, name=NAMES[number]) for number in NAMES}
    for number, port in (ports or {}).items():
        if port is None:
            del found[NAMES[number]]
        else:
            found[NAMES[number]] = replace(port, name=NAMES[number])
    vlans = frozenset({1, 12, 20, 1001, 1002, 4000})
    return ObservedSwitch(
        **{"name": "tor-1", "serial": "T", "system_mac": None, "model": None, "ports": found, "vlans": vlans} | more
    )


def planned(port: int, vlan: int, stack: str = "lyon-acme", switch: str = "tor-1") -> PlannedPort:
    return PlannedPort(stack, SwitchPort(switch=switch, port=port, device="ipum-01", interface="rnic", vlan=vlan))


def compared(world: Site, observed: ObservedSwitch, *plans: PlannedPort) -> list[tuple[FindingKind, int | None, str]]:
    return [(one.found, one.port, one.about) for one in findings(world, observed, *plans)]


def findings(world: Site, observed: ObservedSwitch, *plans: PlannedPort, **more: Any) -> tuple[SwitchFinding, ...]:
    return compare(world, world.switch["tor-1"], plans, observed, NAMES, **more)


def differs(*about: str) -> list[tuple[FindingKind, int, str]]:
    return [(FindingKind.DIFFERENT, 3, one) for one in about]


def unknown(*about: str) -> list[tuple[FindingKind, int, str]]:
    return [(FindingKind.UNKNOWN, 3, one) for one in about]


def stated(port: int, mode: Any, **more: Any) -> SwitchPortConfig:
    return SwitchPortConfig(port=port, mode=mode, **more)


def test_a_switch_of_which_nothing_is_stated_and_all_is_shut() -> None:
    assert compared(site(), seen()) == []


def test_a_planned_port_that_is_set() -> None:
    assert compared(site(stated(1, "access")), seen({1: ACCESS}), planned(1, 1001)) == []


@pytest.mark.parametrize(
    ("port", "about"),
    [
        (replace(ACCESS, access_vlan=1002), "VLAN"),
        (replace(ACCESS, access_vlan=4000), "VLAN"),
        (replace(ACCESS, admin_up=False), "admin state"),
        (TRUNK, "mode"),
        (replace(ACCESS, mode="routed"), "mode"),
        (None, "port"),
    ],
)
def test_a_planned_port_that_is_set_otherwise(port: ObservedPort | None, about: str) -> None:
    world = site(stated(1, "access"))
    assert compared(world, seen({1: port}), planned(1, 1001)) == [(FindingKind.DIFFERENT, 1, about)]


@pytest.mark.parametrize(
    ("port", "about"),
    [
        (replace(ACCESS, access_vlan=None), "VLAN"),
        (replace(ACCESS, mode=None), "mode"),
        (replace(ACCESS, admin_up=None), "admin state"),
    ],
)
def test_what_the_switch_does_not_say_is_unknown(port: ObservedPort, about: str) -> None:
    assert compared(site(), seen({1: port}), planned(1, 1001)) == [(FindingKind.UNKNOWN, 1, about)]


def test_both_sides_are_told() -> None:
    (one,) = findings(site(), seen({1: replace(ACCESS, access_vlan=4000)}), planned(1, 1001))
    assert str(one) == (
        "tor-1 1 (Ethernet1/1): VLAN: the plan of lyon-acme sets access VLAN 1001 for ipum-01:rnic; "
        "the switch says 4000"
    )


def test_a_vlan_that_does_not_exist_carries_nothing() -> None:
    port = seen({1: ACCESS}, vlans=frozenset({1}))
    assert compared(site(), port, planned(1, 1001)) == [(FindingKind.DIFFERENT, 1, "VLAN")]
    assert compared(site(), seen({1: ACCESS}, vlans=None), planned(1, 1001)) == [(FindingKind.UNKNOWN, 1, "VLAN")]


def test_two_plans_of_one_port_are_not_both_fulfilled() -> None:
    found = findings(site(), seen({1: ACCESS}), planned(1, 1001), planned(1, 1002, "lyon-globex"))
    assert [(one.found, one.by) for one in found] == [(FindingKind.DIFFERENT, "the plan of lyon-globex")]


def test_plans_of_other_switches_are_not_meant() -> None:
    assert compared(site(), seen(), planned(1, 1001, switch="mgmt-1")) == []


@pytest.mark.parametrize("port", [ACCESS, TRUNK, replace(ACCESS, mode="dot1q-tunnel"), replace(ACCESS, access_vlan=20)])
def test_a_port_that_nothing_states(port: ObservedPort) -> None:
    assert compared(site(), seen({7: port})) == [(FindingKind.UNSTATED, 7, "port")]


def test_a_port_of_which_nobody_knows_whether_it_is_shut() -> None:
    assert compared(site(), seen({7: replace(ACCESS, admin_up=None)})) == [(FindingKind.UNSTATED, 7, "port")]


def test_a_port_that_is_left_to_plans_and_has_none() -> None:
    world = site(stated(7, "access"))
    assert compared(world, seen({7: ACCESS})) == [(FindingKind.UNSTATED, 7, "port")]
    resting = replace(ACCESS, access_vlan=1)
    assert 1 in world.pools.reserved_vlans
    assert compared(world, seen({7: resting})) == []
    assert compared(world, seen({7: replace(resting, mode=None)})) == [(FindingKind.UNKNOWN, 7, "mode")]


def test_a_port_that_the_switch_does_not_list_is_no_pass() -> None:
    assert compared(site(), seen({7: None})) == [(FindingKind.UNKNOWN, 7, "port")]


@pytest.mark.parametrize(
    ("config", "port", "expected"),
    [
        (stated(3, "disabled"), DOWN, []),
        (stated(3, "disabled"), ACCESS, differs("admin state")),
        (stated(3, "routed"), replace(ACCESS, mode="routed"), []),
        (stated(3, "routed"), ACCESS, differs("mode")),
        (stated(3, "access", untagged=20), replace(ACCESS, access_vlan=20), []),
        (stated(3, "access", untagged=20), ACCESS, differs("VLAN")),
        (stated(3, "dot1q-tunnel", untagged=20), replace(ACCESS, mode="dot1q-tunnel", access_vlan=20), []),
        (stated(3, "dot1q-tunnel", untagged=20), replace(ACCESS, access_vlan=20), differs("mode")),
        # 1 is the native VLAN as it is set, and none of those that it carries: untagged frames are dropped
        (stated(3, "trunk", tagged=((1000, 2999),)), TRUNK, []),
        (stated(3, "trunk", tagged=((1000, 1999), (2000, 2999))), TRUNK, []),
        (stated(3, "trunk", tagged=((1000, 2998),)), TRUNK, differs("trunk")),
        (stated(3, "trunk", tagged=((1000, 2999),)), replace(TRUNK, native_vlan=1000), differs("native VLAN")),
        (stated(3, "trunk", tagged=((1000, 2999),)), replace(TRUNK, native_vlan=1000, tags_native=True), []),
        (stated(3, "trunk", untagged=12, tagged=((100, 199),)), NATIVE_12, []),
        (stated(3, "trunk", untagged=12, tagged=((100, 199),)), replace(NATIVE_12, allowed=((100, 199),)),
         differs("native VLAN", "trunk")),
        (stated(3, "trunk", tagged=None), replace(TRUNK, native_vlan=0, allowed=((1, 4094),)), []),
        (stated(3, "trunk", tagged=((1000, 2999),), tag_native=True), replace(TRUNK, tags_native=True), []),
        (stated(3, "trunk", tagged=((1000, 2999),), tag_native=True), TRUNK, differs("tag of the native VLAN")),
        (stated(3, "trunk", tagged=((1000, 2999),), tag_native=True), replace(TRUNK, tags_native=None),
         unknown("tag of the native VLAN")),
        (stated(3, "trunk", tagged=((1000, 2999),)), replace(TRUNK, allowed=None),
         unknown("native VLAN", "trunk")),
        (stated(3, "trunk", tagged=((1000, 2999),)), ACCESS, differs("mode")),
        (stated(3, "access", untagged=20, private_vlan="isolated"), replace(ACCESS, access_vlan=20),
         unknown("private VLAN")),
        (stated(3, "trunk", tagged=((1000, 2999),), translations=((5, 1005),)), TRUNK, unknown("translations")),
    ],
)  # fmt: skip
def test_what_the_site_file_states(
    config: SwitchPortConfig, port: ObservedPort, expected: list[tuple[FindingKind, int, str]]
) -> None:
    assert compared(site(config), seen({3: port})) == expected


def test_a_plan_takes_the_place_of_a_trunk_and_not_of_a_port_that_is_off() -> None:
    assert compared(site(stated(1, "trunk", tagged=((1000, 2999),))), seen({1: ACCESS}), planned(1, 1001)) == []
    world = site(stated(1, "disabled"))
    assert compared(world, seen({1: ACCESS}), planned(1, 1001)) == [(FindingKind.DIFFERENT, 1, "admin state")]
    shut = seen({1: replace(ACCESS, admin_up=False)})
    assert compared(world, shut, planned(1, 1001)) == [(FindingKind.DIFFERENT, 1, "admin state")]


def test_a_port_that_the_model_has_not() -> None:
    assert compared(site(), seen(), planned(99, 1001)) == [(FindingKind.DIFFERENT, 99, "port")]


def test_interfaces_without_a_number() -> None:
    """A split port and a bundle are in nothing that the site file can name."""
    observed = seen()
    more = {"Ethernet1/2": replace(ACCESS, name="Ethernet1/2"), "Port-Channel1": replace(DOWN, name="Port-Channel1")}
    observed = replace(observed, ports={**observed.ports, **more})
    assert [(one.found, one.port, one.name) for one in findings(site(), observed)] == [
        (FindingKind.UNSTATED, None, "Ethernet1/2")
    ]


def test_addresses_of_the_switch() -> None:
    world = site(routed_vlans=(20,))
    assert compared(world, seen(routed=(RoutedVlan(20, "default", ("192.0.2.1/24",)),))) == []
    assert compared(world, seen(routed=())) == [(FindingKind.DIFFERENT, None, "addresses")]
    assert compared(world, seen(routed=None)) == [(FindingKind.UNKNOWN, None, "addresses")]
    assert compared(site(), seen(routed=())) == []


def vrfs(*routed: tuple[int, str | None], stated: tuple[Vrf, ...] = (), default: tuple[int, ...] | None = (20,)) -> Any:
    """(what, which VRF, both sides) of what a switch with these addresses says."""
    world = site(routed_vlans=default, vrfs=stated)
    observed = seen(routed=tuple(RoutedVlan(vlan, vrf, ("192.0.2.1/24",)) for vlan, vrf in routed))
    return [(one.found.value, one.about, one.stated, one.says) for one in findings(world, observed)]


RED, BLUE = Vrf(name="red", vlans=(5, 6)), Vrf(name="blue", vlans=(7,))


def test_vrfs_are_compared_one_by_one() -> None:
    same = ((20, "default"), (5, "red"), (6, "red"), (7, "blue"))
    assert vrfs(*same, stated=(RED, BLUE)) == []
    moved = ((20, "default"), (5, "red"), (6, "blue"), (7, "blue"))
    assert vrfs(*moved, stated=(RED, BLUE)) == [
        ("different", "VRF blue", "has addresses in VLANs 7", "it has some in 6-7"),
        ("different", "VRF red", "has addresses in VLANs 5-6", "it has some in 5"),
    ]
    gone = ((20, "default"), (7, "blue"))
    assert vrfs(*gone, stated=(RED, BLUE)) == [
        ("different", "VRF red", "has addresses in VLANs 5-6", "it has some in none")
    ]


def test_a_vrf_that_nothing_states() -> None:
    strange = [("unstated", "VRF red", "states it", "it has some in 5")]
    assert vrfs((20, "default"), (5, "red")) == strange
    # Also where nobody states which addresses there are in the default one.
    assert vrfs((20, "default"), (5, "red"), default=None) == strange
    assert vrfs((20, "default"), default=None) == []
    # Stated in the default VRF and found in another: both are told.
    assert [found[:2] for found in vrfs((20, "red"))] == [("different", "addresses"), ("unstated", "VRF red")]


def test_a_switch_that_does_not_say_its_vrfs() -> None:
    """Less knowledge is no better verdict: addresses in VRFs that are not said may be those stated, or not."""
    assert [found[:2] for found in vrfs((20, None))] == [("unknown", "addresses")]
    assert [found[:2] for found in vrfs((20, "default"), (5, None), (6, "red"), stated=(RED,))] == [
        ("unknown", "addresses")
    ]
    assert [found[:2] for found in vrfs((20, "default"), (9, None))] == [("different", "addresses")]
    world = site(routed_vlans=None, vrfs=(RED,))
    (found,) = findings(world, seen(routed=None))
    assert (found.found, found.stated) == (FindingKind.UNKNOWN, "has addresses of VRF red in VLANs 5-6")


# ---- trunks that Neutron fills ----

FILLED = stated(3, "trunk", tagged=((20, 20),), filled_by="neutron")


def on_trunk(
    port: ObservedPort, *networks: PlannedNetwork, config: SwitchPortConfig = FILLED
) -> list[tuple[str, str, str, str]]:
    world = site(config)
    found = compare(world, world.switch["tor-1"], (), seen({3: port}), NAMES, networks=networks)
    assert {one.about for one in found if one.found is not FindingKind.UNKNOWN} <= {"trunk", "mode", "native VLAN"}
    return [(one.found.value, one.by, one.stated, one.says) for one in found]


def network(
    vlan: int, stack: str = "lyon-acme", *, physical: str = "fabric100g", applied: bool = True
) -> PlannedNetwork:
    return PlannedNetwork(stack, physical, vlan, applied)


def carrying(*allowed: tuple[int, int]) -> ObservedPort:
    return replace(TRUNK, native_vlan=0, allowed=allowed)


def test_a_filled_trunk_with_what_is_listed_and_applied() -> None:
    assert on_trunk(carrying((20, 20))) == []
    assert on_trunk(carrying((20, 20), (1001, 1002)), network(1001), network(1002, "lyon-globex")) == []
    # Networks of other physical networks are not put there.
    assert on_trunk(carrying((20, 20)), network(110, physical="mgmt1g")) == []


def test_what_is_planned_and_not_applied_may_be_there_or_not() -> None:
    assert on_trunk(carrying((20, 20)), network(1001, applied=False)) == []
    assert on_trunk(carrying((20, 20), (1001, 1001)), network(1001, applied=False)) == []


def test_a_network_that_is_missing_on_a_filled_trunk() -> None:
    networks = (network(1001), network(1002), network(1003, "lyon-globex"))
    assert on_trunk(carrying((20, 20), (1002, 1002)), *networks) == [
        (
            "different",
            "the plan of lyon-acme",
            "has networks in VLAN 1001, which Neutron puts onto it",
            "trunk 20,1002",
        ),
        (
            "different",
            "the plan of lyon-globex",
            "has networks in VLAN 1003, which Neutron puts onto it",
            "trunk 20,1002",
        ),
    ]
    assert on_trunk(carrying((1001, 1001)), network(1001)) == [
        ("different", "the site file", "lists VLAN 20 on it", "trunk 1001")
    ]


def test_a_network_that_nobody_tells_of_is_on_a_filled_trunk() -> None:
    assert on_trunk(carrying((20, 20), (1001, 1003)), network(1001)) == [
        ("unstated", "nothing", "has a network in VLAN 1002-1003 there", "trunk 20,1001-1003")
    ]


def test_of_a_filled_trunk_nothing_is_known_that_the_switch_does_not_say() -> None:
    assert on_trunk(replace(carrying(), allowed=None), network(1001)) == [
        ("unknown", "the site file", "has it filled by Neutron: 20,1001", "nothing of its list")
    ]
    assert [one[0] for one in on_trunk(replace(carrying(), mode=None))] == ["unknown"]
    assert [one[0] for one in on_trunk(replace(ACCESS, access_vlan=20))] == ["different"]


def test_the_native_vlan_of_a_filled_trunk() -> None:
    config = stated(3, "trunk", untagged=12, tag_native=False, filled_by="neutron")
    there = replace(carrying((12, 12), (1001, 1001)), native_vlan=12)
    assert on_trunk(there, network(1001), config=config) == []
    assert on_trunk(replace(there, native_vlan=1001), network(1001), config=config) == [
        ("different", "the site file", "has a trunk that Neutron fills, native 12", "1001")
    ]


# ---- cables ----


def cabled(*far: tuple[int, str, str]) -> Site:
    """The site with these cables of tor-1 alone, and two machines whose MAC addresses it states."""
    base = pod64()
    world = site()
    cables = tuple(
        base.cables[0].model_copy(
            update={
                "a": Endpoint(device="tor-1", interface=str(port)),
                "b": Endpoint(device=device, interface=interface),
            }
        )
        for port, device, interface in far
    )
    macs = {"ipum-01": "02:50:00:00:00:01", "ipum-02": "02:50:00:00:00:02"}
    machines = tuple(
        item.model_copy(update={"macs": {"rnic": macs[item.name]}}) if item.name in macs else item
        for item in base.machines
    )
    rest = {name: getattr(world, name) for name in Site.model_fields}
    return Site(**{**rest, "cables": cables, "machines": machines})


def heard(number: int, *neighbours: Neighbour) -> ObservedSwitch:
    return seen({number: replace(DOWN, neighbours=neighbours)})


IPUM_1 = Neighbour(None, "02:50:00:00:00:01", "02:50:00:00:00:01")
IPUM_2 = Neighbour(None, "02:50:00:00:00:02", "02:50:00:00:00:02")
POPLAR_1 = Neighbour("poplar-1.lyon.example", "02:50:00:00:00:11", "02:50:00:00:00:12", "ens161f0")
MGMT_1 = Neighbour("MGMT-1", "02:1c:73:00:00:05", "Ethernet45", "to tor-1")
STRANGER = Neighbour("printer", "02:99:00:00:00:01", "eth0")


@pytest.mark.parametrize(
    ("far", "neighbours", "expected"),
    [
        (("ipum-01", "rnic"), (IPUM_1,), []),
        (("ipum-01", "rnic"), (IPUM_2,), [FindingKind.CABLE]),
        (("ipum-01", "rnic"), (IPUM_1, IPUM_2), [FindingKind.CABLE]),
        (("ipum-01", "rnic"), (POPLAR_1,), [FindingKind.CABLE]),
        (("ipum-03", "rnic"), (Neighbour("localhost", "02:77:00:00:00:01", "eth0"),), [FindingKind.UNHEARD]),
        (("ipum-01", "rnic"), (), [FindingKind.UNHEARD]),
        (("poplar-1", "ens161f0"), (POPLAR_1,), []),
        (("poplar-1", "ens161f1"), (POPLAR_1,), [FindingKind.CABLE]),
        (("poplar-2", "ens161f0"), (POPLAR_1,), [FindingKind.CABLE]),
        (("poplar-1", "ens161f0"), (STRANGER,), [FindingKind.CABLE]),
        (("poplar-1", "ens161f0"), (Neighbour("poplar-1", None, "02:50:00:00:00:12"),), []),
        (("poplar-1", "ens161f0"), (Neighbour(None, "02:98:00:00:00:01", None),), [FindingKind.UNHEARD]),
        (("mgmt-1", "45"), (MGMT_1,), []),
        (("mgmt-1", "46"), (MGMT_1,), [FindingKind.CABLE]),
    ],
)  # fmt: skip
def test_who_is_heard_against_who_is_cabled(
    far: tuple[str, str], neighbours: tuple[Neighbour, ...], expected: list[FindingKind]
) -> None:
    far_ends = {"mgmt-1": {number: f"Ethernet{number}" for number in range(1, 53)}}
    found = findings(cabled((5, *far)), heard(5, *neighbours), far_ends=far_ends)
    assert [one.found for one in found] == expected
    assert all(one.port == 5 and one.about == "neighbour" for one in found)


def test_both_sides_of_a_cable_are_told() -> None:
    (one,) = findings(cabled((5, "ipum-01", "rnic")), heard(5, POPLAR_1))
    assert str(one) == (
        "tor-1 5 (Ethernet5/1): neighbour: the list of cables has ipum-01:rnic at the other end; "
        "the switch says that it hears poplar-1.lyon.example:ens161f0"
    )


def test_a_neighbour_where_no_cable_is_stated() -> None:
    assert [one.found for one in findings(cabled(), heard(5, STRANGER))] == [FindingKind.CABLE]
    assert findings(cabled(), heard(5)) == ()


def test_where_lldp_was_not_read_nothing_is_heard() -> None:
    (one,) = findings(cabled((5, "ipum-01", "rnic")), seen())
    assert (one.found, one.says) == (FindingKind.UNHEARD, "nothing of neighbours")


# ---- names ----


def test_names_of_ports() -> None:
    tor = site().switch["tor-1"]
    assert port_names(tor, "eos") == NAMES
    assert port_names(tor, "cumulus")[34] == "swp34"
    other = tor.model_copy(update={"model": "other-1"})
    with pytest.raises(SwitchUnread, match="`other-1` with these ports is not in the catalogue"):
        port_names(other, "eos")
    with pytest.raises(SwitchUnread, match="not in the catalogue"):
        port_names(tor.model_copy(update={"port_groups": ((100, 16),)}), "eos")
