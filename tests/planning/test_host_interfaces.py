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


ON_MANAGEMENT = VlanPool(physical_networks=("mgmt1g",), vlans=((200, 210),))


def site_with(control: VlanPool, interfaces: dict[str, tuple[str, ...]]) -> Site:
    """Every Poplar host with these interfaces, and the control VLANs in this pool."""
    hosts = (
        item.model_copy(update={"interfaces": interfaces}) if item.role == "poplar" else item
        for item in bare_metal_pod64().hosts
    )
    return bare_metal_pod64(hosts=tuple(hosts), pools=pools(bare_metal_control=control))


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


@pytest.mark.parametrize(
    ("control", "interfaces", "lacking"),
    [
        (
            ON_MANAGEMENT,
            {"fabric100g": ("eth0",), "mgmt1g": ("eth1",)},
            "fabric100g (2 interfaces) and mgmt1g; host poplar-1 has 1 on fabric100g and 1 on mgmt1g",
        ),
        (
            ON_FABRIC,
            {"fabric100g": ("eth0",), "mgmt1g": ("eth1",)},
            "fabric100g (3 interfaces); host poplar-1 has 1 on fabric100g",
        ),
        (ON_MANAGEMENT, {"fabric100g": ("eth0",)}, "fabric100g (2 interfaces); host poplar-1 has 1 on fabric100g"),
        (ON_MANAGEMENT, {"mgmt1g": ("eth1",)}, "fabric100g (2 interfaces); host poplar-1 has 0 on fabric100g"),
    ],
)
def test_the_error_says_what_hosts_lack(
    control: VlanPool, interfaces: dict[str, tuple[str, ...]], lacking: str
) -> None:
    """It blamed the network of the control VLAN, on which the hosts have an interface, for one too few on another."""
    with pytest.raises(AllocationError) as raised:
        hosts_of(site_with(control, interfaces))
    assert raised.value.what == f"vPOD train: no bare-metal host of role poplar has interfaces on {lacking}"


def test_hosts_that_lack_the_control_network_alone_are_told_that() -> None:
    with pytest.raises(AllocationError) as raised:
        hosts_of(site_with(ON_MANAGEMENT, {"fabric100g": TWO}))
    assert raised.value.what == (
        "vPOD train: no bare-metal host on fabric100g (2 interfaces) has an interface on a network of the pool "
        "bare_metal_control (mgmt1g)"
    )


def test_one_network_under_two_names() -> None:
    host = next(item for item in bare_metal_pod64().hosts if item.role == "poplar")
    both = host.model_copy(update={"interfaces": {"fabric": TWO, "beside": TWO}})
    needs = [ServerNeed(networks, None) for networks in (("fabric", "beside"), ("fabric", "beside", "fabric"))]
    assert [need.is_met_by(both) for need in needs] == [True, False]
