"""Rails of a whole host: several interfaces with an address each in one subnet, as netplan and sysctl take them.

Linux counts an address as the host's and not the interface's: each interface would answer ARP for all of them, and all
frames would leave by one, so that a neighbour sends to the wrong rail (Linux kernel, networking/ip-sysctl: arp_ignore,
arp_announce). So each answers for its own address alone, and what is sent from an address leaves by its interface, by a
routing table for each (netplan, reference: routes, routing-policy).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from typing import Any

import yaml

from .document import Part
from .files import GuestFile
from .kernel import kernel_parameters

RAILS = "/etc/netplan/60-roce.yaml"
#: Interfaces are called so, with the rail's number: a MAC address is what the site knows of them.
PREFIX = "roce"
#: Routing tables of rails count from here; the kernel's own are 253 to 255.
_TABLES = 100

#: 1: answer only on the interface that has the address. 2: ask from the address that is the interface's.
_OF_ONE_INTERFACE = {"net.ipv4.conf.all.arp_ignore": "1", "net.ipv4.conf.all.arp_announce": "2"}


@dataclass(frozen=True)
class Rail:
    """One rail, from 1, untagged on its network. `mtu` None: the kernel's default."""

    number: int
    mac: str
    address: str
    subnet: str
    mtu: int | None = None

    @property
    def name(self) -> str:
        """What the interface is called in the host."""
        return f"{PREFIX}{self.number}"


def railed(rails: Sequence[Rail], in_band: str | None) -> Part:
    """The files, and the commands that apply them. `in_band`: MAC address of the interface that has DHCP.

    With ten interfaces cloud-init may ask for an address on one of the others, so that one is said as well.
    """
    if not rails:
        return Part()
    ethernets = {rail.name: _ethernet(rail) for rail in rails}
    if in_band is not None:
        ethernets = {"in-band": {"match": {"macaddress": in_band.lower()}, "dhcp4": True}} | ethernets
    content = {"network": {"version": 2, "ethernets": ethernets}}
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=False)
    arp = kernel_parameters("rails", _OF_ONE_INTERFACE)
    files = (GuestFile(RAILS, text, mode=0o600), *arp.files)
    return Part(files=files, commands=(*arp.commands, ("netplan", "apply")))


def _ethernet(rail: Rail) -> dict[str, Any]:
    table, mtu = _TABLES + rail.number, {} if rail.mtu is None else {"mtu": rail.mtu}
    return {
        "match": {"macaddress": rail.mac.lower()},
        "set-name": rail.name,
        "dhcp4": False,
        "link-local": [],
        # A boot goes on without the fabric.
        "optional": True,
        "addresses": [str(IPv4Interface((rail.address, IPv4Network(rail.subnet).prefixlen)))],
        **mtu,
        "routes": [{"to": rail.subnet, "scope": "link", "from": rail.address, "table": table}],
        "routing-policy": [{"from": rail.address, "table": table}],
    }
