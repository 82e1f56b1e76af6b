"""Switches of a site: settings of ports that fit together, VLANs of VRFs and VTEPs once each, underlays that exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interlock.model.text.errors import Code

from .physical import SwitchPortConfig
from .places import Path
from .switch_file import VtepFile
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


def check_switches(view: SiteView) -> None:
    """Adds faults of ports, VRFs and VTEPs."""
    for switch in _switches(view):
        for key, port in switch.ports.items():
            path = (*switch.path, "ports", key)
            _check_native(view, path, port.setting)
            _check_translations(view, path, port.setting)
            _check_private(view, path, port.setting)
        _check_vrfs(view, switch)
        _check_vteps(view, switch)


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


def _switches(view: SiteView) -> Iterator[SwitchStatement]:
    for index, rack in enumerate(view.file.racks):
        for key, kind in (("tor", rack.tor), ("management", rack.management), ("gw_switches", rack.gw_switches)):
            if kind is not None:
                routed = kind.routed_vlans or ()
                yield SwitchStatement(("racks", index, key), kind.ports or {}, routed, kind.vrfs, kind.vteps)
    for name, switch in view.file.switches.items():
        routed = switch.routed_vlans or ()
        yield SwitchStatement(("switches", name), switch.ports, routed, switch.vrfs, switch.vteps)
