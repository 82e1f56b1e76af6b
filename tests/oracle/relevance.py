"""Guards that a world has anything for: all others may be unknown without a completion looking different."""

from __future__ import annotations

from interlock.model.site.guards import ASSUMPTION_GUARDS
from interlock.model.site.offers import Sharing
from interlock.resources import (
    Bucket,
    Network,
    NvlinkPartition,
    PartitionKey,
    Router,
    Server,
    Share,
    ShareAccess,
    VipuAllocation,
)

from .readings import Facts
from .world import World

#: Guards that no wire, call or entry of a world rests on: rules of their own ask for them.
BESIDE_MEETING = ("A14", "A15")


def guards_that_matter(world: World) -> dict[str, tuple[str, ...]]:
    """Assumption -> its guards, where there is something that they keep apart."""
    site, facts = world.site, Facts(world)
    kinds = {kind for stack in world.stacks for kind in stack.by_kind}
    matter = {
        "A3": bool(site.machines),
        "A4": bool(site.machines) or VipuAllocation.KIND in kinds,
        "A5": Server.KIND in kinds,
        "A6": PartitionKey.KIND in kinds,
        "A7": any(setting.role is not None for settings in facts.settings.values() for setting in settings),
        "A8": NvlinkPartition.KIND in kinds,
        "A17": bool(site.underlays) or any(switch.vteps for switch in site.switches) or _overlays(world),
        "A18": Network.KIND in kinds,
        "A19": Server.KIND in kinds,
        "A20": Server.KIND in kinds,
        "A21": Router.KIND in kinds,
        "A9": bool(world.cleaned),
        "A23": bool(world.cleaned),
        "A24": bool(site.machines) or any(facts.is_whole(host) for host in site.hosts),
        "A13": any(facts.is_whole(host) for host in site.hosts),
    }
    found = {
        name: guards
        for name, guards in ASSUMPTION_GUARDS.items()
        if name not in BESIDE_MEETING and matter.get(name, True)
    }
    services = {"storage_rules_enforced": Share.KIND, "bucket_rules_enforced": Bucket.KIND}
    return found | {"A11": tuple(guard for guard, kind in services.items() if kind in kinds)}


def _overlays(world: World) -> bool:
    used = any(item.network_type == "vxlan" for stack in world.stacks for _, item in stack.all(Network))
    return used or any(entry.claim == "control_vni" for _, entry in world.given_up())


def matters(world: World, declared: Sharing) -> bool:
    """Whether anything of this kind is there."""
    kinds = {kind for stack in world.stacks for kind in stack.by_kind}
    needed = {
        "external-network": Router.KIND,
        "vipu-controller": Server.KIND,
        "storage-appliance": ShareAccess.KIND,
    }
    return declared.kind not in needed or needed[declared.kind] in kinds
