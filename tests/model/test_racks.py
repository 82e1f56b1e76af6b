"""Every design in full form: counts, links, cords, units and bundles."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from interlock.hardware.designs import BOW_POD256, DESIGNS, IPU_POD64, POD_DESIGNS
from interlock.model.rack.expansion import ExpandedRack, expand_rack, expand_racks
from interlock.model.rack.file import RackFile
from interlock.model.site.physical import Cable, Endpoint

from .racks import SIZES, expanded, of_kind, written

EVERY = sorted(SIZES)

#: Design -> cables by kind, without power. Ethernet in each logical rack: 16 + 8 to the ToR, 16 + 4 + 8 + 1 + 2.
CABLES = {
    "ipu-pod64": {"ethernet": 55, "ipu-link": 60, "sync-link": 60},
    "bow-pod64": {"ethernet": 55, "ipu-link": 60, "sync-link": 60},
    "ipu-pod128": {"ethernet": 110, "ipu-link": 120, "sync-link": 120, "gw-link": 32},
    "bow-pod256": {"ethernet": 220, "ipu-link": 240, "sync-link": 240, "gw-link": 128},
}

RACK = {"name": "r-1", "units": 48, "feeds": {"a": "22kW", "b": "22kW"}, "cooling": "rear-door"}
#: Remembered only, so the file must say it.
GW_SWITCHES = {"gw_switches": {"height": "1U"}}


def test_every_design_of_the_catalogue_is_tested() -> None:
    assert set(POD_DESIGNS) == set(SIZES)


@pytest.mark.parametrize("design", EVERY)
def test_counts(design: str) -> None:
    rack, (machines, logical) = expanded(design), SIZES[design]
    assert len(rack.machines) == machines == POD_DESIGNS[design].machines
    assert len(rack.logical_racks) == logical
    assert len(rack.hosts) == 4 * logical
    assert Counter(cable.kind for cable in rack.cables) == CABLES[design]


@pytest.mark.parametrize("design", EVERY)
def test_positions_are_1_to_16_in_every_logical_rack(design: str) -> None:
    rack = expanded(design)
    for logical in rack.logical_racks:
        found = [machine.position for machine in rack.machines if machine.logical_rack == logical.name]
        assert found == list(range(1, 17))


@pytest.mark.parametrize("design", EVERY)
def test_no_plug_has_two_cables(design: str) -> None:
    assert max(plugs(expanded(design, power="both-pdus", topology="torus")).values()) == 1


@pytest.mark.parametrize("design", EVERY)
def test_four_ipu_links_to_each_neighbour_and_none_to_another_logical_rack(design: str) -> None:
    rack = expanded(design)
    place = {machine.name: (machine.logical_rack, machine.position) for machine in rack.machines}
    pairs = Counter((cable.a.device, cable.b.device) for cable in of_kind(rack, "ipu-link"))
    assert set(pairs.values()) == {4}
    for lower, upper in pairs:
        assert place[upper] == (place[lower][0], place[lower][1] + 1)


@pytest.mark.parametrize("design", EVERY)
def test_a_torus_closes_every_chain(design: str) -> None:
    rack = expanded(design, topology="torus")
    degree = Counter(end.device for cable in of_kind(rack, "ipu-link") for end in (cable.a, cable.b))
    assert set(degree.values()) == {8}
    assert {item.topology for item in rack.logical_racks} == {"torus"}
    wrap = [cable for cable in of_kind(rack, "sync-link") if cable.a.device == "ipum-16"]
    assert {cable.b.device for cable in wrap} == {"ipum-01"}


def test_one_logical_rack_has_no_gateway_links() -> None:
    assert of_kind(expanded("ipu-pod64"), "gw-link") == []


@pytest.mark.parametrize(("design", "gw"), [("ipu-pod128", None), ("ipu-pod128", "looped"), ("bow-pod256", "looped")])
def test_direct_gateway_links_join_equal_positions_and_use_both_ports(design: str, gw: str | None) -> None:
    rack = expanded(design, gw=gw, gw_switches=None)
    machines = {machine.name: machine for machine in rack.machines}
    links = of_kind(rack, "gw-link")
    for cable in links:
        a, b = machines[cable.a.device], machines[cable.b.device]
        assert a.position == b.position
        assert a.logical_rack != b.logical_rack
    degree = Counter(end.device for cable in links for end in (cable.a, cable.b))
    assert degree == dict.fromkeys(machines, 2)


def test_a_ring_of_four_goes_round_all_of_them() -> None:
    rack = expanded("bow-pod256", gw="looped", gw_switches=None)
    logical = {machine.name: machine.logical_rack for machine in rack.machines}
    steps = {(logical[cable.a.device], logical[cable.b.device]) for cable in of_kind(rack, "gw-link")}
    assert steps == {("pod-1", "pod-2"), ("pod-2", "pod-3"), ("pod-3", "pod-4"), ("pod-4", "pod-1")}


def test_switched_gateway_links_go_to_both_switches_at_ports_that_these_have() -> None:
    rack = expanded("bow-pod256")
    switches = {switch.name: switch for switch in rack.switches if switch.role == "gw-link"}
    far = {machine.name: set[str]() for machine in rack.machines}
    for cable in of_kind(rack, "gw-link"):
        far[cable.b.device].add(cable.a.device)
        assert 1 <= int(cable.a.interface) <= 64  # the ports of 100G
    assert set(map(frozenset, far.values())) == {frozenset(switches)}
    assert all(switch.ports == () for switch in switches.values())  # nobody said how they are set


def test_split_ports_of_the_gateway_switch_are_all_its_ports() -> None:
    assert BOW_POD256.gw_switches is not None
    delivered = sum(speed * count for speed, count in BOW_POD256.gw_switches.model.port_groups.value)
    assert sum(speed * count for speed, count in BOW_POD256.gw_switches.port_groups.value) == delivered


def test_a_gateway_switch_is_set_by_its_table() -> None:
    rack = expanded("bow-pod256", gw_switches={"ports": {"machines": "access 7"}})
    switch = next(switch for switch in rack.switches if switch.role == "gw-link")
    assert [switch.by_port[port].mode for port in (1, 64)] == ["access", "access"]
    assert not {65, 82} & switch.by_port.keys()


def test_a_bow_pod_has_bow_machines() -> None:
    assert {machine.generation for machine in expanded("bow-pod256").machines} == {"bow-2000"}


@pytest.mark.parametrize("design", EVERY)
def test_cables_end_at_ports_of_their_switch_and_of_one_logical_rack(design: str) -> None:
    rack = expanded(design)
    logical = {item.name: item.logical_rack for item in rack.machines}
    logical |= {item.name: item.logical_rack or "" for item in rack.hosts}
    count = {switch.name: sum(ports for _, ports in switch.port_groups) for switch in rack.switches}
    behind: dict[str, set[str | None]] = {}
    for cable in of_kind(rack, "ethernet"):
        assert 1 <= int(cable.a.interface) <= count[cable.a.device]
        behind.setdefault(cable.a.device, set()).add(logical.get(cable.b.device))
    assert all(len(racks - {None}) == 1 for racks in behind.values())


@pytest.mark.parametrize("design", EVERY)
def test_every_device_of_a_logical_rack_hangs_on_its_two_pdus(design: str) -> None:
    rack = expanded(design, power="both-pdus")
    cords: dict[str, list[str]] = {}
    for cable in of_kind(rack, "power"):
        cords.setdefault(cable.a.device, []).append(cable.b.device)
    inside = {switch.name for switch in rack.switches if switch.role != "gw-link"}
    assert cords.keys() == computers(rack) | inside
    assert all(len(set(pdus)) == len(pdus) == 2 for pdus in cords.values())


def test_no_power_cable_is_assumed() -> None:
    assert of_kind(expanded("ipu-pod64"), "power") == []


def test_pdus_hang_on_the_feeds_in_turn_or_as_stated() -> None:
    (found,) = expanded("ipu-pod64", rack=RACK).physical_racks
    assert found.pdus == {"pdu-1": "a", "pdu-2": "b"}
    assert [(feed.name, feed.capacity_w, feed.derate) for feed in found.feeds] == [("a", 22000, 0.8), ("b", 22000, 0.8)]
    stated = {**RACK, "pdus": {"pdu-1": "b", "pdu-2": "a"}, "derate": 1.0}
    (found,) = expanded("ipu-pod64", rack=stated).physical_racks
    assert found.pdus == {"pdu-1": "b", "pdu-2": "a"}
    assert [feed.derate for feed in found.feeds] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("design", "names"), [("ipu-pod64", 1), ("ipu-pod128", 1), ("bow-pod256", 2), ("bow-pod256", 4)]
)
def test_units_are_given_out_from_below_without_gaps(design: str, names: int) -> None:
    more = GW_SWITCHES if design == "bow-pod256" else {}
    rack = expanded(design, rack={"names": f"r-[1-{names}]", "units": 48, "first_unit": 3}, **more)
    assert len(rack.physical_racks) == names
    standing = [item for item in rack.placements if item.unit is not None]
    assert {item.device for item in standing} == computers(rack) | {item.name for item in rack.switches}
    for physical in rack.physical_racks:
        units = [item.unit for item in standing if item.rack == physical.name]
        assert units == list(range(3, 3 + len(units)))
    upright = [item for item in rack.placements if item.unit is None]
    assert [(item.device, item.height_u) for item in upright] == [(name, 0) for name in pdus(rack)]


def test_logical_racks_know_their_physical_rack_and_number() -> None:
    rack = expanded("bow-pod256", number=9, rack={"names": "r-[1-2]", "units": 48}, **GW_SWITCHES)
    assert [(item.name, item.number, item.rack) for item in rack.logical_racks] == [
        ("pod-1", 9, "r-1"),
        ("pod-2", 10, "r-1"),
        ("pod-3", 11, "r-2"),
        ("pod-4", 12, "r-2"),
    ]


def test_nameplates_weights_and_heights_are_the_operators_words() -> None:
    rack = expanded(
        "ipu-pod64",
        rack=RACK,
        machines={"nameplate": "1.5kW", "height": "2U"},
        poplar={"nameplate": "1400W", "weight": "21.5kg"},
    )
    found = {item.device: item for item in rack.placements}
    assert (found["ipum-02"].unit, found["ipum-02"].height_u, found["ipum-02"].nameplate_w) == (3, 2, 1500)
    assert found["ipum-02"].weight_kg == pytest.approx(16.395)  # read in a document, so it may stand in
    assert (found["poplar-1"].nameplate_w, found["poplar-1"].weight_kg) == (1400, 21.5)
    assert found["mgmt-1"].weight_kg is None  # in no document


def test_what_is_only_remembered_is_no_nameplate() -> None:
    rack = expanded("ipu-pod64", rack=RACK)
    found = {item.device: item for item in rack.placements}
    assert IPU_POD64.machine.nameplate is not None
    assert IPU_POD64.machine.nameplate.remembered
    assert found["ipum-01"].nameplate_w is None


def test_a_rack_without_units_is_described_elsewhere() -> None:
    rack = expanded("ipu-pod64", rack={"name": "r-1", "first_unit": 21})
    assert rack.physical_racks == ()
    assert (rack.placements[0].rack, rack.placements[0].unit) == ("r-1", 21)


def test_macs_are_counted_off_in_the_order_of_positions() -> None:
    stated = {"bmc": "02:00:00:00:01:[01-10]", "rnic": [f"02:00:00:00:02:{number:02X}" for number in range(16)]}
    machines = expanded("ipu-pod64", machines={"macs": stated}).machines
    assert machines[9].macs == {"bmc": "02:00:00:00:01:0a", "rnic": "02:00:00:00:02:09"}


def test_macs_of_hosts_are_counted_off_for_each_interface() -> None:
    stated = {"eno1": "02:00:00:00:04:[01-04]", "idrac": "02:00:00:00:05:[0d-10]"}
    hosts = expanded("ipu-pod64", poplar={"macs": stated}).hosts
    assert hosts[2].macs == {"eno1": "02:00:00:00:04:03", "idrac": "02:00:00:00:05:0f"}


def test_hosts_that_are_given_out_whole_have_no_bundle() -> None:
    interfaces = {"fabric": ["ens161f0", "ens161f1"], "mgmt": ["eno1"]}
    rack = expanded("ipu-pod64", poplar={"bare_metal": {"names": "poplar-[3-4]", "interfaces": interfaces}})
    whole = {host.name: dict(host.interfaces) for host in rack.hosts if host.provisioning == "bare-metal"}
    lent = {"fabric": ("ens161f0", "ens161f1"), "mgmt": ("eno1",)}
    assert whole == {"poplar-3": lent, "poplar-4": lent}
    assert dict(rack.hosts[0].interfaces) == {"fabric": ("ens161f0", "ens161f1")}
    assert {lag.device for lag in rack.lags if lag.mode == "vf-lag"} == {"poplar-1", "poplar-2"}


def test_states_are_stated_by_name_or_range_and_all_others_are_in_service() -> None:
    dead = {"state": "failed", "reason": "RNIC dead, ticket 123"}
    rack = expanded(
        "ipu-pod64",
        machines={"states": {"ipum-[03-04]": dead, "ipum-09": {"state": "maintenance", "reason": "fan"}}},
        poplar={"states": {"poplar-2": dead, "poplar-3": {"state": "ok"}}},
    )
    assert [(item.name, item.state, item.state_reason) for item in rack.machines if not item.in_service] == [
        ("ipum-03", "failed", "RNIC dead, ticket 123"),
        ("ipum-04", "failed", "RNIC dead, ticket 123"),
        ("ipum-09", "maintenance", "fan"),
    ]
    assert [(item.name, item.state_reason) for item in rack.hosts if not item.in_service] == [
        ("poplar-2", "RNIC dead, ticket 123")
    ]


@pytest.mark.parametrize("design", EVERY)
def test_both_legs_of_a_servers_bundle_end_at_one_tor(design: str) -> None:
    rack = expanded(design)
    far = {(cable.b.device, cable.b.interface): cable.a.device for cable in rack.cables}
    assert {lag.device for lag in rack.lags} == {host.name for host in rack.hosts}
    for lag in rack.lags:
        assert lag.mode == "vf-lag"
        assert len(lag.interfaces) == 2
        assert len({far[lag.device, interface] for interface in lag.interfaces}) == 1


@pytest.mark.parametrize(("setting", "bundles"), [("trunk 1000-2999", 1), ("routed", 0), ("disabled", 0)])
def test_uplinks_are_one_bundle_where_they_are_switched_and_cabled(setting: str, bundles: int) -> None:
    file = RackFile.model_validate(
        written("ipu-pod64", tor={"ports": {"machines": "access", "uplinks": setting}}, name="rack-1")
    )
    cables = [
        Cable(a=Endpoint(device="spine-1", interface=str(port)), b=Endpoint(device="tor-1", interface=str(port)))
        for port in range(25, 29)
    ]
    found = [lag for lag in expand_rack(file, cables=cables).lags if lag.device == "tor-1"]
    assert [lag.interfaces for lag in found] == [("25", "26", "27", "28")] * bundles
    assert [lag.mode for lag in found] == ["lacp"] * bundles
    assert [lag for lag in expand_rack(file).lags if lag.device == "tor-1"] == []


def test_uplinks_to_two_spines_are_two_bundles() -> None:
    file = RackFile.model_validate(written("ipu-pod64", tor={"ports": {"uplinks": "trunk all"}}))
    ends = [("spine-1", 1), ("spine-2", 1), ("spine-1", 2), ("spine-2", 2)]
    cables = [
        Cable(a=Endpoint(device="tor-1", interface=str(port)), b=Endpoint(device=spine, interface=str(far)))
        for port, (spine, far) in enumerate(ends, start=25)
    ]
    found = {lag.name: lag.interfaces for lag in expand_rack(file, cables=cables).lags if lag.device == "tor-1"}
    assert found == {"tor-1-to-spine-1": ("25", "27"), "tor-1-to-spine-2": ("26", "28")}


def test_a_port_map_moves_cables_and_what_the_table_sets() -> None:
    rack = expanded("ipu-pod64", tor={"port_map": {"servers": "25-32", "uplinks": "17-24"}})
    tor = next(switch for switch in rack.switches if switch.role == "tor")
    assert tor.by_port[25].mode == "trunk"
    assert 17 not in tor.by_port
    far = {cable.a.interface: cable.b.device for cable in rack.cables if cable.a.device == "tor-1"}
    assert far["25"] == "poplar-1"
    assert "17" not in far


def test_numbers_go_on_where_none_is_stated() -> None:
    plan = {"address_plan": "pod"}
    files = [
        RackFile.model_validate(written("ipu-pod128", **plan)),
        RackFile.model_validate(written("ipu-pod64", number=7, **plan)),
        RackFile.model_validate(written("ipu-pod64", **plan)),
    ]
    assert [[item.number for item in rack.logical_racks] for rack in expand_racks(files)] == [[1, 2], [7], [8]]


def test_only_the_pod_plan_gives_numbers_that_nobody_stated() -> None:
    pod = {"address_plan": "pod"}
    plans: list[dict[str, Any]] = [{}, pod, {"address_plan": "factory"}, {"number": 9}, pod]
    files = [RackFile.model_validate(written("ipu-pod64", **plan)) for plan in plans]
    numbers = [item.number for rack in expand_racks(files) for item in rack.logical_racks]
    assert numbers == [None, 1, None, 9, 10]


@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_every_rack_design_has_a_chain_that_can_close(design: str) -> None:
    machine = DESIGNS[design].machine
    assert DESIGNS[design].closure.value == (machine.ipu_links_per_neighbour.value * 2 <= machine.ipu_link_ports.value)


def plugs(rack: ExpandedRack) -> Counter[Endpoint]:
    """How many cables each plug has."""
    return Counter(end for cable in rack.cables for end in (cable.a, cable.b))


def pdus(rack: ExpandedRack) -> list[str]:
    """The PDUs, in order."""
    return [device.name for device in rack.devices if device.role == "pdu"]


def computers(rack: ExpandedRack) -> set[str]:
    """Machines and servers."""
    return {item.name for item in rack.machines} | {item.name for item in rack.hosts}
