"""Who gets in by a floating address that the request declares: what its port's filters let in, against what is stated.

Filters take no edge away. Here they are what is proved: the request says from where its servers are reached, and
somebody relies on it that nobody else gets as far as their ssh.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, collapse_addresses

from interlock.resources import SecurityGroupRule as Filter
from policies.about import SaidFact, resources
from policies.facts.kinds import PlanFacts, PortFact
from policies.facts.prefixes import Prefix, prefix_of
from policies.facts.rights import FloatingIpFact
from policies.graph.model import Model

from .controller_access import shown
from .rule import Cause


def more_than_stated(model: Model) -> Iterator[Cause]:
    """Whatever of a public server lets in others than its request states; a group that no file describes may."""
    plan, pools = model.plan, tuple(prefix for prefix, _ in model.site.site.pools.subnets_of.values())
    stated = dict(plan.access.public_from)
    for item in plan.floating_ips:
        port = plan.port.get(item.port)
        if port is not None and item.name in plan.access.public:
            yield from _of_port(plan, item, port, (*stated.get(item.name, ()), *_beside(plan, port, pools)))


def _beside(plan: PlanFacts, port: PortFact, pools: tuple[str, ...]) -> tuple[str, ...]:
    """The prefix of the port's own subnet: whoever has an address of it has a port of the plan there. One that is in no
    pool of the site may be addresses of anybody outside.
    """
    subnet = plan.subnet.get(port.subnet)
    is_cut = subnet is not None and any(_holds(prefix_of(pool), prefix_of(subnet.cidr)) for pool in pools)
    return (subnet.cidr,) if subnet is not None and is_cut else ()


def _of_port(plan: PlanFacts, item: FloatingIpFact, port: PortFact, stated: tuple[str, ...]) -> Iterator[Cause]:
    if port.vnic_type != "normal" or not port.port_security:
        kind = f"of type {port.vnic_type}" if port.vnic_type != "normal" else "without port security"
        yield _cause(item, port, f"port {port.name} is {kind}, where no security group filters")
        return
    rules = {group.name: group.rules for group in plan.security_groups}
    for name in port.security_groups:
        if name not in rules:
            yield _unknown_cause(item, port, name)
        for rule in rules.get(name, ()):
            if rule.direction == "ingress" and not _is_within(rule, stated):
                yield _cause(item, port, f"security group {name} lets in {shown(rule)}", name)


def _is_within(rule: Filter, stated: tuple[str, ...]) -> bool:
    """True if it lets in nobody but the stated prefixes; who has a port of the plan is inside, and L3-11's matter."""
    if rule.remote_prefix is None:
        return rule.remote_group is not None
    wanted = prefix_of(rule.remote_prefix)
    return any(_holds(prefix, wanted) for prefix in _joined(stated))


def _joined(stated: tuple[str, ...]) -> Iterator[Prefix]:
    """The stated prefixes in as few as that takes: two halves hold what neither holds."""
    found = [prefix_of(text) for text in stated]
    yield from collapse_addresses(item for item in found if isinstance(item, IPv4Network))
    yield from collapse_addresses(item for item in found if isinstance(item, IPv6Network))


def _holds(prefix: Prefix, other: Prefix) -> bool:
    if isinstance(prefix, IPv4Network):
        return isinstance(other, IPv4Network) and other.subnet_of(prefix)
    return isinstance(other, IPv6Network) and other.subnet_of(prefix)


def _cause(item: FloatingIpFact, port: PortFact, why: str, *named: str) -> Cause:
    target = port.server or port.name
    return Cause(
        key=("reached", item.name, why),
        message=f"{target} is reached from outside by others than its request states: {why}",
        witness=("outside", item.name, f"port {port.name}", why),
        hint="state the prefixes under `access.public`, or take the filter away; a public port is an ordinary one with"
        " port security",
        specificity=20,
        about=resources(item.name, port.name, target, *named),
    )


def _unknown_cause(item: FloatingIpFact, port: PortFact, group: str) -> Cause:
    target = port.server or port.name
    return Cause(
        key=("perhaps reached", item.name, group),
        message=f"who gets in to {target} from outside is not known: no file says what security group {group} lets in",
        witness=("outside", item.name, f"port {port.name}", f"security group {group}"),
        hint="put the port of a public server into groups of the plan's own",
        missing=(SaidFact(f"rules of {group}"),),
        specificity=20,
        about=resources(item.name, port.name, target, group),
    )
