"""What answers of NVUE mean, and which of them are taken for nothing at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.switches.answers import AnswerMisread
from interlock.switches.commands import (
    NVUE_INTERFACES,
    NVUE_LLDP,
    NVUE_PLATFORM,
    NVUE_PORT_VLANS,
    NVUE_ROCE,
    NVUE_VLANS,
    Command,
)
from interlock.switches.cumulus import read_cumulus
from interlock.switches.observed import Lossless, Neighbour, ObservedSwitch, RoutedVlan
from tests.switches_read.answers import answers, document, texts


def read(changed: dict[Command, str] | None = None) -> ObservedSwitch:
    return read_cumulus("leaf-1", answers("cumulus", changed))


def test_the_switch_says_who_it_is() -> None:
    seen = read()
    assert (seen.serial, seen.system_mac, seen.model) == ("MT1", "02:1c:73:00:00:09", "SN2700")
    assert seen.vlans == frozenset({1, 100, 101, 300, 1001, 4000})
    assert seen.routed == (RoutedVlan(100, "default", ("192.0.2.9/24",)),)
    assert set(seen.ports) == {"swp1", "swp2", "swp3", "swp4", "swp5", "swp6", "swp7", "bond1"}


def test_modes_are_what_the_bridge_does() -> None:
    ports = read().ports
    assert (ports["swp1"].mode, ports["swp1"].access_vlan) == ("access", 1001)
    assert (ports["swp3"].mode, ports["swp3"].native_vlan) == ("trunk", 1)
    assert ports["swp3"].allowed == ((1, 1), (100, 101), (300, 300))
    assert (ports["swp4"].mode, ports["swp4"].untagged) == ("trunk", 0)
    assert ports["swp7"].mode == "routed"


def test_what_is_not_in_the_bridge_is_unknown() -> None:
    """Neither a member of a bond, nor a port of another bridge, nor one that an incomplete answer left out."""
    ports = read().ports
    assert [ports[name].mode for name in ("swp5", "swp6")] == [None, None]
    assert ports["bond1"].allowed == ((1, 1), (100, 100))
    fewer = document(NVUE_PORT_VLANS)
    del fewer["swp1"]
    assert read({NVUE_PORT_VLANS: json.dumps(fewer)}).ports["swp1"].mode is None


def test_states() -> None:
    ports = read().ports
    assert (ports["swp1"].admin_up, ports["swp1"].oper_up) == (True, True)
    assert (ports["swp2"].admin_up, ports["swp2"].oper_up) == (False, False)
    assert (ports["swp5"].admin_up, ports["swp5"].oper_up) == (True, None)  # an earlier release


def test_neighbours() -> None:
    ports = read().ports
    assert ports["swp1"].neighbours == (Neighbour("poplar-1", "02:50:00:00:00:11", "02:50:00:00:00:12", "ens161f0"),)
    assert ports["swp3"].neighbours == ()
    assert ports["swp4"].neighbours is None


def test_roce() -> None:
    assert read().lossless == Lossless((3,), (0, 3))


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("pfc", "rx-enabled"), "off", Lossless((), (0, 3))),
        (("pfc", "tx-enabled"), None, Lossless(None, (0, 3))),
        (("pfc", "pfc-priority"), "9", Lossless(None, (0, 3))),
        (("congestion-control", "congestion-mode"), "RED", Lossless((3,), ())),
        (("congestion-control", "enabled-tc"), "all", Lossless((3,), None)),
    ],
)
def test_roce_in_parts(path: tuple[str, str], value: Any, expected: Lossless) -> None:
    changed = document(NVUE_ROCE)
    changed[path[0]][path[1]] = value
    assert read({NVUE_ROCE: json.dumps(changed)}).lossless == expected


@pytest.mark.parametrize("command", [NVUE_VLANS, NVUE_LLDP, NVUE_ROCE])
def test_a_list_that_the_switch_refuses_is_unknown(command: Command) -> None:
    seen = read({command: "Error: The requested item does not exist."})
    assert "does not exist" in seen.unread[command.about]
    gave = {NVUE_VLANS: seen.vlans, NVUE_LLDP: seen.ports["swp3"].neighbours, NVUE_ROCE: seen.lossless}
    assert gave[command] is None


@pytest.mark.parametrize("serial", ["N/A", "", None])
def test_a_virtual_switch_has_no_serial(serial: str | None) -> None:
    changed = document(NVUE_PLATFORM) | {"serial-number": serial}
    assert read({NVUE_PLATFORM: json.dumps(changed)}).serial is None


@pytest.mark.parametrize("command", list(texts("cumulus")))
@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.99])
def test_half_an_answer_is_none(command: Command, part: float) -> None:
    text = texts("cumulus")[command]
    with pytest.raises(AnswerMisread):
        read({command: text[: int(len(text) * part)]})


@pytest.mark.parametrize(
    ("port", "value"),
    [("swp1", {}), ("swp1", {"vlan": {"1001": {}}}), ("swp1", {"vlan": {"1001": {"tag-state": "both"}}}),
     ("swp1", {"vlan": {"5000": {"tag-state": "tagged"}}}), ("swp1", {"vlan": ["1001"]}),
     ("swp1", {"vlan": {"1": {"tag-state": "untagged"}, "2": {"tag-state": "untagged"}}})],
)  # fmt: skip
def test_vlans_of_another_form_are_none(port: str, value: Any) -> None:
    changed = document(NVUE_PORT_VLANS) | {port: value}
    with pytest.raises(AnswerMisread):
        read({NVUE_PORT_VLANS: json.dumps(changed)})


def test_interfaces_of_another_form_are_none() -> None:
    changed = document(NVUE_INTERFACES) | {"swp1": {"link": {}}}
    with pytest.raises(AnswerMisread, match="type"):
        read({NVUE_INTERFACES: json.dumps(changed)})
