"""Identities held alone that are no nodes: machines, hosts, ports, segments, MAC addresses, ssh keys."""

from __future__ import annotations

from dataclasses import dataclass

from .node_types import plain


@dataclass(frozen=True, slots=True)
class MacAddress:
    """A MAC address, in lower case with colons: exclusive, and no node."""

    address: str

    def __str__(self) -> str:
        return f"mac:{plain(self.address)}"


@dataclass(frozen=True, slots=True)
class HeldMachine:
    """A machine that one owner holds: exclusive, and no node."""

    serial: str

    def __str__(self) -> str:
        return f"machine:{self.serial}"


@dataclass(frozen=True, slots=True)
class HeldHost:
    """A bare-metal host that one owner holds: exclusive, and no node."""

    serial: str

    def __str__(self) -> str:
        return f"host:{self.serial}"


@dataclass(frozen=True, slots=True)
class HeldSwitchPort:
    """A switch port that one owner holds: exclusive, and no node."""

    serial: str
    number: int

    def __str__(self) -> str:
        return f"switch-port:{self.serial}:{self.number}"


@dataclass(frozen=True, slots=True)
class HeldSegment:
    """A claimed VLAN or VNI, by the text of its node: exclusive, and no node."""

    segment: str

    def __str__(self) -> str:
        return f"segment:{self.segment}"


@dataclass(frozen=True, slots=True)
class HeldLoginKey:
    """A public ssh key, by its fingerprint: exclusive, and no node."""

    fingerprint: str

    def __str__(self) -> str:
        return f"ssh-key:{self.fingerprint}"
