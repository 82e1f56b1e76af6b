"""The slice of a site that a lock names: what makes it old, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.lock.record import Allocation
from interlock.model.site.inventory import Feed, Lag, PriceBook, Rack, Room, Site, Switch, SwitchPortConfig, Vrf, Vtep
from interlock.model.site.ironic import Ironic, ServiceNetworks
from interlock.model.tenant.request import Poplar, PublicServers, ShareRequest, VolumeRequest, Volumes, VPod
from interlock.planning import SiteHashes, site_hash
from interlock.planning.request_hashes import YOUNGER, request_hash
from interlock.resources import VolumeEncryption
from tests.builders.pod64 import locked, pinned, tenant
from tests.builders.states import out
from tests.planning.halls import block, cable, halls, machine, machines_of

LUKS = VolumeEncryption(provider="luks", cipher="aes-xts-plain64", key_size=256, control_location="front-end")
SITE = halls([["r1"], ["r2"]])
ACME = locked(SITE, tenant("acme", pins=pinned(machines=block("r1", 1, 4)))).allocation


def slice_of(site: Site, allocation: Allocation = ACME) -> str:
    return SiteHashes(site).slice_hash(allocation)


def fresh(**changes: object) -> Site:
    """The site with fields replaced; built again, for a copy would keep what was looked up before."""
    return Site.model_validate(SITE.model_dump() | changes)


def test_a_hall_added_elsewhere_changes_the_site_and_no_slice() -> None:
    larger = halls([["r1"], ["r2"], ["r3", "r4"]], joined=[("r3", "r4")])
    assert site_hash(larger) != site_hash(SITE) == SiteHashes(SITE).whole
    assert slice_of(larger) == slice_of(SITE)


def test_a_rack_added_to_the_leaf_group_changes_the_slice() -> None:
    assert slice_of(halls([["r1", "r3"], ["r2"]])) != slice_of(SITE)


def test_prices_rooms_and_racks_to_stand_in_are_no_part_of_it() -> None:
    site = fresh(
        prices=PriceBook(currency="EUR", prices={"bucket": "1"}),
        rooms=(Room(name="hall"),),
        physical_racks=(Rack(name="rack-1", feeds=(Feed(name="a", capacity_w=1),)),),
    )
    assert slice_of(site) == slice_of(SITE)


def with_ports(switch: Switch, *ports: SwitchPortConfig) -> Switch:
    """The switch with these records alone; made anew, as a copy would keep what was looked up before."""
    return Switch.model_validate(switch.model_dump() | {"ports": ports})


def changed_switch(name: str) -> Site:
    port = SwitchPortConfig(port=9, mode="trunk", tagged=None)
    switches = [with_ports(item, port) if item.name == name else item for item in SITE.switches]
    return fresh(switches=tuple(switches))


def changed_host(name: str) -> Site:
    hosts = [item.model_copy(update={"serial": "other"}) if item.name == name else item for item in SITE.hosts]
    return fresh(hosts=tuple(hosts))


def with_lag(device: str) -> Site:
    return fresh(lags=(Lag(name="lag", device=device, interfaces=("f0", "f1")),))


def other_serial(rack: str) -> Site:
    changed = [
        item.model_copy(update={"serial": "other"}) if item.name == machine(rack, 16) else item
        for item in (*machines_of("r1"), *machines_of("r2"))
    ]
    return fresh(machines=tuple(changed))


CHANGES = {
    "a port of a switch": (changed_switch("tor-r1"), changed_switch("tor-r2")),
    "a management switch": (changed_switch("mgmt-r1"), changed_switch("mgmt-r2")),
    "a host": (changed_host("r1-p4"), changed_host("r2-p4")),
    "the controller's host": (changed_host("infra-h1"), changed_host("infra-h2")),
    "a machine of the rack": (other_serial("r1"), other_serial("r2")),
    "a LAG of a host": (with_lag("r1-p1"), with_lag("r2-p1")),
    "a LAG of a switch": (with_lag("tor-r1"), with_lag("tor-r2")),
    "a cable": (
        fresh(cables=(*SITE.cables, cable("tor-r1", "32", "x", "1"))),
        fresh(cables=(*SITE.cables, cable("tor-r2", "32", "x", "1"))),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_makes_the_slice_old_only_where_it_is_used(name: str) -> None:
    here, elsewhere = CHANGES[name]
    assert slice_of(here) != slice_of(SITE)
    assert slice_of(elsewhere) == slice_of(SITE)


def test_no_lock_grows_old_because_something_fails() -> None:
    failed = out(SITE, machine("r1", 1), machine("r1", 9), "r1-p1", "infra-h1")
    assert slice_of(failed) == slice_of(SITE)
    assert site_hash(failed) == site_hash(SITE)


def test_no_lock_grows_old_because_ironic_comes_or_an_address_is_read() -> None:
    networks = (ServiceNetworks(physical_network="mgmt-h1", vlans=((3200, 3203),), subnets=("10.90.0.0/24", 26)),)
    hosts = tuple(item.model_copy(update={"macs": {"f0": "02:00:00:00:00:01"}}) for item in SITE.hosts)
    stated = fresh(ironic=Ironic(conductor_group="lent", networks=networks), hosts=hosts)
    assert slice_of(stated) == slice_of(SITE)
    assert site_hash(stated) == site_hash(SITE)


def test_how_the_far_end_of_a_cable_is_set_counts() -> None:
    joined = (*SITE.cables, cable("tor-r1", "32", "tor-r2", "32"))
    plain = fresh(cables=joined)
    port = SwitchPortConfig(port=32, mode="trunk", tagged=((1000, 1000),))
    switches = [with_ports(item, port) if item.name == "tor-r2" else item for item in SITE.switches]
    assert slice_of(fresh(cables=joined, switches=tuple(switches))) != slice_of(plain)


@pytest.mark.parametrize(
    "routed",
    [
        {"ip_routing": True},
        {"routed_vlans": (1000,)},
        {"vrfs": (Vrf(name="a", vlans=(1000,)),)},
        {"vteps": (Vtep(vlan=1000, vni=7, underlay="core"),)},
    ],
    ids=lambda routed: next(iter(routed)),
)
def test_where_the_far_end_of_a_cable_sends_a_vlan_counts(routed: dict[str, object]) -> None:
    joined = (*SITE.cables, cable("tor-r1", "32", "tor-r2", "32"))
    switches = [item.model_copy(update=routed) if item.name == "tor-r2" else item for item in SITE.switches]
    assert slice_of(fresh(cables=joined, switches=tuple(switches))) != slice_of(fresh(cables=joined))


@pytest.mark.parametrize("field", ["flavors", "images", "volume_types", "sharing", "assumptions"])
def test_what_all_share_counts(field: str) -> None:
    assert slice_of(fresh(**{field: ()})) != slice_of(SITE)


def test_encrypted_volume_types_count_where_a_site_has_any() -> None:
    """A site of before had none, and locks of before stay as they are."""
    assert slice_of(fresh(volume_encryption={})) == slice_of(SITE)
    assert slice_of(fresh(volume_encryption={"ceph": LUKS})) != slice_of(SITE)


#: `sha256:` of the request below, as it was before any of the younger keys.
BEFORE_THEM = "sha256:f2ef478db33146eed31c4a3b47764ab43f937426243b5c0f1d30b7a570850338"


def test_a_younger_key_of_a_request_is_in_its_hash_where_it_says_something() -> None:
    volume = VolumeRequest(name="a", size_gib=1, volume_type="ceph", on_delete="erase")
    disk = Volumes(size_gib=1, volume_type="ceph", on_delete="erase")
    pod = VPod(name="train", machines=1, poplar=Poplar(servers=1, flavor="f", image="i", volume=disk))
    share = ShareRequest(name="s", size_gib=1, share_type="nfs", vpods=("train",), on_delete="keep")
    plain = tenant("acme", vpods=(pod,), volumes=(volume,), shares=(share,))
    assert request_hash(plain) == BEFORE_THEM
    public = PublicServers(vpod="train", servers=(0,), ssh_from=())
    asked: tuple[dict[str, Any], ...] = (
        {"volumes": (volume.model_copy(update={"encrypted": True}),)},
        {"vpods": (pod.model_copy(update={"s3_keys": (1, 2)}),)},
        {"shares": (share.model_copy(update={"mount": "/data"}),)},
        {"access": plain.access.model_copy(update={"public": (public,)})},
        {"access": plain.access.model_copy(update={"ca": "ssh-ed25519 AAAA"})},
    )
    hashes = {request_hash(plain.model_copy(update=change)) for change in asked}
    assert len(hashes | {BEFORE_THEM}) == len(asked) + 1


def test_younger_keys_have_a_default() -> None:
    for kind, names in YOUNGER:
        assert all(not kind.model_fields[name].is_required() for name in names)


def test_of_the_pools_only_the_networks_in_use_count() -> None:
    pools = SITE.pools.model_copy(
        update={"ipu_data": SITE.pools.ipu_data.model_copy(update={"physical_networks": ("fabric-h1",)})}
    )
    assert slice_of(fresh(pools=pools.model_dump())) == slice_of(SITE)
    narrower = SITE.pools.model_copy(
        update={"ipu_data": SITE.pools.ipu_data.model_copy(update={"vlans": ((1000, 1500),)})}
    )
    assert slice_of(fresh(pools=narrower.model_dump())) != slice_of(SITE)


def test_one_object_for_all_tenants_answers_as_a_new_one_does() -> None:
    other = locked(SITE, tenant("globex", pins=pinned(machines=block("r2", 1, 4)))).allocation
    hashes = SiteHashes(SITE)
    assert [hashes.slice_hash(item) for item in (ACME, other, ACME)] == [
        slice_of(SITE, item) for item in (ACME, other, ACME)
    ]
    assert hashes.slice_hash(ACME) != hashes.slice_hash(other)


def test_an_empty_allocation_uses_what_all_share() -> None:
    assert slice_of(halls([["r1"]]), Allocation(vpods={})) == slice_of(SITE, Allocation(vpods={}))
