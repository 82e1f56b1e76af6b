"""Addresses of ports: L3-03 who may pose as the network, L3-07 reserved addresses, L3-10 addresses of others."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address

from policies.about import Reason, resources
from policies.edges.plan import PlanOnSite
from policies.edges.shape import Relation
from policies.facts.guards import assumption
from policies.facts.kinds import PlanFacts, PortFact, SubnetFact
from policies.facts.port_modes import SwitchEnd
from policies.facts.prefixes import Prefix, prefix_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_guard

# L3-03


def _nobody_poses_as_the_network(model: Model, _: Names) -> RuleAnswer:
    ports = [port for port in model.plan.ports if port.owner == model.plan.owner]
    held = assumption(model.site.site, "A2", only="default_policies")
    cause = Cause(
        key="device_owner",
        message=f"whether a tenant can make a port whose device_owner begins with network: is "
        f"{'true' if held.broken else 'not known'}",
        witness=tuple(map(str, (*held.broken, *held.missing))),
        hint="keep Neutron's default policies, and state `default_policies` of A2",
        missing=held.missing,
        specificity=30,
    )
    return by_guard(len(ports), held, (cause,) if ports else ())


# L3-07

#: Where Neutron and Nova answer for metadata: on the link, for IPv4 and IPv6.
METADATA = (prefix_of("169.254.0.0/16"), prefix_of("fe80::/10"))


def _reserved_addresses(model: Model, _: Names) -> RuleAnswer:
    plan = model.plan
    causes = [cause for subnet in plan.subnets for cause in _in_metadata(subnet)]
    stated = [(port.name, port.subnet, port.address) for port in plan.ports]
    behind = [(port.name, port.subnet or "", one) for port in plan.switch_ports for one in port.addresses]
    causes += [cause for entry in (*stated, *behind) for cause in _taken(plan, *entry)]
    return RuleAnswer(len(plan.subnets) + len(stated) + len(behind), tuple(causes))


def _in_metadata(subnet: SubnetFact) -> Iterator[Cause]:
    for link in METADATA:
        if prefix_of(subnet.cidr).overlaps(link):
            yield _reserved_cause(subnet.name, f"its prefix {subnet.cidr} covers the metadata service's ({link})")


def _taken(plan: PlanFacts, name: str, on: str, stated: str) -> Iterator[Cause]:
    """Neutron's DHCP takes addresses of the subnet's pools, so an address given by hand must lie outside them."""
    subnet = plan.subnet.get(on)
    if subnet is None:
        return
    address = ip_address(stated)
    if stated == subnet.gateway:
        yield _reserved_cause(name, f"{stated} is the gateway of {subnet.name}", subnet.name)
    prefix = prefix_of(subnet.cidr)
    if address in (prefix.network_address, prefix.broadcast_address):
        yield _reserved_cause(name, f"{stated} is no host's address in {subnet.cidr}")
    for first, last in subnet.pools:
        if int(ip_address(first)) <= int(address) <= int(ip_address(last)):
            yield _reserved_cause(name, f"{stated} is in the pool {first}-{last}, which Neutron gives out")


def _reserved_cause(name: str, why: str, *named: str) -> Cause:
    """`named`: the resources that the reason names."""
    return Cause(
        key=(name, why),
        message=f"{name}: {why}",
        witness=(name, why),
        hint="take an address that nothing gives out by itself",
        specificity=25,
        about=resources(name, *named),
    )


# L3-10


def _own_addresses_only(model: Model, _: Names) -> RuleAnswer:
    pairs = [(port, pair) for port in model.plan.ports for pair in port.allowed_address_pairs]
    return RuleAnswer(len(pairs), tuple(cause for port, pair in pairs for cause in _borrowed(model, port, pair)))


def _borrowed(model: Model, port: PortFact, pair: str) -> Iterator[Cause]:
    """On a wire of its own a tenant may call itself what it likes; where an address is what lets it in, it may not."""
    asked, subnet = prefix_of(pair), model.plan.subnet.get(port.subnet)
    if subnet is not None and _within(asked, prefix_of(subnet.cidr)):
        return
    shared = _shared(model, port)
    theirs = _of_others(model, asked)
    if shared or _is_any(port, asked.version) or theirs:
        covers = f", which covers {theirs}" if theirs else ""
        where = shared or Reason(f"{port.network}, its own wire", resources(port.network))
        yield Cause(
            key=(port.name, pair),
            message=f"port {port.name} may send from {pair}{covers}",
            witness=(f"port {port.name}", f"allowed address pair {pair}", str(where)),
            hint="allow the addresses that the port needs, inside its own subnet",
            specificity=100 if shared else 45,
            severity=None if shared else Severity.WARN,
            about=(*resources(port.name), *(theirs.about if theirs else ()), *where.about),
        )


def _is_any(port: PortFact, version: int) -> bool:
    """True if a port may send from every address of a family, be it by one pair or by several together."""
    pairs = [pair for pair in map(prefix_of, port.allowed_address_pairs) if pair.version == version]
    of_four = collapse_addresses(pair for pair in pairs if isinstance(pair, IPv4Network))
    of_six = collapse_addresses(pair for pair in pairs if isinstance(pair, IPv6Network))
    return any(pair.prefixlen == 0 for pair in of_four) or any(pair.prefixlen == 0 for pair in of_six)


def _within(asked: Prefix, own: Prefix) -> bool:
    """Of two prefixes that meet, the longer lies in the other; those of two versions never meet."""
    return asked.overlaps(own) and asked.prefixlen >= own.prefixlen


def _of_others(model: Model, asked: Prefix) -> Reason | None:
    """Another owner's prefix at the appliance that the pair covers."""
    own = {access.name for access in model.plan.accesses}
    for *_, prefix, why in model.union.facts(Relation.MOUNTS):
        if why not in own and prefix_of(prefix).overlaps(asked):
            return Reason(f"{prefix} of {why}", resources(why))
    return None


def _shared(model: Model, port: PortFact) -> Reason | None:
    """What makes an address count on the port's wire; None if nothing does."""
    grants = [access.name for access in model.plan.accesses if access.network == port.network]
    if grants:
        return Reason(f"{grants[0]} lets clients in by their address", resources(grants[0]))
    network = model.plan.network.get(port.network)
    if network is None:
        return Reason(f"{port.network}, a network of somebody else's", resources(port.network))
    private = _private(model, network.physical_network, network.segment)
    if private:
        return Reason(f"{private} is a port of a private VLAN")
    wires = PlanOnSite(model.site, model.plan).wires(network)
    owners = {label for wire in model.wire_of(model.must, wires) for node in wire for label in model.label(node)}
    return Reason(f"the wire of {' and '.join(sorted(owners))}") if len(owners) > 1 else None


def _private(model: Model, physical_network: str | None, vlan: int | None) -> str:
    for switch in model.site.switches_of.get(physical_network, ()) if physical_network is not None else ():
        for port in switch.ports:
            mode = model.site.configured(SwitchEnd(switch.name, port.port))
            if mode.private is not None and vlan is not None and (vlan in mode.untagged or mode.carries(vlan)):
                return f"{switch.name} port {port.port}"
    return ""


L3_03 = Rule(
    id="L3-03",
    title="no tenant can create a port that Neutron treats as its own (`network:*`)",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="Neutron leaves ports of its own services without filters, and believes their device_owner",
    source="OSSA-2015-018: device_owner network: skipped the anti-spoofing rules",
    needs=("ports", "A2.default_policies"),
    ask=_nobody_poses_as_the_network,
    of=Of.TENANT,
)
L3_07 = Rule(
    id="L3-07",
    title="no port has a static address that is reserved or that Neutron allocates by itself",
    severity=Severity.WARN,
    polarity=Polarity.STATED,
    why="DHCP and metadata answer at addresses of the subnet; a server there takes their place, or never starts",
    source="Neutron admin guide: allocation pools, DHCP agent, metadata agent",
    needs=("subnets", "ports"),
    ask=_reserved_addresses,
)
L3_10 = Rule(
    id="L3-10",
    title="no port may send from others' addresses where access is granted by address",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="a port that may call itself anything takes over every grant that goes by address",
    source="docs/design/semantics.md §11, example 30; OSSA-2014-025",
    needs=("ports", "allowed address pairs", "share accesses", "private VLANs"),
    ask=_own_addresses_only,
)
