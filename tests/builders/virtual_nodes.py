"""The GPU hall of `gpu_sites` with its last nodes as hypervisors: on each one server that has all its devices.

In band such a node has one interface on a trunk of inband-1 with the VLANs of clusters.
"""

from __future__ import annotations

from interlock.model.site.inventory import FlavorSpec, Host, Site, Switch, SwitchPortConfig
from interlock.model.site.whole_nodes import WholeNode
from interlock.model.tenant.request import Cluster, Tenant

from .gpu_sites import IN_BAND, cluster, gpu_site, gpu_tenant, node_name

#: Nodes of unit 2 that are hypervisors.
VIRTUAL = (node_name(2, 3), node_name(2, 4))
FLAVOR = "gpu.h100"


def whole_flavor(**overrides: object) -> FlavorSpec:
    """The flavour whose servers take a DGX H100 whole."""
    node = WholeNode(
        type="dgx-h100", aliases={"gpu": "h100", "nvswitch": "nvswitch", "hca": "hca"}, one_time_use=True,
    )  # fmt: skip
    fields: dict[str, object] = {
        "name": FLAVOR, "role": "gpu", "vcpus": 208, "ram_gib": 1900, "disk_gib": 100, "public": False,
        "devices": "other", "whole_node": node,
    }  # fmt: skip
    return FlavorSpec.model_validate(fields | overrides)


def virtual_site(flavor: FlavorSpec | None = None, base: Site | None = None, **overrides: object) -> Site:
    """Two units of four nodes, of which two are hypervisors; `overrides` replace whole fields of `Site`.

    `base`: the hall with something besides.
    """
    base = base or gpu_site()
    fields: dict[str, object] = {
        "hosts": tuple(_virtual(host) if host.name in VIRTUAL else host for host in base.hosts),
        "switches": tuple(_with_trunks(base, item) if item.name == "inband-1" else item for item in base.switches),
        "flavors": (*base.flavors, flavor or whole_flavor()),
    }
    return base.with_parts(**(fields | overrides))


def virtual_cluster(nodes: int = 1, **overrides: object) -> Cluster:
    """A cluster of virtual servers."""
    return cluster("train", nodes, **({"kind": "vm"} | overrides))


def virtual_tenant(id: str = "acme", *clusters: Cluster, **overrides: object) -> Tenant:  # noqa: A002
    """A tenant with these clusters, by default one of one virtual node."""
    return gpu_tenant(id, *(clusters or (virtual_cluster(),)), **overrides)


def _virtual(host: Host) -> Host:
    return host.model_copy(
        update={
            "provisioning": "hypervisor", "dedicated_cpus": 208, "huge_pages_gib": 1900, "ram_gib": 2048,
            "interfaces": {"inband": IN_BAND[:1]},
        }
    )  # fmt: skip


def _with_trunks(site: Site, switch: Switch) -> Switch:
    """A trunk with the pool behind the first interface of a hypervisor, and nothing behind the second."""
    modes: dict[int, SwitchPortConfig] = {port.port: port for port in switch.ports}
    for name in VIRTUAL:
        first, second = (site.far_end(name, interface) for interface in IN_BAND)
        assert first is not None
        assert second is not None
        number = int(first.interface)
        modes[number] = SwitchPortConfig(port=number, mode="trunk", tagged=((1500, 1599),))
        modes[int(second.interface)] = SwitchPortConfig(port=int(second.interface), mode="disabled")
    return switch.model_copy(update={"ports": tuple(modes[number] for number in sorted(modes))})
