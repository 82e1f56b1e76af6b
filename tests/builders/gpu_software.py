"""Sites whose image for GPU nodes states software that fits, but for one thing, and tenants' plans on such nodes.

The pod of `bare_metal_pod64`, whose hosts poplar-1 to poplar-4 are GPU nodes: acme has two of them whole, or parts of
hypervisors. compute1 … compute8 of each are on the InfiniBand subnet `compute`; acme's partition there is 0x0005.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.inventory import Site
from interlock.model.site.networks import FabricProfile, InfinibandSubnet, PartitionKeyPool
from interlock.model.site.software import ImageSoftware
from interlock.planning.plan import Plan
from interlock.resources import PartitionKey
from interlock.resources.fabric import PartitionMember
from tests.policies.workspace import added, assumptions, changed, edited, made, sharing

from .fitting_software import FITTING
from .pod64 import POPLAR_HOSTS, bare_metal_pod64, bare_metal_vpod, pod64, tenant

#: The same of an image of which nobody states anything.
NOTHING: dict[str, Any] = dict.fromkeys(FITTING)
IMAGE = "poplar"
#: The servers of the plan.
FIRST, SECOND = "acme-train-poplar-0", "acme-train-poplar-1"
PROFILE = FabricProfile(name="roce", pfc_priority=3, dscp=26, cnp_dscp=48, ecn=True, mtu=9000)
RAILS = range(1, 9)


def software_site(*, node_type: str = "dgx-h100", site: dict[str, Any] | None = None, **software: Any) -> Site:
    """A site of whole GPU nodes whose image states what fits, but for `software`; `site` replaces whole fields."""
    return _with_nodes(bare_metal_pod64(), node_type, software, site or {})


def hypervisor_site(**software: Any) -> Site:
    """The same where the nodes are hypervisors."""
    return _with_nodes(pod64(), "dgx-h100", software, {})


def roce_site(*, profile: FabricProfile | None = PROFILE, **software: Any) -> Site:
    """The site of whole nodes with RoCE on the physical network that they have for data."""
    networks = tuple(
        item.model_copy(update={"profile": "roce"}) if item.name == "fabric100g" else item
        for item in bare_metal_pod64().physical_networks
    )
    profiles = () if profile is None else (profile,)
    return software_site(site={"physical_networks": networks, "fabric_profiles": profiles}, **software)


def nodes_plan(site: Site, *, infiniband: bool = True, image: str | None = None) -> Plan:
    """acme's plan: two servers on GPU nodes, each whole where the site gives them out so."""
    whole = all(site.host[name].provisioning == "bare-metal" for name in POPLAR_HOSTS)
    plan = _plan(whole=whole)
    for name in (FIRST, SECOND) if image is not None else ():
        plan = edited(plan, name, image=image)
    return added(plan, "acme-partition", "acme", partition()) if infiniband else plan


def partition(*, key: int = 5, membership: Literal["full", "limited"] = "full", capitals: bool = False) -> PartitionKey:
    """A partition of the compute ports of acme's nodes, which are the first two."""
    guids = [_guid(number, rail) for number in range(2) for rail in RAILS]
    members = tuple(PartitionMember(guid=guid.upper() if capitals else guid, membership=membership) for guid in guids)
    return PartitionKey(infiniband="compute", key=key, members=members)


@cache
def _plan(*, whole: bool) -> Plan:
    """No plan rests on what is in an image."""
    if whole:
        return made(software_site(), tenant("acme", vpods=(bare_metal_vpod(),))).plan
    return made(hypervisor_site(), tenant("acme")).plan


def _with_nodes(base: Site, node_type: str, software: dict[str, Any], site: dict[str, Any]) -> Site:
    images = tuple(
        item.model_copy(update={"software": ImageSoftware(**FITTING | software)}) if item.name == IMAGE else item
        for item in base.images
    )
    pool = PartitionKeyPool(infiniband="compute", keys=((0x0001, 0x00FF),))
    fields: dict[str, Any] = {
        "images": images,
        "lustre_server": "2.15.4",
        "gpu_nodes": tuple(_node(number, node_type) for number in range(len(POPLAR_HOSTS))),
        "infiniband": (InfinibandSubnet(name="compute", prefix="fe80000000000001"),),
        "pools": base.pools.model_copy(update={"partition_keys": (pool,)}),
        "sharing": sharing(),
        "assumptions": assumptions(),
    }
    return changed(base, **fields | site)


def _node(number: int, node_type: str) -> GpuHost:
    ports = tuple(
        HcaPort(name=f"compute{rail}", use="compute", infiniband="compute", rail=rail, guid=_guid(number, rail))
        for rail in RAILS
    )
    return GpuHost(name=POPLAR_HOSTS[number], node_type=node_type, hall="hall-1", unit=1, ports=ports)


def _guid(number: int, rail: int) -> str:
    return f"0002c903{number:04x}{rail:04x}"
