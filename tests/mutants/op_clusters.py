"""Operators on GPU clusters: ports in their partitions, and what two clusters of one tenant share.

A workspace with InfiniBand is given a switch `gpu-1` and a leaf `gpu-leaf` with four GPU nodes; the first tenant has
three of them in two clusters, the second has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.gpu import FabricSwitch, GpuHost, HcaPort
from interlock.model.site.inventory import Cable, Endpoint, Host, PhysicalNetwork, Site, Switch, SwitchPortConfig
from interlock.model.site.networks import VlanPool
from interlock.model.site.physical import CableKind
from interlock.model.site.software import ImageSoftware
from interlock.model.tenant.request import Cluster, ServerKind
from interlock.planning.cluster_plan import write_cluster
from interlock.planning.plan import Plan
from interlock.planning.plan_builder import PlanBuilder
from interlock.planning.scope import ClusterScope
from interlock.resources import NvlinkPartition, PartitionKey, PartitionMember
from tests.builders.fitting_software import FITTING
from tests.builders.pod64 import tenant
from tests.mutants.operator import Operator
from tests.mutants.workspaces import Workspace

_NODES = 4
_ALL_GPUS = tuple(map(str, range(1, 9)))
#: Interface of each node, the switch that it is cabled to, and by what.
_PLUGS: tuple[tuple[str, str, CableKind], ...] = (
    ("e0", "gpu-1", "ethernet"),
    ("compute1", "gpu-leaf", "infiniband"),
)


#: Cluster -> InfiniBand subnet -> P_Key.
Keys = Mapping[str, Mapping[str, int]]
NO_KEYS: Mapping[str, int] = {}


def guid_of(node: int) -> str:
    """The GUID of a node's one compute port."""
    return f"{0x5000 + node:016x}"


def clustered(
    space: Workspace, more: Callable[[Site], dict[str, object]] | None = None, keys: Keys | None = None
) -> Workspace | None:
    """The workspace with nodes and clusters; asked about the first tenant.

    `more`: what the site has besides; `keys`: P_Keys that clusters have besides, by cluster and subnet.
    """
    if not space.site.infiniband or len(space.tenants) < 2:
        return None
    space = space.with_site(**hall(space.site))
    space = space.with_site(**more(space.site)) if more is not None else space
    first, second = space.tenants[:2]
    wanted = ((first, "gpu-a", (1, 2)), (first, "gpu-b", (3,)), (second, "gpu-c", (4,)))
    for number, (owner, name, nodes) in enumerate(wanted):
        space = with_cluster(space, owner, name, number, nodes, keys=(keys or {}).get(name, {}))
    return space.asking(first)


def hall(site: Site) -> dict[str, object]:
    """What the site has besides with the nodes."""
    numbers = range(1, _NODES + 1)
    subnet = site.infiniband[0].name
    hosts = (
        Host(
            name=f"gpu-node-{n}", serial=f"SN-gpu-node-{n}", role="gpu", provisioning="bare-metal", bmc="bmc",
            interfaces={"gpu": ("e0",)},
        )
        for n in numbers
    )  # fmt: skip
    nodes = (
        GpuHost(
            name=f"gpu-node-{n}", node_type="dgx-h100", hall="hall-1", unit=1,
            ports=(HcaPort(name="compute1", use="compute", infiniband=subnet, rail=1, guid=guid_of(n)),),
        )
        for n in numbers
    )  # fmt: skip
    cables = [
        Cable(a=Endpoint(device=f"gpu-node-{n}", interface=plug), b=Endpoint(device=end, interface=str(n)), kind=kind)
        for n in numbers
        for plug, end, kind in _PLUGS
    ]
    leaf = FabricSwitch(name="gpu-leaf", infiniband=subnet, tier="leaf", ports=64, unit=1, rail=1)
    switch = Switch(
        name="gpu-1", serial="SN-gpu-1", model="unknown", role="tor", port_groups=((100, _NODES),), routed_vlans=(),
        ip_routing=False, ports=tuple(SwitchPortConfig(port=n, mode="access") for n in numbers),
    )  # fmt: skip
    fitting = ImageSoftware(**FITTING)
    return {
        "images": tuple(image.model_copy(update={"software": fitting}) for image in site.images),
        "lustre_server": fitting.lustre,
        "hosts": (*site.hosts, *hosts), "gpu_nodes": tuple(nodes), "fabric_switches": (leaf,),
        "switches": (*site.switches, switch),
        "cables": (*site.cables, *cables),
        "physical_networks": (*site.physical_networks, PhysicalNetwork(name="gpu", switches=("gpu-1",))),
        "pools": site.pools.model_copy(
            update={"cluster": VlanPool(physical_networks=("gpu",), vlans=((3500, 3599),)),
                    "cluster_subnets": ("10.99.0.0/16", 24)}
        ),
    }  # fmt: skip


def with_cluster(
    space: Workspace,
    owner: str,
    name: str,
    number: int,
    nodes: tuple[int, ...],
    kind: ServerKind = "bare-metal",
    keys: Mapping[str, int] = NO_KEYS,
    roce: tuple[str, int, str] | None = None,
) -> Workspace:
    """The workspace with one more cluster in a tenant's plan. `keys`: P_Keys that it has besides, by subnet. `roce`:
    physical network, VLAN and subnet that it has instead of a partition."""
    request = Cluster(
        name=name, nodes=len(nodes), node_type="dgx-h100", image=space.site.images[0].name, kind=kind,
        fabric="infiniband" if roce is None else "roce",
    )  # fmt: skip
    network, vlan, subnet = roce or (None, None, None)
    own = {space.site.infiniband[0].name: 0x60 + number} if roce is None else {}
    claims = ClusterAllocation(
        hosts=tuple(f"gpu-node-{node}" for node in nodes), cluster_network="gpu", cluster_vlan=3500 + number,
        cluster_subnet=f"10.99.{number}.0/24", partition_keys={**own, **keys},
        roce_network=network, roce_vlan=vlan, roce_subnet=subnet,
    )  # fmt: skip
    builder = PlanBuilder()
    write_cluster(ClusterScope(site=space.site, tenant=tenant(owner), cluster=request, claims=claims), builder)
    plan = space.plan(owner)
    fields = {key: getattr(plan, key) for key in Plan.model_fields}
    fields |= {
        "components": (*plan.components, *builder.components), "resources": (*plan.resources, *builder.resources)
    }  # fmt: skip
    return space.with_plan(owner, Plan(**fields))


def _partition(space: Workspace, name: str) -> str:
    return f"{space.tenants[0]}-{name}-partition-{space.site.infiniband[0].name}"


def member(guid: str, how: str = "full") -> PartitionMember:
    """A port in a partition."""
    return PartitionMember.model_validate({"guid": guid, "membership": how})


def _also(space: Workspace, guid: str) -> Workspace | None:
    found = clustered(space)
    if found is None:
        return None
    name = _partition(found, "gpu-a")
    key = found.get(found.asked, name, PartitionKey)
    return found.edit(found.asked, name, members=(*key.members, member(guid)))


def port_of_anothers_node(space: Workspace, _: Random) -> Workspace | None:
    return _also(space, guid_of(4))


def port_of_nobodys(space: Workspace, _: Random) -> Workspace | None:
    """A GUID that no port of the site has."""
    return _also(space, guid_of(9))


def port_left_out(space: Workspace, _: Random) -> Workspace | None:
    found = clustered(space)
    return found and found.edit(found.asked, _partition(found, "gpu-a"), members=(member(guid_of(1)),))


def port_that_is_limited(space: Workspace, _: Random) -> Workspace | None:
    found = clustered(space)
    members = (member(guid_of(1)), member(guid_of(2), "limited"))
    return found and found.edit(found.asked, _partition(found, "gpu-a"), members=members)


def key_of_the_other_cluster(space: Workspace, _: Random) -> Workspace | None:
    found = clustered(space)
    return found and found.edit(found.asked, _partition(found, "gpu-b"), key=0x60)


def _grouped(space: Workspace, owner: int, *gpus: str, partition: int = 0) -> Workspace | None:
    """One of the tenants was given GPUs of the first tenant's first node by a fabric manager."""
    found = clustered(space)
    if found is None:
        return None
    item = NvlinkPartition(name="group", domain="gpu-node-1", partition=partition, gpus=gpus)
    tenant = found.tenants[owner]
    return found.add(tenant, f"{tenant}-group", item).asking(found.asked)


def all_gpus_anothers(space: Workspace, _: Random) -> Workspace | None:
    return _grouped(space, 1, *_ALL_GPUS)


def some_gpus_of_a_node(space: Workspace, _: Random) -> Workspace | None:
    return _grouped(space, 0, "1", "3", partition=3)


def gpus_of_no_group(space: Workspace, _: Random) -> Workspace | None:
    """On HGX H100 pairs are 1 and 3, 2 and 4."""
    return _grouped(space, 0, "1", "2", partition=3)


def all_gpus_ones_own(space: Workspace, _: Random) -> Workspace | None:
    return _grouped(space, 0, *_ALL_GPUS)


def as_planned(space: Workspace, _: Random) -> Workspace | None:
    return clustered(space)


CLUSTERS = (
    Operator(
        "nvlink-node", "another's group of the GPUs of a whole node",
        all_gpus_anothers, all_gpus_ones_own, "ISO-22", ("ISO-02",),
    ),
    Operator(
        "nvlink-part", "a group of some GPUs of a node",
        some_gpus_of_a_node, all_gpus_ones_own, "ISO-22",
    ),
    Operator(
        "nvlink-no-group", "a group of GPUs that no table has",
        gpus_of_no_group, all_gpus_ones_own, "ISO-22",
    ),
    Operator(
        "cluster-port", "another's node in a cluster's partition",
        port_of_anothers_node, as_planned, "ISO-29", ("ISO-20",),
    ),
    Operator(
        "cluster-stranger", "a port that the site does not list in a cluster's partition",
        port_of_nobodys, as_planned, "ISO-29",
    ),
    Operator(
        "cluster-left-out", "a compute port in no partition",
        port_left_out, as_planned, "TOP-26",
    ),
    Operator(
        "cluster-limited", "a compute port that is limited",
        port_that_is_limited, as_planned, "TOP-26",
    ),
    Operator(
        "cluster-key", "one P_Key for two clusters of a tenant",
        key_of_the_other_cluster, as_planned, "ISO-30",
    ),
)  # fmt: skip
