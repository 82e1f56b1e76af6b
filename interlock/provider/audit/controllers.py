"""V-IPU controllers of vPODs, each read once by its five lists: what it answered, or why nobody knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

from interlock.provider.actuators import ACTUATORS
from interlock.provider.actuators.vipu import VipuActuator
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.redaction import REDACTOR
from interlock.provider.vipu import asking
from interlock.resources import KINDS, Admitted, VipuObject
from interlock.vipu.answers import SaidAgent, SaidAllocation, SaidCluster, SaidPartition, SaidUser

from .asked import AT_ONCE

#: Kinds that a V-IPU controller has -> the noun of V-IPU.
AT_CONTROLLERS: Mapping[str, str] = {
    kind: found.NOUN for kind, found in ACTUATORS.items() if isinstance(found, VipuActuator)
}
#: Lists that one controller is asked for.
LISTS_OF_CONTROLLER = 5


@dataclass(frozen=True)
class ControllerPlace:
    """A controller that plans have objects at: who has it, and where it is found."""

    stack: str
    #: Plan name of its server.
    name: str
    #: Uuid of that.
    server: str
    #: On the vPOD's control subnet.
    address: str
    #: What is planned there.
    planned: tuple[Admitted, ...]

    @cached_property
    def names(self) -> Mapping[tuple[str, str], str]:
        """(noun, id at the controller) -> plan name."""
        return {(AT_CONTROLLERS[item.kind], item.spec["name"]): item.name for item in self.planned}


@dataclass(frozen=True)
class ReadController:
    """What one controller answered, by the calls that actuators read their objects with. Nothing can be told to it."""

    place: ControllerPlace
    said_agents: Mapping[str, SaidAgent] = field(default_factory=dict)
    said_clusters: Mapping[str, SaidCluster] = field(default_factory=dict)
    said_allocations: Mapping[str, SaidAllocation] = field(default_factory=dict)
    said_users: Mapping[str, SaidUser] = field(default_factory=dict)
    said_partitions: Mapping[str, SaidPartition] = field(default_factory=dict)
    #: Administrators whom the operator knows; None: nobody says who they are.
    admins: tuple[str, ...] | None = None
    #: Why nothing of it is known, and what to do; then the rest is empty.
    unread: str = ""

    def agents(self) -> Mapping[str, SaidAgent]:
        """Id -> agent, of all."""
        return self.said_agents

    def clusters(self) -> Mapping[str, SaidCluster]:
        """Id -> cluster, of all."""
        return self.said_clusters

    def allocations(self) -> Mapping[str, SaidAllocation]:
        """Id -> allocation, of all."""
        return self.said_allocations

    def users(self) -> Mapping[str, SaidUser]:
        """Id -> user, of all."""
        return self.said_users

    def partitions(self) -> Mapping[str, SaidPartition]:
        """Id -> partition, of all."""
        return self.said_partitions

    @property
    def label(self) -> str:
        """What it is called in a report."""
        return f"V-IPU controller {self.place.name}"

    @property
    def silence(self) -> str:
        """What is said of each object at one that is unread; why it is, stands once."""
        return f"{self.label} could not be read"

    @property
    def objects(self) -> int:
        """How many objects it has."""
        return sum(map(len, (self.agents(), self.clusters(), self.allocations(), self.users(), self.partitions())))


def places_of(
    stack: str, resources: Iterable[Admitted], servers: Mapping[str, tuple[str, ...]]
) -> list[ControllerPlace]:
    """Controllers that a plan has something told to, and that are there, once. `servers`: plan name -> uuids."""
    told: dict[str, list[Admitted]] = {}
    for item in resources:
        if issubclass(KINDS[item.kind], VipuObject):
            told.setdefault(item.spec["controller"], []).append(item)
    return [
        ControllerPlace(stack, name, servers[name][0], items[0].spec["address"], tuple(items))
        for name, items in told.items()
        if len(servers.get(name, ())) == 1
    ]


def read_controllers(cloud: Cloud, places: Iterable[ControllerPlace]) -> dict[str, ReadController]:
    """Uuid of its server -> each of them. One that does not answer is unread, and the others are read."""
    places = list(places)
    if not places:
        return {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {one.place.server: one for one in pool.map(lambda place: _read(cloud, place), places)}


def _read(cloud: Cloud, place: ControllerPlace) -> ReadController:
    try:
        with asking():
            client = cloud.controllers.of(place.server, place.name, place.address)
            return ReadController(
                place, client.agents(), client.clusters(), client.allocations(), client.users(), client.partitions(),
                client.access.admins,
            )  # fmt: skip
    except Failure as failure:
        why = "; next: ".join(text for text in (failure.message, failure.hint) if text)
        return ReadController(place, unread=REDACTOR.redact(why))
