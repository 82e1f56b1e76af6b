"""vPODs and GPU clusters as owners: Sep a second time, over the media of one tenant and what is on them."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.resources import BareMetalServer, Network, PartitionKey, Server, SwitchPort

from .authority import Meeting
from .hardware import part_of, whole_of
from .terrain import Place, Terrain, flood, trace
from .world import OP, Stack, World

#: Rows of routers, of the cloud's rights, of hosts and of services for all: they join no media, and a tenant has them
#: as a whole.
BESIDE_MEDIA = frozenset({"E10", "E11", "E12", "E13", "E18", "A16", "A17", "A18", "A19", "A20", "A21", "A23", "A24"})
MEDIA = ("ipu-data", "storage", "cluster", "roce")
CLUSTER = "GpuCluster"
#: Rnics of machines hang on media; their other plugs do not.
RNIC = "rnic"


def tenants_with_vpods(world: World) -> list[Stack]:
    """The stacks of tenants whose vPODs are kept apart."""
    return [
        stack
        for stack in world.stacks
        if stack.owner != OP and stack.plan.separate == "vpods" and len(_vpods(stack)) > 1
    ]


def _vpods(stack: Stack) -> list[str]:
    return [item.name for item in stack.plan.components if item.type in ("VirtualPod", CLUSTER)]


def meetings_of_vpods(world: World, terrain: Terrain) -> Iterator[Meeting]:
    """Pairs of vPODs of one tenant that meet; `terrain` is without the rows beside media."""
    for stack in tenants_with_vpods(world):
        media = _without_other_networks(terrain, stack)
        things = list(_things(stack))
        for certain in (False, True):
            for start, vpod in things:
                reached = flood(media, [start], certain, one_way=True)
                for place, other in things:
                    if place in reached and vpod != other:
                        way = tuple(reversed(list(trace(reached, place))))
                        yield frozenset((vpod, other)), certain, way


def _things(stack: Stack) -> Iterator[tuple[Place, str]]:
    """What a vPOD has on media: what its networks claim, servers and machines."""
    for name, network in stack.all(Network):
        vpod = _vpod_of(stack, stack.plan.by_name[name].component)
        if vpod is not None and name.endswith(MEDIA):
            yield from ((place, vpod) for place in _claimed(stack, network))
    for name, _ in stack.all(Server):
        vpod = _vpod_of(stack, stack.plan.by_name[name].component)
        if vpod is not None:
            yield ("server", stack.owner, name), vpod
    for name, host in stack.all(BareMetalServer):
        vpod = _vpod_of(stack, stack.plan.by_name[name].component)
        if vpod is not None and stack.plan.component[vpod].type == CLUSTER:
            yield whole_of(stack.world.site.host[host.node]), vpod
    yield from _ports(stack)
    for name, port in stack.all(SwitchPort):
        vpod = _vpod_of(stack, stack.plan.by_name[name].component)
        machine = stack.world.site.machine.get(port.device)
        if vpod is not None and machine is not None and port.interface == RNIC:
            yield part_of(machine, RNIC), vpod


def _ports(stack: Stack) -> Iterator[tuple[Place, str]]:
    """The InfiniBand ports that a cluster has in its keys; a declared one is the operator's."""
    declared = {item.node.lower() for item in stack.world.site.sharing}
    prefixes = {item.name: item.prefix for item in stack.world.site.infiniband}
    for name, key in stack.all(PartitionKey):
        part = _vpod_of(stack, stack.plan.by_name[name].component)
        if part is not None and stack.plan.component[part].type == CLUSTER:
            fabric = prefixes.get(key.infiniband, key.infiniband)
            own = (member.guid for member in key.members if member.guid.lower() not in declared)
            yield from ((("infiniband port", fabric, guid), part) for guid in own)


def _claimed(stack: Stack, network: Network) -> Iterator[Place]:
    site = stack.world.site
    physical = site.physical_network.get(network.physical_network or "")
    for switch in physical.switches if physical is not None else ():
        yield "bridge", site.switch[switch].serial, network.segmentation_id or 0


def _vpod_of(stack: Stack, component: str | None) -> str | None:
    while component is not None and component not in _vpods(stack):
        above = stack.plan.component.get(component)
        # A controller is the operator's.
        component = above.parent if above is not None and above.type != "VipuController" else None
    return component


def _without_other_networks(terrain: Terrain, stack: Stack) -> Terrain:
    """The tenant's control networks are left out: a vPOD's own as well as one for several."""
    others = [item for name, item in stack.all(Network) if not name.endswith(MEDIA)]
    overlays = {item.segmentation_id for item in others if item.network_type == "vxlan"}
    tags = {item.segmentation_id for item in others if item.network_type == "vlan"}

    def is_other(place: Place) -> bool:
        kinds = {"tunnel": overlays, "nic": tags, "bridge": tags}
        return place[-1] in kinds.get(str(place[0]), ())

    hops = {
        place: [hop for hop in found if not is_other(hop.to)]
        for place, found in terrain.hops.items()
        if not is_other(place)
    }
    one_way = {
        place: [hop for hop in found if not is_other(hop.to)]
        for place, found in terrain.one_way.items()
        if not is_other(place)
    }
    return Terrain(terrain.without, hops, terrain.marks, terrain.doors, one_way)
