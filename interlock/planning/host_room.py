"""What is left on every host, kept up to date claim by claim."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from interlock.model.site.inventory import FlavorSpec, Host, Site

from .claims import Claim
from .layout import SiteLayout

#: Virtual functions of one Poplar server: one on ipu-data, one on storage. A head of a cluster has none.
VFS_PER_SERVER = 2


@dataclass(frozen=True)
class HostRoom:
    """What is left on a host: dedicated CPUs, pages of 1 GiB, virtual functions."""

    cpus: int
    pages: int
    virtual_functions: int

    def holds(self, flavor: FlavorSpec) -> bool:
        """True if one more server of this flavour fits."""
        return self.count(flavor) > 0

    def count(self, flavor: FlavorSpec, functions: int = VFS_PER_SERVER) -> int:
        """How many servers of this flavour fit that have so many virtual functions each."""
        parts = (
            (self.cpus, flavor.vcpus),
            (self.pages, flavor.ram_gib),
            (self.virtual_functions, functions),
        )
        return max(0, min(left // each for left, each in parts if each > 0))

    def less(self, flavor: FlavorSpec, functions: int = VFS_PER_SERVER) -> HostRoom:
        """What is left beside a server of this flavour."""
        return HostRoom(self.cpus - flavor.vcpus, self.pages - flavor.ram_gib, self.virtual_functions - functions)


def largest_flavor(site: Site) -> FlavorSpec:
    """As much of each quantity as any flavour for Poplar servers has: what one of them takes at most."""
    poplar = [item for item in site.flavors if item.role == "poplar"]
    vcpus, ram = (
        max(found, default=0) for found in ([item.vcpus for item in poplar], [item.ram_gib for item in poplar])
    )
    return FlavorSpec(name="", role="poplar", vcpus=vcpus, ram_gib=ram, disk_gib=0)


@dataclass(frozen=True)
class ServerNeed:
    """What a server asks of its host: networks to reach, and a flavour, or (None) the whole host."""

    networks: tuple[str, ...]
    flavor: FlavorSpec | None
    functions: int = VFS_PER_SERVER

    @property
    def is_bare_metal(self) -> bool:
        """True if the server is a whole host, given out by Ironic."""
        return self.flavor is None

    @property
    def in_words(self) -> str:
        """The networks as messages name them: `mgmt1g and fabric100g (2 interfaces)`."""
        counts = Counter(self.networks)
        return " and ".join(f"{name} ({count} interfaces)" if count > 1 else name for name, count in counts.items())

    def is_of_kind(self, host: Host) -> bool:
        """True if servers of this kind stand on the host, whatever it is cabled to."""
        return host.role == "poplar" and host.provisioning == ("bare-metal" if self.is_bare_metal else "hypervisor")

    def is_met_by(self, host: Host) -> bool:
        """True if the host is of the right kind and reaches the networks; its room is another question."""
        return (
            self.is_of_kind(host)
            and all(network in host.interfaces for network in self.networks)
            and (not self.is_bare_metal or self._has_interfaces(host))
        )

    def _has_interfaces(self, host: Host) -> bool:
        """True if a whole host has an interface for each network, taken in the order in which plans take them.

        Networks may be one network, or two names of one; where a host lists none of its own, its cables decide.
        """
        taken = set[str]()
        for network in self.networks:
            listed = host.interfaces[network]
            free = [name for name in listed if name not in taken]
            if listed and not free:
                return False
            taken.update(free[:1])
        return True


class HostRooms:
    """Servers and controllers by host; a GPU node counts as a server that takes all of its host."""

    def __init__(self, site: Site, layout: SiteLayout) -> None:
        self.site = site
        self.layout = layout
        #: Host -> claims of the fields `hosts` and `heads`.
        self.servers: dict[str, list[Claim]] = {}
        #: Host -> number of controllers.
        self.controllers: Counter[str] = Counter()
        self._rooms: dict[str, HostRoom] = {}
        #: Physical network -> need -> servers that fit there; forgotten when a host there changes.
        self._counts: dict[str, dict[tuple[str, ...], int]] = {}

    def change(self, claim: Claim, *, add: bool) -> None:
        """Add or remove a claim of `hosts`, `heads` or `controller_host`."""
        if claim.field == "controller_host":
            self.controllers[claim.value] += 1 if add else -1
            return
        claims = self.servers.setdefault(claim.value, [])
        (claims.append if add else claims.remove)(claim)
        self._rooms.pop(claim.value, None)
        host = self.site.host.get(claim.value)
        for network in host.interfaces if host else ():
            self._counts.pop(network, None)

    def room(self, host: Host) -> HostRoom:
        """What all claims leave of a host. A server of unrecorded flavour counts as the largest one."""
        if host.name not in self._rooms:
            room = HostRoom(host.dedicated_cpus, host.huge_pages_gib, host.virtual_functions)
            for claim in self.servers.get(host.name, ()):
                functions = 0 if claim.field == "heads" else VFS_PER_SERVER
                room = room.less(self.site.flavor.get(claim.flavor, self._largest), functions)
            self._rooms[host.name] = room
        return self._rooms[host.name]

    def fits(self, host: Host, need: ServerNeed) -> int:
        """How many servers of this need the host still takes; none while it is out of service."""
        if not host.in_service or not need.is_met_by(host):
            return 0
        if need.flavor is None:
            return int(not self.servers.get(host.name))
        return self.room(host).count(need.flavor, need.functions)

    def count(self, need: ServerNeed) -> int:
        """How many servers of this need all hosts on its networks still take."""
        network = need.networks[0]
        counts = self._counts.setdefault(network, {})
        key = (need.flavor.name if need.flavor else "", str(need.functions), *need.networks)
        if key not in counts:
            counts[key] = sum(self.fits(host, need) for host in self.layout.hosts.get(network, ()))
        return counts[key]

    def tenants_on(self, host: str) -> set[str]:
        """Tenants with a server on a host."""
        return {claim.holder.tenant for claim in self.servers.get(host, ())}

    @cached_property
    def _largest(self) -> FlavorSpec:
        """What a server of unrecorded flavour is counted as."""
        return largest_flavor(self.site)
