"""The file of a rack: what is wrong with it is told before anything is changed, and an instance keeps its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.launcher import ports, racks
from sandbox.launcher.configuration import device_specs
from sandbox.launcher.errors import SandboxError
from sandbox.rack.reading import FILE, WrongRack, named, rack_of, read, shipped

SUPERVISOR = Path(__file__).resolve().parents[2] / "sandbox" / "supervisor.py"
TEXT = shipped()["twoleaves"].read_text(encoding="utf-8")


def supervise(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SUPERVISOR), *words], check=False, text=True, capture_output=True)


def test_an_instance_that_was_told_nothing_has_the_demos_rack(tmp_path: Path) -> None:
    assert rack_of(tmp_path) == named("lyon")


def test_an_instance_keeps_the_rack_that_it_was_given(tmp_path: Path) -> None:
    racks.keep(tmp_path, TEXT)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert rack_of(tmp_path) == named("twoleaves")
    assert "127.7.0.3" in ports.addresses(tmp_path)


WRONG = {
    "quarantine_vlan = 4000\n": ("", "'quarantine_vlan' is missing"),
    "shut_unused = false": ("shut_unused = false\nspeed = 3", "switch mgmt-1 has no key speed"),
    'model = "DCS-7010T-48"': ('model = "DCS-7010"', "switch mgmt-1: no model DCS-7010; models are DCS-7060CX-32S,"),
    'physical_network = "fabric-b"': ('physical_network = "fabric"', "switch tor-2: no physical network fabric"),
    'address = "127.7.0.3"': ('address = "127.7.0.1"', "two switches have the same address"),
    '"33-48" = "access 20"': ('"33-48" = "access 20-21"', "port 33-48: 'access 20-21' is neither"),
    '"49-50" = "trunk 110-199"': ('"49-53" = "trunk 110-199"', "switch mgmt-1: no port 49-53; it has 1-52"),
    '25 = "tor-1:Ethernet25/1"': ('26 = "tor-1:Ethernet25/1"', "the cable of tor-1 port Ethernet25/1 to tor-2"),
    'filled = ["17-20"]': ('filled = ["17-21"]', "switch tor-1: port 21 is filled, and no trunk"),
    '46 = "pdu-1:mgmt"': ('46 = "pdu-1"', "a cable ends at"),
    'infra-1 = {shape = "infra"}': ('infra-1 = {shape = "blade"}', "host infra-1: no shape blade; shapes are poplar"),
    'infra-2 = {shape = "infra"}': ('infra-2 = {shape = "poplar"}', "host infra-2: its cards have to be on one"),
    'poplar-4 = {shape = "poplar", network = "fabric-b", buses = [0xb1]}': (
        'poplar-4 = {shape = "poplar", network = "fabric-b"}', "PCI bus 0xa1 is on fabric-a at another host",
    ),
    "[physical_networks]": ("[physical_networks", "Expected"),
    "numbers = [9, 16]": ("numbers = [8, 16]", "ipu_racks: machines have to differ"),
    "numbers = [1, 8]": ("numbers = [1, 0]", "ipu_racks.rack-a.numbers: the first and the last of 1 to 16 machines"),
    '16 = "ipum-16:mgmt 02:00:00:00:01:10"': ('16 = "ipum-16:bmc"', "no cable of a switch ends at ipum-16:mgmt"),
}  # fmt: skip


@pytest.mark.parametrize("right", WRONG)
def test_what_is_wrong_with_a_rack_is_told_with_its_file(tmp_path: Path, right: str) -> None:
    wrong, words = WRONG[right]
    assert TEXT.count(right) == 1
    path = tmp_path / "own.toml"
    path.write_text(TEXT.replace(right, wrong), encoding="utf-8")
    with pytest.raises(WrongRack) as told:
        read(path)
    assert str(told.value).startswith(f"{path}: ")
    assert words in str(told.value)


def test_a_wrong_rack_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text("switches = 3\n", encoding="utf-8")
    for command in ("up", "reset"):
        for asked, words in (
            (path, "is missing"),
            (tmp_path / "none.toml", "by name: hall, lyon, passing, twoleaves."),
        ):
            done = supervise(command, "--dir", str(tmp_path / "cloud"), "--rack", str(asked))
            assert (done.returncode, done.stdout) == (4, "")
            assert f"sandbox: error: {asked}" in done.stderr
            assert words in done.stderr
    assert not (tmp_path / "cloud").exists()


def test_the_rack_of_what_was_made_is_not_changed_under_it(tmp_path: Path) -> None:
    """Its databases have networks and agents of the other one."""
    (tmp_path / "state").mkdir()
    done = supervise("up", "--dir", str(tmp_path), "--rack", "twoleaves")
    assert done.returncode == 4
    assert f"{tmp_path} has another rack" in done.stderr
    assert not (tmp_path / FILE).exists()


def test_a_rack_that_was_broken_later_is_told(tmp_path: Path) -> None:
    racks.keep(tmp_path, "switches = []\n")
    with pytest.raises(SandboxError, match="reset --rack NAME"):
        racks.require(tmp_path)


def test_a_card_is_on_the_physical_network_of_its_bus() -> None:
    """All hosts share one nova.conf."""
    assert [spec.split('"address": ')[1] for spec in device_specs(named("twoleaves"))] == [
        '"*:a1:*.*", "physical_network": "fabric-a"}',
        '"*:b1:*.*", "physical_network": "fabric-b"}',
    ]
