"""Routing instances and VTEPs of a switch, as a site file states them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.hardware.switches import SWITCHES
from interlock.model.text.errors import Code, fault
from interlock.model.text.names import DeviceName, NetworkName, network_name
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Vlan, VlanIds, Vni, shown

from .physical import Vrf, Vtep, WiredBy

#: What the keys of a switch mean, wherever a switch is written.
VRFS = "VRF → VLANs in which the switch has an address there; what is in none of them is in the default VRF"
VTEPS = "VLANs that are one segment with an overlay (VXLAN, Geneve) of an underlay"


def vrf_name(value: Any) -> str:
    """The name of a routing instance beside the default one."""
    name = network_name(value)
    if name == "default":
        hint = "VLANs of the default VRF stand under `routed_vlans`"
        raise fault(Code.NAME, "`default` is no VRF of its own", hint)
    return name


Vrfs = dict[Annotated[NetworkName, BeforeValidator(vrf_name)], VlanIds]


def port_pattern(value: Any) -> str:
    """How a group of ports is called, with `{}` for the number."""
    if not isinstance(value, str) or not _PATTERN.fullmatch(value):
        hint = "write it with {} where the number stands, as in Ethernet{}/1 or swp{}"
        raise fault(Code.VALUE, f"{shown(value)} is no pattern of port names", hint)
    return value


_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9/:._-]*\{\}[A-Za-z0-9/:._-]*")
_PATTERN_TEXT = {
    "type": "string",
    "pattern": r"^[A-Za-z][A-Za-z0-9/:._-]*\{\}[A-Za-z0-9/:._-]*$",
    "examples": ["swp{}"],
}
PortPattern = Annotated[str, BeforeValidator(port_pattern), WithJsonSchema(_PATTERN_TEXT)]


class WiringFile(FileModel):
    """Who sets the ports of a switch, and what that needs to know."""

    wired_by: WiredBy = Field(
        default="hand",
        description="who sets its ports: `neutron`, by its driver; `export`, a pipeline of yours that owns the "
        "configuration; `hand`, a person",
    )
    port_names: list[PortPattern] | None = Field(
        default=None,
        description='what it calls its ports, one pattern for each port group, as in `["Ethernet{}/1", "Ethernet{}"]`; '
        "without it as the catalogue says of its model, else unknown",
    )
    quarantine_vlan: Vlan | None = Field(
        default=None,
        description="VLAN in which its driver leaves ports that no plan uses; one of `reserved_vlans`; without it, "
        "ports without a plan are disabled",
    )


class VtepFile(FileModel):
    """A VLAN that the switch carries over an underlay."""

    vlan: Vlan = Field(description="the VLAN on this switch")
    vni: Vni = Field(description="the id of the overlay")
    underlay: DeviceName = Field(description="one of `underlays`")
    encapsulation: Literal["vxlan", "geneve"] | None = Field(
        default=None, description="how it is wrapped; without it, unknown"
    )


def wiring_of(stated: WiringFile, model: str, groups: tuple[tuple[int, int], ...], mac: str | None) -> dict[str, Any]:
    """The fields of a `Switch` about its wiring; names of ports by the catalogue where the file states none.

    The catalogue knows the names of the ports that it knows: not those of a switch with others, as by breakout cables.
    """
    names = None if stated.port_names is None else tuple(stated.port_names)
    if names is None and model in SWITCHES and SWITCHES[model].port_groups.value == groups:
        names = SWITCHES[model].default_port_names.value
    return {"wired_by": stated.wired_by, "mac": mac, "port_names": names, "quarantine_vlan": stated.quarantine_vlan}


def vrfs_of(stated: Mapping[str, tuple[int, ...]]) -> tuple[Vrf, ...]:
    """In the order of the file."""
    return tuple(Vrf(name=name, vlans=vlans) for name, vlans in stated.items())


def vteps_of(stated: Iterable[VtepFile]) -> tuple[Vtep, ...]:
    """In the order of the file."""
    return tuple(Vtep(**entry.model_dump()) for entry in stated)
