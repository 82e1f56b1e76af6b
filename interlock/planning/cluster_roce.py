"""The RoCE network of a GPU cluster: a VLAN of one leaf group, with every Ethernet compute port of its nodes.

It has no router, no gateway and no DHCP, and carries neither heads nor shares: what is on it are the rails, and frames
that are lost there cost all of them (802.1Qbb pauses one class of traffic). Ironic attaches a port of Neutron's to each
rail when it deploys the node, at the port of the node that stands for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.site.leaf_groups import ethernet_rails, rails_on
from interlock.model.site.networks import FabricProfile
from interlock.resources import Network, Port, Subnet, SwitchPort
from interlock.resources.fabric import Wirer
from interlock.vocabulary import NetworkRole

from .addresses import automatic_pool, rail_address
from .errors import PlanningError
from .guest.rails import PREFIX, Rail
from .plan_builder import PlanBuilder
from .scope import ClusterScope
from .switch_ports import Segment, access_port

#: The rail's place in the names of its ports; its number follows.
_LEG = NetworkRole.ROCE

#: NCCL's settings of a RoCE cluster. Sources: NVIDIA, NCCL user guide, environment variables.
_NCCL = """\
# RoCE: the rails are {rails}, of {subnet}; NCCL speaks to itself in band.
NCCL_SOCKET_IFNAME=^lo,docker,{prefix}
# From 2.21 on NCCL takes the entry of a port's GID table that is RoCE v2 and an IPv4 address of these. With an older
# one NCCL_IB_GID_INDEX has to say which it is: `show_gids` lists them, and no number is right everywhere.
NCCL_IB_ROCE_VERSION_NUM=2
NCCL_IB_ADDR_FAMILY=AF_INET
NCCL_IB_ADDR_RANGE={subnet}
"""
_CLASS = """\
# DSCP {dscp}: the switches pause its class{marks}.
NCCL_IB_TC={traffic_class}
"""
_NO_CLASS = "# Which DSCP the switches pause is not stated by a fabric profile: NCCL_IB_TC says it.\n"
#: Low bits of the traffic class: a transport that reacts to congestion marks (RFC 3168, ECT(0)).
_ECT = 2


@dataclass(frozen=True)
class RoceRail:
    """One rail of a node: the reference to its port, the switch port behind it, and what the node is told."""

    port: str
    behind: SwitchPort
    told: Rail


def write_roce_network(scope: ClusterScope, builder: PlanBuilder) -> None:
    """Write down network and subnet. No MTU: Neutron takes the physical network's own."""
    claims = scope.claims
    if scope.cluster.fabric != "roce":
        return
    if claims.roce_network is None or claims.roce_vlan is None or claims.roce_subnet is None:
        if not claims.hosts:
            return  # It is released, and asks for RoCE since: its network comes with its nodes.
        raise PlanningError(
            f"the lock of {scope.tenant.id} gives cluster {scope.cluster.name} no RoCE network, and its request asks "
            "for one",
            f"run `interlock lock {scope.tenant.id}`",
        )
    name = scope.name(NetworkRole.ROCE)
    network = Network(
        name=name, project=scope.project, network_type="vlan", physical_network=claims.roce_network,
        segmentation_id=claims.roce_vlan,
    )  # fmt: skip
    builder.add(name, network, role=NetworkRole.ROCE)
    subnet = Subnet(
        name=f"{name}-subnet", project=scope.project, network=name, cidr=claims.roce_subnet, dhcp=False,
        pools=automatic_pool(claims.roce_subnet),
    )  # fmt: skip
    builder.add(f"{name}-subnet", subnet)


def write_rails(scope: ClusterScope, builder: PlanBuilder, server: str, number: int) -> tuple[RoceRail, ...]:
    """Write down the ports of one node, by rail, and the switch ports behind them; none of a cluster without RoCE."""
    claims, host = scope.claims, scope.claims.numbered[number]
    network, vlan, cidr = claims.roce_network, claims.roce_vlan, claims.roce_subnet
    if scope.cluster.fabric != "roce" or network is None or vlan is None or cidr is None:
        return ()
    interfaces = rails_on(scope.site, scope.site.gpu_node[host], network)
    if not interfaces:
        raise PlanningError(
            f"GPU node {host} has not its {ethernet_rails(scope.cluster.node_type)} Ethernet compute ports on "
            f"{network}, each with MAC address and cable, where cluster {scope.cluster.name} has its RoCE network",
            "state them under `interfaces` and `macs` of the node in the site file, by rail, with their cables",
        )
    name, found = scope.name(NetworkRole.ROCE), list[RoceRail]()
    on = Segment(scope.project, name, f"{name}-subnet", vlan)
    for rail, interface in enumerate(interfaces, start=1):
        address = rail_address(cidr, number, rail, len(interfaces))
        port = Port(
            name=f"{server}-{_LEG}{rail}", project=scope.project, network=name, subnet=f"{name}-subnet",
            address=address, vnic_type="baremetal",
        )  # fmt: skip
        # Ironic binds the port of the leg: a second bound port would fight over the VLAN.
        wired: Wirer = "neutron" if scope.site.ironic is None else "ironic"
        behind = access_port(scope.site, host, interface, on, (), wired)
        builder.add(port.name, port)
        builder.add(f"{port.name}-switch", behind)
        told = Rail(rail, scope.site.host[host].macs[interface], address, cidr, _mtu(scope, network))
        found.append(RoceRail(port.name, behind, told))
    return tuple(found)


def roce_conf(scope: ClusterScope) -> str:
    """`/etc/nccl.conf` of a RoCE cluster."""
    rails = ethernet_rails(scope.cluster.node_type)
    text = _NCCL.format(rails=f"{PREFIX}1 to {PREFIX}{rails}", subnet=scope.claims.roce_subnet, prefix=PREFIX)
    profile = _profile(scope, scope.claims.roce_network or "")
    if profile is None:
        return text + _NO_CLASS
    marks = ", and mark congestion" if profile.ecn else ""
    traffic_class = profile.dscp << 2 | (_ECT if profile.ecn else 0)
    return text + _CLASS.format(dscp=profile.dscp, marks=marks, traffic_class=traffic_class)


def _mtu(scope: ClusterScope, network: str) -> int | None:
    """Frames of the profile, which RDMA sends; without one the largest that every port takes."""
    profile, physical = _profile(scope, network), scope.site.physical_network.get(network)
    return profile.mtu if profile is not None else physical.mtu if physical is not None else None


def _profile(scope: ClusterScope, network: str) -> FabricProfile | None:
    physical = scope.site.physical_network.get(network)
    named = physical.profile if physical is not None else None
    return next((item for item in scope.site.fabric_profiles if item.name == named), None)
