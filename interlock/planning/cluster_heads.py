"""The heads of a GPU cluster: virtual servers in its in-band network, where people log in and its scheduler runs.

Each has one ordinary port, which Neutron filters. So a head can have a floating IP, which no whole host can.
"""

from __future__ import annotations

from interlock.resources import Port, SecurityGroup, Server
from interlock.vocabulary import NetworkRole, Reference

from .addresses import head_address
from .cluster_guest import files_of_server, mounts_of
from .cluster_keys import keys_of_head, write_handed_keys
from .guest import node_user_data
from .plan_builder import PlanBuilder
from .public_servers import is_public, public_sources, write_floating_ip
from .scheduler import ClusterLayout
from .scope import ClusterScope, access_name, private_flavors
from .security import head_rules
from .share_mounts import guest_shares

#: The port's place in its name.
_LEG = NetworkRole.CLUSTER


def write_heads(scope: ClusterScope, builder: PlanBuilder, layout: ClusterLayout) -> None:
    """Write down the heads, by index, and the groups that filter at them; nothing of a cluster without any.

    `layout`: the cluster as its scheduler sees it.
    """
    if scope.heads is None:
        return
    _write_groups(scope, builder)
    for index in range(scope.heads.count):
        _write_head(scope, builder, index, layout)


def _write_groups(scope: ClusterScope, builder: PlanBuilder) -> None:
    """Heads that are reached from outside have a group of their own, as public Poplar servers have."""
    name, subnet = scope.head_group, scope.claims.cluster_subnet
    rules = head_rules(scope.tenant.access.ssh_from, subnet)
    builder.add(name, SecurityGroup(name=name, project=scope.project, rules=rules))
    if scope.public is not None:
        name, rules = scope.public_group, head_rules(public_sources(scope.site, scope.public), subnet)
        builder.add(name, SecurityGroup(name=name, project=scope.project, rules=rules))


def _write_head(scope: ClusterScope, builder: PlanBuilder, index: int, layout: ClusterLayout) -> None:
    assert scope.heads is not None  # write_heads
    name = builder.component(scope.head(index), "ClusterHead", parent=scope.name())
    network, group = scope.name(_LEG), scope.public_group if is_public(scope, index) else scope.head_group
    port = Port(
        name=f"{name}-{_LEG}", project=scope.project, network=network, subnet=f"{network}-subnet",
        address=head_address(scope.claims.cluster_subnet, index), security_groups=(group,),
    )  # fmt: skip
    builder.add(port.name, port)
    mounts = mounts_of(scope)
    files = files_of_server(scope, layout, name, has_gpus=False)
    server = Server(
        name=name, project=scope.project, flavor=Reference.site("Flavor", scope.heads.flavor),
        image=Reference.site("Image", scope.heads.image), host=scope.claims.heads[index], keypair=scope.keypair,
        ports=(port.name,), shares=tuple(item.share for item in mounts),
        user_data=node_user_data(
            name, files, login=scope.login_files, shares=guest_shares(mounts), keys=keys_of_head(scope, index)
        ),
    )  # fmt: skip
    private = scope.heads.flavor in private_flavors(scope.site, scope.tenant)
    builder.add(name, server, after=(access_name(scope.tenant, scope.heads.flavor),) if private else ())
    if is_public(scope, index):
        write_floating_ip(scope, builder, name, _LEG)
    write_handed_keys(scope, builder, name)
