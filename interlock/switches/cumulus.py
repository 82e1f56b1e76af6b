"""Cumulus Linux: what the answers of NVUE (`nv show … -o json`) say. Sources of the shapes: beside the tests' answers.

The kernel's bridge knows no modes: a port with one untagged VLAN and no tagged one is an access port, one with tagged
VLANs is a trunk, and one with an address of its own is a routed port. Of all others the mode is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from .answers import AnswerMisread, Answers, CommandRefused, Shape, fitted, mac, mac_or_text, read, table, vlan_id
from .commands import (
    NVUE_INTERFACES,
    NVUE_LLDP,
    NVUE_PLATFORM,
    NVUE_PORT_VLANS,
    NVUE_ROCE,
    NVUE_VLANS,
    Command,
)
from .observed import NO_VLAN, Lossless, Neighbour, ObservedPort, ObservedSwitch, RoutedVlan, joined

#: Types of interfaces that are ports, by NVUE.
_PORTS = ("swp", "bond")
_SVI = re.compile(r"vlan([0-9]{1,4})")
#: NVUE's words for a switch of two states, through its releases.
_ON = ("on", "yes", "enabled", "enable")
_UP = {"up": True, "down": False}
#: What virtual switches have in place of a serial.
_NO_SERIAL = ("", "n/a", "none")


class _NvuePlatform(Shape):
    serial: str | None = Field(default=None, alias="serial-number")
    system_mac: str | None = Field(default=None, alias="system-mac")
    model: str | None = Field(default=None, alias="product-name")


class _NvueLink(Shape):
    admin: str | None = Field(default=None, alias="admin-status")
    oper: str | None = Field(default=None, alias="oper-status")
    #: Earlier releases: `{"up": {}}`, which is what was set.
    state: dict[str, Any] = {}


class _NvueIp(Shape):
    address: dict[str, Any] = {}
    vrf: str | None = None


class _NvueInterface(Shape):
    type: str
    link: _NvueLink = _NvueLink()
    ip: _NvueIp = _NvueIp()


class _NvueVlanOfPort(Shape):
    tag_state: str = Field(alias="tag-state")


class _NvueVlansOfPort(Shape):
    vlans: dict[str, _NvueVlanOfPort] = Field(alias="vlan")


class _NvueChassis(Shape):
    system: str | None = Field(default=None, alias="system-name")
    id: str | None = Field(default=None, alias="chassis-id")


class _NvueFarPort(Shape):
    name: str | None = None
    description: str | None = None


class _NvueHeard(Shape):
    chassis: _NvueChassis = _NvueChassis()
    port: _NvueFarPort = _NvueFarPort()


class _NvueEars(Shape):
    #: None where LLDP does not say whom it hears: not the same as nobody.
    neighbor: dict[str, _NvueHeard] | None = None


class _NvueListening(Shape):
    lldp: _NvueEars | None = None


class _NvuePfc(Shape):
    priority: str | int | None = Field(default=None, alias="pfc-priority")
    receives: str | None = Field(default=None, alias="rx-enabled")
    sends: str | None = Field(default=None, alias="tx-enabled")


class _NvueCongestion(Shape):
    mode: str | None = Field(default=None, alias="congestion-mode")
    classes: str | int | None = Field(default=None, alias="enabled-tc")


class _NvueRoce(Shape):
    pfc: _NvuePfc | None = None
    congestion: _NvueCongestion | None = Field(default=None, alias="congestion-control")


def read_cumulus(name: str, answers: Answers) -> ObservedSwitch:
    """What the answers of one switch say. Raises `AnswerMisread`, `CommandRefused`."""
    platform = read(_NvuePlatform, NVUE_PLATFORM, answers)
    interfaces = _each(_NvueInterface, NVUE_INTERFACES, answers)
    carried = _each(_NvueVlansOfPort, NVUE_PORT_VLANS, answers)
    unread = {"whether trunks tag their native VLAN": "NVUE does not say it"}
    heard = _heard(answers, unread)
    ports = {
        port: _port(port, one, carried.get(port), heard.get(port))
        for port, one in interfaces.items()
        if one.type in _PORTS
    }
    return ObservedSwitch(
        name=name,
        serial=None if (platform.serial or "").strip().lower() in _NO_SERIAL else platform.serial,
        system_mac=mac(platform.system_mac or ""),
        model=platform.model,
        ports=ports,
        vlans=_vlans(answers, unread),
        routed=tuple(_routed(interfaces)),
        lossless=_lossless(answers, unread),
        unread=unread,
    )


def _each(shape: type[Any], command: Command, answers: Answers) -> dict[str, Any]:
    return {name: fitted(shape, command, value) for name, value in table(command, answers).items()}


def _port(
    name: str,
    interface: _NvueInterface,
    carried: _NvueVlansOfPort | None,
    neighbours: tuple[Neighbour, ...] | None,
) -> ObservedPort:
    """One port. One that is not in the bridge may be in another, in a bond or nowhere; only an address says more."""
    link = interface.link
    states = list(link.state)
    admin = _UP.get(link.admin) if link.admin else _UP.get(states[0]) if len(states) == 1 else None
    oper = _UP.get(link.oper or "")
    base = ObservedPort(name=name, admin_up=admin, oper_up=oper, neighbours=neighbours)
    if carried is None:
        return ObservedPort(**{**vars(base), "mode": "routed"}) if interface.ip.address else base
    tagged, untagged = _sorted_out(name, carried)
    if not tagged and len(untagged) == 1:
        return ObservedPort(**{**vars(base), "mode": "access", "access_vlan": untagged[0]})
    native = untagged[0] if untagged else NO_VLAN
    allowed = joined(tuple((vlan, vlan) for vlan in (*tagged, *untagged)))
    return ObservedPort(**{**vars(base), "mode": "trunk", "native_vlan": native, "allowed": allowed})


def _sorted_out(name: str, carried: _NvueVlansOfPort) -> tuple[list[int], list[int]]:
    """(tagged VLANs, untagged ones) of a port. Raises `AnswerMisread` if there are two untagged ones."""
    found: dict[str, list[int]] = {"tagged": [], "untagged": []}
    for vlan, state in carried.vlans.items():
        if state.tag_state not in found:
            raise AnswerMisread(
                f"the answer to `{NVUE_PORT_VLANS.text}`: VLAN {vlan} of {name} is neither tagged nor untagged"
            )
        found[state.tag_state].append(_vlan(vlan, NVUE_PORT_VLANS))
    if len(found["untagged"]) > 1:
        raise AnswerMisread(f"the answer to `{NVUE_PORT_VLANS.text}`: {name} has several untagged VLANs")
    return found["tagged"], found["untagged"]


def _vlan(text: str, command: Command) -> int:
    try:
        return vlan_id(text)
    except ValueError as error:
        raise AnswerMisread(f"the answer to `{command.text}`: {error}") from None


def _vlans(answers: Answers, unread: dict[str, str]) -> frozenset[int] | None:
    try:
        return frozenset(_vlan(name, NVUE_VLANS) for name in table(NVUE_VLANS, answers))
    except CommandRefused as error:
        unread[NVUE_VLANS.about] = str(error)
        return None


def _routed(interfaces: Mapping[str, _NvueInterface]) -> Iterable[RoutedVlan]:
    for name, one in interfaces.items():
        if one.ip.address and (match := _SVI.fullmatch(name)):
            yield RoutedVlan(_vlan(match[1], NVUE_INTERFACES), one.ip.vrf, tuple(one.ip.address))


def _heard(answers: Answers, unread: dict[str, str]) -> dict[str, tuple[Neighbour, ...]]:
    try:
        ports = _each(_NvueListening, NVUE_LLDP, answers)
    except CommandRefused as error:
        unread[NVUE_LLDP.about] = str(error)
        return {}
    return {
        name: tuple(_neighbour(key, heard) for key, heard in port.lldp.neighbor.items())
        for name, port in ports.items()
        if port.lldp is not None and port.lldp.neighbor is not None
    }


def _neighbour(key: str, heard: _NvueHeard) -> Neighbour:
    return Neighbour(
        system_name=heard.chassis.system or key or None,
        chassis_id=mac_or_text(heard.chassis.id),
        port_id=mac_or_text(heard.port.name),
        port_description=heard.port.description or None,
    )


def _lossless(answers: Answers, unread: dict[str, str]) -> Lossless | None:
    try:
        roce = read(_NvueRoce, NVUE_ROCE, answers)
    except CommandRefused as error:
        unread[NVUE_ROCE.about] = str(error)
        return None
    return Lossless(_paused(roce.pfc), _marked(roce.congestion))


def _paused(pfc: _NvuePfc | None) -> tuple[int, ...] | None:
    """Priorities that are paused both ways; None where it is not said."""
    if pfc is None or pfc.receives is None or pfc.sends is None:
        return None
    if not {pfc.receives.lower(), pfc.sends.lower()} <= set(_ON):
        return ()
    return _numbers(pfc.priority)


def _marked(congestion: _NvueCongestion | None) -> tuple[int, ...] | None:
    if congestion is None or congestion.mode is None:
        return None
    return _numbers(congestion.classes) if congestion.mode.lower() == "ecn" else ()


def _numbers(value: str | int | None) -> tuple[int, ...] | None:
    """Numbers 0 to 7 from `3` or `0,3`; None for everything else."""
    parts = [part.strip() for part in str(value).split(",")]
    return tuple(map(int, parts)) if all(re.fullmatch("[0-7]", part) for part in parts) else None
