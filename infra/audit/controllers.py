"""V-IPU in an audit: which controllers are asked, and what strangers at one are in the observed plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from interlock.planning import Plan
from interlock.provider.audit.controllers import ControllerPlace, ReadController, places_of
from interlock.provider.audit.listing import Listed
from interlock.provider.audit.standing import Expected
from interlock.provider.markers import marker
from interlock.resources import (
    Resource,
    Server,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuObject,
    VipuPartition,
)
from interlock.vocabulary.pair_ids import VipuId

from .words import NotExpressible, Words, name_of

Found = Iterator[tuple[str, Resource]]


def controller_places(expected: Iterable[Expected], found: Listed) -> list[ControllerPlace]:
    """The controllers that applied stacks have something told to, each by its server."""
    return [
        place
        for one in expected
        for place in places_of(
            one.stack,
            one.resources,
            {
                item.name: found.marked.get((Server.KIND, marker(one.owner, item.name)), ())
                for item in one.resources
                if item.kind == Server.KIND
            },
        )
    ]


def told_by_hand(plan: Plan) -> tuple[str, ...]:
    """Plan names of controllers that a person tells what this plan has for them: nobody asks these."""
    objects = (item.resource for item in plan.resources)
    return tuple(sorted({
        one.controller for one in objects if isinstance(one, VipuObject) and one.managed_by == "hand"
    }))  # fmt: skip


def stands_in(plan: Plan, resource: Resource) -> tuple[str, str | None]:
    """Component and vPOD of a stranger in the observed plan: those of its controller, if it is at one."""
    if isinstance(resource, VipuObject):
        for item in plan.resources:
            if isinstance(item.resource, VipuObject) and item.resource.controller == resource.controller:
                return item.component, item.vpod
    return plan.components[0].name, None


def _agent(words: Words, ident: VipuId, name: str) -> Found:
    """Of the machine that is planned at its address: which one answers elsewhere no plan can say."""
    said = _read(words, ident).agents()[ident.name]
    machine, serial = _machine(words, ident, ident.name)
    yield (
        name,
        VipuAgent(
            name=said.id, machine=machine, serial=serial, host=said.host, port=said.port, **_common(words, ident)
        ),
    )


def _cluster(words: Words, ident: VipuId, name: str) -> Found:
    said = _read(words, ident).clusters()[ident.name]
    agents = [VipuId(ident.server, "agent", one) for one in said.agents]
    yield from _beside(words, VipuAgent.KIND, *agents)
    yield (
        name,
        VipuCluster.model_validate({
            "name": said.id, "agents": [_called(words, VipuAgent.KIND, one) for one in agents],
            "topology": said.topology, "cluster_topology": said.cluster_topology, "link_domains": said.link_domains,
            **_common(words, ident),
        }),
    )  # fmt: skip


def _allocation(words: Words, ident: VipuId, name: str) -> Found:
    said = _read(words, ident).allocations()[ident.name]
    if said.cluster is None:
        raise NotExpressible(f"{ident}: the release does not say of which cluster it is")
    cluster = VipuId(ident.server, "cluster", said.cluster)
    yield from _beside(words, VipuCluster.KIND, cluster)
    machines = tuple(_machine(words, ident, one)[0] for one in said.agents)
    called = _called(words, VipuCluster.KIND, cluster)
    yield name, VipuAllocation(name=said.id, cluster=called, machines=machines, **_common(words, ident))


def _partition(words: Words, ident: VipuId, name: str) -> Found:
    said = _read(words, ident).partitions()[ident.name]
    if said.allocation is None:
        raise NotExpressible(f"{ident}: the release does not say of which allocation it is")
    allocation = VipuId(ident.server, "allocation", said.allocation)
    yield from _beside(words, VipuAllocation.KIND, allocation)
    yield (
        name,
        VipuPartition.model_validate({
            "name": said.id, "allocation": _called(words, VipuAllocation.KIND, allocation), "ipus": said.ipus,
            "gcds": said.gcds, "replicas": said.replicas, "reconfigurable": said.reconfigurable,
            "sync_type": said.sync_type, "routing": said.routing, **_common(words, ident),
        }),
    )  # fmt: skip


def _read(words: Words, ident: VipuId) -> ReadController:
    return words.controllers[ident.server]


def _common(words: Words, ident: VipuId) -> Mapping[str, Any]:
    """Fields that all objects of one controller share."""
    place = _read(words, ident).place
    return {"controller": words.of(Server.KIND, ident.server), "managed_by": "interlock", "address": place.address}


def _machine(words: Words, ident: VipuId, agent: str) -> tuple[str, str]:
    """Machine and serial behind an agent, by its address. Raises `NotExpressible`."""
    read = _read(words, ident)
    said = read.agents().get(agent)
    for item in read.place.planned:
        if said is not None and item.kind == VipuAgent.KIND and item.spec["host"] == said.host:
            return item.spec["machine"], item.spec["serial"]
    raise NotExpressible(f"{agent} of {read.label}: which machine is there no plan says")


def _called(words: Words, kind: str, ident: VipuId) -> str:
    return words.of(kind, str(ident)) if words.has(kind, str(ident)) else name_of(str(ident))


def _beside(words: Words, kind: str, *needed: VipuId) -> Found:
    """What a stranger stands on and no plan has. Raises `LookupError` for what the controller does not list."""
    for ident in needed:
        if not words.has(kind, str(ident)):
            yield from OF_CONTROLLERS[kind](words, str(ident), name_of(str(ident)))


def _by_id(express: Callable[[Words, VipuId, str], Found]) -> Callable[[Words, str, str], Found]:
    def of_text(words: Words, ident: str, name: str) -> Found:
        try:
            whole = VipuId.parse(ident)
        except ValueError:
            # Whoever may name objects at the controller may write a slash.
            raise NotExpressible(ident) from None
        return express(words, whole, name)

    return of_text


#: Kinds at V-IPU controllers, as `RESOURCES_OF` has them. A user of a plan is its tenant's; who has a stranger's key
#: nobody knows, and to judge that one as the tenant's would prove too much.
OF_CONTROLLERS: Mapping[str, Callable[[Words, str, str], Found]] = {
    VipuAgent.KIND: _by_id(_agent), VipuCluster.KIND: _by_id(_cluster), VipuAllocation.KIND: _by_id(_allocation),
    VipuPartition.KIND: _by_id(_partition),
}  # fmt: skip
