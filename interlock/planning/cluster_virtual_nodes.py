"""Nodes of a GPU cluster that are virtual servers: each has all GPUs, NVSwitches and InfiniBand adapters of its node.

In band such a server has an ordinary port on a bridge of its hypervisor, so a security group stands in front of it,
unlike in front of a whole host: nodes of the cluster reach each other by everything, the tenant's people by ssh.
"""

from __future__ import annotations

from interlock.resources import Port, SecurityGroup, SecurityGroupRule, Server
from interlock.vocabulary import NetworkRole, Reference

from .addresses import node_address
from .cluster_guest import files_of_server, mounts_of
from .cluster_keys import keys_of_virtual_node, write_handed_keys
from .errors import PlanningError
from .guest import node_user_data
from .plan_builder import PlanBuilder
from .scheduler import ClusterLayout
from .scope import ClusterScope, access_name, private_flavors, whole_flavor
from .security import poplar_rules
from .share_mounts import guest_shares

_LEG = NetworkRole.CLUSTER


def write_group(scope: ClusterScope, builder: PlanBuilder) -> None:
    """Write down who reaches the nodes in band."""
    name = scope.name("nodes")
    among = SecurityGroupRule(direction="ingress", remote_prefix=scope.claims.cluster_subnet)
    rules = (*poplar_rules(scope.tenant.access.ssh_from), among)
    builder.add(name, SecurityGroup(name=name, project=scope.project, rules=rules))


def write_virtual_node(
    scope: ClusterScope, builder: PlanBuilder, number: int, layout: ClusterLayout, partitions: tuple[str, ...]
) -> None:
    """Write down one node and its port. `partitions`: those that its adapters are in first. `layout`: all nodes of the
    cluster as its scheduler sees them.
    """
    name = builder.component(scope.node(number), "ClusterNode", parent=scope.name())
    host, flavor = scope.claims.numbered[number], _flavor(scope)
    _check_network(scope, host)
    network = scope.name(_LEG)
    port = Port(
        name=f"{name}-{_LEG}", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=node_address(scope.claims.cluster_subnet, number), security_groups=(scope.name("nodes"),),
    )  # fmt: skip
    builder.add(port.name, port)
    mounts = mounts_of(scope)
    files = files_of_server(scope, layout, name)
    server = Server(
        name=name, project=scope.project, flavor=Reference.site("Flavor", flavor),
        image=Reference.site("Image", scope.cluster.image_of(host)), host=host, keypair=scope.keypair,
        ports=(port.name,), shares=tuple(item.share for item in mounts),
        user_data=node_user_data(
            name, files, login=scope.login_files, shares=guest_shares(mounts), keys=keys_of_virtual_node(scope)
        ),
    )  # fmt: skip
    private = flavor in private_flavors(scope.site, scope.tenant)
    first = (access_name(scope.tenant, flavor),) if private else ()
    builder.add(name, server, after=(*partitions, *first))
    write_handed_keys(scope, builder, name)


def _flavor(scope: ClusterScope) -> str:
    flavor = whole_flavor(scope.site, scope.cluster.node_type)
    if flavor is None:
        raise PlanningError(
            f"no flavour of the site hands out a {scope.cluster.node_type} whole, and cluster {scope.cluster.name} "
            "asks for virtual servers on such nodes",
            "add one with `role: gpu` to the site file, or say `kind: bare-metal`",
            ("clusters", scope.cluster.name, "kind"),
        )
    return flavor.name


def _check_network(scope: ClusterScope, host: str) -> None:
    """The hypervisor needs a bridge on the in-band network."""
    network = scope.claims.cluster_network
    if not scope.site.host[host].interfaces.get(network):
        raise PlanningError(
            f"GPU node {host} has no interface on {network}, where cluster {scope.cluster.name} has its in-band "
            "network",
            "state it under `interfaces` in the site file, or take another network for the pool `cluster`",
        )
