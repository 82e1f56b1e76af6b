"""The GPU hall of `gpu_sites` with hypervisors for heads of clusters: head-1, head-2 on `inband`, without functions."""

from __future__ import annotations

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.inventory import FlavorSpec, Host, Site, SwitchPortConfig
from interlock.model.tenant.request import Cluster, HeadServers

from .gpu_plans import claims
from .gpu_sites import cluster, gpu_site
from .pod64 import cable

FLAVOR = "gpu.head"
#: What each of the hypervisors has, and what a head takes: two of them fit.
CPUS, PAGES = 32, 100
_HEAD = FlavorSpec(
    name=FLAVOR, role="poplar", vcpus=16, ram_gib=48, disk_gib=100,
    extra_specs={"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB"},
)  # fmt: skip


def site_with_heads(count: int = 2, **overrides: object) -> Site:
    """The site with so many such hypervisors, cabled to the in-band switch behind its nodes' ports."""
    base = gpu_site()
    switch = base.switch["inband-1"]
    first = sum(count for _, count in switch.port_groups)
    trunks = tuple(
        SwitchPortConfig(port=first + number, mode="trunk", tagged=((1500, 1599),)) for number in range(1, count + 1)
    )
    wider = switch.model_copy(update={"port_groups": ((100, first + count),), "ports": (*switch.ports, *trunks)})
    fields: dict[str, object] = {name: getattr(base, name) for name in Site.model_fields} | {
        "hosts": (*base.hosts, *(_host(number) for number in range(1, count + 1))),
        "flavors": (*base.flavors, _HEAD),
        "switches": tuple(wider if item.name == wider.name else item for item in base.switches),
        "cables": (
            *base.cables,
            *(cable(f"head-{number}:ens1f0", f"inband-1:{first + number}") for number in range(1, count + 1)),
        ),
    }
    return Site.model_validate(fields | overrides)


def headed(count: int = 1, name: str = "train", nodes: int = 2, **overrides: object) -> Cluster:
    """A cluster with Slurm and so many heads."""
    heads = HeadServers.model_validate({"count": count, "flavor": FLAVOR, "image": "dgx-os"})
    return cluster(name, nodes, **{"heads": heads, "scheduler": "slurm"} | overrides)


def head_claims(number: int, *nodes: tuple[int, int], heads: tuple[str, ...] = ("head-1",)) -> ClusterAllocation:
    """The claims of a cluster with heads on these hosts."""
    return claims(number, *nodes, heads=heads, head_flavor=FLAVOR)


def _host(number: int) -> Host:
    return Host(
        name=f"head-{number}", serial=f"SN-head-{number}", role="poplar", dedicated_cpus=CPUS, huge_pages_gib=PAGES,
        ram_gib=128, interfaces={"inband": ("ens1f0",)},
    )  # fmt: skip
