"""Which hosts carry the servers of a vPOD: on the machines' own ToR first, then others on its data network."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interlock.model.site.inventory import FlavorSpec, Host, Site
from interlock.model.tenant.request import VPod

from .allocation_state import AllocationState
from .errors import AllocationError, PlanningError
from .host_room import VFS_PER_SERVER, ServerNeed
from .out_of_service import BRING_BACK, counted, said_of

#: Hosts that an error lists one by one.
LISTED = 4


def server_need(site: Site, vpod: VPod, networks: Sequence[str]) -> ServerNeed:
    """What each Poplar server of a vPOD asks of its host, if its VLANs lie on these networks."""
    flavor = None if vpod.poplar.kind == "bare-metal" else flavor_of(site, vpod)
    # A whole host needs an interface for each; guests share those of a hypervisor.
    return ServerNeed(tuple(networks if flavor is None else dict.fromkeys(networks)), flavor)


def choose_host(
    allocated: AllocationState,
    need: ServerNeed,
    vpod: VPod,
    tenant: str,
    machines: Sequence[str],
    siblings: Sequence[str],
) -> str:
    """The host of one more Poplar server of a vPOD whose other servers are on `siblings`.

    Preferred, in this order: the machines' own ToR and logical rack, a rack and then a host without a sibling,
    without another tenant, with the most CPUs left, first in the site.
    """
    layout = allocated.layout
    tors = layout.data_switches(machines)
    near = [host for tor in sorted(tors) for host in layout.poplar_at.get(tor, ())]
    reachable = layout.hosts.get(need.networks[0], ())
    rank = _preference(allocated, tenant, machines, siblings)
    for hosts in (near, reachable):
        fitting = [host for host in hosts if allocated.hosts.fits(host, need)]
        if fitting:
            return min(fitting, key=rank).name
    raise no_host(allocated, need, vpod)


def choose_controller_host(allocated: AllocationState, vpod: str, networks: Sequence[str]) -> str:
    """The infra host on these networks with the fewest controllers, first in the site."""
    here = allocated.layout.hosts.get(networks[0], ())
    names = [host.name for host in here if host.in_service and _reaches(host, networks)]
    if not names:
        idle = counted(host for host in here if _reaches(host, networks))
        raise AllocationError(
            f"vPOD {vpod}: no host of role infra{' in service' if idle else ''} has interfaces on "
            f"{' and '.join(dict.fromkeys(networks))}, where its V-IPU controller must stand",
            idle,
            hint="add one under `hosts:`, or state its `interfaces`" + (f", or {BRING_BACK}" if idle else ""),
        )
    return min(names, key=lambda name: allocated.hosts.controllers[name])


def flavor_of(site: Site, vpod: VPod) -> FlavorSpec:
    """The flavour of a vPOD's Poplar servers; PlanningError if the site has none of that name and role."""
    flavor = site.flavor.get(vpod.poplar.flavor)
    if flavor is None or flavor.role != "poplar":
        known = ", ".join(item.name for item in site.flavors if item.role == "poplar")
        what, path = f"vPOD {vpod.name}: no Poplar flavour {vpod.poplar.flavor!r}", (*_asked(vpod), "flavor")
        raise PlanningError(what, f"this site has {known}", path)
    return flavor


def no_host(allocated: AllocationState, need: ServerNeed, vpod: VPod) -> AllocationError:
    """The error of a server that no host takes: what it asks for, and what is left where it may stand."""
    networks = need.in_words
    hosts = [host for host in allocated.layout.hosts.get(need.networks[0], ()) if need.is_met_by(host)]
    kind = "bare-metal" if need.is_bare_metal else "hypervisor"
    if not hosts:
        return AllocationError(
            f"vPOD {vpod.name}: no {kind} host of role poplar has interfaces on {networks}",
            _most_interfaces(allocated, need),
            hint="state the `interfaces` of the hosts in the site file, or ask for the other kind of server",
            path=(*_asked(vpod), "kind"),
        )
    hint = _settling(allocated, hosts)
    idle = counted(hosts)
    if idle:
        hint += f"; or {BRING_BACK}"
    usable, path = [host for host in hosts if host.in_service], (*_asked(vpod), "servers")
    if need.flavor is None:
        what = f"vPOD {vpod.name}: no bare-metal host on {networks} is free for one more server"
        taken = f"all {len(usable)} are given out" if usable else ""
        return AllocationError(what, "; ".join(part for part in (taken, idle) if part), hint, path)
    flavor = need.flavor
    what = (
        f"vPOD {vpod.name}: no host has room for one more {flavor.name} ({flavor.vcpus} dedicated CPUs, "
        f"{flavor.ram_gib} pages of 1 GiB, {VFS_PER_SERVER} virtual functions)"
    )
    return AllocationError(what, "; ".join(part for part in (left_on(allocated, usable), idle) if part), hint, path)


def _asked(vpod: VPod) -> tuple[str, ...]:
    """The key of the request that asks for its servers."""
    return "vpods", vpod.name, "poplar"


def _most_interfaces(allocated: AllocationState, need: ServerNeed) -> str:
    """The host of the right kind that comes closest, and what it has there; empty if there is none of that kind."""
    of_kind = [host for host in allocated.site.hosts if need.is_of_kind(host)]
    if not of_kind:
        return ""
    networks = list(dict.fromkeys(need.networks))
    best = max(of_kind, key=lambda host: sum(len(host.interfaces.get(name, ())) for name in networks))
    counts = (f"{len(best.interfaces.get(name, ()))} on {name}" for name in networks)
    return f"host {best.name} has {' and '.join(counts)}"


def no_room(allocated: AllocationState, need: ServerNeed, vpod: str, host: Host) -> AllocationError:
    """The error of a pin to a host that is full."""
    hint, path = "pin a host with room, or ask for fewer servers or a smaller flavour", ("pins", vpod, "hosts")
    if not host.in_service:
        what = f"vPOD {vpod} asks for other servers, and pins host {said_of(host, 'which ')}"
        return AllocationError(what, hint=hint, path=path)
    if need.flavor is None:
        what = f"vPOD {vpod} pins host {host.name}, which is given out already"
        return AllocationError(what, hint=hint, path=path)
    what = f"vPOD {vpod} pins host {host.name}, which has no room for one more {need.flavor.name}"
    return AllocationError(what, left_on(allocated, [host]), hint, path)


def _reaches(host: Host, networks: Sequence[str]) -> bool:
    return host.role == "infra" and all(network in host.interfaces for network in networks)


def _preference(
    allocated: AllocationState, tenant: str, machines: Sequence[str], siblings: Sequence[str]
) -> Callable[[Host], tuple[bool, int, int, bool, int, int]]:
    layout = allocated.layout
    known = [layout.site.machine[name] for name in machines if name in layout.site.machine]
    racks = {machine.logical_rack for machine in known}
    beside = [host.logical_rack for name in siblings if (host := layout.site.host.get(name)) is not None]

    def preference(host: Host) -> tuple[bool, int, int, bool, int, int]:
        return (
            host.logical_rack not in racks,
            beside.count(host.logical_rack) if len(racks) > 1 else 0,
            list(siblings).count(host.name),
            bool(allocated.hosts.tenants_on(host.name) - {tenant}),
            -allocated.hosts.room(host).cpus,
            layout.host_order[host.name],
        )

    return preference


def left_on(allocated: AllocationState, hosts: Sequence[Host]) -> str:
    """What is left on the hosts with most room, the site's order kept."""
    ranked = sorted(hosts, key=lambda host: (-allocated.hosts.room(host).cpus, allocated.layout.host_order[host.name]))
    listed = sorted(ranked[:LISTED], key=lambda host: allocated.layout.host_order[host.name])
    texts = []
    for host in listed:
        room = allocated.hosts.room(host)
        texts.append(
            f"{host.name} has {room.cpus} CPUs, {room.pages} pages, {room.virtual_functions} virtual functions left"
        )
    more = [f"{len(hosts) - LISTED} more have no more than that"] if len(hosts) > LISTED else []
    return "; ".join(texts + more)


def _settling(allocated: AllocationState, hosts: Sequence[Host]) -> str:
    """What would make room on these hosts."""
    holders = (claim.holder for host in hosts for claim in allocated.hosts.servers.get(host.name, ()))
    released = {holder.tenant for holder in holders if holder.released}
    settle = f"; settle what {', '.join(sorted(released))} released there" if released else ""
    return f"ask for fewer servers or a smaller flavour, or add a host{settle}"
