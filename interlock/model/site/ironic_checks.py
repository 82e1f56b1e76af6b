"""Ironic of a site: networks of its own for each whole host, apart from all that is given out, on wired switches."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import pairwise

from interlock.model.text.errors import Code
from interlock.model.text.values import Range

from .ironic_file import IronicFile, ServiceNetworksFile
from .places import Path
from .pool_checks import overlap, vlan_pools
from .service_networks import LONGEST_PREFIX, service_networks
from .view import SiteView

_APART = "take VLANs that nobody else is given: a host is there with the operator's ramdisk in it"


def check_ironic(view: SiteView) -> None:
    """Adds faults of `ironic`."""
    ironic = view.file.ironic
    if ironic is None:
        return
    _check_classes(view, ironic)
    for index, entry in enumerate(ironic.networks):
        path: Path = ("ironic", "networks", index)
        known = view.site.physical_network
        view.need((*path, "physical_network"), "a physical network", entry.physical_network, known, "physical_networks")
        for taken in _taken(view, entry, ironic.networks[:index]):
            view.faults.add(Code.CONTRADICTION, (*path, "vlans"), f"the VLANs meet {taken}", _APART)
        _check_subnets(view, path, entry, ironic.networks[:index])
    _check_hosts(view)


def _check_classes(view: SiteView, ironic: IronicFile) -> None:
    """Two kinds of nodes of one class would be one to whoever asks Ironic for a node of it."""
    classes = ironic.resource_classes
    if classes.poplar is not None and classes.poplar == classes.machine:
        message = f"whole hosts and IPU-Machines have one resource class, `{classes.poplar}`"
        path = ("ironic", "resource_classes", "machine")
        view.faults.add(Code.TWICE, path, message, "give each its own: Ironic lends nodes by their class")


def _taken(view: SiteView, entry: ServiceNetworksFile, others: list[ServiceNetworksFile]) -> Iterator[str]:
    """Whatever else is given VLANs of this entry, on the switches that it reaches."""
    file, vlans = view.file, entry.vlans
    for name, pool in vlan_pools(view):
        if overlap(vlans, pool.vlans) and any(_one_wire(view, entry, network) for network in pool.networks):
            yield f"the pool {name}"
    if overlap(vlans, tuple((vlan, vlan) for vlan in file.pools.reserved_vlans)):
        yield "`pools.reserved_vlans`"
    for index, segment in enumerate(file.segment_ranges):
        if overlap(vlans, segment.vlans or ()) and _one_wire(view, entry, segment.physical_network or ""):
            yield f"`segment_ranges.{index}`"
    external: tuple[Range, ...] = () if file.external.vlan is None else ((file.external.vlan, file.external.vlan),)
    if overlap(vlans, external) and _one_wire(view, entry, file.external.physical_network):
        yield "the external network"
    for index, other in enumerate(others):
        if overlap(vlans, other.vlans) and _one_wire(view, entry, other.physical_network):
            yield f"`ironic.networks.{index}`"
    if any(last >= first for (_, last), (first, _) in pairwise(sorted(vlans))):
        yield "each other"


def _one_wire(view: SiteView, entry: ServiceNetworksFile, other: str) -> bool:
    """Whether a VLAN id is one segment on both: they are one physical network, or two names of one switch."""
    known = view.site.physical_network
    switches = {name: set(known[name].switches) for name in (entry.physical_network, other) if name in known}
    shared = switches.get(entry.physical_network, set()) & switches.get(other, set())
    return entry.physical_network == other or bool(shared)


def _check_subnets(view: SiteView, path: Path, entry: ServiceNetworksFile, others: list[ServiceNetworksFile]) -> None:
    """One for each VLAN, with room for conductors, and none of anybody else's."""
    prefix, each = IPv4Network(entry.subnets.prefix), entry.subnets.each
    if each > LONGEST_PREFIX:
        message = f"a subnet of /{each} has no room for conductors, DHCP and a host"
        view.faults.add(Code.VALUE, (*path, "subnets", "each"), message, f"write {LONGEST_PREFIX} or less")
        return
    vlans = sum(last - first + 1 for first, last in entry.vlans)
    if prefix.prefixlen > each or 2 ** (each - prefix.prefixlen) < vlans:
        message = f"{vlans} VLANs, and fewer subnets of /{each} can be cut from {prefix}"
        hint = "take a larger prefix, or smaller subnets"
        view.faults.add(Code.CONTRADICTION, (*path, "subnets", "each"), message, hint)
    for what, other in _prefixes(view, others):
        if prefix.overlaps(IPv4Network(other)):
            message = f"{prefix} meets {other} of {what}"
            hint = "take addresses that nobody else is given: conductors reach both"
            view.faults.add(Code.CONTRADICTION, (*path, "subnets", "prefix"), message, hint)


def _prefixes(view: SiteView, others: list[ServiceNetworksFile]) -> Iterator[tuple[str, str]]:
    for name, (prefix, _) in view.site.pools.subnets_by_name.items():
        yield f"the pool {name}", prefix
    yield "the external network", view.file.external.cidr
    for index, other in enumerate(others):
        yield f"`ironic.networks.{index}`", other.subnets.prefix


def _check_hosts(view: SiteView) -> None:
    """Each whole host has a service network, behind a switch port that Neutron can put there."""
    found, path = service_networks(view.site), ("ironic", "networks")
    lacking = [host.name for host in view.site.whole_hosts if host.name not in found]
    _check_left_over(view, path, lacking)
    for host, service in found.items():
        end = view.site.far_end(host, service.interface)
        switch = view.site.switch.get(end.device) if end is not None else None
        if switch is not None and switch.wired_by != "neutron":
            message = (
                f"`{host}` boots from `{service.interface}`, and its switch `{switch.name}` is wired by "
                f"`{switch.wired_by}`: nobody would put the port into the VLAN where it is deployed"
            )
            hint = f"let Neutron wire `{switch.name}` (`wired_by: neutron`), or leave `ironic` out"
            view.faults.add(Code.CONTRADICTION, path, message, hint)
            return


def _check_left_over(view: SiteView, path: Path, lacking: list[str]) -> None:
    """Hosts that have no service network: by the reason."""
    if view.faults.short_of("physical_networks", "hosts", "switches"):
        return
    networks = [] if view.site.ironic is None else [entry.physical_network for entry in view.site.ironic.networks]
    reached = [host for host in lacking if any(view.site.interfaces_on(host, network) for network in networks)]
    several = f" and {len(reached) - 1} more" if len(reached) > 1 else ""
    if reached:
        hint = "list one VLAN for each host with `provisioning: bare-metal`, and its subnet"
        view.faults.add(Code.CONTRADICTION, path, f"no VLAN is left for `{reached[0]}`{several}", hint)
    others = [host for host in lacking if host not in reached]
    several = f" and {len(others) - 1} more have" if len(others) > 1 else " has"
    if others:
        message = f"`{others[0]}`{several} no interface on any of these physical networks"
        hint = "list the one of the interface that it boots from, or state its interfaces and cables there"
        view.faults.add(Code.CONTRADICTION, path, message, hint)
