"""VLAN ids, VNIs and subnets: the lowest that is free in the site's pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from interlock.model.site import Site, VlanPool

from .claims import Taken, physical_network_of
from .errors import AllocationError

#: storage = ipu-data + 1000 where the pools allow it: mistakes then show at a glance.
STORAGE_OFFSET = 1000

Ranges = Sequence[tuple[int, int]]


def choose_data_vlan(site: Site, taken: Taken, storage: int | None) -> int:
    """An id for ipu-data: the partner of `storage` if that is given, else the lowest with a free partner."""
    free = list(_free_vlans(site, taken, "ipu_data_vlan", site.pools.ipu_data))
    if storage is not None:
        free.sort(key=lambda vlan: vlan != storage - STORAGE_OFFSET)
    else:
        partners = set(_free_vlans(site, taken, "storage_vlan", site.pools.storage))
        free.sort(key=lambda vlan: vlan + STORAGE_OFFSET not in partners)
    return _first(free, "ipu_data_vlan", site.pools.ipu_data)


def choose_storage_vlan(site: Site, taken: Taken, data: int | None) -> int:
    """An id for storage: the partner of `data` if it is free, else the lowest that is."""
    free = list(_free_vlans(site, taken, "storage_vlan", site.pools.storage))
    if data is not None:
        free.sort(key=lambda vlan: vlan != data + STORAGE_OFFSET)
    return _first(free, "storage_vlan", site.pools.storage)


def choose_management_vlan(site: Site, taken: Taken) -> int:
    """The lowest free id of the management pool."""
    return _first(
        _free_vlans(site, taken, "management_vlan", site.pools.management),
        "management_vlan",
        site.pools.management,
    )


def choose_vni(site: Site, taken: Taken) -> int:
    """The lowest free VXLAN id of the control pool."""
    vni = next((vni for vni in _numbers(site.pools.control) if vni not in taken.vnis), None)
    if vni is None:
        raise _exhausted("control", _text(site.pools.control), "VNI")
    return vni


def choose_subnet(site: Site, taken: Taken, claim: str) -> str:
    """The lowest prefix of the claim's pool that overlaps nothing taken.

    Two tenants may use the same addresses; ours never do, so that an address in a log names one server.
    """
    prefix, length = subnet_pool_of(site, claim)
    pool = IPv4Network(prefix)
    size = 2 ** (32 - length)
    used: set[int] = set()
    for subnet in (*taken.subnets, IPv4Network(site.external.cidr, strict=False)):
        if subnet.overlaps(pool):
            first = max(int(subnet.network_address) - int(pool.network_address), 0)
            last = min(int(subnet.broadcast_address) - int(pool.network_address), pool.num_addresses - 1)
            used.update(range(first // size, last // size + 1))
    index = next((index for index in range(pool.num_addresses // size) if index not in used), None)
    if index is None:
        raise _exhausted(claim, f"{prefix} in /{length}", "subnet")
    return str(IPv4Network((int(pool.network_address) + index * size, length)))


def subnet_pool_of(site: Site, claim: str) -> tuple[str, int]:
    """(prefix, length of what is cut from it) of the pool behind a claim such as `control_subnet`."""
    pools = {
        "ipu_data_subnet": site.pools.ipu_data_subnets,
        "storage_subnet": site.pools.storage_subnets,
        "control_subnet": site.pools.control_subnets,
        "management_subnet": site.pools.management_subnets,
    }
    return pools[claim]


def _free_vlans(site: Site, taken: Taken, claim: str, pool: VlanPool) -> Iterator[int]:
    unusable = taken.vlans_used(claim) | set(site.pools.reserved_vlans)
    if site.external.vlan is not None and site.external.physical_network == physical_network_of(site, claim):
        unusable.add(site.external.vlan)
    return (vlan for vlan in _numbers(pool.vlans) if vlan not in unusable)


def _numbers(ranges: Ranges) -> Iterator[int]:
    for first, last in sorted(ranges):
        yield from range(first, last + 1)


def _first(free: Iterator[int] | list[int], claim: str, pool: VlanPool) -> int:
    vlan = next(iter(free), None)
    if vlan is None:
        raise _exhausted(claim, f"{_text(pool.vlans)} on {pool.physical_networks[0]}", "VLAN id")
    return vlan


def _text(ranges: Ranges) -> str:
    return ", ".join(f"{first}-{last}" for first, last in sorted(ranges))


def _exhausted(claim: str, pool: str, thing: str) -> AllocationError:
    return AllocationError(
        f"no free {thing} for {claim}",
        f"all of {pool} are claimed or released and not settled",
        "widen the pool in the site file; what is released stays taken until it is settled",
    )
