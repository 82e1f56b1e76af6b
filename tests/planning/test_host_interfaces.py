"""Whole hosts with an interface for each network: Ironic allows one network on each."""

from __future__ import annotations

import pytest

from interlock.model.site.inventory import Site
from interlock.model.site.networks import VlanPool
from interlock.planning import AllocationState, allocate
from interlock.planning.errors import AllocationError
from interlock.planning.host_room import ServerNeed
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, pools, tenant

TWO, THREE = ("ens161f0", "ens161f1"), ("ens161f0", "ens161f1", "ens9")
#: The control VLANs lie on the network of the data VLANs, so each host needs three interfaces there.
ON_FABRIC = VlanPool(physical_networks=("fabric100g",), vlans=((3000, 3099),))


def site_of(*interfaces: tuple[str, ...]) -> Site:
    """Poplar hosts with these interfaces on the fabric, in order; the last ones stand for all that follow."""
    base = bare_metal_pod64()
    poplar = [item.name for item in base.hosts if item.role == "poplar"]
    wanted = dict(zip(poplar, (*interfaces, *[interfaces[-1]] * len(poplar)), strict=False))
    hosts = tuple(
        item.model_copy(update={"interfaces": dict(item.interfaces) | {"fabric100g": wanted.get(item.name, ("eno1",))}})
        for item in base.hosts
    )
    return bare_metal_pod64(hosts=hosts, pools=pools(bare_metal_control=ON_FABRIC))


def hosts_of(site: Site) -> tuple[str, ...]:
    request = tenant("acme", vpods=(bare_metal_vpod(servers=1),))
    (vpod,) = allocate(site, request, AllocationState.of(site, ()), None)[0].vpods.values()
    return vpod.hosts


def test_a_host_with_an_interface_too_few_is_passed_over() -> None:
    """It was given, and then no plan followed, although the next one has enough."""
    poplar = [item.name for item in bare_metal_pod64().hosts if item.role == "poplar"]
    assert hosts_of(site_of(THREE)) == (poplar[0],)
    assert hosts_of(site_of(TWO, THREE)) == (poplar[1],)
    with pytest.raises(AllocationError):
        hosts_of(site_of(TWO))


def test_one_network_under_two_names() -> None:
    host = next(item for item in bare_metal_pod64().hosts if item.role == "poplar")
    both = host.model_copy(update={"interfaces": {"fabric": TWO, "beside": TWO}})
    needs = [ServerNeed(networks, None) for networks in (("fabric", "beside"), ("fabric", "beside", "fabric"))]
    assert [need.is_met_by(both) for need in needs] == [True, False]
