"""Operators on RoCE networks of GPU clusters: one VLAN for two of them, and rails that are left out.

The nodes of `op_clusters` have eight Ethernet rails each on a switch `gpu-roce`, besides what they have there: the
first tenant has two clusters behind it, the second one.
"""

from __future__ import annotations

from random import Random

from interlock.model.site.inventory import (
    Cable,
    Endpoint,
    FabricProfile,
    PhysicalNetwork,
    Site,
    Switch,
    SwitchPortConfig,
)
from interlock.model.site.networks import VlanPool
from interlock.resources import BareMetalServer
from policies import Verdict
from tests.mutants.op_clusters import hall, with_cluster
from tests.mutants.operator import Operator
from tests.mutants.workspaces import OPERATOR, Workspace

_RAILS = 8
_NETWORK, _FIRST = "gpu-roce", 3600
#: Another id of the pool, that nobody has.
_FREE = 3650


def _rail(rail: int) -> str:
    return f"eth{rail}"


def _railed_hall(site: Site) -> dict[str, object]:
    """What `hall` adds, with rails on one leaf group that loses no frames."""
    fields = hall(site)
    found = Site.model_validate({name: getattr(site, name) for name in Site.model_fields} | fields)
    nodes = [node.name for node in found.gpu_nodes]
    names = tuple(map(_rail, range(1, _RAILS + 1)))
    hosts = tuple(
        host.model_copy(
            update={
                "interfaces": {**host.interfaces, _NETWORK: names},
                "macs": {
                    name: f"02:00:02:00:{nodes.index(host.name):02x}:{rail:02x}" for rail, name in enumerate(names)
                },
            }
        )
        if host.name in nodes
        else host
        for host in found.hosts
    )
    cables = [
        Cable(
            a=Endpoint(device=node, interface=name),
            b=Endpoint(device=_NETWORK, interface=str(_RAILS * place + rail)),
        )
        for place, node in enumerate(nodes)
        for rail, name in enumerate(names, start=1)
    ]
    ports = _RAILS * len(nodes)
    switch = Switch(
        name=_NETWORK, serial=f"SN-{_NETWORK}", model="unknown", role="tor", port_groups=((400, ports),),
        routed_vlans=(), ip_routing=False,
        ports=tuple(SwitchPortConfig(port=port, mode="access") for port in range(1, ports + 1)),
    )  # fmt: skip
    profile = FabricProfile(name=_NETWORK, pfc_priority=3, dscp=26, cnp_dscp=48, ecn=True, mtu=9000)
    network = PhysicalNetwork(name=_NETWORK, switches=(_NETWORK,), mtu=9216, profile=_NETWORK)
    pool = VlanPool(physical_networks=(_NETWORK,), vlans=((_FIRST, _FIRST + 99),))
    lossless = {"pfc_priority": 3, "ecn": True}
    return fields | {
        "hosts": hosts,
        "cables": (*found.cables, *cables),
        "switches": (*found.switches, switch),
        "physical_networks": (*found.physical_networks, network),
        "fabric_profiles": (*found.fabric_profiles, profile),
        "pools": found.pools.model_copy(update={"roce": pool, "roce_subnets": ("10.98.0.0/16", 24)}),
        "images": tuple(
            item.model_copy(update={"software": item.software.model_copy(update=lossless)}) for item in found.images
        ),
    }


def _railed(space: Workspace) -> Workspace | None:
    """The workspace with nodes and clusters with RoCE; asked about the first tenant."""
    if not space.site.infiniband or len(space.tenants) < 2:
        return None
    space = space.with_site(**_railed_hall(space.site))
    first, second = space.tenants[:2]
    wanted = ((first, "gpu-a", (1, 2)), (first, "gpu-b", (3,)), (second, "gpu-c", (4,)))
    for number, (owner, name, nodes) in enumerate(wanted):
        roce = (_NETWORK, _FIRST + number, f"10.98.{number}.0/24")
        space = with_cluster(space, owner, name, number, nodes, roce=roce)
    return space.asking(first)


def _in_vlan(space: Workspace, owner: int, cluster: str, node: int, vlan: int) -> Workspace | None:
    """A cluster of one node whose RoCE network, and all that is wired for it, has another id."""
    found = _railed(space)
    if found is None:
        return None
    tenant = found.tenants[owner]
    found = found.edit(tenant, f"{tenant}-{cluster}-roce", segmentation_id=vlan)
    for rail in range(1, _RAILS + 1):
        found = found.edit(tenant, f"{tenant}-{cluster}-node-{node}-roce{rail}-switch", vlan=vlan)
    return found.asking(found.tenants[0])


def vlan_of_anothers(space: Workspace, _: Random) -> Workspace | None:
    return _in_vlan(space, 1, "gpu-c", 0, _FIRST)


def vlan_of_the_other_cluster(space: Workspace, _: Random) -> Workspace | None:
    return _in_vlan(space, 0, "gpu-b", 0, _FIRST)


def vlan_of_nobody(space: Workspace, _: Random) -> Workspace | None:
    return _in_vlan(space, 1, "gpu-c", 0, _FREE)


def another_vlan_of_nobody(space: Workspace, _: Random) -> Workspace | None:
    return _in_vlan(space, 0, "gpu-b", 0, _FREE)


def rail_without_a_port(space: Workspace, rng: Random) -> Workspace | None:
    """The node's server lacks a port on one rail: nothing puts that rail into the cluster's VLAN."""
    found = _railed(space)
    if found is None:
        return None
    name = f"{found.asked}-gpu-a-node-{rng.randrange(2)}"
    ports = found.get(found.asked, name, BareMetalServer).ports
    return found.edit(found.asked, name, ports=ports[:-1])


def rail_without_an_address(space: Workspace, rng: Random) -> Workspace | None:
    """Of one of the eight rails of a node nobody states the MAC address."""
    return _without_addresses(space, rng.randint(1, _RAILS))


def no_rail_with_an_address(space: Workspace, _: Random) -> Workspace | None:
    """Of none of them: the node is not known to be for RoCE."""
    return _without_addresses(space, *range(1, _RAILS + 1))


def _without_addresses(space: Workspace, *rails: int) -> Workspace | None:
    found = _railed(space)
    if found is None:
        return None
    node, gone = found.site.gpu_nodes[-1].name, set(map(_rail, rails))
    hosts = (
        host.model_copy(update={"macs": {name: mac for name, mac in host.macs.items() if name not in gone}})
        if host.name == node
        else host
        for host in found.site.hosts
    )
    return found.with_site(hosts=tuple(hosts)).asking(OPERATOR)


def as_planned(space: Workspace, _: Random) -> Workspace | None:
    return _railed(space)


ROCE = (
    Operator(
        "roce-vlan", "one RoCE VLAN for clusters of two tenants",
        vlan_of_anothers, vlan_of_nobody, "ISO-01", ("ISO-11",),
    ),
    Operator(
        "roce-two-clusters", "one RoCE VLAN for two clusters of a tenant",
        vlan_of_the_other_cluster, another_vlan_of_nobody, "ISO-30",
    ),
    Operator(
        "roce-rail", "a rail of a node without a port on the RoCE network",
        rail_without_a_port, as_planned, "TOP-26",
    ),
    Operator(
        "roce-seven-rails", "a node with seven of its eight rails for RoCE",
        rail_without_an_address, no_rail_with_an_address, "TOP-18", verdict=Verdict.NOT_PROVABLE,
    ),
)  # fmt: skip
