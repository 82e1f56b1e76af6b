"""Where an address says who somebody is: whoever may send from another's address is that other."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network

from interlock.resources import Network, Port, ShareAccess

from .authority import Meeting
from .frames import carried
from .readings import Facts
from .world import Stack, World

Prefix = IPv4Network | IPv6Network


def meetings_by_address(world: World) -> Iterator[Meeting]:
    """Owners one of whom may call itself by an address that stands for the other.

    On a wire of its own nobody minds. On a private VLAN several owners are told apart by address alone, and a grant by
    address holds for whoever can present one.
    """
    facts = Facts(world)
    posing = [item for stack in world.stacks for item in _ports(stack) if item[1].allowed_address_pairs]
    for stack, port in posing:
        owner, wires = stack.owner_of(port.project), _shared_wires(facts, stack, port.network)
        allowed = [ip_network(pair, strict=False) for pair in port.allowed_address_pairs]
        for other, prefix in (*_on(facts, wires), *_granted(world, stack, port)):
            if other != owner and any(_meet(prefix, pair) for pair in allowed):
                yield frozenset((owner, other)), True, (f"{port.name} of {owner} may be {prefix}, which is {other}'s",)


def _meet(one: Prefix, other: Prefix) -> bool:
    return one.version == other.version and one.overlaps(other)


def _ports(stack: Stack) -> Iterator[tuple[Stack, Port]]:
    yield from ((stack, port) for _, port in stack.all(Port))


def _shared_wires(facts: Facts, stack: Stack, reference: str) -> set[tuple[str, int]]:
    """(switch, VLAN) of a network where ports have roles."""
    found = stack.find(Network, reference)
    network = found[2] if found is not None else None
    if network is None or network.network_type != "vlan":
        return set()
    physical = facts.site.physical_network.get(network.physical_network or "")
    switches = set(physical.switches) if physical is not None else set()
    return {
        (switch, vlan)
        for (switch, _), settings in facts.settings.items()
        for setting in settings
        if setting.role is not None and switch in switches
        for vlan, _ in carried(setting, facts.ids)
        if vlan == network.segmentation_id
    }


def _on(facts: Facts, wires: set[tuple[str, int]]) -> Iterator[tuple[str, Prefix]]:
    """(owner, address) of every port on these wires."""
    for stack in facts.world.stacks if wires else ():
        for _, port in stack.all(Port):
            if wires & _shared_wires(facts, stack, port.network):
                yield stack.owner_of(port.project), ip_network(port.address)


def _granted(world: World, stack: Stack, port: Port) -> Iterator[tuple[str, Prefix]]:
    """(owner, prefix) of every grant at the appliance, if the port meets the appliance."""
    if any(item.network == port.network for _, item in stack.all(ShareAccess)):
        for other in world.stacks:
            yield from ((other.owner, ip_network(item.prefix)) for _, item in other.all(ShareAccess))
