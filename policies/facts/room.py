"""What a server takes of its host, and what a host has: each quantity by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from interlock.model.site.physical import Host
from interlock.planning.host_room import VFS_PER_SERVER, largest_flavor
from interlock.resources import Flavor
from interlock.vocabulary import Reference, Scheme
from interlock.vocabulary.digits import is_number

from . import identities as ids
from .kinds import PlanFacts, ServerFact
from .site import SiteFacts

CPUS, PAGES, MEMORY, FUNCTIONS = "dedicated CPUs", "pages of 1 GiB", "GiB of memory", "virtual functions"
QUANTITIES = (CPUS, PAGES, MEMORY, FUNCTIONS)


@dataclass(frozen=True)
class TakenRoom:
    """So much of each quantity; None: nobody states how much. A whole host is all of it."""

    amounts: tuple[int | None, ...]
    whole: bool = False
    #: Given up, and perhaps still there: as much as its flavour says, if that is recorded, or nothing any more.
    released: bool = False
    flavor: str = ""
    #: Of a released server how many virtual functions it had, where that is recorded.
    functions: str = ""

    #: How a premise says that it is all of the host, that nobody states how much it is, and that it was given up.
    WHOLE: ClassVar[str] = "whole"
    UNSTATED: ClassVar[str] = "?"
    RELEASED: ClassVar[str] = "released"

    @property
    def columns(self) -> tuple[str, ...]:
        """As columns of a premise."""
        if self.whole:
            return (self.WHOLE,) * len(QUANTITIES)
        if self.released:
            return (self.RELEASED, self.flavor, *((self.functions,) if self.functions else ()))
        return tuple(self.UNSTATED if amount is None else str(amount) for amount in self.amounts)

    @classmethod
    def of(cls, columns: tuple[str, ...]) -> TakenRoom:
        """From the columns of a premise; what is no number is not stated."""
        if cls.WHOLE in columns:
            return cls((0,) * len(QUANTITIES), whole=True)
        if cls.RELEASED in columns[:1]:
            return released_room(*columns[1:])
        return cls(tuple(int(text) if is_number(text) else None for text in columns))

    @property
    def by_name(self) -> Mapping[str, int | None]:
        """Quantity -> how much."""
        return dict(zip(QUANTITIES, self.amounts, strict=True))


def released_room(flavor: str = "", functions: str = "") -> TakenRoom:
    """What a server takes that was given up and is perhaps still there: from nothing at all to `most_released`."""
    return TakenRoom((0,) * len(QUANTITIES), released=True, flavor=flavor, functions=functions)


def most_released(site: SiteFacts, room: TakenRoom, *, is_pinned: bool) -> Mapping[str, int]:
    """The most that a released Poplar server or head (`is_pinned`) or controller takes; of no known flavour, the
    largest.
    """
    if not is_pinned:
        controller = site.site.controller
        flavor = None if controller is None else site.site.flavor.get(controller.flavor)
        return dict.fromkeys(QUANTITIES, 0) | {MEMORY: 0 if flavor is None else flavor.ram_gib}
    flavor = site.site.flavor.get(room.flavor) or largest_flavor(site.site)
    functions = int(room.functions) if is_number(room.functions) else VFS_PER_SERVER
    return {CPUS: flavor.vcpus, PAGES: flavor.ram_gib, MEMORY: 0, FUNCTIONS: functions}


def taken_by(server: ServerFact, plan: PlanFacts, site: SiteFacts) -> TakenRoom:
    """What a server of a plan takes: of a flavour for Poplar servers pinned CPUs and huge pages, else memory.

    CPUs that servers share are not counted: Nova gives each of them out several times.
    """
    if server.is_bare_metal or (site.is_whole(server.host) and not site.is_bare_metal(server.host)):
        return TakenRoom((0,) * len(QUANTITIES), whole=True)
    ports = (plan.port.get(name) for name in server.ports)
    functions = sum(1 for port in ports if port is not None and port.vnic_type == "direct")
    name = Reference.name_in(server.flavor, Scheme.SITE, Flavor.KIND)
    flavor = None if name is None else site.site.flavor.get(name)
    if flavor is None:
        return TakenRoom((None, None, None, functions))
    if flavor.role == "poplar":
        return TakenRoom((flavor.vcpus, flavor.ram_gib, 0, functions))
    return TakenRoom((0, 0, flavor.ram_gib, functions))


def place_of(host: Host, room: TakenRoom) -> str:
    """How a premise names the host. Who shares a host's pinned CPUs and pages meets there; memory is the operator's
    to share out among controllers, and does not make every tenant a neighbour of all.
    """
    has_pinned = room.whole or any(amount != 0 for name, amount in room.by_name.items() if name != MEMORY)
    return ids.processors(host.serial) if has_pinned else ids.host_identity(host.serial)


def room_of(host: Host) -> Mapping[str, int]:
    """What a host has. Memory in pages is no other server's."""
    memory = max(0, host.ram_gib - host.huge_pages_gib)
    return {
        CPUS: host.dedicated_cpus,
        PAGES: host.huge_pages_gib,
        MEMORY: memory,
        FUNCTIONS: host.virtual_functions,
    }
