"""Which devices a site has had, by serial, and which of them nobody has seen tested (LIF-13): the operator's lock.

A tenant's lock notes an untested device while the tenant has it. Whoever gave it up, renamed it or lost its lock
would be rid of the note; here it stays with the serial until somebody has seen the self-test.

A GPU node that a lock saw gone from the site file, and that is back under its serial, was out of sight meanwhile: it
owes its test and its acceptance once more, as if it were another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.model.lock.record import Lock, SiteLock, Untested
from interlock.model.site.inventory import Host, Machine, Site

from .devices import DeviceClaim, came_in


@dataclass(frozen=True)
class SiteDevices:
    """What the operator's next lock records of devices."""

    serials: dict[str, str]
    untested: tuple[Untested, ...]
    left: tuple[str, ...] = ()


def next_site_devices(site: Site, old: SiteLock | None, locks: Iterable[Lock], now: str) -> SiteDevices:
    """From the operator's old lock and, where that recorded no serials, from the locks of all tenants; `now` in UTC.

    A name that the site has no more keeps its serial, so that the next device of that name is another one.
    """
    if old is not None and old.serials:
        known, notes = dict(old.serials), list(old.untested)
    else:
        known, notes = _told_by(locks)
    devices: tuple[Machine | Host, ...] = (*site.machines, *site.hosts)
    by_serial = {(item.claim, item.serial): item for item in notes}
    were_gone = {known[name] for name in (old.left if old is not None else ()) if name in known}
    for device in devices:
        before, claim = known.get(device.name, device.serial), claim_of(device)
        if before != device.serial:
            by_serial[claim, device.serial] = Untested(
                claim=claim, device=device.name, before=before, serial=device.serial, since=now
            )
        elif device.serial in were_gone and device.name in site.gpu_node:
            by_serial[claim, device.serial] = Untested(
                claim=claim, device=device.name, before=device.serial, serial=device.serial, since=now
            )
    serials, here = known | {device.name: device.serial for device in devices}, {item.serial for item in devices}
    return SiteDevices(
        serials=dict(sorted(serials.items())),
        untested=tuple(by_serial[key] for key in sorted(by_serial)),
        left=tuple(sorted(name for name, serial in serials.items() if serial not in here)),
    )


def told(one: Untested) -> str:
    """What is noted of a device, in words."""
    return came_in(one.before, one.serial)


def claim_of(device: Machine | Host) -> DeviceClaim:
    """What a claim on such a device is called."""
    return "machines" if isinstance(device, Machine) else "hosts"


def _told_by(locks: Iterable[Lock]) -> tuple[dict[str, str], list[Untested]]:
    """The same of locks of tenants, as far as they go: they are about what somebody has."""
    known: dict[str, str] = {}
    notes = []
    for lock in locks:
        known |= lock.serials
        notes += [
            Untested(claim=one.claim, device=one.device, before=one.before, serial=one.serial, since=one.since)
            for one in lock.replaced
        ]
    return known, notes
