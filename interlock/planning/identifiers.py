"""VLAN ids, VNIs, subnets and addresses of the appliance: the lowest that is free in the site's pools."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network

from interlock.model.site import Site, VlanPool

from .errors import AllocationError, PlanningError
from .obstacles import settling
from .taken import Taken

#: storage = ipu-data + 1000 where the pools allow it: mistakes then show at a glance.
STORAGE_OFFSET = 1000

Ranges = Sequence[tuple[int, int]]


def choose_vlan(taken: Taken, claim: str, network: str) -> int:
    """The lowest free id of the claim's pool on a physical network."""
    vlan = lowest(free_vlans(taken, claim, network))
    if vlan is None:
        raise no_vlan(taken, claim, network)
    return vlan


def choose_data_vlan(taken: Taken, network: str, storage_network: str, storage: int | None) -> int:
    """An id for ipu-data: the partner of `storage` if that is given, else the lowest with a free partner."""
    free = free_vlans(taken, "ipu_data_vlan", network)
    if storage is not None:
        partner = storage - STORAGE_OFFSET
        if partner > 0 and free >> partner & 1:
            return partner
    else:
        paired = lowest(free & free_vlans(taken, "storage_vlan", storage_network) >> STORAGE_OFFSET)
        if paired is not None:
            return paired
    return choose_vlan(taken, "ipu_data_vlan", network)


def choose_storage_vlan(taken: Taken, network: str, data: int | None) -> int:
    """An id for storage: the partner of `data` if it is free, else the lowest that is."""
    if data is not None and free_vlans(taken, "storage_vlan", network) >> data + STORAGE_OFFSET & 1:
        return data + STORAGE_OFFSET
    return choose_vlan(taken, "storage_vlan", network)


def choose_vni(taken: Taken) -> int:
    """The lowest free VXLAN id of the control pool."""
    vni = taken.vnis.lowest()
    if vni is None:
        raise _exhausted(taken, "control_vni", text_of(taken.site.pools.control), "VNI for control")
    return vni


def choose_subnet(taken: Taken, claim: str) -> str:
    """The lowest prefix of the claim's pool that overlaps nothing taken.

    Two tenants may use the same addresses; ours never do, so that an address in a log names one server.
    """
    prefix, length = subnet_pool_of(taken.site, claim)
    subnet = taken.subnets(prefix, length).lowest()
    if subnet is None:
        raise _exhausted(taken, claim, f"{prefix} in /{length}", f"subnet for {claim}")
    return subnet


def choose_storage_vip(taken: Taken, vpod: str, subnet: str) -> str:
    """The first address of the appliance's range in a storage subnet that is not released and unsettled."""
    offsets = taken.site.pools.storage_vips
    if offsets is None:
        raise PlanningError(
            f"vPOD {vpod} mounts a share, and the site has no address for the storage appliance to give",
            "add `storage_vips` to the storage pool of the site file, or ask for no share",
        )
    network = IPv4Network(subnet)
    for offset in range(offsets[0], min(offsets[1], network.num_addresses - 2) + 1):
        address = str(IPv4Address(int(network.network_address) + offset))
        if taken.addresses[address] <= 0:
            return address
    raise _exhausted(taken, "storage_vip", f"{offsets[0]}-{offsets[1]} of {subnet}", "address of the appliance")


def subnet_pool_of(site: Site, claim: str) -> tuple[str, int]:
    """(prefix, length of what is cut from it) of the pool behind a claim such as `control_subnet`."""
    pools = {
        "ipu_data_subnet": site.pools.ipu_data_subnets,
        "storage_subnet": site.pools.storage_subnets,
        "control_subnet": site.pools.control_subnets,
        "management_subnet": site.pools.management_subnets,
    }
    return pools[claim]


def vlan_pool_of(site: Site, claim: str) -> VlanPool | None:
    """The pool behind a VLAN claim; None where the site has none."""
    pools = {
        "ipu_data_vlan": site.pools.ipu_data,
        "storage_vlan": site.pools.storage,
        "management_vlan": site.pools.management,
        "control_vlan": site.pools.bare_metal_control,
    }
    return pools[claim]


def free_vlans(taken: Taken, claim: str, network: str) -> int:
    """The free ids of the claim's pool on a physical network, as a mask."""
    pool = vlan_pool_of(taken.site, claim)
    mask = 0
    for first, last in pool.vlans if pool else ():
        mask |= (1 << last + 1) - (1 << first)
    return mask & ~taken.unusable_vlans(network)


def lowest(mask: int) -> int | None:
    """The lowest bit of a mask that is set."""
    return (mask & -mask).bit_length() - 1 if mask else None


def text_of(ranges: Ranges) -> str:
    """Ranges as they are written: `1000-1999, 3000-3099`."""
    return ", ".join(f"{first}-{last}" for first, last in sorted(ranges))


def no_vlan(taken: Taken, claim: str, network: str) -> AllocationError:
    """The error of a pool that has no id left on this physical network."""
    pool = vlan_pool_of(taken.site, claim)
    where = f"{text_of(pool.vlans) if pool else 'nothing'} on {network}"
    return _exhausted(taken, claim, where, f"VLAN id for {claim}", network)


def _exhausted(taken: Taken, claim: str, pool: str, thing: str, network: str = "") -> AllocationError:
    settle = settling(taken, claim, network)
    hint = "widen the pool in the site file" + (f", or {settle}" if settle else "")
    return AllocationError(f"no free {thing}", f"all of {pool} are claimed, reserved or released and not settled", hint)
