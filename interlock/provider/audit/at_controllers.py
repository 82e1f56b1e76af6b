"""Objects of V-IPU beside what their controller says: how planned ones stand, what is a stranger's, and what is no
finding but worth a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from interlock.model.text.errors import shown_safely
from interlock.provider.actuators import ACTUATORS, Ids, Phase, Target
from interlock.provider.actuators.vipu import VipuActuator
from interlock.provider.agent_order import other_order
from interlock.provider.errors import Failure
from interlock.provider.state import as_seen, differing
from interlock.resources import KINDS, Admitted, VipuAgent, VipuAllocation, VipuCluster, VipuUser
from interlock.vipu.answers import SaidAgent, SaidPartition, SaidUser
from interlock.vocabulary import CloudId
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import VipuId

from .controllers import AT_CONTROLLERS, ReadController
from .unmanaged import UnmanagedResource

if TYPE_CHECKING:
    from interlock.vipu.client import ControllerClient

#: States of an agent whose machine answers.
_ANSWERS = frozenset({"ONLINE", "MAINTENANCE"})
_REMOVE = "find out who made it, and remove it at the controller; what is to stay has to be in a request"
_ADMIN = (
    "find out whose it is; remove it at the controller, or name it under `admins` of the controller's entry in "
    "vipu.yaml if it is the operator's"
)


@dataclass(frozen=True)
class ControllerNote:
    """What a controller has that is no finding. `word`: OWN (a tenant's), OFF (does not answer), ADMIN."""

    stack: str
    controller: str
    word: str
    text: str


@dataclass(frozen=True)
class SeenObject:
    """One planned object: its id, how it differs, why it cannot be used, and what to do."""

    id: str = ""
    differs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    reason: str = ""
    hint: str = ""


def compared(read: ReadController, item: Admitted) -> SeenObject:
    """How a planned object stands at its controller.

    What it refers to is named by planned ids, so that it is compared, too, where that is missing.
    """
    actuator = ACTUATORS[item.kind]
    assert isinstance(actuator, VipuActuator)
    spec, server = KINDS[item.kind].model_validate(item.spec), read.place.server
    ids = {name: str(VipuId(server, noun, ident)) for (noun, ident), name in read.place.names.items()}
    refs: dict[str, Ids] = {"controller": server}
    for where, refers in spec.reference_fields().items():
        if where != "controller":
            named = refers.named(getattr(spec, where))
            refs[where] = tuple(ids[one] for one in named) if isinstance(named, tuple) else ids[str(named)]
    target = Target(item.name, OwnerId(""), spec, refs)
    ident = actuator.ident(target)
    try:
        # It has all that a look asks for, and nothing by which anything could be changed.
        seen = actuator.look(cast("ControllerClient", read), ident, target)
    except Failure as failure:
        return SeenObject(str(ident), {}, failure.message, failure.hint)
    if seen is None:
        return SeenObject()
    wanted, actual = target.spec.canonical(), as_seen(target, seen)
    differs = {name: (wanted[name], actual[name]) for name in sorted(differing(target, seen))}
    differs |= _beyond(read, item)
    reason = seen.reason or "it cannot be used" if seen.phase is Phase.BROKEN else ""
    return SeenObject(str(ident), differs, reason, _hint(read, item, differs))


def _beyond(read: ReadController, item: Admitted) -> dict[str, tuple[Any, Any]]:
    """What a look of one object leaves out: the order of a cluster's agents, and the machines of an allocation."""
    server, spec = read.place.server, item.spec
    if item.kind == VipuCluster.KIND:
        agents = read.clusters()[spec["name"]].agents
        names = read.place.names
        there = [names.get(("agent", one)) or str(CloudId(str(VipuId(server, "agent", one)))) for one in agents]
        ids = {name: one for (noun, one), name in names.items() if noun == "agent"}
        is_same = sorted(there) == sorted(spec["agents"])
        is_same = is_same and not other_order(agents, [ids[name] for name in spec["agents"]])
        return {} if is_same else {"agents": (spec["agents"], there)}
    if item.kind == VipuAllocation.KIND:
        known = {one.spec["name"]: one.spec["machine"] for one in read.place.planned if one.kind == VipuAgent.KIND}
        # Which machine is behind a stranger no plan can say.
        machines = [known.get(name, str(CloudId(f"agent {name}"))) for name in read.allocations()[spec["name"]].agents]
        return {} if sorted(machines) == sorted(spec["machines"]) else {"machines": (spec["machines"], machines)}
    return {}


def _hint(read: ReadController, item: Admitted, differs: Mapping[str, Any]) -> str:
    """Of an agent that was moved to where another is: the controller counts one machine twice."""
    if item.kind != VipuAgent.KIND or "host" not in differs:
        return ""
    others = _beside(read, read.agents()[item.spec["name"]])
    if not others:
        return ""
    both = " and ".join((shown_safely(item.spec["name"]), *others))
    return f"{both} are at one address, so one machine counts twice: find out who moved it, then `pulumi up --refresh`"


def _beside(read: ReadController, agent: SaidAgent) -> list[str]:
    """Other agents at the address of one."""
    return sorted(
        shown_safely(one.id) for one in read.agents().values() if one.host == agent.host and one.id != agent.id
    )


def strangers(read: ReadController) -> Iterator[UnmanagedResource]:
    """What a controller has and no plan does. A partition in a planned allocation is not one: its users may make it."""
    for agent in read.agents().values():
        if not _is_planned(read, "agent", agent.id):
            yield _stranger(read, VipuAgent.KIND, agent.id, _of_agent(read, agent))
    for kind, found in ((VipuCluster.KIND, read.clusters()), (VipuAllocation.KIND, read.allocations())):
        for ident in found:
            if not _is_planned(read, AT_CONTROLLERS[kind], ident):
                yield _stranger(read, kind, ident, "no plan has it")
    for user in read.users().values():
        if not _is_planned(read, "user", user.id) and not _is_known_admin(read, user):
            yield _stranger(read, VipuUser.KIND, user.id, _of_user(user), _ADMIN if user.admin else _REMOVE)
    for partition in read.partitions().values():
        if not _is_planned(read, "partition", partition.id) and not _is_tenants(read, partition):
            where = f"allocation {partition.allocation}" if partition.allocation else f"cluster {partition.cluster}"
            why = f"no plan has it, and it lies in {shown_safely(where)}, which no plan has either"
            yield _stranger(read, "VipuPartition", partition.id, why)


def notes(read: ReadController) -> Iterator[ControllerNote]:
    """What is no finding: partitions that users made, agents that do not answer, and the one administrator."""
    machines = {one.spec["name"]: one.spec for one in read.place.planned if one.kind == VipuAgent.KIND}
    for agent in read.agents().values():
        if agent.id in machines and agent.state not in _ANSWERS:
            spec = machines[agent.id]
            where = f"machine {spec['machine']} (serial {spec['serial']}) at {agent.host}:{agent.port}"
            said = f"agent {agent.id} of {where} is {agent.state}"
            yield _note(read, "OFF", f"{said}; see that it is up, and wired (`interlock switches`)")
    for partition in read.partitions().values():
        if not _is_planned(read, "partition", partition.id) and _is_tenants(read, partition):
            where = partition.allocation or f"cluster {partition.cluster}, the release does not say which allocation"
            said = f"partition {partition.id}: {partition.ipus} IPUs of {where}, {partition.state}"
            yield _note(read, "OWN", f"{said}; a user of the tenant made it, and no plan has it")
    for user in read.users().values():
        if user.admin and read.admins is None and _is_known_admin(read, user):
            said = f"user {user.id} is the only administrator, and so taken for the one by which interlock asks"
            yield _note(read, "ADMIN", f"{said}; name it under `admins` in vipu.yaml, then any other one is a finding")


def _note(read: ReadController, word: str, text: str) -> ControllerNote:
    return ControllerNote(read.place.stack, read.place.name, word, shown_safely(text))


def _is_planned(read: ReadController, noun: str, ident: str) -> bool:
    return (noun, ident) in read.place.names


def _is_tenants(read: ReadController, partition: SaidPartition) -> bool:
    """True in a planned allocation; by its cluster where the release does not say which allocation."""
    if partition.allocation is None:
        return _is_planned(read, "cluster", partition.cluster)
    return _is_planned(read, "allocation", partition.allocation)


def _is_known_admin(read: ReadController, user: SaidUser) -> bool:
    """True of whom `vipu.yaml` names; where it names nobody, of the one that each controller in secure mode has."""
    if read.admins is not None:
        return user.admin and user.id in read.admins
    return user.admin and sum(one.admin for one in read.users().values()) == 1


def _of_agent(read: ReadController, agent: SaidAgent) -> str:
    """Why a stranger matters: by its address it may command a machine of the vPOD under another name."""
    at = f"it is at {agent.host}:{agent.port}"
    planned = [one for one in read.place.planned if one.kind == VipuAgent.KIND and one.spec["host"] == agent.host]
    why = [
        f"{at}, where agent {one.spec['name']} of machine {one.spec['machine']} is planned: under another "
        "name it commands that machine"
        for one in planned
    ] or [f"no plan has it; {at}"]
    others = _beside(read, agent)
    why += [f"two agents are at one address: {', '.join(others)} is there, too"] if others else []
    return shown_safely("; ".join(why))


def _of_user(user: SaidUser) -> str:
    if user.admin:
        return "no plan has it, and it is an administrator: it can change everything at the controller"
    if user.allocations is None:
        return "no plan has it, and all allocations are open to it"
    if not user.allocations:
        return "no plan has it, and it has no allocation, which may open all of them to it"
    return shown_safely(f"no plan has it, and it may use {', '.join(user.allocations)}")


def _stranger(read: ReadController, kind: str, ident: str, why: str, hint: str = _REMOVE) -> UnmanagedResource:
    whole = str(VipuId(read.place.server, AT_CONTROLLERS[kind], ident))
    told = f"{read.label}: {why}"
    return UnmanagedResource(kind, shown_safely(whole), shown_safely(ident), False, read.place.stack, told, hint)
