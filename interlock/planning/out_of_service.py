"""Machines and hosts that are not in service: what is said of them, and who has one.

They are given to nobody new. Who has one keeps it: a claim changes only when somebody asks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from interlock.model.lock.record import Allocation, ClusterAllocation, VPodAllocation
from interlock.model.site.inventory import Host, Machine, Site
from interlock.model.site.physical import ServiceState
from interlock.model.tenant.request import Pins

#: Devices that a sentence names before it only counts.
SHOWN = 4
#: What an operator can do about them.
BRING_BACK = "mend what is out of service, and take its `state` out of the site file"

#: Claim of a vPOD -> the word for what stands in it.
_KINDS = {
    "machines": "IPU-Machine",
    "hosts": "host",
    "controller_host": "the host of its controller,",
    "heads": "the host of a head,",
}

#: State -> what is said of one device, and of several.
_SAID: dict[ServiceState, tuple[str, str]] = {
    "ok": ("is in service", "are in service"),
    "failed": ("has failed", "have failed"),
    "maintenance": ("is in maintenance", "are in maintenance"),
}


@dataclass(frozen=True)
class HeldOutOfService:
    """A machine or host that somebody has and that is not in service; `claim` is the field that it stands in."""

    #: Name of the vPOD or cluster.
    vpod: str
    claim: str
    device: str
    state: ServiceState
    reason: str

    @property
    def kind(self) -> str:
        """The word for what it is to the vPOD."""
        return _KINDS[self.claim]

    @property
    def why(self) -> str:
        """`has failed (RNIC dead, ticket 123)`."""
        return f"{_SAID[self.state][0]} ({self.reason})"


def said_of(device: Machine | Host, link: str = "") -> str:
    """`ipum-03 has failed (RNIC dead, ticket 123)`; with a word that links it to its sentence, after a comma."""
    return f"{device.name}{', ' if link else ' '}{link}{_SAID[device.state][0]} ({device.state_reason})"


def state_of(device: Machine | Host) -> str:
    """`ipum-03 has failed`, where the reason is told beside it."""
    return f"{device.name} {_SAID[device.state][0]}"


def counted(devices: Iterable[Machine | Host]) -> str:
    """How many failed or are in maintenance, which, and why; empty if none is."""
    by_state: dict[ServiceState, list[Machine | Host]] = {}
    for device in devices:
        if not device.in_service:
            by_state.setdefault(device.state, []).append(device)
    return ", ".join(
        f"{len(by_state[state])} {several if len(by_state[state]) > 1 else one} ({_reasons(by_state[state])})"
        for state, (one, several) in _SAID.items()
        if state in by_state
    )


def held_out_of_service(site: Site, allocation: Allocation) -> tuple[HeldOutOfService, ...]:
    """What a tenant has that is not in service, by vPOD and cluster."""
    return tuple(
        HeldOutOfService(name, claim, device.name, device.state, device.state_reason)
        for name, part in sorted(allocation.parts.items())
        for claim, device in _devices(site, part)
        if device is not None and not device.in_service
    )


def _devices(site: Site, part: VPodAllocation | ClusterAllocation) -> Iterator[tuple[str, Machine | Host | None]]:
    if isinstance(part, VPodAllocation):
        yield from (("machines", site.machine.get(machine)) for machine in part.machines)
    yield from (("hosts", site.host.get(host)) for host in dict.fromkeys(part.hosts))
    if isinstance(part, VPodAllocation):
        yield "controller_host", site.host.get(part.controller_host)
    else:
        yield from (("heads", site.host.get(host)) for host in dict.fromkeys(part.heads))


def refused_pin(site: Site, pins: Pins, held: Sequence[str]) -> tuple[str, Machine | Host] | None:
    """(field, device) of the first pin to what is not in service; what is `held` already may be pinned."""
    for field, names, devices in (
        ("machines", pins.machines or (), site.machine),
        ("hosts", pins.hosts or (), site.host),
        ("heads", pins.heads or (), site.host),
        ("controller_host", [pins.controller_host] if pins.controller_host else (), site.host),
    ):
        for name in names:
            device = devices.get(name)
            if device is not None and not device.in_service and name not in held:
                return field, device
    return None


def _reasons(devices: Sequence[Machine | Host]) -> str:
    """`ipum-03, ipum-04: RNIC dead; ipum-07: fan`, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for device in devices[:SHOWN]:
        by_reason.setdefault(device.state_reason, []).append(device.name)
    listed = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return listed + (f"; and {len(devices) - SHOWN} more" if len(devices) > SHOWN else "")
