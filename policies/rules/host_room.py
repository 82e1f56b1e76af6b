"""CAP-02: a host is promised no more CPUs, pages, memory and virtual functions than it has, by whomever."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import inf

from interlock.model.site.physical import Host
from interlock.vocabulary.nodes import ProcessorsNode, ServerNode, parse
from policies.about import SaidFact, components, devices, resources
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.facts.room import PAGES, QUANTITIES, TakenRoom, most_released, room_of
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Polarity, Rule, RuleAnswer

#: Servers that a message lists one by one.
_LISTED = 8


def _promised_once(model: Model, _: Names) -> RuleAnswer:
    takers = _takers(model)
    violated: list[Cause] = []
    unknown: list[Cause] = []
    for host in model.site.site.hosts:
        pinned = takers.get(ids.processors(host.serial), {})
        found = dict(pinned)
        for server, room in takers.get(ids.host_identity(host.serial), {}).items():
            # One that no longer takes anything pinned has what it had until it is changed.
            found[server] = _larger(found.get(server, room), room)
        violated += _too_much(model, host, found)
        unknown += _unstated(host, found)
        unknown += _perhaps_too_much(model, host, found, pinned)
    return RuleAnswer(len(takers), tuple(violated), tuple(unknown))


def _takers(model: Model) -> dict[str, dict[str, TakenRoom]]:
    """Host -> server -> what it takes there, for the hosts of the plan; the operator's answers for all.

    A server that is changed is there once: as it was, or as it will be. What controllers of other tenants take is seen
    by the operator's plan alone, for only that meets all of them.
    """
    own = {item.tuple for item in model.own.premises if item.relation == Relation.TAKES}
    places = {place for place, *_ in own}
    found: defaultdict[str, dict[str, TakenRoom]] = defaultdict(dict)
    for item in model.union.facts(Relation.TAKES):
        place, server, *columns = item
        meets = place in places and isinstance(parse(place), ProcessorsNode)
        if not model.plan.is_tenant or item in own or meets:
            here, room = found[place], TakenRoom.of(tuple(columns))
            here[server] = _larger(here.get(server, room), room)
    return dict(found)


def _larger(a: TakenRoom, b: TakenRoom) -> TakenRoom:
    """What holds either; of two flavours neither is known to be the larger one."""
    amounts = tuple(max(pair, key=_weight) for pair in zip(a.amounts, b.amounts, strict=True))
    is_whole, is_released = any((a.whole, b.whole)), all((a.released, b.released))
    same = (x if x == y else "" for x, y in ((a.flavor, b.flavor), (a.functions, b.functions)))
    return TakenRoom(amounts, is_whole, is_released, *same)


def _weight(amount: int | None) -> float:
    """What nobody states may be more than any amount."""
    return inf if amount is None else amount


def _too_much(model: Model, host: Host, takers: Mapping[str, TakenRoom]) -> Iterator[Cause]:
    if len(takers) > 1 and any(room.whole for room in takers.values()):
        yield _cause(model, host, takers, "is given out whole", "a whole host carries one server")
        return
    has = room_of(host)
    for quantity in QUANTITIES:
        asked = {server: amount for server, room in takers.items() if (amount := room.by_name[quantity])}
        total = sum(asked.values())
        if total > has[quantity]:
            listed = {server: takers[server] for server in asked}
            yield _cause(model, host, listed, f"has {has[quantity]} {quantity}", f"they take {total}", quantity)


def _perhaps_too_much(
    model: Model, host: Host, takers: Mapping[str, TakenRoom], pinned: Collection[str]
) -> Iterator[Cause]:
    """With released servers that are perhaps still there and as large as any."""
    has, gone = room_of(host), sorted(server for server, room in takers.items() if room.released)
    most = {server: most_released(model.site, takers[server], is_pinned=server in pinned) for server in gone}
    for quantity in QUANTITIES:
        total = sum(room.by_name[quantity] or 0 for room in takers.values())
        perhaps = {server: found[quantity] for server, found in most.items() if found[quantity]}
        more = sum(perhaps.values())
        if total <= has[quantity] < total + more:
            listed = {server: room for server, room in takers.items() if room.by_name[quantity] or server in perhaps}
            why = f"they take {total}, and what was released up to {more} more until it is seen to be gone"
            found = _cause(model, host, listed, f"has {has[quantity]} {quantity}", why, quantity)
            missing = tuple(SaidFact(f"whether {_name(server)} of {_owner(server)} is gone") for server in perhaps)
            hint = "run `pulumi up` for whoever released it, then `interlock settle`; or take another host"
            yield replace(found, missing=missing, hint=hint)


def _cause(
    model: Model, host: Host, takers: Mapping[str, TakenRoom], what: str, why: str, quantity: str = PAGES
) -> Cause:
    owners = sorted({_owner(server) for server in takers})
    servers = [_words(server, room, quantity) for server, room in sorted(takers.items())]
    more = [f"{len(servers) - _LISTED} more"] if len(servers) > _LISTED else []
    return Cause(
        key=(host.name, what),
        message=f"host {host.name} {what}, and is promised to {len(servers)} servers of {' and '.join(owners)}: {why}",
        witness=(f"host {host.name}", *servers[:_LISTED], *more),
        hint="take another host, a smaller flavour or fewer servers; or correct what the site says that the host has",
        specificity=45,
        about=(
            *resources(*(_name(server) for server in sorted(takers) if _owner(server) == model.plan.owner)),
            *components(*owners),
            *devices(host.name),
        ),
    )


def _words(server: str, room: TakenRoom, quantity: str) -> str:
    amount = "all of it" if room.whole else f"{room.by_name[quantity]} {quantity}"
    if room.released:
        amount = f"perhaps still {room.flavor or 'there, its flavour is not recorded'}"
    return f"{_name(server)} of {_owner(server)}: {amount}"


def _unstated(host: Host, takers: Mapping[str, TakenRoom]) -> Iterator[Cause]:
    for server in sorted(server for server, room in takers.items() if None in room.amounts):
        yield Cause(
            key=(host.name, server),
            message=f"how much of host {host.name} {_name(server)} takes is unknown: the site states no such flavour",
            witness=(f"host {host.name}", f"server {_name(server)} of {_owner(server)}"),
            hint="use a flavour that the site file states, with its CPUs and memory",
            missing=(SaidFact(f"the flavour of {_name(server)}"),),
            specificity=40,
            about=resources(_name(server)),
        )


def _owner(server: str) -> str:
    node = parse(server)
    return node.owner if isinstance(node, ServerNode) else ids.FOREIGN


def _name(server: str) -> str:
    node = parse(server)
    return node.name if isinstance(node, ServerNode) else server


CAP_02 = Rule(
    id="CAP-02",
    title="a host is promised no more than it has",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="Nova refuses the server for which there is no room left, when the others are there already",
    source="Nova admin guide, CPU topologies and huge pages: pinned CPUs and pages are never given out twice",
    needs=("servers", "flavors", "hosts", "locks of all tenants"),
    ask=_promised_once,
)
