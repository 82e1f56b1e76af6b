"""What answers of EOS mean, and which of them are taken for nothing at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.switches.answers import AnswerMisread, CommandRefused, SwitchAnswer
from interlock.switches.commands import (
    EOS_ADDRESSES,
    EOS_LLDP,
    EOS_STATUS,
    EOS_SWITCHPORTS,
    EOS_VERSION,
    EOS_VLANS,
    Command,
)
from interlock.switches.eos import read_eos
from interlock.switches.observed import Neighbour, ObservedPort, RoutedVlan
from tests.switches_read.answers import answers, document, texts


def port(name: str) -> ObservedPort:
    return read_eos("tor-1", answers("eos")).ports[name]


def test_the_switch_says_who_it_is() -> None:
    seen = read_eos("tor-1", answers("eos"))
    assert (seen.serial, seen.system_mac, seen.model) == ("T-1", "02:1c:73:00:00:01", "DCS-7060CX-32S-R")
    assert seen.vlans == frozenset({1, 12, 1001, 2001, 4000})
    assert seen.routed == (RoutedVlan(100, "default", ("192.0.2.1/24", "198.51.100.1/24")),)
    assert "Management1" not in seen.ports


def test_an_access_port() -> None:
    found = port("Ethernet1/1")
    assert (found.admin_up, found.oper_up, found.mode, found.access_vlan) == (True, True, "access", 1001)
    assert found.untagged == 1001


@pytest.mark.parametrize(
    ("name", "native", "allowed", "untagged"),
    [
        ("Ethernet3/1", 1, ((1000, 2999),), 0),  # its native VLAN is not among those that it carries
        ("Ethernet4/1", 12, ((12, 12), (100, 199), (300, 300)), 0),  # it requires tags
        ("Ethernet5/1", 1, ((1, 4094),), 1),
        ("Ethernet6/1", 1, (), 0),
    ],
)
def test_trunks(name: str, native: int, allowed: Any, untagged: int) -> None:
    found = port(name)
    assert (found.mode, found.native_vlan, found.allowed, found.untagged) == ("trunk", native, allowed, untagged)


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("Ethernet2/1", (False, False)),
        ("Ethernet3/1", (True, False)),
        ("Ethernet4/1", (True, False)),
        ("Ethernet7/1", (None, None)),
    ],
)
def test_states(name: str, states: Any) -> None:
    assert (port(name).admin_up, port(name).oper_up) == states


def test_what_is_not_known_is_unknown() -> None:
    tap, member = port("Ethernet7/1"), port("Ethernet9/1")
    assert (tap.mode, tap.untagged) == (None, None)
    assert (member.mode, member.access_vlan, member.allowed) == (None, None, None)
    assert port("Ethernet4/1").neighbours is None  # LLDP does not list it
    assert port("Ethernet2/1").neighbours == ()
    assert read_eos("tor-1", answers("eos")).lossless is None


def test_a_routed_port_is_in_no_vlan() -> None:
    assert port("Ethernet8/1").mode == "routed"
    assert port("Ethernet8/1").untagged is None


def test_neighbours() -> None:
    assert port("Ethernet5/1").neighbours == (Neighbour("tor-2", "02:1c:73:00:00:02", "Ethernet25/1", "to tor-1"),)
    assert port("Ethernet1/1").neighbours == (Neighbour(None, "02:50:00:00:00:01", "02:50:00:00:00:01"),)


@pytest.mark.parametrize("command", [EOS_VLANS, EOS_LLDP, EOS_ADDRESSES])
@pytest.mark.parametrize("words", ["% Invalid input", '{"errors": ["This is an unconverted command"]}'])
def test_a_list_that_the_switch_refuses_is_unknown(command: Command, words: str) -> None:
    seen = read_eos("tor-1", answers("eos", {command: words}))
    assert command.text in seen.unread[command.about]
    gave = {EOS_VLANS: seen.vlans, EOS_LLDP: seen.ports["Ethernet2/1"].neighbours, EOS_ADDRESSES: seen.routed}
    assert gave[command] is None


@pytest.mark.parametrize("command", [EOS_VERSION, EOS_SWITCHPORTS, EOS_STATUS])
def test_without_what_is_needed_nothing_is_read(command: Command) -> None:
    given = answers("eos") | {command: SwitchAnswer("", 1, "% Authorization denied for command")}
    with pytest.raises(CommandRefused, match="Authorization denied"):
        read_eos("tor-1", given)


@pytest.mark.parametrize("command", list(texts("eos")))
@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.99])
def test_half_an_answer_is_none(command: Command, part: float) -> None:
    text = texts("eos")[command]
    with pytest.raises(AnswerMisread, match=command.text.split(" |")[0]):
        read_eos("tor-1", answers("eos", {command: text[: int(len(text) * part)]}))


@pytest.mark.parametrize("command", list(texts("eos")))
@pytest.mark.parametrize("text", ["[]", "7", "{}", '{"switchports": []}', "tor-1#", "\x00", '{"a": {"a": 1, "a": 2}}'])
def test_an_answer_of_another_form_is_none(command: Command, text: str) -> None:
    with pytest.raises(AnswerMisread):
        read_eos("tor-1", answers("eos", {command: text}))


@pytest.mark.parametrize(
    ("key", "value"),
    [("accessVlanId", "1001"), ("accessVlanId", 4095), ("accessVlanId", -1), ("trunkAllowedVlans", "100-"),
     ("trunkAllowedVlans", "1-5000"), ("trunkAllowedVlans", ""), ("trunkAllowedVlans", None),
     ("trunkingNativeVlanId", None), ("mode", None)],
)  # fmt: skip
def test_a_value_of_another_form_is_no_value(key: str, value: Any) -> None:
    changed = document(EOS_SWITCHPORTS)
    changed["switchports"]["Ethernet1/1"]["switchportInfo"][key] = value
    with pytest.raises(AnswerMisread):
        read_eos("tor-1", answers("eos", {EOS_SWITCHPORTS: json.dumps(changed)}))


def test_a_port_without_settings_is_no_port() -> None:
    changed = document(EOS_SWITCHPORTS)
    del changed["switchports"]["Ethernet1/1"]["switchportInfo"]
    with pytest.raises(AnswerMisread, match="Ethernet1/1"):
        read_eos("tor-1", answers("eos", {EOS_SWITCHPORTS: json.dumps(changed)}))


def test_a_port_twice_is_none() -> None:
    text = texts("eos")[EOS_SWITCHPORTS].replace('"Ethernet2/1"', '"Ethernet1/1"')
    with pytest.raises(AnswerMisread, match="twice"):
        read_eos("tor-1", answers("eos", {EOS_SWITCHPORTS: text}))
