"""Where on a site what can be placed: logical racks, the networks that their cables end at, GW-Link groups.

Fixed for a site: made once, used for all its tenants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from interlock.model.site.inventory import Generation, Host, Machine, Site

from .blocks import WHOLE, WIDTH
from .gw_links import joined_racks, walk


@dataclass(frozen=True)
class Networks:
    """The physical networks that a vPOD's VLANs are ids of."""

    ipu_data: str
    storage: str
    management: str


@dataclass(frozen=True)
class Reach:
    """The networks of the pools that machines are cabled to, in the order of the pools."""

    ipu_data: tuple[str, ...]
    storage: tuple[str, ...]
    management: tuple[str, ...]

    def shared_with(self, other: Reach) -> Reach:
        """The networks that both reach."""
        return Reach(
            tuple(name for name in self.ipu_data if name in other.ipu_data),
            tuple(name for name in self.storage if name in other.storage),
            tuple(name for name in self.management if name in other.management),
        )

    def choices(self) -> Iterator[Networks]:
        """What a vPOD here can use, best first: storage on the network of the RNICs where the pool has it."""
        for data in self.ipu_data:
            for storage in sorted(self.storage, key=lambda name: name != data):
                for management in self.management:
                    yield Networks(data, storage, management)


@dataclass(frozen=True)
class RackMachines:
    """The machines of one generation in one logical rack."""

    index: int
    rack: str
    generation: Generation
    topology: str
    #: By bit; None where the rack has no such machine.
    machines: tuple[str | None, ...]
    present: int

    def names(self, first: int, count: int) -> tuple[str, ...]:
        """The machines of a run."""
        return tuple(name for name in self.machines[first : first + count] if name is not None)


#: Whole logical racks that GW-Links join, by index of their shelves.
Group = tuple[int, ...]


class SiteLayout:
    """A site as the allocation sees it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.shelves = tuple(_shelves(site))
        #: Machine -> (index of its shelf, bit).
        self.spot = {
            name: (shelf.index, bit)
            for shelf in self.shelves
            for bit, name in enumerate(shelf.machines)
            if name is not None
        }
        self._reaches: dict[str, Reach] = {}
        self._uniform: dict[int, bool] = {}
        self._reach_of_run: dict[tuple[str, ...], Reach] = {}

    def reach(self, machines: Sequence[str]) -> Reach:
        """The networks that all these machines reach; those that the site does not know reach none."""
        key = tuple(machines)
        if key not in self._reach_of_run:
            reaches = {self._reach_of_machine(name) for name in machines} or {Reach((), (), ())}
            first, *rest = sorted(reaches, key=repr)
            for other in rest:
                first = first.shared_with(other)
            self._reach_of_run[key] = first
        return self._reach_of_run[key]

    def is_uniform(self, shelf: int) -> bool:
        """True if all machines of a shelf reach the same networks: what one is refused, all are."""
        if shelf not in self._uniform:
            names = [name for name in self.shelves[shelf].machines if name is not None]
            self._uniform[shelf] = len({self._reach_of_machine(name) for name in names}) == 1
        return self._uniform[shelf]

    def hangs_together(self, machines: Iterable[str]) -> bool:
        """True if IPU-Link cables lead from each of these machines to every other, over these alone."""
        left = set(machines)
        waiting = [left.pop()] if left else []
        while waiting:
            near = left & self._ipu_links.get(waiting.pop(), set())
            left -= near
            waiting += near
        return not left

    @cached_property
    def _ipu_links(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for cable in self.site.cables:
            if cable.kind == "ipu-link":
                found.setdefault(cable.a.device, set()).add(cable.b.device)
                found.setdefault(cable.b.device, set()).add(cable.a.device)
        return found

    @cached_property
    def shelves_at(self) -> dict[str, frozenset[int]]:
        """Shelves by physical network that a machine of them reaches."""
        found: dict[str, set[int]] = {}
        for name, (shelf, _) in self.spot.items():
            reach = self._reach_of_machine(name)
            for network in (*reach.ipu_data, *reach.storage, *reach.management):
                found.setdefault(network, set()).add(shelf)
        return {network: frozenset(shelves) for network, shelves in found.items()}

    def networks_at(self, switch: str) -> Sequence[str]:
        """The physical networks that a switch is listed in."""
        return self._networks_at.get(switch, ())

    def switches(self, network: str) -> tuple[str, ...]:
        """The switches of a physical network; its own name where none is listed, as if it were one."""
        listed = self.site.physical_network.get(network)
        return (listed.switches if listed else ()) or (network,)

    def data_switches(self, machines: Iterable[str]) -> set[str]:
        """The ToRs of these machines."""
        ends = [self.site.far_end(name, "rnic") for name in machines]
        return {end.device for end in ends if end is not None}

    @cached_property
    def hosts(self) -> dict[str, tuple[Host, ...]]:
        """Hosts by physical network that they have interfaces on, in the order of the site."""
        found: dict[str, list[Host]] = {}
        for host in self.site.hosts:
            for network in host.interfaces:
                found.setdefault(network, []).append(host)
        return {network: tuple(hosts) for network, hosts in found.items()}

    @cached_property
    def switches_of_host(self) -> dict[str, frozenset[str]]:
        """Switches that a host's interfaces on physical networks are cabled to, by host."""
        found = {}
        for host in self.site.hosts:
            plugs = [plug for plugs in host.interfaces.values() for plug in plugs]
            ends = [self.site.far_end(host.name, plug) for plug in plugs]
            found[host.name] = frozenset(end.device for end in ends if end is not None)
        return found

    @cached_property
    def poplar_at(self) -> dict[str, tuple[Host, ...]]:
        """Poplar hosts by switch that they are cabled to, in the order of the site."""
        found: dict[str, list[Host]] = {}
        for host in self.site.hosts:
            for switch in self.switches_of_host[host.name] if host.role == "poplar" else ():
                found.setdefault(switch, []).append(host)
        return {switch: tuple(hosts) for switch, hosts in found.items()}

    @cached_property
    def host_order(self) -> dict[str, int]:
        """Number of every host in the site's order."""
        return {host.name: number for number, host in enumerate(self.site.hosts)}

    @cached_property
    def lanes(self) -> tuple[Group, ...]:
        """Whole logical racks of one kind that GW-Links join, each lane in an order that follows the links."""
        by_rack = {shelf.rack: shelf for shelf in self.shelves if shelf.present == WHOLE}
        alike = {
            rack: [other for other in others if _alike(by_rack[rack], by_rack[other])]
            for rack, others in self._edges.items()
        }
        return tuple(tuple(by_rack[rack].index for rack in lane) for lane in walk(alike) if len(lane) > 1)

    def groups(self, count: int) -> Iterator[tuple[bool, Group]]:
        """(is aligned, group) for every connected run of `count` racks in a lane, aligned ones first."""
        windows = [
            (first % count == 0, lane[first : first + count])
            for lane in self.lanes
            for first in range(len(lane) - count + 1)
        ]
        for wanted in (True, False):
            yield from (item for item in windows if item[0] is wanted and self.is_joined(item[1]))

    @cached_property
    def aligned_groups(self) -> dict[int, tuple[Group, ...]]:
        """The aligned groups that a shelf is in, the smallest first."""
        found: dict[int, list[Group]] = {}
        count = 2
        while count <= max((len(lane) for lane in self.lanes), default=0):
            for aligned, group in self.groups(count):
                for shelf in group if aligned else ():
                    found.setdefault(shelf, []).append(group)
            count *= 2
        return {shelf: tuple(groups) for shelf, groups in found.items()}

    def is_joined(self, group: Group) -> bool:
        """True if GW-Links inside the group join all its racks."""
        inside = {self.shelves[index].rack for index in group}
        edges = {rack: [other for other in self._edges[rack] if other in inside] for rack in inside}
        return len(walk(edges)) == 1

    @cached_property
    def _edges(self) -> dict[str, list[str]]:
        whole = {shelf.rack: shelf.machines for shelf in self.shelves if shelf.present == WHOLE}
        return joined_racks(self.site, whole)

    def _reach_of_machine(self, name: str) -> Reach:
        if name not in self._reaches:
            self._reaches[name] = Reach(
                self._reached(name, "rnic", "ipu_data"),
                self._reached(name, "rnic", "storage"),
                self._reached(name, "mgmt", "management"),
            )
        return self._reaches[name]

    def _reached(self, machine: str, interface: str, pool: str) -> tuple[str, ...]:
        end, rank = self.site.far_end(machine, interface), self._ranks[pool]
        here = self._networks_at.get(end.device, ()) if end else ()
        return tuple(sorted((name for name in here if name in rank), key=rank.__getitem__))

    @cached_property
    def _ranks(self) -> dict[str, dict[str, int]]:
        """Network -> its place in a pool, by pool."""
        pools = self.site.pools
        listed = {"ipu_data": pools.ipu_data, "storage": pools.storage, "management": pools.management}
        return {
            pool: {name: rank for rank, name in enumerate(found.physical_networks if found else ())}
            for pool, found in listed.items()
        }

    @cached_property
    def _networks_at(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for network in self.site.physical_networks:
            for switch in network.switches:
                found.setdefault(switch, []).append(network.name)
        return found


def _alike(one: RackMachines, other: RackMachines) -> bool:
    """A vPOD over several racks has one generation, and is a torus only if each of them is."""
    return (one.generation, one.topology) == (other.generation, other.topology)


def _shelves(site: Site) -> Iterator[RackMachines]:
    found: dict[tuple[str, Generation], list[Machine]] = {}
    for machine in site.machines:
        found.setdefault((machine.logical_rack, machine.generation), []).append(machine)
    for index, ((rack, generation), machines) in enumerate(found.items()):
        by_bit = {machine.position - 1: machine.name for machine in machines}
        known = site.logical_rack.get(rack)
        yield RackMachines(
            index=index,
            rack=rack,
            generation=generation,
            topology=known.topology if known else "mesh",
            machines=tuple(by_bit.get(bit) for bit in range(WIDTH)),
            present=sum(1 << bit for bit in by_bit),
        )
