"""Networks, subnets, ports, routers and id ranges of a plan as facts."""

from __future__ import annotations

from interlock.planning.plan import Planned
from interlock.resources import Network, Port, Router, RouterInterface, SegmentRange, Subnet

from .kinds import NetworkFact, PortFact, RouterFact, SegmentRangeFact, SubnetFact
from .reader import PlanReader


def network(reader: PlanReader, item: Planned, spec: Network) -> NetworkFact:
    """What it is for is what the plan states; no name says so."""
    return NetworkFact(
        name=item.name,
        owner=reader.owner_of(spec.project),
        role=item.role,
        vpod=item.vpod,
        kind=spec.network_type,
        physical_network=spec.physical_network,
        segment=spec.segmentation_id,
        external=spec.external,
        shared=spec.shared,
        port_security=spec.port_security,
        mtu=spec.mtu,
    )


def subnet(reader: PlanReader, item: Planned, spec: Subnet) -> SubnetFact:
    """Addresses of a network."""
    return SubnetFact(
        name=item.name,
        owner=reader.owner_of(spec.project),
        network=spec.network,
        cidr=spec.cidr,
        gateway=spec.gateway,
        dhcp=spec.dhcp,
        subnet_pool=spec.subnet_pool,
        pools=spec.pools,
    )


def port(reader: PlanReader, item: Planned, spec: Port) -> PortFact:
    """An attachment, with the server that holds it and the host under that."""
    server, host = reader.holder.get(item.name, (None, None))
    return PortFact(
        name=item.name,
        owner=reader.owner_of(spec.project),
        network=spec.network,
        subnet=spec.subnet,
        address=spec.address,
        vnic_type=spec.vnic_type,
        port_security=spec.port_security,
        server=server,
        host=host,
        security_groups=spec.security_groups,
        allowed_address_pairs=spec.allowed_address_pairs,
    )


def router(reader: PlanReader, item: Planned, spec: Router) -> RouterFact:
    """A router with all its interfaces."""
    interfaces = [spec for _, spec in reader.all(RouterInterface) if spec.router == item.name]
    return RouterFact(
        name=item.name,
        owner=reader.owner_of(spec.project),
        external_network=spec.external_network,
        subnets=tuple(interface.subnet for interface in interfaces),
        interfaces=tuple((reader.owner_of(interface.project), interface.subnet) for interface in interfaces),
    )


def segment_range(_: PlanReader, item: Planned, spec: SegmentRange) -> SegmentRangeFact:
    """Ids that the cloud gives out by itself."""
    return SegmentRangeFact(
        name=item.name,
        kind=spec.network_type,
        physical_network=spec.physical_network,
        minimum=spec.minimum,
        maximum=spec.maximum,
    )
