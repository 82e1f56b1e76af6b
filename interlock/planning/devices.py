"""Which devices a lock is about, by serial: a machine or whole host with another serial is another one (LIF-13).

The old one stays its holder's until it was seen clean, under its own serial, wherever it is by now. The new one is used
once somebody has seen its self-test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from interlock.model.lock.record import Allocation, Lock, Released, Replaced, Untested, VPodAllocation
from interlock.model.site.inventory import Host, Machine, Site
from interlock.vocabulary import nodes

DeviceClaim = Literal["machines", "hosts"]
#: (claim, name) of a device.
Slot = tuple[DeviceClaim, str]
KINDS: tuple[DeviceClaim, ...] = ("machines", "hosts")


@dataclass(frozen=True)
class Devices:
    """What the next lock records of devices."""

    serials: dict[str, str]
    released: tuple[Released, ...]
    replaced: tuple[Replaced, ...]


def next_devices(
    site: Site,
    old: Lock | None,
    allocation: Allocation,
    released: Iterable[Released],
    now: str,
    untested: Iterable[Untested] = (),
) -> Devices:
    """From the old lock, and what the new one claims and gives up; `now` in UTC.

    `untested`: what the operator's lock notes. Such a device owes its test to whoever has it, from whomever it came.
    """
    known = known_serials(site, old) if old else {}
    claimed = dict(_claimed(site, allocation))
    gone = [
        Replaced(vpod=vpod, claim=slot[0], device=slot[1], before=known[slot], serial=serial, since=now)
        for slot, (vpod, serial) in claimed.items()
        if old is not None and slot in dict(_claimed(site, old.allocation)) and known[slot] != serial
    ]
    owed = {(item.claim, item.serial): item for item in untested}
    again = {(item.claim, item.device) for item in gone}
    kept = [
        item.model_copy(update={"vpod": claimed[item.claim, item.device][0]})
        for item in (old.replaced if old else ())
        if (item.claim, item.device) not in again and claimed.get((item.claim, item.device), ("", ""))[1] == item.serial
    ]
    noted = again | {(item.claim, item.device) for item in kept}
    revived = [
        Replaced(vpod=vpod, claim=slot[0], device=slot[1], before=one.before, serial=serial, since=one.since)
        for slot, (vpod, serial) in claimed.items()
        if slot not in noted and (one := owed.get((slot[0], serial))) is not None
    ]
    entries = [_with_serial(site, entry, known) for entry in released]
    entries += [Released(vpod=one.vpod, claim=one.claim, value=one.device, serial=one.before) for one in gone]
    return Devices(
        serials={name: serial for (_, name), (_, serial) in sorted(claimed.items())},
        released=_once(entries),
        replaced=tuple(sorted((*kept, *gone, *revived), key=lambda item: (item.claim, item.device))),
    )


def known_serials(site: Site, lock: Lock) -> dict[Slot, str]:
    """The serials that the devices of a lock had when it was written, those that it released included.

    Earlier versions recorded no names. What their locks hold exclusively tells the serials all the same; where several
    devices have other ones by now, which had which is taken from their order, and only that.
    """
    found: dict[Slot, str] = {}
    slots = [slot for slot, _ in _claimed(site, lock.allocation)]
    slots += [(_kind(entry), entry.value) for entry in lock.released if not entry.serial and _is_device(site, entry)]
    recorded = {item.serial for item in lock.released if item.serial}
    for kind in KINDS:
        held = _held(lock, kind) - recorded
        of_kind = [slot for slot in dict.fromkeys(slots) if slot[0] == kind]
        stated = {slot: lock.serials.get(slot[1]) or _serial(site, slot) for slot in of_kind}
        lost = [slot for slot, serial in stated.items() if slot[1] not in lock.serials and serial not in held]
        left = sorted(held - set(stated.values()))
        found |= stated | dict(zip(sorted(lost), left, strict=False))
    return found


def came_in(before: str, serial: str) -> str:
    """How a device came to stand where it stands, in words."""
    return f"{serial} left the site file and is back" if before == serial else f"{before} replaced by {serial}"


def replaced_between(
    site: Site, before: Mapping[str, str], names: Collection[str] | None
) -> Iterator[tuple[Slot, str]]:
    """(device, serial that it had) of each whose serial is another than `before`; `names`: of these alone."""
    devices: tuple[Machine | Host, ...] = (*site.machines, *site.hosts)
    for device in devices:
        was = before.get(device.name, device.serial)
        if was != device.serial and (names is None or device.name in names):
            yield ("machines" if isinstance(device, Machine) else "hosts", device.name), was


def serials_of(site: Site) -> dict[str, str]:
    """Name -> serial of all machines and hosts."""
    devices: tuple[Machine | Host, ...] = (*site.machines, *site.hosts)
    return {device.name: device.serial for device in devices}


def _claimed(site: Site, allocation: Allocation) -> Iterator[tuple[Slot, tuple[str, str]]]:
    """(device, (vPOD or cluster, serial)) of each machine and whole host that the site lists."""
    for name, part in sorted(allocation.parts.items()):
        machines = part.machines if isinstance(part, VPodAllocation) else ()
        known = (site.machine[item] for item in machines if item in site.machine)
        yield from ((("machines", item.name), (name, item.serial)) for item in known)
        yield from ((("hosts", item), (name, site.host[item].serial)) for item in part.hosts if _is_whole(site, item))


def _is_whole(site: Site, host: str) -> bool:
    return host in site.host and site.host[host].is_whole


def _is_device(site: Site, entry: Released) -> bool:
    return (entry.claim == "machines" and entry.value in site.machine) or (
        entry.claim == "hosts" and _is_whole(site, entry.value)
    )


def _kind(entry: Released) -> DeviceClaim:
    return "machines" if entry.claim == "machines" else "hosts"


def _serial(site: Site, slot: Slot) -> str:
    return site.machine[slot[1]].serial if slot[0] == "machines" else site.host[slot[1]].serial


def _held(lock: Lock, kind: DeviceClaim) -> set[str]:
    """Serials of what a lock holds exclusively."""
    held = (nodes.parse(identity) for identity in lock.footprint.exclusive)
    wanted = nodes.HeldMachine if kind == "machines" else nodes.HeldHost
    return {item.serial for item in held if isinstance(item, wanted)}


def _with_serial(site: Site, entry: Released, known: Mapping[Slot, str]) -> Released:
    """As it was when it was given up. Room on a hypervisor is no device, and what left the site has no serial."""
    if entry.serial or not _is_device(site, entry):
        return entry
    slot = (_kind(entry), entry.value)
    return entry.model_copy(update={"serial": known.get(slot) or _serial(site, slot)})


def _once(entries: Iterable[Released]) -> tuple[Released, ...]:
    """Each device once, as it was given up last; all else as it is."""
    devices: dict[tuple[str, str], Released] = {}
    others = []
    for entry in entries:
        if not entry.serial:
            others.append(entry)
            continue
        known = devices.setdefault((entry.claim, entry.serial), entry)
        devices[entry.claim, entry.serial] = max(known, entry, key=_given_up)
    return tuple(sorted((*others, *devices.values()), key=lambda entry: (*entry.key, entry.serial)))


def _given_up(entry: Released) -> tuple[bool, str]:
    """Sorts by when it was; what was given up in this run has no time yet."""
    return not entry.since, entry.since


def without_serials(lock: Lock) -> Lock:
    """The lock as earlier versions wrote it."""
    released = tuple(entry.model_copy(update={"serial": ""}) for entry in lock.released)
    return lock.model_copy(update={"serials": {}, "released": released})
