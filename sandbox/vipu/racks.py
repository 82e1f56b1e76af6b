"""The hardware that controllers are about: IPU-Machines, their cables, what answers and what is broken.

One file holds it for all controllers of a site, and is changed behind their backs: a machine that fails, a board that
is replaced, a link that is down. Agents of other tenants stand in it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from .forms import read_form, write_form
from .objects import MACHINES_OF_A_DOMAIN

#: How logical racks are joined: not at all, by cables between same machines, or by GW-Link switches.
GatewayMode = Literal["none", "direct", "switched"]
AGENT_PORT = 8080


@dataclass(frozen=True)
class IpuMachine:
    """One IPU-Machine, with its agent at `host`:`port`."""

    host: str
    port: int
    lrack: int
    #: 1 to 16, from which its cables follow.
    position: int
    serial: str
    ipuof_host: str
    board_type: str = "M2000"
    #: Version of its agent.
    version: str = "1.18.0"
    firmware: str = "2.4.4"
    #: The back-end network on which its agent is heard.
    interface: str = "bmc0"
    answers: bool = True
    #: Serial of another board that was put in its place is `serial` then; the position stays.
    replaced: int = 0


@dataclass(frozen=True)
class RingCable:
    """IPU-Links from the last machine of a run back to its first one."""

    lrack: int
    first: int
    last: int


@dataclass(frozen=True)
class Racks:
    """All machines of a site and how they are cabled."""

    machines: tuple[IpuMachine, ...] = ()
    rings: tuple[RingCable, ...] = ()
    gateway: GatewayMode = "none"
    #: Logical racks that GW-Links join directly, as pairs.
    joined: tuple[tuple[int, int], ...] = ()
    #: IPU-Links that are down: both hosts.
    links_down: tuple[tuple[str, str], ...] = ()

    def at(self, host: str, port: int) -> IpuMachine | None:
        """The machine whose agent is there."""
        return next((item for item in self.machines if (item.host, item.port) == (host, port)), None)

    def adjacent(self, one: IpuMachine, other: IpuMachine) -> bool:
        """True if IPU-Links go from the first to the second, whether they are up or not."""
        return one.lrack == other.lrack and other.position == one.position + 1

    def up(self, one: IpuMachine, other: IpuMachine) -> bool:
        """True if no link between these two is down."""
        return (one.host, other.host) not in self.links_down and (other.host, one.host) not in self.links_down

    def closed(self, first: IpuMachine, last: IpuMachine) -> bool:
        """True if a cable closes the ring from the last of a run to its first."""
        return RingCable(first.lrack, first.position, last.position) in self.rings

    def joins(self, one: int, other: int) -> bool:
        """True if GW-Links join two logical racks."""
        if self.gateway == "switched":
            return one != other
        return self.gateway == "direct" and ((one, other) in self.joined or (other, one) in self.joined)


class NoSuchMachine(Exception):
    """A host at which no IPU-Machine is."""


def rack_of(count: int = MACHINES_OF_A_DOMAIN, *, lrack: int = 1, interface: str = "bmc0") -> Racks:
    """One logical rack, whole with its ring closed, or the first machines of one."""
    machines = tuple(
        IpuMachine(
            host=f"10.2.{lrack}.{position}",
            port=AGENT_PORT,
            lrack=lrack,
            position=position,
            serial=f"SIM-{lrack:02}{position:02}-0",
            ipuof_host=f"10.5.{lrack}.{position}",
            interface=interface,
        )
        for position in range(1, count + 1)
    )
    whole = count == MACHINES_OF_A_DOMAIN
    return Racks(machines, (RingCable(lrack, 1, MACHINES_OF_A_DOMAIN),) if whole else ())


def racks_of(count: int, gateway: GatewayMode = "direct") -> Racks:
    """Whole logical racks 1 to `count`, in a ring of GW-Links if there are any."""
    racks = [rack_of(lrack=number) for number in range(1, count + 1)]
    joined = tuple((number, number % count + 1) for number in range(1, count + 1)) if count > 1 else ()
    return Racks(
        tuple(machine for rack in racks for machine in rack.machines),
        tuple(ring for rack in racks for ring in rack.rings),
        gateway if count > 1 else "none",
        joined if gateway == "direct" else (),
    )


def changed(racks: Racks, host: str, **values: Any) -> Racks:
    """The racks with other values of one machine. Raises NoSuchMachine."""
    return _each(racks, host, lambda machine: replace(machine, **values))


def board_replaced(racks: Racks, host: str) -> Racks:
    """Another board in the same position: the cables stay, serial and state do not."""

    def another(machine: IpuMachine) -> IpuMachine:
        count = machine.replaced + 1
        serial = f"{machine.serial.rpartition('-')[0]}-{count}"
        return replace(machine, serial=serial, replaced=count, answers=True)

    return _each(racks, host, another)


def _each(racks: Racks, host: str, change: Callable[[IpuMachine], IpuMachine]) -> Racks:
    if not any(item.host == host for item in racks.machines):
        raise NoSuchMachine(f"no IPU-Machine at {host}")
    return replace(racks, machines=tuple(change(item) if item.host == host else item for item in racks.machines))


def link_cut(racks: Racks, one: str, other: str) -> Racks:
    """The IPU-Links between two machines are down."""
    return replace(racks, links_down=(*racks.links_down, (one, other)))


def link_mended(racks: Racks, one: str, other: str) -> Racks:
    """They are up again."""
    down: Iterable[tuple[str, str]] = (pair for pair in racks.links_down if set(pair) != {one, other})
    return replace(racks, links_down=tuple(down))


def read_racks(file: Path) -> Racks:
    """What a file of racks holds. Raises FormWrong."""
    return read_form(Racks, file)


def write_racks(file: Path, racks: Racks) -> None:
    """Whole or not at all."""
    write_form(file, racks)
