"""How much more a site holds: each thing counted by itself, as if nothing else ran out first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Generation, Host, Site, Switch
from interlock.vocabulary import CLAIMS_OF, NetworkRole

from .allocation_state import AllocationState
from .blocks import WHOLE, WIDTH, aligned_runs, loose_runs, maximal_blocks, run_mask
from .cleaning import Cleaning, cleaning, counted, vlans_of
from .host_room import ServerNeed
from .identifiers import STORAGE_OFFSET, free_vlans
from .node_rooms import NodeRoom, node_rooms


@dataclass(frozen=True)
class SizeRoom:
    """How many more vPODs of one size there are free machines for: blocks, and runs that are none besides."""

    generation: Generation
    machines: int
    aligned: int
    unaligned: int


@dataclass(frozen=True)
class RackRoom:
    """A logical rack: machines that are free, and the largest free block of them."""

    rack: str
    generation: Generation
    free: int
    largest_block: int
    #: Machines out of service, held or not; none of them is free.
    failed: int = 0
    maintenance: int = 0
    #: Released, and not seen clean.
    cleaning: int = 0


@dataclass(frozen=True)
class NetworkRoom:
    """Free VLAN ids of a pool on one physical network. `pairs`: data ids with their partner on storage."""

    pool: str
    network: str
    free: int
    pairs: int | None = None
    #: Released, and not read back.
    cleaning: int = 0


@dataclass(frozen=True)
class PoolRoom:
    """Free entries of a pool that no physical network divides."""

    pool: str
    free: int


@dataclass(frozen=True)
class PortRoom:
    """Ports without a cable on all switches of a role."""

    role: str
    free: int
    of: int


@dataclass(frozen=True)
class ServerRoom:
    """How many more Poplar servers of a flavour the hosts take; of bare-metal hosts, how many are free."""

    flavor: str
    servers: int


@dataclass(frozen=True)
class HostRole:
    """Hosts of a role, and how many of them are out of service: nothing more fits on those."""

    role: str
    of: int
    failed: int
    maintenance: int
    #: Whole hosts that were released and not seen clean.
    cleaning: int = 0


@dataclass(frozen=True)
class PowerRoom:
    """Watts left of what a rack's feeds (derated) or a room give; None: a feed or a nameplate is not stated."""

    place: str
    limit_w: int | None
    drawn_w: int | None
    left_w: int | None


@dataclass(frozen=True)
class Capacity:
    """What a site still has to give."""

    vpods: tuple[SizeRoom, ...]
    racks: tuple[RackRoom, ...]
    vlans: tuple[NetworkRoom, ...]
    #: None, as with `controllers`: the site has no vPODs.
    vnis: PoolRoom | None
    subnets: tuple[PoolRoom, ...]
    ports: tuple[PortRoom, ...]
    servers: tuple[ServerRoom, ...]
    bare_metal_hosts: int
    hosts: tuple[HostRole, ...]
    nodes: tuple[NodeRoom, ...]
    #: How many more heads of clusters, by flavour, the hypervisors on networks of the pool `cluster` take.
    heads: tuple[ServerRoom, ...]
    #: P_Keys by InfiniBand subnet.
    partition_keys: tuple[PoolRoom, ...]
    #: Controllers that the limits of the operator's project still allow.
    controllers: int | None
    racks_power: tuple[PowerRoom, ...]
    rooms_power: tuple[PowerRoom, ...]
    #: All that was released and is not confirmed clean, one by one.
    cleaning: tuple[Cleaning, ...] = ()


def capacity(site: Site, locks: Iterable[Lock]) -> Capacity:
    """What is left beside these locks. Claims released and not settled count as taken: they are cleaning."""
    ordered = sorted(locks, key=lambda lock: lock.id)
    allocated, unclean = AllocationState.of(site, ordered), cleaning(site, ordered)
    hypervisors = [host for host in site.hosts if host.role == "poplar" and host.provisioning == "hypervisor"]
    bare_metal = [host for host in site.hosts if host.role == "poplar" and host.provisioning == "bare-metal"]
    return Capacity(
        vpods=tuple(_sizes(allocated)),
        racks=tuple(_racks(allocated, unclean)),
        vlans=tuple(_vlans(allocated, unclean)),
        vnis=PoolRoom("control", allocated.vnis.free()) if site.pools.control else None,
        subnets=tuple(_subnets(allocated)),
        ports=tuple(_ports(site)),
        servers=tuple(_servers(allocated, hypervisors)),
        bare_metal_hosts=sum(host.in_service and not allocated.hosts.servers.get(host.name) for host in bare_metal),
        hosts=tuple(_hosts(site, unclean)),
        nodes=tuple(node_rooms(allocated, unclean)),
        heads=tuple(_heads(allocated, hypervisors)),
        partition_keys=tuple(PoolRoom(name, pool.free()) for name, pool in allocated.partition_keys.items()),
        controllers=_controllers(allocated) if site.controller else None,
        racks_power=tuple(_power(site)),
        rooms_power=tuple(_rooms(site)),
        cleaning=unclean,
    )


def _controllers(allocated: AllocationState) -> int:
    return allocated.site.limits.controller_instances - sum(allocated.hosts.controllers.values())


def _sizes(allocated: AllocationState) -> Iterator[SizeRoom]:
    shelves = allocated.layout.shelves
    for generation in dict.fromkeys(shelf.generation for shelf in shelves):
        free = [allocated.free[shelf.index] for shelf in shelves if shelf.generation == generation]
        size = 1
        while size <= WIDTH:
            aligned = sum(len(aligned_runs(mask, size)) for mask in free)
            yield SizeRoom(generation, size, aligned, sum(_loose(mask, size) for mask in free))
            size *= 2
        while size <= WIDTH * max((len(lane) for lane in allocated.layout.lanes), default=1):
            yield _group_room(allocated, generation, size)
            size *= 2


def _loose(free: int, size: int) -> int:
    """Runs left when all free blocks of the size are given out, taken from the left as the allocation does."""
    for first in aligned_runs(free, size):
        free &= ~run_mask(first, size)
    count = 0
    while found := loose_runs(free, size):
        free &= ~run_mask(found[0], size)
        count += 1
    return count


def _group_room(allocated: AllocationState, generation: Generation, size: int) -> SizeRoom:
    used: set[int] = set()
    counts = {True: 0, False: 0}
    for aligned, group in allocated.layout.groups(size // WIDTH):
        same = allocated.layout.shelves[group[0]].generation == generation
        if same and used.isdisjoint(group) and all(allocated.free[one] == WHOLE for one in group):
            used.update(group)
            counts[aligned] += 1
    return SizeRoom(generation, size, counts[True], counts[False])


def _racks(allocated: AllocationState, unclean: tuple[Cleaning, ...]) -> Iterator[RackRoom]:
    for shelf in allocated.layout.shelves:
        free = allocated.free[shelf.index]
        largest = max((size for _, size in maximal_blocks(free)), default=0)
        states = Counter(allocated.site.machine[name].state for name in shelf.machines if name is not None)
        failed, maintenance = states["failed"], states["maintenance"]
        gone = counted(unclean, "machine", (name for name in shelf.machines if name is not None))
        yield RackRoom(shelf.rack, shelf.generation, free.bit_count(), largest, failed, maintenance, gone)


def _vlans(allocated: AllocationState, unclean: tuple[Cleaning, ...]) -> Iterator[NetworkRoom]:
    pools = allocated.site.pools
    data, storage = CLAIMS_OF[NetworkRole.IPU_DATA].vlan, CLAIMS_OF[NetworkRole.STORAGE].vlan
    beside = pools.storage.physical_networks if pools.storage else ()
    for network in pools.ipu_data.physical_networks if pools.ipu_data else ():
        free = free_vlans(allocated, data, network)
        partners = free_vlans(allocated, storage, network) if network in beside else 0
        room = (free & partners >> STORAGE_OFFSET).bit_count()
        gone = vlans_of(unclean, network, pools.ipu_data.vlans if pools.ipu_data else ())
        yield NetworkRoom(NetworkRole.IPU_DATA.word, network, free.bit_count(), room, gone)
    others = {role: pool for role, pool in pools.vlans_of.items() if role is not NetworkRole.IPU_DATA}
    for role, pool in others.items():
        for network in pool.physical_networks:
            free = free_vlans(allocated, CLAIMS_OF[role].vlan, network)
            gone = vlans_of(unclean, network, pool.vlans)
            yield NetworkRoom(role.word, network, free.bit_count(), cleaning=gone)


def _subnets(allocated: AllocationState) -> Iterator[PoolRoom]:
    pools = allocated.site.pools
    for role, (prefix, length) in pools.subnets_of.items():
        yield PoolRoom(role.word, allocated.subnets(prefix, length).free())


def _ports(site: Site) -> Iterator[PortRoom]:
    by_role: dict[str, list[Switch]] = {}
    for switch in site.switches:
        by_role.setdefault(switch.role, []).append(switch)
    for role, switches in by_role.items():
        total = free = 0
        for switch in switches:
            ports = sum(count for _, count in switch.port_groups)
            total += ports
            free += sum((switch.name, str(port)) not in site.cable_at for port in range(1, ports + 1))
        yield PortRoom(role, free, total)


def _servers(allocated: AllocationState, hosts: list[Host]) -> Iterator[ServerRoom]:
    for flavor in allocated.site.flavors:
        if flavor.role == "poplar":
            need = ServerNeed((), flavor)
            yield ServerRoom(flavor.name, sum(allocated.hosts.fits(host, need) for host in hosts))


def _heads(allocated: AllocationState, hosts: list[Host]) -> Iterator[ServerRoom]:
    """Nothing of a site without GPU nodes, or without a network of clusters that such a host is on."""
    pool = allocated.site.pools.cluster if allocated.site.gpu_nodes else None
    networks = pool.physical_networks if pool else ()
    reached = [host for host in hosts if any(host.interfaces.get(name) for name in networks)]
    for flavor in allocated.site.flavors if reached else ():
        if flavor.role == "poplar":
            need = ServerNeed((), flavor, functions=0)
            yield ServerRoom(flavor.name, sum(allocated.hosts.fits(host, need) for host in reached))


def _hosts(site: Site, unclean: tuple[Cleaning, ...]) -> Iterator[HostRole]:
    for role in dict.fromkeys(host.role for host in site.hosts):
        states = Counter(host.state for host in site.hosts if host.role == role)
        gone = counted(unclean, "host", (host.name for host in site.hosts if host.role == role))
        yield HostRole(role, states.total(), states["failed"], states["maintenance"], gone)


def _power(site: Site) -> Iterator[PowerRoom]:
    drawn = _drawn(site)
    for rack in site.physical_racks:
        # A rack must live on what is left when its largest feed fails; one feed alone carries all of it.
        usable = sorted(int(feed.capacity_w * Fraction(str(feed.derate))) for feed in rack.feeds)
        feeds = [sum(usable[: max(1, len(usable) - 1)])] if usable else []
        limits = feeds + ([rack.cooling_limit_w] if rack.cooling_limit_w is not None else [])
        yield _room(rack.name, min(limits) if feeds else None, drawn.get(rack.name))


def _rooms(site: Site) -> Iterator[PowerRoom]:
    drawn = _drawn(site)
    for room in site.rooms:
        parts = [drawn.get(rack.name) for rack in site.physical_racks if rack.room == room.name]
        known = [part for part in parts if part is not None]
        yield _room(room.name, room.power_w, sum(known) if known and len(known) == len(parts) else None)


def _drawn(site: Site) -> dict[str, int | None]:
    """Rack -> watts on all nameplates in it; None where one is not stated, absent where nothing is placed."""
    found: dict[str, int | None] = {}
    for item in site.placements:
        so_far = found.get(item.rack, 0)
        found[item.rack] = None if so_far is None or item.nameplate_w is None else so_far + item.nameplate_w
    return found


def _room(place: str, limit: int | None, drawn: int | None) -> PowerRoom:
    left = None if limit is None or drawn is None else limit - drawn
    return PowerRoom(place, limit, drawn, left)
