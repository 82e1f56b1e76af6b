"""The GPU site of `gpu_sites` with Ethernet compute ports beside: unit u is a leaf group, `roce-su0u`.

node n of unit u:  eth1 … eth8 ── roce-su0u, ports 8(n-1)+1 … 8n   (physical network `roce-su0u`, profile `lossless`)
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.inventory import (
    Cable,
    Endpoint,
    FabricProfile,
    Host,
    PhysicalNetwork,
    Site,
    Switch,
    SwitchPortConfig,
    VlanPool,
)
from interlock.model.tenant.request import Cluster

from .gpu_plans import claims
from .gpu_sites import RAILS, cluster, gpu_site, node_name

RAIL_NAMES = tuple(f"eth{rail}" for rail in range(1, RAILS + 1))
PROFILE = FabricProfile(name="lossless", pfc_priority=3, dscp=26, cnp_dscp=48, ecn=True, mtu=9000)
#: What the image of nodes has to say for it.
LOSSLESS = {"pfc_priority": 3, "ecn": True}


def roce_site(units: int = 2, nodes: int = 4, **overrides: object) -> Site:
    """A site of `gpu_site` whose nodes have Ethernet rails; `overrides` replace whole fields of `Site`."""
    base = gpu_site(units, nodes)
    switches = tuple(_switch(unit, nodes) for unit in range(1, units + 1))
    networks = tuple(PhysicalNetwork(name=item.name, switches=(item.name,), mtu=9216, profile="lossless")
                     for item in switches)  # fmt: skip
    names = tuple(network.name for network in networks)
    update = {"roce": VlanPool(physical_networks=names, vlans=((2500, 2599),)), "roce_subnets": ("10.61.0.0/16", 24)}
    fields: dict[str, object] = {name: getattr(base, name) for name in Site.model_fields} | {
        "hosts": tuple(_railed(host, units, nodes) for host in base.hosts),
        "switches": (*base.switches, *switches),
        "cables": (*base.cables, *_cables(units, nodes)),
        "physical_networks": (*base.physical_networks, *networks),
        "fabric_profiles": (*base.fabric_profiles, PROFILE),
        "pools": base.pools.model_copy(update=update),
        "images": tuple(
            item.model_copy(update={"software": item.software.model_copy(update=LOSSLESS)})
            if item.name == "dgx-os"
            else item
            for item in base.images
        ),
    }
    return Site.model_validate(fields | overrides)


def roce_cluster(name: str = "train", nodes: int = 2, **overrides: object) -> Cluster:
    """A cluster of DGX H100 with RoCE."""
    return cluster(name, nodes, **{"fabric": "roce"} | overrides)


def roce_claims(number: int, *nodes: tuple[int, int], **overrides: object) -> ClusterAllocation:
    """The claims of the RoCE cluster with this number, from 1, on unit 1."""
    fields: dict[str, object] = {
        "partition_keys": {}, "roce_network": "roce-su01", "roce_vlan": 2500 + number,
        "roce_subnet": f"10.61.{number}.0/24",
    }  # fmt: skip
    return claims(number, *nodes, **fields | overrides)


def _railed(host: Host, units: int, nodes: int) -> Host:
    for unit in range(1, units + 1):
        for number in range(1, nodes + 1):
            if host.name == node_name(unit, number):
                macs = {name: f"02:00:01:{unit:02x}:{number:02x}:{rail:02x}" for rail, name in enumerate(RAIL_NAMES, 1)}
                interfaces = {**host.interfaces, f"roce-su{unit:02}": RAIL_NAMES}
                return host.model_copy(update={"interfaces": interfaces, "macs": {**host.macs, **macs}})
    return host


def _switch(unit: int, nodes: int) -> Switch:
    ports, name = RAILS * nodes, f"roce-su{unit:02}"
    return Switch(
        name=name, serial=f"SN-{name}", model="unknown", role="tor", port_groups=((400, ports),),
        ports=tuple(SwitchPortConfig(port=port, mode="access") for port in range(1, ports + 1)),
        routed_vlans=(), ip_routing=False, wired_by="neutron", port_names=("swp{}",), mac=f"02:00:00:00:0b:{unit:02x}",
        quarantine_vlan=4000,
    )  # fmt: skip


def _cables(units: int, nodes: int) -> Iterator[Cable]:
    for unit in range(1, units + 1):
        for number in range(1, nodes + 1):
            for rail, name in enumerate(RAIL_NAMES, 1):
                port = Endpoint(device=f"roce-su{unit:02}", interface=str(RAILS * (number - 1) + rail))
                yield Cable(a=Endpoint(device=node_name(unit, number), interface=name), b=port)
