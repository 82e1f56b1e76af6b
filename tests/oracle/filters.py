"""Who gets in by a floating IP: every address at which the answer could change is tried by itself."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from interlock.model.site.networks import Pools
from interlock.resources import Port, SecurityGroup, SecurityGroupRule, Subnet

from .world import Stack


def only_stated(stack: Stack, entry: str, port: Port, pools: Pools) -> bool:
    """True if all whom the port's filters let in are of the prefixes stated for this entry, or have a port there."""
    if port.vnic_type != "normal" or not port.port_security:
        return False
    stated = [ip_network(text) for text in (*stack.plan.public_from.get(entry, ()), *_own(stack, port, pools))]
    for name in port.security_groups:
        found = stack.find(SecurityGroup, name)
        if found is None:
            return False
        for address, version in _tried(found[2].rules, [str(item) for item in stated]):
            let_in = any(_lets_in(rule, address, version) for rule in found[2].rules)
            if let_in and not any(
                item.version == version and int(item[0]) <= address <= int(item[-1]) for item in stated
            ):
                return False
    return True


def _own(stack: Stack, port: Port, pools: Pools) -> Iterator[str]:
    """The port's own subnet, of which each address is that of a port of the plan: where the site cut it from a pool."""
    found = stack.find(Subnet, port.subnet)
    if found is None:
        return
    own = ip_network(found[2].cidr)
    for text in (prefix for prefix, _ in pools.subnets_of.values()):
        pool = ip_network(text)
        if own.version == pool.version and int(pool[0]) <= int(own[0]) and int(own[-1]) <= int(pool[-1]):
            yield found[2].cidr


def _lets_in(rule: SecurityGroupRule, address: int, version: int) -> bool:
    if rule.direction != "ingress" or rule.ethertype != f"IPv{version}" or rule.remote_group is not None:
        return False
    if rule.remote_prefix is None:
        return True
    network = ip_network(rule.remote_prefix, strict=False)
    return network.version == version and int(network[0]) <= address <= int(network[-1])


def _tried(rules: tuple[SecurityGroupRule, ...], stated: list[str]) -> Iterator[tuple[int, int]]:
    """(address, version): both ends of everything, and what lies next to them; the ends of all addresses too."""
    prefixes = [rule.remote_prefix for rule in rules if rule.remote_prefix is not None]
    for text in (*prefixes, *stated, "0.0.0.0/0", "::/0"):
        network = ip_network(text, strict=False)
        highest = (1 << network.max_prefixlen) - 1
        for end in (int(network[0]), int(network[-1])):
            yield from ((near, network.version) for near in (end - 1, end, end + 1) if 0 <= near <= highest)
