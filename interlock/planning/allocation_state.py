"""What is taken on a site: every claim of every lock, in force or released, ready to be searched for what is free.

One object serves all tenants of a run: `remove_lock` before a tenant is placed, `add_lock` with what it got.
What it answers depends on the claims in it alone, never on the order in which they came.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import IPv4Network

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.vocabulary import SubnetKey, Vlan

from .blocks import WHOLE, WIDTH, maximal_blocks
from .claims import PARTITION_KEYS, ROOM_CLAIMS, SUBNET_CLAIMS, VLAN_CLAIMS, Claim, claims_of_lock
from .host_room import HostRooms
from .layout import RackMachines, SiteLayout
from .registers import Holders, Numbers, SubnetRegister

#: Ids that no port can carry as a VLAN of its own.
NEVER = 1 << 0 | 1 << 4095


class AllocationState:
    """The claims on a site, by kind of identity."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.layout = SiteLayout(site)
        self.machines: Holders[str] = Holders()
        #: (switch, VLAN id) -> holder: the wire, not the name of a physical network, is what is taken.
        self.vlans: Holders[tuple[str, int]] = Holders()
        self.vnis = Numbers(site.pools.control)
        self.hosts = HostRooms(site, self.layout)
        #: Addresses of the storage appliance.
        self.addresses: Counter[str] = Counter()
        #: (field, physical network, InfiniBand subnet or empty) -> tenants with released claims there, and how many.
        self.released: dict[tuple[str, str], Counter[str]] = {}
        #: P_Keys by InfiniBand subnet, reserved ones taken.
        self.partition_keys = _key_pools(site)
        self._subnets = _subnet_pools(site)
        #: Switch -> ids taken there, as a mask.
        self._vlans_on: dict[str, int] = {}
        #: Machines by shelf that may be given out at all; one out of service is free to nobody, held or not.
        self._in_service = [_in_service(site, shelf) for shelf in self.layout.shelves]
        #: Free machines by shelf, and for each size of a free block the shelves that have one, in order.
        self.free = list(self._in_service)
        self._with_block: dict[int, list[int]] = {}
        self._sizes: list[tuple[int, ...]] = [() for _ in self.layout.shelves]
        self._closed: dict[tuple[str, ...], set[int]] = {}
        self._journal: list[tuple[bool, Claim]] | None = None
        for vni in site.pools.reserved_vnis:
            self.vnis.add(vni)
        for index in range(len(self.free)):
            self._index(index)

    @classmethod
    def of(cls, site: Site, locks: Iterable[Lock]) -> AllocationState:
        """Everything that these locks claim or have released."""
        allocated = cls(site)
        for lock in locks:
            allocated.add_lock(lock)
        return allocated

    def add_lock(self, lock: Lock) -> None:
        """Take all that a lock holds, in force or released."""
        for claim in claims_of_lock(lock):
            self.add(claim)

    def remove_lock(self, lock: Lock) -> None:
        """Give all that back; it must have been added as it is."""
        for claim in claims_of_lock(lock):
            self.remove(claim)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Whatever is added and removed inside is undone at the end."""
        outer, self._journal = self._journal, []
        try:
            yield
        finally:
            done, self._journal = self._journal, None
            for added, claim in reversed(done):
                self._change(claim, add=not added)
            self._journal = outer

    def add(self, claim: Claim) -> None:
        """Take one more claim; one that is taken already is then held by both."""
        self._change(claim, add=True)

    def remove(self, claim: Claim) -> None:
        """Give one claim back."""
        self._change(claim, add=False)

    def unusable_vlans(self, network: str) -> int:
        """Ids that a pool must not give out on a physical network, as a mask: taken on one of its switches,
        reserved, or that of the external network."""
        mask = NEVER
        for vlan in self.site.pools.reserved_vlans:
            mask |= 1 << vlan
        external = self.site.external
        if external.vlan is not None and external.physical_network == network:
            mask |= 1 << external.vlan
        for switch in self.layout.switches(network):
            mask |= self._vlans_on.get(switch, 0)
        return mask

    def subnets(self, prefix: str, length: int) -> SubnetRegister:
        """What is left of a subnet pool of the site."""
        return self._subnets[prefix, length]

    def closed(self, kind: tuple[str, ...]) -> set[int]:
        """Shelves where a vPOD of this kind was refused; whatever is given back there opens them again."""
        return self._closed.setdefault(kind, set())

    def sizes(self) -> list[int]:
        """Sizes of free blocks that there are, the smallest first."""
        return sorted(self._with_block)

    def shelves_with(self, size: int) -> Sequence[int]:
        """Shelves with a free block of this size that is no half of a larger free one, in the site's order."""
        return self._with_block.get(size, [])

    def _change(self, claim: Claim, *, add: bool) -> None:
        if self._journal is not None:
            self._journal.append((add, claim))
        # A device that was replaced is in nobody's way where it stood.
        found = claim.on(self.site)
        if found is None:
            return
        claim = found
        if claim.holder.released:
            scope = (claim.field, _scope(claim))
            self.released.setdefault(scope, Counter())[claim.holder.tenant] += 1 if add else -1
        if claim.field == "machines":
            self._change_machine(claim, add=add)
        elif claim.field in VLAN_CLAIMS:
            self._change_vlan(claim, add=add)
            switches = self.layout.switches(Vlan.parse(claim.value).network)
            self._open(() if add else {name for item in switches for name in self.layout.networks_at(item)})
        elif claim.field == "control_vni":
            (self.vnis.add if add else self.vnis.remove)(int(claim.value))
        elif claim.field in SUBNET_CLAIMS:
            self._change_subnet(claim, add=add)
        elif claim.field in (*ROOM_CLAIMS, "controller_host"):
            self.hosts.change(claim, add=add)
            host = self.site.host.get(claim.value)
            self._open(host.interfaces if host and not add else ())
        else:
            self._change_other(claim, add=add)

    def _change_other(self, claim: Claim, *, add: bool) -> None:
        """What nothing else depends on."""
        if claim.field == PARTITION_KEYS:
            subnet, key = SubnetKey.parse(claim.value)
            pool = self.partition_keys.setdefault(subnet, Numbers(()))
            (pool.add if add else pool.remove)(key)
        elif claim.field == "storage_vip":
            self.addresses[claim.value] += 1 if add else -1

    def _change_machine(self, claim: Claim, *, add: bool) -> None:
        changed = (self.machines.add if add else self.machines.remove)(claim.value, claim.holder)
        spot = self.layout.spot.get(claim.value)
        if not changed or spot is None:
            return
        shelf, bit = spot
        if not self._in_service[shelf] >> bit & 1:
            return
        before = self.free[shelf]
        self.free[shelf] = before ^ 1 << bit
        self._index(shelf)
        if WHOLE in (before, self.free[shelf]):
            # Whether a rack is free as a whole also decides how large a block its neighbours are part of.
            for group in self.layout.aligned_groups.get(shelf, ()):
                for other in group:
                    self._index(other)

    def _change_vlan(self, claim: Claim, *, add: bool) -> None:
        network, vlan = Vlan.parse(claim.value)
        for switch in self.layout.switches(network):
            if (self.vlans.add if add else self.vlans.remove)((switch, vlan), claim.holder):
                self._vlans_on[switch] = self._vlans_on.get(switch, 0) ^ 1 << vlan

    def _change_subnet(self, claim: Claim, *, add: bool) -> None:
        first, last = _addresses(claim.value)
        for pool in self._subnets.values():
            (pool.add if add else pool.remove)(first, last)

    def _open(self, networks: Iterable[str]) -> None:
        for network in networks:
            for closed in self._closed.values():
                closed.difference_update(self.layout.shelves_at.get(network, ()))

    def _index(self, shelf: int) -> None:
        """Note again which sizes of free blocks a shelf has."""
        sizes = self._sizes_of(shelf)
        for size in self._sizes[shelf]:
            listed = self._with_block[size]
            del listed[bisect_left(listed, shelf)]
            if not listed:
                del self._with_block[size]
        for size in sizes:
            insort(self._with_block.setdefault(size, []), shelf)
        self._sizes[shelf] = sizes

    def _sizes_of(self, shelf: int) -> tuple[int, ...]:
        if self.free[shelf] != WHOLE:
            return tuple(sorted({size for _, size in maximal_blocks(self.free[shelf])}))
        racks = [
            len(group)
            for group in self.layout.aligned_groups.get(shelf, ())
            if all(self.free[other] == WHOLE for other in group)
        ]
        return (WIDTH * max(racks, default=1),)


def _scope(claim: Claim) -> str:
    """What an id is local to; empty for what is told apart on the whole site."""
    if claim.field in VLAN_CLAIMS:
        return Vlan.parse(claim.value).network
    return SubnetKey.parse(claim.value).infiniband if claim.field == PARTITION_KEYS else ""


def _key_pools(site: Site) -> dict[str, Numbers]:
    found = {pool.infiniband: Numbers(pool.keys) for pool in site.pools.partition_keys}
    for pool in site.pools.partition_keys:
        for key in pool.reserved:
            found[pool.infiniband].add(key)
    return found


def _in_service(site: Site, shelf: RackMachines) -> int:
    """The machines of a shelf that are in service, as a mask."""
    return sum(
        1 << bit for bit, name in enumerate(shelf.machines) if name is not None and site.machine[name].in_service
    )


@lru_cache(maxsize=1 << 17)
def _addresses(subnet: str) -> tuple[int, int]:
    """First and last address. Remembered: a run looks at every subnet of a site several times."""
    network = IPv4Network(subnet, strict=False)
    return int(network.network_address), int(network.broadcast_address)


def _subnet_pools(site: Site) -> dict[tuple[str, int], SubnetRegister]:
    """The subnet pools, the external network's own prefix taken in all of them."""
    pools = site.pools
    found = {(prefix, length): SubnetRegister(prefix, length) for prefix, length in pools.subnets_of.values()}
    for pool in found.values():
        pool.add(*_addresses(site.external.cidr))
    return found
