"""Rule sets of security groups. Neutron's groups are stateful: an answer needs no rule of its own."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network
from typing import Literal

from interlock.resources import SecurityGroupRule

SSH = 22

#: Rules of the groups of one controller: one of `controller_api_rules`, one of `controller_management_rules`.
RULES_OF_A_CONTROLLER = 2


def poplar_rules(ssh_from: Sequence[str]) -> tuple[SecurityGroupRule, ...]:
    """Control ports of Poplar servers: ssh and ICMP from the tenant's prefixes in, everything out."""
    rules: list[SecurityGroupRule] = []
    for prefix in ssh_from:
        version = _ethertype(prefix)
        rules += [
            SecurityGroupRule(
                direction="ingress", ethertype=version, protocol="tcp", port_min=SSH, port_max=SSH,
                remote_prefix=prefix,
            ),
            SecurityGroupRule(direction="ingress", ethertype=version, protocol="icmp", remote_prefix=prefix),
        ]  # fmt: skip
    rules += [
        SecurityGroupRule(direction="egress", ethertype="IPv4"),
        SecurityGroupRule(direction="egress", ethertype="IPv6"),
    ]
    return tuple(rules)


def head_rules(ssh_from: Sequence[str], subnet: str) -> tuple[SecurityGroupRule, ...]:
    """Heads of a GPU cluster: ssh and ICMP from the tenant's prefixes in, everything of its own nodes in, which answer
    to schedulers and jobs at any port, and everything out.
    """
    return (SecurityGroupRule(direction="ingress", remote_prefix=subnet), *poplar_rules(ssh_from))


def controller_api_rules(port: int, control_subnet: str) -> tuple[SecurityGroupRule, ...]:
    """The controller on `control`: its user API from that subnet in, and nothing out."""
    return (
        SecurityGroupRule(
            direction="ingress", protocol="tcp", port_min=port, port_max=port, remote_prefix=control_subnet
        ),
    )


def controller_management_rules(management_subnet: str) -> tuple[SecurityGroupRule, ...]:
    """The controller on the management network: out to its machines, and nothing in."""
    return (SecurityGroupRule(direction="egress", remote_prefix=management_subnet),)


def _ethertype(prefix: str) -> Literal["IPv4", "IPv6"]:
    return "IPv6" if ip_network(prefix).version == 6 else "IPv4"
