"""Addresses: L3-04 no overlap where subnets meet, CAP-05 subnets that hold everything planned on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from itertools import combinations

from interlock.vocabulary import NetworkRole
from interlock.vocabulary.references import EXTERNAL_SUBNET
from policies.about import Fact, SaidFact, resources
from policies.edges.plan import EXTERNAL_REFERENCE
from policies.facts.data import ShareAccessFact
from policies.facts.kinds import NetworkFact, PlanFacts, SubnetFact
from policies.facts.prefixes import prefix_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .data_grants import overlapping
from .rule import Cause, Polarity, Rule, RuleAnswer
from .unstated_roles import lacking, unstated_roles

#: Addresses that Neutron's DHCP takes in a subnet.
DHCP_PORTS = 1
#: Network and broadcast address.
UNUSABLE = 2


@dataclass(frozen=True)
class _Prefix:
    """A subnet: in words, the plan name of it or of its network, its addresses."""

    words: str
    name: str
    cidr: str


@dataclass(frozen=True)
class _Meeting:
    """Subnets that meet at a router or a server; `unknown` ones are described by no file."""

    #: `router` or `server`, and its plan name.
    kind: str
    name: str
    subnets: tuple[_Prefix, ...]
    unknown: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """In words."""
        return f"{self.kind} {self.name}"


def _disjoint_where_they_meet(model: Model, _: Names) -> RuleAnswer:
    meetings = [item for item in _meetings(model) if len(item.subnets) + len(item.unknown) > 1]
    violated = tuple(cause for item in meetings for cause in _overlaps(item))
    unknown = tuple(_unknown_cause(item) for item in meetings if item.unknown)
    alike, missing = overlapping(model)
    at_appliance = tuple(_appliance_cause(*pair, missing) for pair in alike)
    violated, unknown = (violated, unknown + at_appliance) if missing else (violated + at_appliance, unknown)
    return RuleAnswer(len(meetings) + len(alike), violated, unknown)


def _appliance_cause(item: ShareAccessFact, prefix: str, why: str, missing: tuple[Fact, ...]) -> Cause:
    return Cause(
        key=(item.name, why),
        message=f"{item.prefix} and {prefix} of {why} overlap and meet at the storage appliance",
        witness=(f"{item.network} {item.prefix}", "the storage appliance", f"{why} {prefix}"),
        hint="give one of them another prefix, or let the appliance decide by its own address too",
        missing=missing,
        specificity=84,
        about=resources(why, item.network),
    )


def _meetings(model: Model) -> Iterator[_Meeting]:
    external = model.site.site.external
    known = {EXTERNAL_SUBNET: _Prefix(f"subnet of {external.name}", external.name, external.cidr)}
    known |= {item.name: _Prefix(f"subnet {item.name}", item.name, item.cidr) for item in model.plan.subnets}
    for router in model.plan.routers:
        gateway = (EXTERNAL_SUBNET,) if router.external_network == EXTERNAL_REFERENCE else ()
        yield _meeting("router", router.name, router.subnets + gateway, known)
    for server in model.plan.servers:
        names = (port.subnet for port in model.plan.ports if port.server == server.name)
        yield _meeting("server", server.name, tuple(dict.fromkeys(names)), known)


def _meeting(kind: str, name: str, names: tuple[str, ...], known: Mapping[str, _Prefix]) -> _Meeting:
    found = tuple(known[name] for name in names if name in known)
    return _Meeting(kind, name, found, tuple(name for name in names if name not in known))


def _overlaps(meeting: _Meeting) -> Iterator[Cause]:
    for a, b in combinations(meeting.subnets, 2):
        if prefix_of(a.cidr).overlaps(prefix_of(b.cidr)):
            yield Cause(
                key=frozenset({a.words, b.words}),
                message=f"{a.words} ({a.cidr}) and {b.words} ({b.cidr}) overlap and meet at {meeting.where}",
                witness=(f"{a.words} {a.cidr}", meeting.where, f"{b.words} {b.cidr}"),
                hint="give one of them another prefix; what meets at a router or server must be disjoint",
                specificity=85,
                about=resources(a.name, b.name, meeting.name),
            )


def _unknown_cause(meeting: _Meeting) -> Cause:
    return Cause(
        key=meeting.where,
        message=f"nobody states the addresses of {', '.join(meeting.unknown)}, met at {meeting.where}",
        witness=(meeting.where, *meeting.unknown),
        hint="refer to subnets of this plan only",
        missing=tuple(map(SaidFact, meeting.unknown)),
        specificity=85,
        about=resources(*meeting.unknown, meeting.name),
    )


def _big_enough(model: Model, _: Names) -> RuleAnswer:
    subnets = [item for item in model.plan.subnets if item.network in model.plan.network]
    causes = tuple(cause for item in subnets for cause in _capacity(model.plan, item))
    unsure = lacking(model.plan, (item.network for item in subnets))
    return RuleAnswer(len(subnets), causes, tuple(unstated_roles(unsure, "which machines have addresses on it", 70)))


def _capacity(plan: PlanFacts, subnet: SubnetFact) -> Iterator[Cause]:
    prefix = prefix_of(subnet.cidr)
    needs = _needs(plan, subnet, plan.network[subnet.network])
    total = sum(needs.values())
    if total > prefix.num_addresses:
        sums = tuple(f"{number} {what}" for what, number in needs.items() if number)
        yield Cause(
            key=subnet.name,
            message=f"subnet {subnet.name} ({subnet.cidr}): {prefix.num_addresses} addresses, {total} needed",
            witness=(f"subnet {subnet.name} {subnet.cidr}", *sums),
            hint="pin a bigger subnet, or let the pool in the site file cut bigger ones",
            specificity=70,
            about=resources(subnet.name),
        )
    yield from _outside(plan, subnet, prefix)


def _needs(plan: PlanFacts, subnet: SubnetFact, network: NetworkFact) -> dict[str, int]:
    machines = sum(len(vpod.machines) for vpod in plan.vpods if vpod.name == network.vpod)
    per_machine: dict[NetworkRole | None, int] = {NetworkRole.IPU_DATA: 1, NetworkRole.MANAGEMENT: 2}
    return {
        "ports of servers": sum(port.subnet == subnet.name for port in plan.ports),
        "addresses of machines": machines * per_machine.get(network.role, 0),
        "gateway": int(subnet.gateway is not None),
        "DHCP": DHCP_PORTS if subnet.dhcp else 0,
        "network and broadcast address": UNUSABLE,
    }


def _outside(plan: PlanFacts, subnet: SubnetFact, prefix: IPv4Network | IPv6Network) -> Iterator[Cause]:
    ports = [(port.name, port.subnet, port.address) for port in plan.ports]
    behind = [(port.name, port.subnet, address) for port in plan.switch_ports for address in port.addresses]
    for name, on, address in (*ports, *behind):
        if on == subnet.name and ip_address(address) not in prefix:
            yield Cause(
                key=(subnet.name, name),
                message=f"{address} of port {name} is not in subnet {subnet.name} ({subnet.cidr})",
                witness=(f"port {name} {address}", f"subnet {subnet.name} {subnet.cidr}"),
                hint="an address lies in the subnet of its port",
                specificity=70,
                about=resources(name, subnet.name),
            )


L3_04 = Rule(
    id="L3-04",
    title="subnets are disjoint where they meet",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="a router or server with two routes to one prefix sends packets to the wrong side",
    source="docs/design/semantics.md §11, example 31",
    needs=("subnets", "router interfaces", "ports", "external.cidr"),
    ask=_disjoint_where_they_meet,
)
CAP_05 = Rule(
    id="CAP-05",
    title="subnets hold everything planned on them",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="the last server of a vPOD would fail half-way through an apply",
    source="Neutron: DHCP port and gateway take addresses of the subnet",
    needs=("subnets", "ports", "machines"),
    ask=_big_enough,
)
