"""Addresses on the 100G fabric of a whole host, as a netplan file.

The networks `ipu-data` and `storage` have no DHCP. A virtual server is told its addresses by Nova, in the
`network_data.json` from which cloud-init sets up every port; a whole host gets a config drive without one, because MAC
addresses of its interfaces are Ironic's. So its document says them, by the interface's MAC address where the site
states it, else by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from typing import Any

import yaml

from .document import Part
from .files import GuestFile

NETPLAN = "/etc/netplan/60-fabric.yaml"


@dataclass(frozen=True)
class FabricInterface:
    """One interface, untagged on its network. `mtu` None: the kernel's default."""

    name: str
    address: str
    subnet: str
    mac: str | None = None
    mtu: int | None = None


def fabric_addresses(interfaces: Sequence[FabricInterface]) -> Part:
    """The file, which only root may read as netplan asks for, and the command that applies it."""
    if not interfaces:
        return Part()
    content = {"network": {"version": 2, "ethernets": {item.name: _ethernet(item) for item in interfaces}}}
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=False)
    return Part(files=(GuestFile(NETPLAN, text, mode=0o600),), commands=(("netplan", "apply"),))


def _ethernet(item: FabricInterface) -> dict[str, Any]:
    match = {} if item.mac is None else {"match": {"macaddress": item.mac.lower()}}
    mtu = {} if item.mtu is None else {"mtu": item.mtu}
    address = str(IPv4Interface((item.address, IPv4Network(item.subnet).prefixlen)))
    # A boot goes on without the fabric; and no address is made up beside the planned one.
    return {
        **match,
        "dhcp4": False,
        "link-local": [],
        "optional": True,
        "addresses": [address],
        **mtu,
    }
