"""The state of a switch: lists of VLANs, its file, and the table of the sandbox's switches."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from interlock.model.load import Workspace, load_workspace
from sandbox.switches import devices, driver, vlans
from sandbox.switches.devices import SWITCHES, Switch
from sandbox.switches.files import FileBackend, decoded, encoded
from sandbox.switches.table import Backend
from tests.sandbox.switch_sessions import MANAGEMENT, TOR

STACKS = Path(__file__).resolve().parents[2] / "stacks"


@pytest.fixture(scope="module")
def lyon() -> Workspace:
    """The demo's site, which is about this rack."""
    return load_workspace(STACKS, "lyon")


@given(st.sets(st.integers(1, 4094), min_size=1))
def test_a_list_of_vlans_reads_as_it_was_written(ids: set[int]) -> None:
    assert vlans.parsed(vlans.listed(ids)) == tuple(sorted(ids))


@pytest.mark.parametrize("text", ["", "0", "4095", "20-10", "1,,2", "1-", "x", "99999", "1 - 2", "²"])
def test_what_is_no_list_of_vlans(text: str) -> None:
    assert vlans.parsed(text) is None


def test_ranges_are_joined() -> None:
    assert vlans.listed((7, 1, 2, 3, 9, 8)) == "1-3,7-9"
    assert vlans.listed(()) == ""


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.name)
def test_a_state_is_the_same_after_its_file(switch: Switch) -> None:
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


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.name)
def test_ports_rest_as_the_site_says(lyon: Workspace, switch: Switch) -> None:
    """A port that the site disables is shut; what it leaves to plans is in quarantine; the rest is as written there."""
    site = next(one for one in lyon.site.switches if one.name == switch.name)
    assert site.serial == switch.serial
    assert [port.bandwidth // devices.GIGABIT for port in switch.ports] == [
        speed for speed, count in site.port_groups for _ in range(count)
    ]
    for number, port in enumerate(switch.ports, 1):
        stated, found = site.by_port[number], switch.initial.ports[port.name]
        if stated.mode == "disabled":
            assert not found.enabled, port.name
        elif stated.mode == "access":
            assert (found.mode, found.access_vlan) == ("access", stated.untagged or devices.QUARANTINE), port.name
            assert found.enabled == (stated.untagged is not None or not switch.shut_unused), port.name
        else:
            assert (found.enabled, found.mode, found.native_vlan) == (True, "trunk", stated.untagged), port.name
            assert vlans.listed(found.allowed) == ",".join(f"{a}-{b}" for a, b in stated.tagged or ()), port.name


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.name)
def test_neighbours_are_the_ends_of_the_sites_cables(lyon: Workspace, switch: Switch) -> None:
    expected = {}
    for number, port in enumerate(switch.ports, 1):
        cable = lyon.site.cable_at.get((switch.name, str(number)))
        if cable is not None:
            end = cable.b if cable.a.device == switch.name else cable.a
            expected[port.name] = str(end)
    assert {name: f"{end.system}:{end.port}" for name, end in switch.neighbors.items()} == expected


def test_no_two_devices_share_what_tells_them_apart() -> None:
    assert len({switch.mac for switch in SWITCHES}) == len({switch.address for switch in SWITCHES}) == len(SWITCHES)
    own = {(switch.name, switch.mac) for switch in SWITCHES}
    for switch in SWITCHES:
        known = own | {(end.system, end.chassis) for end in switch.neighbors.values()}
        assert len({chassis for _, chassis in known}) == len({system for system, _ in known}) == len(known)


def test_neutrons_sections_name_each_switch_with_its_own_address(tmp_path: Path) -> None:
    text = driver.sections(tmp_path / "conf", tmp_path / "state", 22201)
    assert text.count("[genericswitch:") == len(SWITCHES)
    tor, management = text.split("[genericswitch:")[1:]
    assert "ngs_physical_networks = fabric100g\n" in tor
    assert "ngs_disable_inactive_ports = true\n" in tor
    assert "ngs_disable_inactive_ports = false\n" in management
    assert f"ip = {MANAGEMENT.address}\n" in management
    # the driver's lock is named after the address: two switches on one would wait for each other
    assert TOR.address not in management
