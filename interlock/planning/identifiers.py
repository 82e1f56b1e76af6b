"""VLAN ids, VNIs, subnets and addresses of the appliance: the lowest that is free in the site's pools."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv4Network

from interlock.model.site.inventory import Site, VlanPool
from interlock.vocabulary import ROLE_OF

from .allocation_state import AllocationState
from .errors import AllocationError, PlanningError
from .obstacles import settling

#: storage = ipu-data + 1000 where the pools allow it: mistakes then show at a glance.
STORAGE_OFFSET = 1000

Ranges = Sequence[tuple[int, int]]


def choose_vlan(allocated: AllocationState, claim: str, network: str) -> int:
    """The lowest free id of the claim's pool on a physical network."""
    vlan = lowest(free_vlans(allocated, claim, network))
    if vlan is None:
        raise no_vlan(allocated, claim, network)
    return vlan


def choose_data_vlan(allocated: AllocationState, network: str, storage_network: str, storage: int | None) -> int:
    """An id for ipu-data: the partner of `storage` if that is given, else the lowest with a free partner."""
    free = free_vlans(allocated, "ipu_data_vlan", network)
    if storage is not None:
        partner = storage - STORAGE_OFFSET
        if partner > 0 and free >> partner & 1:
            return partner
    else:
        paired = lowest(free & free_vlans(allocated, "storage_vlan", storage_network) >> STORAGE_OFFSET)
        if paired is not None:
            return paired
    return choose_vlan(allocated, "ipu_data_vlan", network)


def choose_storage_vlan(allocated: AllocationState, network: str, data: int | None) -> int:
    """An id for storage: the partner of `data` if it is free, else the lowest that is."""
    if data is not None and free_vlans(allocated, "storage_vlan", network) >> data + STORAGE_OFFSET & 1:
        return data + STORAGE_OFFSET
    return choose_vlan(allocated, "storage_vlan", network)


def choose_vni(allocated: AllocationState) -> int:
    """The lowest free VXLAN id of the control pool."""
    vni = allocated.vnis.lowest()
    if vni is None:
        raise _exhausted(allocated, "control_vni", text_of(allocated.site.pools.control), "VNI for control")
    return vni


def choose_subnet(allocated: AllocationState, claim: str) -> str:
    """The lowest prefix of the claim's pool that overlaps nothing taken.

    Two tenants may use the same addresses; ours never do, so that an address in a log names one server.
    """
    prefix, length = subnet_pool_of(allocated.site, claim)
    subnet = allocated.subnets(prefix, length).lowest()
    if subnet is None:
        raise _exhausted(allocated, claim, f"{prefix} in /{length}", f"subnet for {claim}")
    return subnet


def choose_storage_vip(allocated: AllocationState, part: str, subnet: str, beside: Collection[str] = ()) -> str:
    """The first address of the appliance's range in a storage or in-band subnet that is not released and unsettled.

    `part`: who mounts a share there, as in `vPOD train`. `beside`: addresses there that others have.
    """
    offsets = allocated.site.pools.storage_vips
    if offsets is None:
        raise PlanningError(
            f"{part} mounts a share, and the site has no address for the storage appliance to give",
            "add `storage_vips` to the storage pool of the site file, or ask for no share",
        )
    network = IPv4Network(subnet)
    for offset in range(offsets[0], min(offsets[1], network.num_addresses - 2) + 1):
        address = str(IPv4Address(int(network.network_address) + offset))
        if address not in beside and allocated.addresses[address] <= 0:
            return address
    raise _exhausted(allocated, "storage_vip", f"{offsets[0]}-{offsets[1]} of {subnet}", "address of the appliance")


def subnet_pool_of(site: Site, claim: str) -> tuple[str, int]:
    """(prefix, length of what is cut from it) of the pool behind a claim such as `control_subnet`."""
    return site.pools.subnets_of[ROLE_OF[claim]]


def vlan_pool_of(site: Site, claim: str) -> VlanPool | None:
    """The pool behind a VLAN claim; None where the site has none."""
    return site.pools.vlans_of.get(ROLE_OF[claim])


def free_vlans(allocated: AllocationState, claim: str, network: str) -> int:
    """The free ids of the claim's pool on a physical network, as a mask."""
    pool = vlan_pool_of(allocated.site, claim)
    mask = 0
    for first, last in pool.vlans if pool else ():
        mask |= (1 << last + 1) - (1 << first)
    return mask & ~allocated.unusable_vlans(network)


def lowest(mask: int) -> int | None:
    """The lowest bit of a mask that is set."""
    return (mask & -mask).bit_length() - 1 if mask else None


def text_of(ranges: Ranges) -> str:
    """Ranges as they are written: `1000-1999, 3000-3099`."""
    return ", ".join(f"{first}-{last}" for first, last in sorted(ranges))


def no_vlan(allocated: AllocationState, claim: str, network: str) -> AllocationError:
    """The error of a pool that has no id left on this physical network."""
    pool = vlan_pool_of(allocated.site, claim)
    where = f"{text_of(pool.vlans) if pool else 'nothing'} on {network}"
    return _exhausted(allocated, claim, where, f"VLAN id for {claim}", network)


def _exhausted(allocated: AllocationState, claim: str, pool: str, thing: str, network: str = "") -> AllocationError:
    settle = settling(allocated, claim, network)
    hint = "widen the pool in the site file" + (f", or {settle}" if settle else "")
    return AllocationError(f"no free {thing}", f"all of {pool} are claimed, reserved or released and not settled", hint)
