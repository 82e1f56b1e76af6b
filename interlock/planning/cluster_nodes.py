"""The nodes of a GPU cluster: whole hosts that Ironic deploys, each with one leg on the in-band network, untagged, and
with RoCE one more for each rail.

Its InfiniBand ports are no ports of Neutron's: the subnet manager has them, and `cluster_fabric` the partitions.
"""

from __future__ import annotations

from interlock.resources import BareMetalLeg, BareMetalServer, Port, SwitchPort
from interlock.vocabulary import NetworkRole, Reference

from .addresses import node_address
from .cluster_guest import files_of_server, mounts_of
from .cluster_keys import keys_of_node, write_handed_keys
from .cluster_roce import write_rails
from .errors import PlanningError
from .guest import node_user_data
from .guest.rails import railed
from .plan_builder import PlanBuilder
from .scheduler import ClusterLayout
from .scope import ClusterScope
from .share_mounts import guest_shares
from .switch_ports import Segment, access_port

#: The leg's place in the names of its ports.
_LEG = NetworkRole.CLUSTER


def write_node(
    scope: ClusterScope, builder: PlanBuilder, number: int, layout: ClusterLayout, partitions: tuple[str, ...]
) -> None:
    """Write down one node, its port and the switch port behind it. `partitions`: those that it is in first.

    `layout`: all nodes of the cluster as its scheduler sees them, worked out once.
    """
    name = builder.component(scope.node(number), "ClusterNode", parent=scope.name())
    host, ironic = scope.claims.numbered[number], scope.site.ironic
    port, behind = _write_port(scope, builder, name, number), _write_switch_port(scope, builder, name, host)
    rails, in_band = write_rails(scope, builder, name, number), scope.site.host[host].macs.get(behind.interface)
    mounts = mounts_of(scope)
    server = BareMetalServer(
        name=name, project=scope.project, node=host,
        resource_class=None if ironic is None else ironic.class_of(scope.site.host[host]),
        image=Reference.site("Image", scope.cluster.image_of(host)),
        keypair=scope.keypair, ports=(port, *(rail.port for rail in rails)),
        legs=(_leg(behind), *(_leg(rail.behind) for rail in rails)),
        user_data=node_user_data(
            name, files_of_server(scope, layout, name), login=scope.login_files, shares=guest_shares(mounts),
            keys=keys_of_node(scope), drive=True, rails=railed([rail.told for rail in rails], in_band),
        ),
        shares=tuple(item.share for item in mounts),
    )  # fmt: skip
    builder.add(name, server, after=partitions)
    write_handed_keys(scope, builder, name, by_heads=True)


def _leg(behind: SwitchPort) -> BareMetalLeg:
    return BareMetalLeg(**{field: getattr(behind, field) for field in BareMetalLeg.model_fields})


def _write_port(scope: ClusterScope, builder: PlanBuilder, server: str, number: int) -> str:
    network = scope.name(_LEG)
    port = Port(
        name=f"{server}-{_LEG}", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=node_address(scope.claims.cluster_subnet, number), vnic_type="baremetal",
    )  # fmt: skip
    return builder.add(port.name, port)


def _write_switch_port(scope: ClusterScope, builder: PlanBuilder, server: str, host: str) -> SwitchPort:
    """The switch port behind the leg. It has no addresses: the leg's `Port` has, and Neutron gives each once."""
    claims, network = scope.claims, scope.name(_LEG)
    interfaces = scope.site.interfaces_on(host, claims.cluster_network)
    if not interfaces:
        raise PlanningError(
            f"GPU node {host} has no interface on {claims.cluster_network}, where cluster {scope.cluster.name} has its "
            "in-band network",
            "state its interface and cable there in the site file, or take another network for the pool `cluster`",
        )
    on = Segment(scope.project, network, f"{network}-subnet", claims.cluster_vlan)
    # Ironic binds the port of the leg: a second bound port would fight over the VLAN.
    port = access_port(scope.site, host, interfaces[0], on, (), "neutron" if scope.site.ironic is None else "ironic")
    builder.add(f"{server}-{_LEG}-switch", port)
    return port
