"""Pools: networks that exist, subnets that can be cut, addresses of the appliance, ranges of Neutron's own."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from interlock.model.text.errors import Code
from interlock.model.text.source import KEY
from interlock.model.text.values import Range

from .between_leaf_groups import check_between
from .places import Path
from .pools_file import BareVlanPoolFile, SegmentRangeFile
from .view import SiteView

#: Offsets in a subnet of a vPOD that are free for a storage appliance: .1 is the router's where there is one,
#: Poplar servers begin at .10, and the last addresses are Neutron's own (`interlock.planning.addresses`).
FIRST_VIP, LAST_VIP = 2, 9
NEUTRONS_OWN = 8


def check_pools(view: SiteView) -> None:
    """Adds faults of `pools` and `segment_ranges`."""
    for name, pool in vlan_pools(view):
        _check_pool_networks(view, ("pools", name), pool)
    _check_leaf_groups(view)
    if view.file.pools.roce is not None:
        check_between(view.file.pools.roce.between_leaf_groups, view.faults)
    _check_subnets(view)
    _check_vips(view)
    for index, entry in enumerate(view.file.segment_ranges):
        _check_segment_range(view, ("segment_ranges", index), entry)


def vlan_pools(view: SiteView) -> Iterator[tuple[str, BareVlanPoolFile]]:
    """Pools of VLANs that the file has, by name."""
    for name in ("ipu_data", "storage", "management", "bare_metal_control", "cluster", "roce"):
        pool = getattr(view.file.pools, name)
        if pool is not None:
            yield name, pool


def _check_pool_networks(view: SiteView, path: Path, pool: BareVlanPoolFile) -> None:
    if (pool.physical_network is None) == (pool.physical_networks is None):
        found = "neither" if pool.physical_network is None else "both"
        message = f"{found} of `physical_network` and `physical_networks`"
        hint = "write one of them: {physical_network: fabric, …} or {physical_networks: [fabric-1, fabric-2], …}"
        view.faults.add(Code.CONTRADICTION, path, message, hint)
        return
    key = "physical_network" if pool.physical_networks is None else "physical_networks"
    seen = set[str]()
    for network in pool.networks:
        view.need((*path, key), "a physical network", network, view.site.physical_network, "physical_networks")
        if network in seen:
            view.faults.add(Code.TWICE, (*path, key), f"`{network}` is there twice")
        seen.add(network)


def _check_leaf_groups(view: SiteView) -> None:
    """Interfaces on a network of the pool `roce` are compute ports, on one of the pool `cluster` they are in band."""
    pools = view.file.pools
    if pools.roce is None or pools.cluster is None:
        return
    for network in sorted({*pools.roce.networks} & {*pools.cluster.networks}):
        key = "physical_network" if pools.roce.physical_networks is None else "physical_networks"
        message = f"`{network}` is of the pool `cluster`, too: no interface there says whether it is for compute"
        hint = "give the compute ports a physical network of their own, as in {name: roce, switches: [roce-1]}"
        view.faults.add(Code.CONTRADICTION, ("pools", "roce", key), message, hint)


def _check_subnets(view: SiteView) -> None:
    for pool in ("ipu_data", "storage", "management", "control", "cluster", "roce"):
        stated = getattr(view.file.pools, pool)
        if stated is None:
            continue
        subnets = stated.subnets
        if ipaddress.IPv4Network(subnets.prefix).prefixlen > subnets.each:
            message = f"no subnet of /{subnets.each} can be cut from {subnets.prefix}"
            view.faults.add(Code.CONTRADICTION, ("pools", pool, "subnets", "each"), message)


def _check_vips(view: SiteView) -> None:
    """The appliance has the same offsets in every storage subnet, so they fit between the others' for good.

    Of a GPU cluster that mounts shares its in-band subnet is one.
    """
    stated, path = view.file.pools.storage_vips, ("pools", "storage_vips")
    if stated is None:
        return
    pools = {"storage": view.file.pools.storage, "cluster": view.file.pools.cluster}
    # With IPU-Machines it is told that the pool itself is missing.
    if not any(pools.values()) and not view.site.machines and not view.faults.lost("pools"):
        message = "the site has no storage networks and none of clusters, so an appliance has no addresses there"
        view.faults.add(Code.CONTRADICTION, (*path, KEY), message, "add the pool `storage`, or take this out")
    text = f"{stated[0]}-{stated[1]}" if stated[0] != stated[1] else str(stated[0])
    if stated[0] < FIRST_VIP or stated[1] > LAST_VIP:
        hint = f"write offsets between {FIRST_VIP} and {LAST_VIP}: Poplar servers begin at .{LAST_VIP + 1}"
        message = f"the addresses .{text} meet those of the network itself, its router or Poplar servers"
        view.faults.add(Code.CONTRADICTION, path, message, hint)
        return
    for name, pool in pools.items():
        if pool is not None and stated[1] > 2 ** (32 - pool.subnets.each) - 2 - NEUTRONS_OWN:
            message = f"a {name} subnet of /{pool.subnets.each} has no address .{stated[1]} that Neutron leaves free"
            view.faults.add(Code.CONTRADICTION, path, message, "cut larger subnets, or take lower offsets")


def _check_segment_range(view: SiteView, path: Path, entry: SegmentRangeFile) -> None:
    vlans, vnis = entry.vlans is not None, entry.vnis is not None
    if (entry.physical_network is not None) != vlans or vlans == vnis:
        hint = "write {physical_network: …, vlans: 3500-3999} or {vnis: 30000-39999}"
        view.faults.add(Code.CONTRADICTION, path, "neither a range of VLANs nor one of VXLAN ids", hint)
        return
    for pool in _pools_met(view, entry):
        message = f"the range meets the pool {pool}: Neutron could give a self-made network an id of a lock"
        view.faults.add(Code.CONTRADICTION, path, message, "keep ranges and pools apart")


def _pools_met(view: SiteView, entry: SegmentRangeFile) -> list[str]:
    if entry.vnis is not None:
        control = view.file.pools.control
        return ["control"] if control is not None and overlap(entry.vnis, control.vnis) else []
    return [
        name
        for name, pool in vlan_pools(view)
        if entry.physical_network in pool.networks and overlap(entry.vlans or (), pool.vlans)
    ]


def overlap(one: tuple[Range, ...], other: tuple[Range, ...]) -> bool:
    """Whether two lists of inclusive ranges have a number in common."""
    return any(a <= d and c <= b for a, b in one for c, d in other)
