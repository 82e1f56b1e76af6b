"""Routing instances and VTEPs of a switch, as a site file states them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from interlock.model.text.errors import Code, fault
from interlock.model.text.names import DeviceName, NetworkName, network_name
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Vlan, VlanIds, Vni

from .physical import Vrf, Vtep

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


class VtepFile(FileModel):
    """A VLAN that the switch carries over an underlay."""

    vlan: Vlan = Field(description="the VLAN on this switch")
    vni: Vni = Field(description="the id of the overlay")
    underlay: DeviceName = Field(description="one of `underlays`")
    encapsulation: Literal["vxlan", "geneve"] | None = Field(
        default=None, description="how it is wrapped; without it, unknown"
    )


def vrfs_of(stated: Mapping[str, tuple[int, ...]]) -> tuple[Vrf, ...]:
    """In the order of the file."""
    return tuple(Vrf(name=name, vlans=vlans) for name, vlans in stated.items())


def vteps_of(stated: Iterable[VtepFile]) -> tuple[Vtep, ...]:
    """In the order of the file."""
    return tuple(Vtep(**entry.model_dump()) for entry in stated)
