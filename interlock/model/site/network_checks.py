"""Physical networks, the external network, underlays, InfiniBand: names and numbers that fit."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator

from interlock.model.text.errors import Code
from interlock.model.text.source import KEY

from .physical import Endpoint
from .places import Path
from .view import SiteView


def check_networks(view: SiteView) -> None:
    """Adds faults of networks and of the places that name one."""
    _check_members(view)
    _check_reached(view)
    _check_named(view)
    _check_external(view)
    _check_infiniband(view)
    _check_underlays(view)


def _check_members(view: SiteView) -> None:
    """Switches and profiles of physical networks."""
    profiles = {profile.name: profile for profile in view.site.fabric_profiles}
    for network in view.site.physical_networks:
        path: Path = ("physical_networks", network.name)
        seen = set[str]()
        for switch in network.switches:
            view.faults.need((*path, "switches"), "a switch", switch, view.site.switch)
            if switch in seen:
                view.faults.add(Code.TWICE, (*path, "switches"), f"`{switch}` is there twice")
            seen.add(switch)
        if network.profile is None:
            continue
        view.need((*path, "profile"), "a fabric profile", network.profile, profiles, "fabric_profiles")
        profile = profiles.get(network.profile)
        if profile is not None and network.mtu is not None and profile.mtu > network.mtu:
            message = f"the profile `{profile.name}` has frames of {profile.mtu} bytes, the network takes {network.mtu}"
            hint = "set the network's `mtu` to what its ports take, at least that of the profile"
            view.faults.add(Code.CONTRADICTION, (*path, "mtu"), message, hint)


def _check_reached(view: SiteView) -> None:
    """Networks have no claims on a switch that is not listed: one that a host's cable leads to cannot be left out."""
    lacking: dict[str, dict[str, Endpoint]] = {}
    for host in view.site.hosts:
        listed = [(network, item) for network, found in host.interfaces.items() for item in found]
        times = Counter(item for _, item in listed)
        for network, interface in listed:
            known, cable = view.site.physical_network.get(network), view.site.cable_at.get((host.name, interface))
            if known is not None and cable is not None and times[interface] == 1:
                for switch in {cable.a.device, cable.b.device} & view.site.switch.keys() - {*known.switches}:
                    lacking.setdefault(network, {}).setdefault(switch, Endpoint(device=host.name, interface=interface))
    for network, switches in lacking.items():
        switch, end = next(iter(switches.items()))
        more = f" ({len(switches) - 1} more switches likewise)" if len(switches) > 1 else ""
        message = f"`{end}` is on it and leads to `{switch}`, which is not listed{more}"
        hint = f"add `{switch}`, or take the interface off the network"
        view.faults.add(Code.CONTRADICTION, ("physical_networks", network, "switches"), message, hint)


def _check_named(view: SiteView) -> None:
    known = view.site.physical_network
    for path, network in _named(view):
        view.need(path, "a physical network", network, known, "physical_networks")


def _named(view: SiteView) -> Iterator[tuple[Path, str]]:
    """Every place outside the pools that names a physical network."""
    file = view.file
    yield ("external", "physical_network"), file.external.physical_network
    for index, entry in enumerate(file.segment_ranges):
        if entry.physical_network is not None:
            yield ("segment_ranges", index, "physical_network"), entry.physical_network
    for index, rack in enumerate(file.racks):
        yield from ((("racks", index, "poplar", "interfaces", name, KEY), name) for name in rack.poplar.interfaces)
        whole: Path = ("racks", index, "poplar", "bare_metal", "interfaces")
        yield from (((*whole, name, KEY), name) for name in rack.poplar.bare_metal.interfaces)
    for host, stated in file.hosts.items():
        yield from ((("hosts", host, "interfaces", name, KEY), name) for name in stated.interfaces)


def _check_external(view: SiteView) -> None:
    external, faults = view.file.external, view.faults
    network = ipaddress.IPv4Network(external.cidr)
    for key, address in (("gateway", external.gateway), ("pool", external.pool[0]), ("pool", external.pool[1])):
        if ipaddress.IPv4Address(address) not in network:
            faults.add(Code.CONTRADICTION, ("external", key), f"{address} is not in {external.cidr}")
    first, gateway, last = (
        ipaddress.IPv4Address(text) for text in (external.pool[0], external.gateway, external.pool[1])
    )
    if first <= gateway <= last:
        faults.add(Code.CONTRADICTION, ("external", "pool"), f"the pool holds the gateway {gateway}")
    if (external.network_type == "vlan") != (external.vlan is not None):
        hint = "a VLAN network has `vlan:`, a flat one has none"
        faults.add(Code.CONTRADICTION, ("external", "network_type"), f"{external.network_type} network", hint)


def _check_infiniband(view: SiteView) -> None:
    owners = dict[str, str]()
    for subnet in view.site.infiniband:
        first = owners.setdefault(subnet.prefix, subnet.name)
        if first != subnet.name:
            message = f"`{subnet.name}` has the prefix `{subnet.prefix}` of `{first}`"
            hint = "subnet managers come with one prefix for all: give each subnet its own"
            view.faults.add(Code.TWICE, ("infiniband", subnet.name, "prefix"), message, hint)
    for name in view.file.pools.partition_keys:
        known = view.file.infiniband
        path: Path = ("pools", "partition_keys", name, KEY)
        view.need(path, "an InfiniBand subnet", name, known, "infiniband")


def _check_underlays(view: SiteView) -> None:
    """Neutron's overlays run over one network."""
    marked = [underlay.name for underlay in view.site.underlays if underlay.neutron]
    for name in marked[1:]:
        message = f"Neutron's overlays run over `{name}` and over `{marked[0]}`"
        hint = "Neutron has one overlay network: write `neutron: true` at one underlay, or at none"
        view.faults.add(Code.TWICE, ("underlays", name, "neutron"), message, hint)
