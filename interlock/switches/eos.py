"""Arista EOS: what the answers to `show … | json` say. The shapes' sources stand beside the tests' answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from .answers import AnswerMisread, Answers, CommandRefused, Shape, mac, mac_or_text, quoted, read, vlan_id, vlan_list
from .commands import EOS_ADDRESSES, EOS_LLDP, EOS_STATUS, EOS_SWITCHPORTS, EOS_VERSION, EOS_VLANS
from .observed import ALL_VLANS, NO_VLAN, Neighbour, ObservedMode, ObservedPort, ObservedSwitch, RoutedVlan

#: EOS's word -> ours; every other mode (`tap`, `tool`, `trunk phone` …) is unknown.
_MODES: Mapping[str, ObservedMode] = {"access": "access", "trunk": "trunk", "dot1qTunnel": "dot1q-tunnel"}
#: `linkStatus` -> (admin state, oper state). A port that was shut down by the switch itself is enabled by its setting.
_STATES: Mapping[str, tuple[bool, bool]] = {
    "connected": (True, True),
    "notconnect": (True, False),
    "disabled": (False, False),
    "errdisabled": (True, False),
    "inactive": (True, False),
}
#: What counts as a port; `Management1`, `Vlan100` and `Loopback0` do not.
_PORTS = ("Ethernet", "Port-Channel")


class _EosVersion(Shape):
    serial: str = Field(alias="serialNumber")
    system_mac: str = Field(alias="systemMacAddress")
    model: str | None = Field(default=None, alias="modelName")


class _EosSetting(Shape):
    mode: str
    access_vlan: int = Field(alias="accessVlanId", ge=0, le=4094)
    #: 0 where the native VLAN is tagged, so that there is none.
    native_vlan: int = Field(alias="trunkingNativeVlanId", ge=0, le=4094)
    allowed: str = Field(alias="trunkAllowedVlans")
    #: `switchport dot1q vlan tag required`, as it is in effect: untagged frames are dropped.
    tag_required: bool | None = Field(default=None, alias="dot1qVlanTagRequiredStatus")


class _EosSwitchport(Shape):
    #: False of a routed port: it does not switch. It says nothing of the admin state.
    enabled: bool
    setting: _EosSetting | None = Field(default=None, alias="switchportInfo")


class _EosSwitchports(Shape):
    ports: dict[str, _EosSwitchport] = Field(alias="switchports")


class _EosVlanInformation(Shape):
    mode: str | None = Field(default=None, alias="interfaceMode")


class _EosStatus(Shape):
    link: str = Field(alias="linkStatus")
    vlans: _EosVlanInformation = Field(default=_EosVlanInformation(), alias="vlanInformation")


class _EosStatuses(Shape):
    ports: dict[str, _EosStatus] = Field(alias="interfaceStatuses")


class _EosVlans(Shape):
    vlans: dict[str, Any]


class _EosFarPort(Shape):
    port: str | None = Field(default=None, alias="interfaceId")
    description: str | None = Field(default=None, alias="interfaceDescription")


class _EosHeard(Shape):
    chassis: str | None = Field(default=None, alias="chassisId")
    system: str | None = Field(default=None, alias="systemName")
    far: _EosFarPort = Field(default=_EosFarPort(), alias="neighborInterfaceInfo")


class _EosEars(Shape):
    heard: list[_EosHeard] = Field(alias="lldpNeighborInfo")


class _EosLldp(Shape):
    ports: dict[str, _EosEars] = Field(alias="lldpNeighbors")


class _EosAddress(Shape):
    address: str
    length: int = Field(alias="maskLen")


class _EosAddresses(Shape):
    primary: _EosAddress = Field(alias="primaryIp")
    others: list[_EosAddress] = Field(default=[], alias="secondaryIpsOrderedList")


class _EosInterface(Shape):
    vrf: str | None = None
    addresses: _EosAddresses = Field(alias="interfaceAddress")


class _EosInterfaces(Shape):
    interfaces: dict[str, _EosInterface]


def read_eos(name: str, answers: Answers) -> ObservedSwitch:
    """What the answers of one switch say. Raises `AnswerMisread`, `CommandRefused`."""
    version = read(_EosVersion, EOS_VERSION, answers)
    settings = read(_EosSwitchports, EOS_SWITCHPORTS, answers).ports
    states = read(_EosStatuses, EOS_STATUS, answers).ports
    unread = dict[str, str]()
    heard = _heard(answers, unread)
    names = dict.fromkeys(one for one in (*states, *settings) if one.startswith(_PORTS))
    return ObservedSwitch(
        name=name,
        serial=version.serial or None,
        system_mac=mac(version.system_mac),
        model=version.model,
        ports={one: _port(one, settings.get(one), states.get(one), heard.get(one)) for one in names},
        vlans=_vlans(answers, unread),
        routed=_routed(answers, unread),
        unread=unread | {"PFC and ECN": "EOS is not asked: no public document gives the form of its answer"},
    )


def _port(
    name: str, port: _EosSwitchport | None, status: _EosStatus | None, neighbours: tuple[Neighbour, ...] | None
) -> ObservedPort:
    admin, oper = (None, None) if status is None else _STATES.get(status.link, (None, None))
    found = ObservedPort(name=name, admin_up=admin, oper_up=oper, neighbours=neighbours)
    if port is None:
        # Members of a bundle are in no list of switchports: what they carry is the bundle's to say.
        routed = status is not None and status.vlans.mode == "routed"
        return _with(found, mode="routed") if routed else found
    if not port.enabled:
        return _with(found, mode="routed")
    if port.setting is None:
        raise AnswerMisread(f"the answer to `{EOS_SWITCHPORTS.text}` has no settings of port {quoted(name)}")
    return _set(found, port.setting)


def _set(port: ObservedPort, setting: _EosSetting) -> ObservedPort:
    try:
        allowed = _ALLOWED.get(setting.allowed.upper())
        allowed = vlan_list(setting.allowed) if allowed is None else allowed
    except ValueError as error:
        raise AnswerMisread(f"the answer to `{EOS_SWITCHPORTS.text}` on {quoted(port.name)}: {error}") from None
    return _with(
        port,
        mode=_MODES.get(setting.mode),
        access_vlan=setting.access_vlan or NO_VLAN,
        native_vlan=setting.native_vlan or NO_VLAN,
        allowed=allowed,
        tags_native=setting.tag_required,
    )


_ALLOWED = {"ALL": ALL_VLANS, "NONE": ()}


def _with(port: ObservedPort, **more: Any) -> ObservedPort:
    return ObservedPort(**{**vars(port), **more})


def _vlans(answers: Answers, unread: dict[str, str]) -> frozenset[int] | None:
    try:
        found = read(_EosVlans, EOS_VLANS, answers).vlans
    except CommandRefused as error:
        unread[EOS_VLANS.about] = str(error)
        return None
    try:
        return frozenset(map(vlan_id, found))
    except ValueError as error:
        raise AnswerMisread(f"the answer to `{EOS_VLANS.text}`: {error}") from None


def _heard(answers: Answers, unread: dict[str, str]) -> dict[str, tuple[Neighbour, ...]]:
    try:
        ports = read(_EosLldp, EOS_LLDP, answers).ports
    except CommandRefused as error:
        unread[EOS_LLDP.about] = str(error)
        return {}
    return {name: tuple(map(_neighbour, port.heard)) for name, port in ports.items()}


def _neighbour(heard: _EosHeard) -> Neighbour:
    return Neighbour(
        system_name=heard.system or None,
        chassis_id=mac_or_text(heard.chassis),
        port_id=mac_or_text(heard.far.port),
        port_description=heard.far.description or None,
    )


def _routed(answers: Answers, unread: dict[str, str]) -> tuple[RoutedVlan, ...] | None:
    try:
        interfaces = read(_EosInterfaces, EOS_ADDRESSES, answers).interfaces
    except CommandRefused as error:
        unread[EOS_ADDRESSES.about] = str(error)
        return None
    return tuple(_routed_vlan(name, one) for name, one in interfaces.items() if name.startswith("Vlan"))


def _routed_vlan(name: str, interface: _EosInterface) -> RoutedVlan:
    try:
        vlan = vlan_id(name.removeprefix("Vlan"))
    except ValueError as error:
        raise AnswerMisread(f"the answer to `{EOS_ADDRESSES.text}`: {error}") from None
    addresses = (interface.addresses.primary, *interface.addresses.others)
    return RoutedVlan(vlan, interface.vrf, tuple(f"{one.address}/{one.length}" for one in addresses))
