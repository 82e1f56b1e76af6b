"""What a switch says of itself and its ports, as frozen types. None is what its reader does not know."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from interlock.model.text.values import Range

ObservedMode = Literal["access", "trunk", "dot1q-tunnel", "routed"]

#: In place of a VLAN: none, so untagged frames are dropped.
NO_VLAN = 0
ALL_VLANS: tuple[Range, ...] = ((1, 4094),)


@dataclass(frozen=True)
class Neighbour:
    """What says by LLDP that it is at the other end. Each part is None where it sent none."""

    system_name: str | None
    #: A MAC address in the form `00:11:22:33:44:55`, or whatever else it calls itself.
    chassis_id: str | None
    #: A MAC address in that form, or the name of its interface.
    port_id: str | None
    #: What it says of the interface; many send the MAC address as id and the name here.
    port_description: str | None = None

    def __str__(self) -> str:
        who = self.system_name or self.chassis_id or "an unnamed device"
        return f"{who}:{self.port_description or self.port_id or '?'}"


@dataclass(frozen=True)
class ObservedPort:
    """One port, by the switch's own name."""

    name: str
    admin_up: bool | None = None
    oper_up: bool | None = None
    mode: ObservedMode | None = None
    access_vlan: int | None = None
    #: Of a trunk, as it is set: `NO_VLAN` where it has none.
    native_vlan: int | None = None
    #: Of a trunk: inclusive ranges, in order and apart; empty: it carries none.
    allowed: tuple[Range, ...] | None = None
    #: True if a trunk tags its native VLAN too, and drops untagged frames.
    tags_native: bool | None = None
    #: None: LLDP was not read, or does not run here. Empty: it runs, and nobody was heard.
    neighbours: tuple[Neighbour, ...] | None = None

    @property
    def untagged(self) -> int | None:
        """The VLAN that untagged frames are in, `NO_VLAN` if they are dropped.

        A native VLAN that a trunk does not carry counts as none: the port is no member of it.
        """
        if self.mode in ("access", "dot1q-tunnel"):
            return self.access_vlan
        if self.mode != "trunk" or self.tags_native is True or self.native_vlan == NO_VLAN:
            return NO_VLAN if self.mode == "trunk" else None
        if self.native_vlan is None or self.allowed is None:
            return None
        return self.native_vlan if contains(self.allowed, self.native_vlan) else NO_VLAN


@dataclass(frozen=True)
class RoutedVlan:
    """Addresses that a switch itself has in a VLAN."""

    vlan: int
    #: Name of the routing instance; `default` is the default one; None: not said.
    vrf: str | None
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Lossless:
    """How a switch keeps RoCE from losing frames, for all of its ports."""

    #: Priorities that are paused (PFC) in both directions.
    pfc_priorities: tuple[int, ...] | None
    #: Traffic classes whose frames are marked (ECN).
    ecn_classes: tuple[int, ...] | None


@dataclass(frozen=True)
class ObservedSwitch:
    """One switch, read once."""

    name: str
    #: As the switch says it; None if it has none.
    serial: str | None
    #: In the form `00:11:22:33:44:55`.
    system_mac: str | None
    model: str | None
    #: Ports by the switch's own name: physical ones and bundles.
    ports: Mapping[str, ObservedPort]
    #: VLANs that there are.
    vlans: frozenset[int] | None = None
    routed: tuple[RoutedVlan, ...] | None = None
    lossless: Lossless | None = None
    #: What could not be read -> why; the values that it would have given are None.
    unread: Mapping[str, str] = field(default_factory=dict)
    #: When it was asked.
    at: datetime.datetime | None = None


def contains(ranges: tuple[Range, ...], vlan: int) -> bool:
    """True if a VLAN is in one of these ranges."""
    return any(first <= vlan <= last for first, last in ranges)


def joined(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """The same VLANs as ranges in order that neither meet nor touch."""
    found = list[Range]()
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def ranges_text(ranges: tuple[Range, ...]) -> str:
    """Ranges as people write them: `100,200-299`; `none` of none."""
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges) or "none"
