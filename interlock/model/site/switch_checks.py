"""Switches of a site: settings of ports that fit together, VLANs of VRFs and VTEPs once each, underlays that exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interlock.model.text.errors import Code

from .physical import SwitchPortConfig
from .places import Path, places
from .switch_file import VtepFile, WiringFile
from .switch_ports import PortTable
from .view import SiteView


@dataclass(frozen=True)
class SwitchStatement:
    """What a file says of a switch, or of all switches of one kind in a rack, and where."""

    path: Path
    ports: PortTable
    routed_vlans: Sequence[int]
    vrfs: dict[str, tuple[int, ...]]
    vteps: Sequence[VtepFile]
    wiring: WiringFile


def check_switches(view: SiteView) -> None:
    """Adds faults of ports, VRFs and VTEPs."""
    for switch in _switches(view):
        for key, port in switch.ports.items():
            path = (*switch.path, "ports", key)
            _check_native(view, path, port.setting)
            _check_translations(view, path, port.setting)
            _check_private(view, path, port.setting)
            _check_filled(view, path, port.setting, switch.wiring.wired_by)
        _check_vrfs(view, switch)
        _check_vteps(view, switch)
        _check_quarantine(view, switch)
    _check_port_names(view)
    _check_driver_fills(view)


def _check_native(view: SiteView, path: Path, port: SwitchPortConfig) -> None:
    """A frame of one VLAN leaves a port either with its tag or without."""
    native = port.untagged if port.mode == "trunk" else None
    if native is not None and _lists(port, native):
        message = f"VLAN {native} is native here and in the list of tagged ones"
        hint = "take it out of the list: the native VLAN is the one that has no tag"
        view.faults.add(Code.CONTRADICTION, path, message, hint)
    if port.tag_native is not None and native is None:
        message = "`tag_native` says how a trunk treats its native VLAN, and this port has none"
        hint = "leave the line out, or write the VLAN: `mode: trunk 1000-2999 native 12`"
        view.faults.add(Code.CONTRADICTION, (*path, "tag_native"), message, hint)


def _lists(port: SwitchPortConfig, vlan: int) -> bool:
    """Whether a VLAN is in the list of tagged ones; a port without a list names none."""
    return any(first <= vlan <= last for first, last in port.tagged or ())


def _check_translations(view: SiteView, path: Path, port: SwitchPortConfig) -> None:
    """Each changes the id of a VLAN that the trunk carries with its tag."""
    if port.translations and port.mode != "trunk":
        message = "only a trunk translates VLAN ids: other ports have frames without tags, or pass tags on unread"
        hint = "write `mode: trunk …`, or leave the translations out"
        view.faults.add(Code.CONTRADICTION, (*path, "translations"), message, hint)
        return
    owners = dict[int, int]()
    for wire, vlan in port.translations:
        where = (*path, "translations", str(wire))
        first = owners.setdefault(vlan, wire)
        if first != wire:
            message = f"VLAN {vlan} has the id {first} on this wire already"
            view.faults.add(Code.TWICE, where, message, "a VLAN has one id on a wire")
        elif wire == vlan:
            view.faults.add(Code.VALUE, where, f"{wire} is translated to itself", "leave the line out")
        elif port.tagged is not None and not _lists(port, vlan):
            message = f"VLAN {vlan} is not among the tagged ones of this trunk"
            hint = "list VLANs as they are inside the switch; ids on the wire stand before the colon"
            view.faults.add(Code.CONTRADICTION, where, message, hint)


def _check_private(view: SiteView, path: Path, port: SwitchPortConfig) -> None:
    if port.private_vlan is not None and port.mode != "access":
        message = f"only an access port has a role in a private VLAN, and this one is `{port.mode}`"
        hint = "write `mode: access`, or leave the line out: without it, the port is promiscuous"
        view.faults.add(Code.CONTRADICTION, (*path, "private_vlan"), message, hint)


def _check_filled(view: SiteView, path: Path, port: SwitchPortConfig, wired_by: str) -> None:
    """A driver adds to the list of a trunk, by the ids that networks have, at switches whose ports it sets."""
    if port.filled_by is None:
        return
    message, hint = "", ""
    if port.mode != "trunk":
        message = f"only a trunk is filled with VLANs, and this port is `{port.mode}`"
        hint = "write `mode: trunk none`, or leave the line out"
    elif port.tagged is None:
        message = "a trunk of all VLANs has none left to be filled with"
        hint = "list those that it carries besides: `mode: trunk 110`, or `mode: trunk none`"
    elif port.translations:
        message = "what a driver puts onto a trunk has the id of its network there, and this one translates ids"
        hint = "leave the translations out, or list the trunk's VLANs and fill it by nobody"
    elif wired_by != "neutron":
        message = f"Neutron fills no trunk of a switch that is wired by `{wired_by}`"
        hint = "write `wired_by: neutron` of the switch, or list the trunk's VLANs"
    if message:
        view.faults.add(Code.CONTRADICTION, (*path, "filled_by"), message, hint)


def _check_driver_fills(view: SiteView) -> None:
    """What fills a trunk is the networks of a physical network."""
    paths = {place.name: place.path for place in places(view.file) if place.section == "switches"}
    reached = {name for network in view.site.physical_networks for name in network.switches}
    for switch in view.site.switches:
        if switch.name not in reached and any(port.filled_by for port in switch.ports):
            message = f"Neutron fills a trunk of `{switch.name}`, and no physical network reaches this switch"
            hint = "list it under `switches` of the physical network whose VLANs the trunk carries"
            view.faults.add(Code.CONTRADICTION, (*paths[switch.name], "ports"), message, hint)


def _check_vrfs(view: SiteView, switch: SwitchStatement) -> None:
    """An address in a VLAN belongs to one VRF."""
    owners = dict.fromkeys(switch.routed_vlans, "the default VRF (`routed_vlans`)")
    for name, vlans in switch.vrfs.items():
        for vlan in vlans:
            owner = owners.setdefault(vlan, f"`{name}`")
            if owner != f"`{name}`":
                hint = "the switch's address in a VLAN is in one VRF: keep it in one of them"
                path = (*switch.path, "vrfs", name)
                view.faults.add(Code.TWICE, path, f"VLAN {vlan} is in {owner} already", hint)


def _check_vteps(view: SiteView, switch: SwitchStatement) -> None:
    seen = set[int]()
    for index, vtep in enumerate(switch.vteps):
        path = (*switch.path, "vteps", index)
        if vtep.vlan in seen:
            hint = "a VLAN of a switch is one segment with one overlay"
            view.faults.add(Code.TWICE, (*path, "vlan"), f"VLAN {vtep.vlan} has an overlay already", hint)
        seen.add(vtep.vlan)
        view.need((*path, "underlay"), "an underlay", vtep.underlay, view.file.underlays, "underlays")


def _check_quarantine(view: SiteView, switch: SwitchStatement) -> None:
    """Nobody is given the VLAN in which ports of all former tenants rest."""
    vlan = switch.wiring.quarantine_vlan
    if vlan is not None and vlan not in view.file.pools.reserved_vlans:
        message = f"VLAN {vlan} is not among `pools.reserved_vlans`, so a pool or a request could give it out"
        view.faults.add(Code.CONTRADICTION, (*switch.path, "quarantine_vlan"), message, "list it there, too")


def _check_port_names(view: SiteView) -> None:
    """One pattern for each group of ports, names that differ, and names at all where a driver is told them."""
    paths = {place.name: place.path for place in places(view.file) if place.section == "switches"}
    for switch in view.site.switches:
        path, names = paths[switch.name], switch.port_names
        if names is None:
            if switch.wired_by != "hand":
                message = f"`{switch.name}` is wired by `{switch.wired_by}`, which has to know how it calls its ports"
                hint = 'state `port_names`, as in ["Ethernet{}/1", "Ethernet{}"]'
                view.faults.add(Code.MISSING_KEY, path, message, hint)
        elif len(names) != len(switch.port_groups):
            message = (
                f"{len(names)} patterns of port names, and the switch has {len(switch.port_groups)} groups of ports"
            )
            view.faults.add(Code.VALUE, (*path, "port_names"), message, "write one for each group, in their order")


def _switches(view: SiteView) -> Iterator[SwitchStatement]:
    for index, rack in enumerate(view.file.racks):
        for key, kind in (("tor", rack.tor), ("management", rack.management), ("gw_switches", rack.gw_switches)):
            if kind is not None:
                routed = kind.routed_vlans or ()
                yield SwitchStatement(("racks", index, key), kind.ports or {}, routed, kind.vrfs, kind.vteps, kind)
    for name, switch in view.file.switches.items():
        routed = switch.routed_vlans or ()
        yield SwitchStatement(("switches", name), switch.ports, routed, switch.vrfs, switch.vteps, switch)
