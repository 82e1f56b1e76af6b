"""Who has which address in a vPOD's subnets: one offset on all of them, so that one number names a server.

======== ==================================================
.1       the router, on `control` only
.5       the V-IPU controller, on `control` and management
.10-.99  Poplar servers, by index
.100-    machines: RNIC on `ipu-data`; from the middle on in a subnet smaller than /24
last 8   what Neutron hands out by itself (its DHCP ports)
======== ==================================================

On `storage` the appliance has the address that the lock records, from the site's `storage_vips`.

A management subnet has no Poplar servers, so it may be smaller than /24: from .8 on each machine has two addresses
there, its BMC's and its gateway's. Machines are counted by position in their logical rack, and by logical racks of
sixteen where a vPOD has several, so a vPOD that grows within its rack changes nobody's address.

In the in-band subnet of a GPU cluster there are the router, its heads at .5 and .6 and, from .10 on, its nodes, up to
Neutron's own addresses. In its RoCE subnet each node has one address for each rail, one after the other: with eight
rails those of node 0 are .8 to .15, of node 1 .16 to .23. A node that is added, or leaves, changes nobody else's.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

from .errors import PlanningError

ROUTER = 1
CONTROLLER = 5
HEAD, MOST_HEADS = 5, 2
POPLAR = 10
MACHINES = 100
#: First address of a machine in a management subnet, where each has two.
MANAGED = 8
#: How many addresses below the broadcast address are left to Neutron.
AUTOMATIC = 8

#: Poplar servers that one vPOD can have before their addresses meet those of the machines.
MOST_SERVERS = MACHINES - POPLAR


def router_address(subnet: str) -> str:
    """The gateway of a control subnet."""
    return _address(subnet, ROUTER)


def controller_address(subnet: str) -> str:
    """The V-IPU controller's address."""
    return _address(subnet, CONTROLLER)


def poplar_address(subnet: str, index: int) -> str:
    """The address of Poplar server `index`, counted from 0."""
    if index >= MOST_SERVERS:
        raise PlanningError(f"a vPOD has addresses for {MOST_SERVERS} Poplar servers", "ask for another vPOD")
    return _address(subnet, POPLAR + index)


def most_nodes(length: int) -> int:
    """Nodes of a GPU cluster that have an address in a subnet with a prefix of this length."""
    return max(0, (1 << (32 - length)) - 1 - AUTOMATIC - POPLAR)


def most_railed_nodes(length: int, rails: int) -> int:
    """Nodes of so many rails that have an address for each in a RoCE subnet with a prefix of this length."""
    return max(0, ((1 << (32 - length)) - 1 - AUTOMATIC) // rails - 1)


def rail_address(subnet: str, number: int, rail: int, rails: int) -> str:
    """The address of a rail, from 1, of the node of this number in a RoCE subnet. Each node has `rails` of them."""
    return _address(subnet, rails * (number + 1) + rail - 1)


def node_address(subnet: str, number: int) -> str:
    """The address of the node of this number of a GPU cluster."""
    return _address(subnet, POPLAR + number)


def head_address(subnet: str, index: int) -> str:
    """The address of head `index` of a GPU cluster, 0 or 1."""
    return _address(subnet, HEAD + index)


def rnic_address(subnet: str, number: int, servers: int) -> str:
    """The address of a machine's RNIC beside `servers` Poplar servers; `number` is that of `machine_numbers`."""
    first = min(MACHINES, IPv4Network(subnet).num_addresses // 2)
    if POPLAR + servers > first:
        raise PlanningError(
            f"subnet {subnet} has addresses for {first - POPLAR} Poplar servers beside machines, not for {servers}",
            "let the site's pools cut larger subnets, /24 for vPODs of any size",
        )
    return _address(subnet, first + number)


def management_addresses(subnet: str, number: int) -> tuple[str, str]:
    """The addresses of a machine's BMC and gateway, ascending."""
    return _address(subnet, MANAGED + 2 * number), _address(subnet, MANAGED + 2 * number + 1)


def automatic_pool(subnet: str) -> tuple[tuple[str, str], ...]:
    """The allocation pool of a subnet: nothing in it is ever planned."""
    broadcast = int(IPv4Network(subnet).broadcast_address)
    return ((str(IPv4Address(broadcast - AUTOMATIC)), str(IPv4Address(broadcast - 1))),)


def _address(subnet: str, offset: int) -> str:
    network = IPv4Network(subnet)
    if offset >= network.num_addresses - 1 - AUTOMATIC:
        raise PlanningError(
            f"subnet {subnet} has no address .{offset}, the last {AUTOMATIC} being Neutron's own",
            "let the site's pools cut larger subnets, /24 for vPODs of any size",
        )
    return str(IPv4Address(int(network.network_address) + offset))
