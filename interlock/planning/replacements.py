"""Machines and whole hosts that stand where others stood: which, whether tested, and whether the old one is clean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interlock.model.evidence.steps import steps_of
from interlock.model.lock.record import Lock, Released
from interlock.model.site.inventory import Site
from interlock.resources import Effect
from interlock.vocabulary import nodes

from .devices import DeviceClaim, came_in, replaced_between, serials_of
from .differences import FieldChange, ResourceChange

#: Claim -> the word for a device.
WORDS: Mapping[str, str] = {"machines": "machine", "hosts": "host"}


@dataclass(frozen=True)
class Replacement:
    """One device of a tenant: `serial` stands where `before` stood, or is a GPU node that came back: both are one."""

    tenant: str
    vpod: str
    claim: DeviceClaim
    device: str
    before: str
    serial: str
    #: True until somebody has seen a self-test of the new one.
    untested: bool
    #: Steps that the old one has to be seen in before it is anybody else's; empty: it was.
    owed: tuple[str, ...]

    def __str__(self) -> str:
        # A note that is gone says that it was tested, or that nobody has it now.
        tested = ", untested" if self.untested else ""
        old = f"was last {self.tenant}'s and is not clean until it was seen {in_words(self.owed)}"
        said = old if self.owed else f"was {self.tenant}'s and is clean"
        came = f"{WORDS[self.claim]} {self.device}: {came_in(self.before, self.serial)}{tested}"
        return came if self.before == self.serial else f"{came}; the old one {said}"


def replacements(site: Site, lock: Lock) -> tuple[Replacement, ...]:
    """Every device of a lock that replaced one, or was replaced, and about which something is still to be seen."""
    unclean = {(entry.claim, entry.serial): entry for entry in lock.released if entry.serial}
    found = [
        Replacement(
            lock.id, one.vpod, one.claim, one.device, one.before, one.serial,
            untested=True, owed=_owed(one.claim, one.before) if (one.claim, one.before) in unclean else (),
        )
        for one in lock.replaced
    ]  # fmt: skip
    told = {(item.claim, item.before) for item in found}
    found += [item for key, entry in unclean.items() if key not in told for item in _replaced(site, lock.id, entry)]
    return tuple(sorted(found, key=lambda item: (item.claim, item.device, item.before)))


def kept_addresses(site: Site, old: Lock | None, new: Lock) -> tuple[str, ...]:
    """Machines whose serial is new in this lock, and the MAC address of whose RNIC is that of the unit before."""
    was = old.serials if old is not None else {}
    held = frozenset(old.footprint.exclusive if old is not None else ())
    return tuple(
        machine.name
        for machine in site.machines
        if machine.name in new.serials
        and was.get(machine.name, machine.serial) != machine.serial
        and str(nodes.MacAddress(machine.macs.get("rnic", ""))) in held
    )


def changes_of_devices(site: Site, before: Mapping[str, str], lock: Lock | None) -> Iterator[ResourceChange]:
    """A change for each device that was another when the earlier plan was made; of a `lock` those in it."""
    names = None if lock is None else {*lock.serials, *_devices(lock)}
    known = {(item.claim, item.device): item for item in replacements(site, lock)} if lock else {}
    for (claim, name), was in replaced_between(site, before, names):
        found = known.get((claim, name))
        reason = "another device, which wants a self-test before it is used"
        if found is not None and found.owed and found.before == was:
            old = f"the old one is not clean until {_seen(found.owed)}"
            reason = f"untested; {old}" if found.untested else old
        field = FieldChange(
            field="serial", before=was, after=serials_of(site)[name], effect=Effect.REPLACE, reason=reason
        )
        yield ResourceChange(name=name, kind=WORDS[claim], action="replace", fields=(field,))


def in_words(steps: tuple[str, ...]) -> str:
    """`unwired, power-cycled and wiped`."""
    return " and ".join(filter(None, (", ".join(steps[:-1]), *steps[-1:])))


def _seen(steps: tuple[str, ...]) -> str:
    return f"it was seen {in_words(steps)}"


def _devices(lock: Lock) -> Iterator[str]:
    for vpod in lock.allocation.vpods.values():
        yield from (*vpod.machines, *vpod.hosts)
    for cluster in lock.allocation.clusters.values():
        yield from cluster.hosts


def _replaced(site: Site, tenant: str, entry: Released) -> Iterator[Replacement]:
    """What was released under a name that another device has by now."""
    claim: DeviceClaim = "machines" if entry.claim == "machines" else "hosts"
    device = (site.machine if claim == "machines" else site.host).get(entry.value)
    if device is not None and device.serial != entry.serial:
        owed = _owed(claim, entry.serial)
        yield Replacement(
            tenant, entry.vpod, claim, entry.value, entry.serial, device.serial, untested=False, owed=owed
        )


def _owed(claim: str, serial: str) -> tuple[str, ...]:
    node = nodes.HeldMachine(serial) if claim == "machines" else nodes.HeldHost(serial)
    return tuple(str(step) for step in steps_of(str(node)))
