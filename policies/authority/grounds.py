"""Grants that no plan gives: by standing where a service can be called, and where a service keeps to no rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.vocabulary.nodes import ShareAddressNode, parse
from policies.about import Fact, in_order
from policies.edges.premises import Way
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.facts import principals as who
from policies.facts.guards import GuardState, assumption
from policies.graph.model import Model

from .grants import Grant

if TYPE_CHECKING:
    from policies.graph.search import Graph

_NOTHING = GuardState(value=True)


def called(model: Model, graph: Graph) -> Iterator[Grant]:
    """Who meets a controller's port may call it, who meets an address of the appliance mounts what is given there.

    An API that is not started with users and TLS obeys whoever calls it (A4, `secure_tls`).
    """
    open_to_all = assumption(model.site.site, "A4", only="secure_tls")
    for controller, port, tenant in model.union.facts(Relation.LISTENS):
        for caller in _callers(model, graph, port, tenant):
            yield caller.given(Way.READS, controller, "calls it where it listens")
            if open_to_all.value is not True:
                yield caller.given(Way.WRITES, controller, "administers it without a key", open_to_all)
    for share, vip, tenant, prefix, why in model.union.facts(Relation.MOUNTS):
        met_at = parse(vip)
        address = met_at.address if isinstance(met_at, ShareAddressNode) else vip
        for caller in _callers(model, graph, vip, tenant):
            yield caller.given(Way.WRITES, share, f"{why}, {prefix} at {address}", given_by=why)


def asked_of_services(model: Model) -> Iterator[Grant]:
    """A service that keeps to no rules gives what it has to everybody (A11), whosever plan it is in."""
    for node, guard in model.union.facts(Relation.RULED):
        held = assumption(model.site.site, "A11", only=guard)
        if held.value is not True:
            why = "the service keeps to no rules"
            yield Grant(Way.WRITES, who.EVERYBODY, node, why, held.missing, held.broken)


def unlisted_members(model: Model) -> Iterator[Grant]:
    """Whoever has a role in a project of which no plan tells is its tenant, until somebody says that all are listed.

    A tenant's plan answers for its own project, the operator's for all.
    """
    missing = model.site.undeclared("members", model.site.site.domain)
    owners = [model.own.owner] if model.plan.is_tenant else [share.owner for share in model.others]
    for owner in owners if missing else ():
        yield Grant(Way.ACTS_AS, who.principal(ids.FOREIGN), who.principal(owner), "a role that is not listed", missing)


@dataclass(frozen=True)
class _Caller:
    """An owner that meets a place, and the unstated and the broken guards on the way there."""

    owner: str
    missing: tuple[Fact, ...]
    broken: tuple[Fact, ...]
    #: True if others meet it there too.
    among_others: bool

    def given(self, way: Way, target: str, why: str, besides: GuardState = _NOTHING, *, given_by: str = "") -> Grant:
        """What it gets by standing there; `besides` is a guard that would have to hold as well."""
        missing, broken = (*self.missing, *besides.missing), (*self.broken, *besides.broken)
        return Grant(way, who.principal(self.owner), target, why, missing, broken, self.among_others, given_by)


def _callers(model: Model, graph: Graph, node: str, tenant: str) -> tuple[_Caller, ...]:
    """Every owner in the component of a node, by the shortest way to it; the operator calls what it likes.

    A component that the plan does not touch is the tenant's who stated the place: its own proof said so.
    """
    import networkx as nx

    if node not in graph:
        return (_Caller(tenant, (), (), among_others=False),) if tenant != ids.OPERATOR else ()
    came_from = dict(nx.bfs_predecessors(graph, node, sort_neighbors=sorted))
    nearest = dict[str, str]()
    for current in (node, *came_from):
        for owner in model.label(current) - {ids.OPERATOR}:
            nearest.setdefault(owner, current)
    among_others = len(nearest) > 1
    return tuple(
        _Caller(owner, *_reasons(graph, came_from, end), among_others) for owner, end in sorted(nearest.items())
    )


def _reasons(graph: Graph, came_from: Mapping[str, str], node: str) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    missing: set[Fact] = set()
    broken: set[Fact] = set()
    while (before := came_from.get(node)) is not None:
        facts = graph.edges[before, node]
        missing |= set(facts["missing"])
        broken |= set(facts["broken"])
        node = before
    return in_order(missing), in_order(broken)
