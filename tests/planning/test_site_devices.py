"""What the operator's lock keeps of devices: serials by name, and who owes a self-test, by serial (LIF-13)."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from interlock.model.lock.record import Allocation, Lock, Replaced, SiteLock, Untested
from interlock.model.site.inventory import Site
from interlock.planning.devices import DeviceClaim, next_devices
from interlock.planning.site_devices import SiteDevices, next_site_devices
from tests.builders.gpu_sites import gpu_site
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, locked, site_locked, tenant

BEFORE, NOW = "2026-11-01T10:00:00Z", "2026-11-20T10:00:00Z"
SITE = bare_metal_pod64()
HOST = "poplar-1"


def swapped(site: Site, name: str, serial: str) -> Site:
    """A machine or host of the site is another device."""
    devices = {
        kind: tuple(
            item.model_copy(update={"serial": serial}) if item.name == name else item for item in getattr(site, kind)
        )
        for kind in get_args(DeviceClaim)
    }
    return Site.model_validate({key: getattr(site, key) for key in Site.model_fields} | devices)


def without(site: Site, name: str) -> Site:
    kept = tuple(item for item in site.machines if item.name != name)
    return Site.model_validate({key: getattr(site, key) for key in Site.model_fields} | {"machines": kept})


def lock_of(found: SiteDevices) -> SiteLock:
    noted_there = {"serials": found.serials, "untested": found.untested, "left": found.left}
    return site_locked(SITE).model_copy(update=noted_there).sealed()


def noted(found: SiteDevices) -> list[tuple[str, str, str]]:
    return [(one.device, one.before, one.serial) for one in found.untested]


FIRST = next_site_devices(SITE, None, (), BEFORE)


def test_at_first_nothing_is_owed() -> None:
    assert FIRST.untested == ()
    assert FIRST.serials["ipum-03"] == SITE.machine["ipum-03"].serial
    assert FIRST.serials[HOST] == SITE.host[HOST].serial
    assert next_site_devices(SITE, lock_of(FIRST), (), NOW) == FIRST


def test_a_lock_of_before_keeps_its_bytes() -> None:
    old = site_locked(SITE)
    assert {"serials", "untested"}.isdisjoint(old.model_dump())
    assert old.hash == old.expected_hash()


def test_a_host_as_a_machine() -> None:
    for name, before in (("ipum-03", SITE.machine["ipum-03"].serial), (HOST, SITE.host[HOST].serial)):
        found = next_site_devices(swapped(SITE, name, "NEW"), lock_of(FIRST), (), NOW)
        assert noted(found) == [(name, before, "NEW")]
        assert {one.since for one in found.untested} == {NOW}
        again = next_site_devices(swapped(SITE, name, "NEW"), lock_of(found), (), "2026-11-21T10:00:00Z")
        assert again == found


def test_a_gpu_node_that_was_gone_owes_its_test_again_under_its_own_serial() -> None:
    """Under its name or another one; not twice, and a machine that comes back is the one that was tested."""
    hall = gpu_site()
    first = next_site_devices(hall, None, (), BEFORE)
    node = "su01-n02"
    less = hall.with_parts(
        hosts=tuple(item for item in hall.hosts if item.name != node),
        gpu_nodes=tuple(item for item in hall.gpu_nodes if item.name != node),
    )
    gone = next_site_devices(less, lock_of(first), (), BEFORE)
    assert (noted(gone), gone.left) == ([], (node,))
    for name in (node, "su09-n01"):
        back = hall.with_parts(
            hosts=tuple(item.model_copy(update={"name": name}) if item.name == node else item for item in hall.hosts),
            gpu_nodes=tuple(
                item.model_copy(update={"name": name}) if item.name == node else item for item in hall.gpu_nodes
            ),
        )
        found = next_site_devices(back, lock_of(gone), (), NOW)
        assert (noted(found), found.left) == ([(name, "SN-su01-n02", "SN-su01-n02")], ())
        assert {one.since for one in found.untested} == {NOW}
        assert next_site_devices(back, lock_of(found), (), "2026-11-21T10:00:00Z") == found
        settled = replace(found, untested=())
        assert next_site_devices(back, lock_of(settled), (), NOW) == settled
    machine = next_site_devices(without(SITE, "ipum-16"), lock_of(FIRST), (), BEFORE)
    assert noted(next_site_devices(SITE, lock_of(machine), (), NOW)) == []


def test_a_name_that_was_gone_in_between() -> None:
    gone = next_site_devices(without(SITE, "ipum-16"), lock_of(FIRST), (), BEFORE)
    assert (gone.serials, gone.untested, gone.left) == (FIRST.serials, (), ("ipum-16",))
    assert noted(next_site_devices(swapped(SITE, "ipum-16", "NEW"), lock_of(gone), (), NOW)) == [
        ("ipum-16", SITE.machine["ipum-16"].serial, "NEW")
    ]


def test_one_that_was_put_back_is_another_again() -> None:
    """Its old serial, after a repair: what was seen before says nothing of it."""
    there = SITE.machine["ipum-03"].serial
    new = next_site_devices(swapped(SITE, "ipum-03", "NEW"), lock_of(FIRST), (), BEFORE)
    back = next_site_devices(SITE, lock_of(new), (), NOW)
    assert {(one.before, one.serial, one.since) for one in back.untested} == {
        (there, "NEW", BEFORE), ("NEW", there, NOW),
    }  # fmt: skip


def metal() -> Lock:
    return locked(SITE, tenant("acme", vpods=(bare_metal_vpod(servers=1),)))


def test_locks_of_tenants_tell_what_an_earlier_version_did_not_record() -> None:
    one = Replaced(vpod="train", claim="hosts", device=HOST, before="OLD", serial="NEW", since=BEFORE)
    lock = metal().model_copy(update={"serials": {HOST: "NEW"}, "replaced": (one,)}).sealed()
    found = next_site_devices(swapped(SITE, HOST, "NEW"), site_locked(SITE), [lock], NOW)
    assert [(item.since, item.serial) for item in found.untested] == [(BEFORE, "NEW")]
    later = next_site_devices(swapped(SITE, HOST, "NEWER"), site_locked(SITE), [lock], NOW)
    assert {(item.before, item.serial) for item in later.untested} == {("OLD", "NEW"), ("NEW", "NEWER")}


def test_whoever_is_given_a_whole_host_has_the_note() -> None:
    """A tenant with no lock yet, one whose lock did not have it, and one that had it under another name."""
    lock = metal()
    (name,) = lock.allocation.vpods["train"].hosts
    owed = Untested(claim="hosts", device="before", before="OLD", serial=SITE.host[name].serial, since=BEFORE)
    empty = lock.model_copy(update={"allocation": Allocation(vpods={}), "serials": {}})
    for old in (None, empty, lock):
        (one,) = next_devices(SITE, old, lock.allocation, (), NOW, [owed]).replaced
        assert (one.vpod, one.device, one.before, one.since) == ("train", name, "OLD", BEFORE)
    other = owed.model_copy(update={"claim": "machines"})
    assert next_devices(SITE, lock, lock.allocation, (), NOW, [other]).replaced == ()


def test_a_note_follows_its_device_into_another_vpod() -> None:
    lock = metal()
    (name,) = lock.allocation.vpods["train"].hosts
    serial = SITE.host[name].serial
    one = Replaced(vpod="before", claim="hosts", device=name, before="OLD", serial=serial, since=BEFORE)
    (kept,) = next_devices(SITE, lock.model_copy(update={"replaced": (one,)}), lock.allocation, (), NOW).replaced
    assert kept == one.model_copy(update={"vpod": "train"})
