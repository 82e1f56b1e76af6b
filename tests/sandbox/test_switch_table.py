"""The state of a switch: lists of VLANs, its file, and the racks that the sandbox comes with."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from interlock.model.load import load_workspace
from interlock.model.site.inventory import Site
from sandbox.rack.reading import named, shipped
from sandbox.rack.table import Rack
from sandbox.switches import devices, driver, vlans
from sandbox.switches.devices import Switch
from sandbox.switches.files import FileBackend, decoded, encoded
from sandbox.switches.table import Backend
from tests.builders.leaf_groups import write_stacks
from tests.builders.passing import write_passing
from tests.sandbox.switch_sessions import LYON, MANAGEMENT, TOR

STACKS = Path(__file__).resolve().parents[2] / "stacks"


RACKS = {name: named(name) for name in shipped()}
SWITCHES = [
    pytest.param(rack, switch, id=f"{name} {switch.name}") for name, rack in RACKS.items() for switch in rack.switches
]


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    """The site that each rack is about."""
    own, other = tmp_path_factory.mktemp("stacks"), tmp_path_factory.mktemp("passing")
    write_stacks(own)
    write_passing(other)
    shown = {name: load_workspace(STACKS, name).site for name in ("lyon", "hall")}
    return shown | {
        "twoleaves": load_workspace(own, "twoleaves").site,
        "passing": load_workspace(other, "passing").site,
    }


def site_of(sites: dict[str, Site], rack: Rack) -> Site:
    return next(sites[name] for name, item in RACKS.items() if item == rack)


@given(st.sets(st.integers(1, 4094), min_size=1))
def test_a_list_of_vlans_reads_as_it_was_written(ids: set[int]) -> None:
    assert vlans.parsed(vlans.listed(ids)) == tuple(sorted(ids))


@pytest.mark.parametrize("text", ["", "0", "4095", "20-10", "1,,2", "1-", "x", "99999", "1 - 2", "²"])
def test_what_is_no_list_of_vlans(text: str) -> None:
    assert vlans.parsed(text) is None


def test_ranges_are_joined() -> None:
    assert vlans.listed((7, 1, 2, 3, 9, 8)) == "1-3,7-9"
    assert vlans.listed(()) == ""


@pytest.mark.parametrize("name", ["lyon", "twoleaves"])
def test_machines_of_v_ipu_are_those_of_the_site(sites: dict[str, Site], name: str) -> None:
    found = [
        (machine, serial, place, rack.name, rack.ring)
        for rack in RACKS[name].ipu_racks
        for place, (machine, serial) in enumerate(rack.serials.items(), 1)
    ]
    site = sites[name]
    assert [(where, ring) for *_, where, ring in found] == [
        (machine.logical_rack, site.logical_rack[machine.logical_rack].topology == "torus") for machine in site.machines
    ]
    assert [item[:3] for item in found] == [(one.name, one.serial, one.position) for one in site.machines]


@pytest.mark.parametrize(("rack", "switch"), SWITCHES)
def test_a_state_is_the_same_after_its_file(rack: Rack, switch: Switch) -> None:
    assert switch in rack.switches
    assert decoded(encoded(switch.initial)) == switch.initial


def test_a_file_is_the_state_once_it_is_there(tmp_path: Path) -> None:
    backend: Backend = FileBackend(tmp_path / "tor-1.json", TOR.initial)
    before = backend.load()
    after = replace(before, vlans={**before.vlans, 1000: "a"})
    backend.apply(before, after)
    assert (before, backend.load()) == (TOR.initial, after)
    assert [path.name for path in tmp_path.iterdir()] == ["tor-1.json"]


def test_a_state_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        TOR.initial.ports["Ethernet1/1"].enabled = True  # type: ignore[misc]


@pytest.mark.parametrize(("rack", "switch"), SWITCHES)
def test_ports_rest_as_the_site_says(sites: dict[str, Site], rack: Rack, switch: Switch) -> None:
    """A port that the site disables is shut; what it leaves to plans is in quarantine; the rest is as written there."""
    site = site_of(sites, rack).switch[switch.name]
    assert (site.serial, site.mac, site.quarantine_vlan) == (switch.serial, switch.mac, rack.quarantine_vlan)
    assert [port.bandwidth // devices.GIGABIT for port in switch.ports] == [
        speed for speed, count in site.port_groups for _ in range(count)
    ]
    for number, port in enumerate(switch.ports, 1):
        stated, found = site.by_port.get(number), switch.initial.ports[port.name]
        if stated is None or stated.mode == "disabled":
            assert not found.enabled, port.name
        elif stated.mode == "access":
            assert (found.mode, found.access_vlan) == ("access", stated.untagged or rack.quarantine_vlan), port.name
            assert found.enabled == (stated.untagged is not None or not switch.shut_unused), port.name
        else:
            assert (found.enabled, found.mode, found.native_vlan) == (True, "trunk", stated.untagged), port.name
            assert found.allowed == tuple(vlan for a, b in stated.tagged or () for vlan in range(a, b + 1)), port.name


@pytest.mark.parametrize(("rack", "switch"), SWITCHES)
def test_neighbours_are_the_ends_of_the_sites_cables(sites: dict[str, Site], rack: Rack, switch: Switch) -> None:
    """Another switch names its port as its maker does; a machine the MAC address that the site has of it."""
    expected, site = {}, site_of(sites, rack)
    for number, port in enumerate(switch.ports, 1):
        cable = site.cable_at.get((switch.name, str(number)))
        if cable is not None:
            end = cable.b if cable.a.device == switch.name else cable.a
            far = rack.switch.get(end.device)
            plug = far.ports[int(end.interface) - 1].name if far else end.interface
            expected[port.name] = (end.device, plug)
    assert {name: (end.system, end.port) for name, end in switch.neighbors.items()} == expected
    for heard in switch.neighbors.values():
        if heard.system in site.machine:
            part = "rnic" if heard.port == "rnic" else "bmc"
            assert heard.chassis == site.machine[heard.system].macs[part]


@pytest.mark.parametrize("rack", RACKS.values(), ids=RACKS)
def test_networks_and_hosts_are_those_of_the_site(sites: dict[str, Site], rack: Rack) -> None:
    """A rack may have more hosts than its site: of the demo's the GPU hosts are nobody's. Whole nodes are Ironic's."""
    site = site_of(sites, rack)
    assert {network.name for network in rack.physical_networks} == {*site.physical_network}
    for name, network in site.physical_network.items():
        assert {switch.name for switch in rack.switches if switch.physical_network == name} == {*network.switches}
    for host in (item for item in site.hosts if item.role != "gpu"):
        cards = tuple(port.interface for port in rack.host[host.name].network_ports)
        label = rack.host[host.name].physical_network
        assert cards == (host.interfaces[label] if label else ())


@pytest.mark.parametrize("rack", RACKS.values(), ids=RACKS)
def test_no_two_devices_share_what_tells_them_apart(rack: Rack) -> None:
    own = {(switch.name, switch.mac) for switch in rack.switches}
    for switch in rack.switches:
        known = own | {(end.system, end.chassis) for end in switch.neighbors.values()}
        assert len({chassis for _, chassis in known}) == len(known)
    # Adapters of a node may each speak for themselves, by the MAC address of the port; a switch speaks as one.
    assert len({system for system, _ in own}) == len({chassis for _, chassis in own}) == len(rack.switches)


def test_neutrons_sections_name_each_switch_with_its_own_address(tmp_path: Path) -> None:
    text = driver.sections(LYON, tmp_path / "conf", tmp_path / "state", 22201)
    assert text.count("[genericswitch:") == len(LYON.switches)
    tor, management = text.split("[genericswitch:")[1:]
    assert "ngs_physical_networks = fabric100g\n" in tor
    assert "ngs_disable_inactive_ports = true\n" in tor
    assert "ngs_disable_inactive_ports = false\n" in management
    assert f"ip = {MANAGEMENT.address}\n" in management
    assert "ngs_trunk_ports" not in text
    # the driver's lock is named after the address: two switches on one would wait for each other
    assert TOR.address not in management


def test_neutrons_section_names_the_trunks_that_its_driver_fills(tmp_path: Path) -> None:
    """By the names of the maker, and of no other switch; the site says of the same ports that Neutron fills them."""
    leaves = RACKS["twoleaves"]
    text = driver.sections(leaves, tmp_path / "conf", tmp_path / "state", 22201)
    first, *others = text.split("[genericswitch:")[1:]
    assert "ngs_trunk_ports = Ethernet17/1, Ethernet18/1, Ethernet19/1, Ethernet20/1\n" in first
    assert all("ngs_trunk_ports" not in other for other in others)


@pytest.mark.parametrize("rack", RACKS.values(), ids=RACKS)
def test_filled_trunks_are_those_of_the_site(sites: dict[str, Site], rack: Rack) -> None:
    for switch in site_of(sites, rack).switches:
        filled = tuple(switch.port_name(port.port) for port in switch.ports if port.filled_by is not None)
        assert rack.switch[switch.name].filled == filled
