"""What was released and is not confirmed clean: it is nobody's to use, and neither free, lent nor out of service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from interlock.model.lock.record import Lock, Released
from interlock.model.site.inventory import Host, Machine, Site
from interlock.vocabulary import CLAIMS_OF, Vlan

from .claims import PARTITION_KEYS, SUBNET_CLAIMS, VLAN_CLAIMS, claimed_values

CleaningKind = Literal["machine", "host", "VLAN", "VNI", "storage address", "P_Key"]


@dataclass(frozen=True)
class Cleaning:
    """One thing that a tenant gave up, and that `interlock settle` has not handed out."""

    kind: CleaningKind
    #: Name of a device: the one that it has now, where it stands on the site; `<physical network>:<id>` of a VLAN,
    #: `<InfiniBand subnet>:0x0001` of a P_Key, else number or address.
    name: str
    #: Of a device, as it was given up; empty for all else.
    serial: str
    #: Whose it was.
    tenant: str
    vpod: str
    #: When it was given up, in UTC; empty: not recorded.
    since: str
    #: The switch ports of a device that stands on the site, as `switch:number`: nobody gets them either.
    ports: tuple[str, ...]
    #: False for a device that another one replaced, and that stands nowhere on the site.
    on_site: bool = True


def cleaning(site: Site, locks: Iterable[Lock]) -> tuple[Cleaning, ...]:
    """All of a site. What its former holder has again is lent, and room on a hypervisor is the cloud's to say."""
    found = (one for lock in locks for entry in lock.released for one in _cleaning(site, lock, entry))
    return tuple(sorted(found, key=lambda one: (one.kind, one.name, one.serial, one.tenant, one.vpod)))


def _cleaning(site: Site, lock: Lock, entry: Released) -> Iterator[Cleaning]:
    kind, device = _kind(site, entry), _device(site, entry)
    if kind is None or _has_again(lock, entry, device):
        return
    serial = entry.serial or (device.serial if device else "")
    ports = _ports(site, device) if device else ()
    name, on_site = device.name if device else entry.value, device is not None or kind not in ("machine", "host")
    yield Cleaning(kind, name, serial, lock.id, entry.vpod, entry.since, ports, on_site)


def _kind(site: Site, entry: Released) -> CleaningKind | None:
    """None for what needs no cleaning: addresses inside of another claim, and room on a host."""
    if entry.claim == "machines":
        return "machine"
    if entry.claim == "hosts":
        host = site.host.get(entry.value)
        return "host" if entry.serial or (host and host.is_whole) else None
    if entry.claim in VLAN_CLAIMS:
        return "VLAN"
    if entry.claim == PARTITION_KEYS:
        return "P_Key"
    if entry.claim in SUBNET_CLAIMS or entry.claim in ("heads", "controller_host"):
        return None
    return "VNI" if entry.claim in {item.vni for item in CLAIMS_OF.values()} else "storage address"


def _device(site: Site, entry: Released) -> Machine | Host | None:
    """Where it stands now, under whatever name; None if it stands nowhere on the site."""
    match entry.claim:
        case "machines":
            return site.machine.get(site.machine_of.get(entry.serial, "") if entry.serial else entry.value)
        case "hosts":
            return site.host.get(site.host_of.get(entry.serial, "") if entry.serial else entry.value)
    return None


def _has_again(lock: Lock, entry: Released, device: Machine | Host | None) -> bool:
    """True if the lock holds it in force as well. Another device under its name is another one."""
    name = entry.value if device is None else device.name
    if device is None and entry.serial:
        return False
    return any((entry.claim, name) in claimed_values(part) for part in lock.allocation.parts.values())


def _ports(site: Site, device: Machine | Host) -> tuple[str, ...]:
    ends = (
        far
        for cable in site.cables
        for near, far in ((cable.a, cable.b), (cable.b, cable.a))
        if near.device == device.name
    )
    return tuple(sorted(str(end) for end in ends if end.device in site.switch))


def counted(found: Iterable[Cleaning], kind: CleaningKind, names: Iterable[str]) -> int:
    """How many of these devices are being cleaned, whoever had them."""
    wanted = set(names)
    return len({one.name for one in found if one.kind == kind and one.on_site and one.name in wanted})


def vlans_of(found: Iterable[Cleaning], network: str, ids: Iterable[tuple[int, int]]) -> int:
    """How many VLAN ids of these ranges are being cleaned on a physical network."""
    ranges = tuple(ids)
    numbers = {vlan.id for one in found if one.kind == "VLAN" and (vlan := Vlan.parse(one.name)).network == network}
    return sum(any(first <= number <= last for first, last in ranges) for number in numbers)
