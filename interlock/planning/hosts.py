"""Which hosts carry the servers of a vPOD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.model.site import FlavorSpec, Host, Site
from interlock.model.tenant import VPod

from .claims import Claim, Taken
from .errors import AllocationError, PlanningError

#: Virtual functions of one Poplar server: one on ipu-data, one on storage.
VFS_PER_SERVER = 2


@dataclass(frozen=True)
class Room:
    """What is left on a host: dedicated CPUs, pages of 1 GiB, virtual functions."""

    cpus: int
    pages: int
    virtual_functions: int

    def holds(self, flavor: FlavorSpec) -> bool:
        """True if one more server of this flavour fits."""
        return (
            self.cpus >= flavor.vcpus
            and self.pages >= flavor.ram_gib
            and self.virtual_functions >= VFS_PER_SERVER
        )

    def less(self, flavor: FlavorSpec) -> Room:
        """What is left beside a server of this flavour."""
        return Room(
            self.cpus - flavor.vcpus, self.pages - flavor.ram_gib, self.virtual_functions - VFS_PER_SERVER
        )


def choose_host(
    site: Site, taken: Taken, tenant: str, vpod: VPod, rack: str | None, siblings: Sequence[str]
) -> str:
    """The host of one more Poplar server of a vPOD whose other servers are on `siblings`.

    Preferred, in this order: the machines' own logical rack, a host without a sibling, without another
    tenant, with the most CPUs left, first in the site.
    """
    flavor = flavor_of(site, vpod)
    hosts = [host for host in site.hosts if host.role == "poplar"]
    room = {host.name: room_on(site, host, taken.servers) for host in hosts}
    fitting = [host for host in hosts if room[host.name].holds(flavor)]
    if not fitting:
        raise _no_room(vpod, flavor, room)
    tenants = {
        host.name: {claim.tenant for claim in taken.servers if claim.value == host.name} for host in hosts
    }

    def preference(host: Host) -> tuple[bool, int, bool, int]:
        shared = bool(tenants[host.name] - {tenant})
        return host.logical_rack != rack, list(siblings).count(host.name), shared, -room[host.name].cpus

    return min(fitting, key=preference).name


def choose_controller_host(site: Site, controllers: Sequence[Claim]) -> str:
    """The infra host with the fewest controllers, first in the site."""
    hosts = [host.name for host in site.hosts if host.role == "infra"]
    if not hosts:
        raise AllocationError("no host of role infra for the V-IPU controller", hint="add one under `hosts:`")
    load = Counter(claim.value for claim in controllers)
    return min(hosts, key=lambda name: load[name])


def flavor_of(site: Site, vpod: VPod) -> FlavorSpec:
    """The flavour of a vPOD's Poplar servers; PlanningError if the site has none of that name and role."""
    flavor = site.flavor.get(vpod.poplar.flavor)
    if flavor is None or flavor.role != "poplar":
        known = ", ".join(item.name for item in site.flavors if item.role == "poplar")
        raise PlanningError(
            f"vPOD {vpod.name}: no Poplar flavour {vpod.poplar.flavor!r}", f"this site has {known}"
        )
    return flavor


def room_on(site: Site, host: Host, servers: Sequence[Claim]) -> Room:
    """What all claims leave of a host. A server of unrecorded flavour counts as the largest one."""
    room = Room(host.dedicated_cpus, host.huge_pages_gib, host.virtual_functions)
    largest = max((item for item in site.flavors if item.role == "poplar"), key=lambda item: item.vcpus)
    for claim in servers:
        if claim.value == host.name:
            room = room.less(site.flavor.get(claim.flavor, largest))
    return room


def _no_room(vpod: VPod, flavor: FlavorSpec, room: dict[str, Room]) -> AllocationError:
    left = "; ".join(
        f"{name} has {item.cpus} CPUs, {item.pages} pages, {item.virtual_functions} virtual functions left"
        for name, item in room.items()
    )
    return AllocationError(
        f"vPOD {vpod.name}: no host has room for one more {flavor.name} ({flavor.vcpus} dedicated CPUs, "
        f"{flavor.ram_gib} pages of 1 GiB, {VFS_PER_SERVER} virtual functions)",
        left or "the site has no host of role poplar",
        "ask for fewer servers or a smaller flavour; what is released stays taken until it is settled",
    )
