"""One GPU cluster: its in-band network, its RoCE network, its S3 user, its partitions of the InfiniBand fabric, munge's
key, its heads and its nodes, in this order.

A node is deployed after its ports are in the cluster's partitions, and leaves them only when it is undeployed. Until a
port is in a partition of its tenant it is in the default one alone, with the ports of everybody else's nodes, and a
job that starts there finds none of its peers; and a node that still runs a job must not lose its fabric before its
server is gone. Of a cluster that shrinks the port goes first, since a partition changes in place: what runs there is
then cut off, and reaches nobody.
"""

from __future__ import annotations

from interlock.resources import Network, RouterInterface, Subnet
from interlock.vocabulary import NetworkRole

from .addresses import automatic_pool, router_address
from .cluster_fabric import write_partitions
from .cluster_guest import layout_of
from .cluster_heads import write_heads
from .cluster_keys import write_munge_key
from .cluster_nodes import write_node
from .cluster_roce import write_roce_network
from .cluster_virtual_nodes import write_group, write_virtual_node
from .plan_builder import PlanBuilder
from .rolling import check_roll
from .s3_users import s3_keys_of, write_s3_user
from .scope import ClusterScope


def write_cluster(scope: ClusterScope, builder: PlanBuilder) -> None:
    """Write down everything of one cluster. PlanningError if the site or the lock lacks what it needs."""
    check_roll(scope.cluster, scope.claims)
    builder.component(scope.name(), "GpuCluster", parent=scope.tenant.id)
    _write_network(scope, builder)
    write_roce_network(scope, builder)
    if scope.cluster.name in s3_keys_of(scope.tenant):
        write_s3_user(scope, builder, scope.cluster.s3_keys)
    partitions = write_partitions(scope, builder)
    if not scope.claims.hosts:
        return  # It is released.
    layout = layout_of(scope)
    write_munge_key(scope, builder)
    write_heads(scope, builder, layout)
    if scope.cluster.kind == "vm":
        write_group(scope, builder)
    write = write_virtual_node if scope.cluster.kind == "vm" else write_node
    for number in scope.claims.numbered:
        write(scope, builder, number, layout, partitions)


def _write_network(scope: ClusterScope, builder: PlanBuilder) -> None:
    """In-band: a VLAN of the nodes' switches behind the tenant's router, as the control network of a vPOD is."""
    claims, name = scope.claims, scope.name(NetworkRole.CLUSTER)
    network = Network(
        name=name, project=scope.project, network_type="vlan", physical_network=claims.cluster_network,
        segmentation_id=claims.cluster_vlan,
    )  # fmt: skip
    builder.add(name, network, role=NetworkRole.CLUSTER)
    subnet = Subnet(
        name=f"{name}-subnet", project=scope.project, network=name, cidr=claims.cluster_subnet,
        gateway=router_address(claims.cluster_subnet), pools=automatic_pool(claims.cluster_subnet),
    )  # fmt: skip
    builder.add(f"{name}-subnet", subnet)
    uplink = RouterInterface(project=scope.project, router=f"{scope.tenant.id}-router", subnet=f"{name}-subnet")
    builder.add(f"{name}-uplink", uplink)
