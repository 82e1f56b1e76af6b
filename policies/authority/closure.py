"""Auth: what each owner can do by calls alone, as a closed set (docs/design/semantics.md §6).

S(t) is the least set that holds t's principal and is closed under the grants of all owners. A thing is held to read
or to write; a principal is held as a whole, which counts as writing. `leaks` are the ways on which a set leaves its
owner. Who may call a controller or mount a share follows from the graph of packets, so there is one `Authority` for
each graph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from policies.about import Fact, in_order, listed
from policies.edges.premises import Way
from policies.edges.shape import GraphFragment
from policies.facts import identities as ids
from policies.facts import principals as who
from policies.graph.model import Model

from .grants import COMMON, NOBODYS, Grant, Stated, Table, spoken_of
from .grounds import asked_of_services, called, unlisted_members

if TYPE_CHECKING:
    from policies.graph.search import Graph


class AccessMode(IntEnum):
    """How a thing is held."""

    READ = 1
    WRITE = 2


#: Way -> (how its source must be held, how its target then is).
_STEPS: dict[Way, tuple[AccessMode, AccessMode]] = {
    Way.ACTS_AS: (AccessMode.WRITE, AccessMode.WRITE),
    Way.READS: (AccessMode.WRITE, AccessMode.READ),
    Way.WRITES: (AccessMode.WRITE, AccessMode.WRITE),
    Way.KEEPS: (AccessMode.READ, AccessMode.WRITE),
    Way.SERVES: (AccessMode.READ, AccessMode.WRITE),
    Way.CONTROLS: (AccessMode.WRITE, AccessMode.WRITE),
}


@dataclass(frozen=True)
class HeldNode:
    """A principal or object in a closed set."""

    node: str
    access: AccessMode


@dataclass(frozen=True)
class Leak:
    """A way from an owner to what is not its own; `grants` are the steps."""

    owner: str
    held: HeldNode
    labels: frozenset[str]
    grants: tuple[Grant, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node on the way."""
        return (who.principal(self.owner), *(grant.target for grant in self.grants))

    @property
    def is_everybodys(self) -> bool:
        """True if its owner has no other part in it than to be somebody."""
        return self.grants[0].target == who.EVERYBODY

    @property
    def follows(self) -> bool:
        """True if it is only there because packets of two owners meet."""
        return any(grant.follows for grant in self.grants)

    @property
    def missing(self) -> tuple[Fact, ...]:
        """The unstated facts that it rests on."""
        return in_order(fact for grant in self.grants for fact in grant.missing)


class Authority:
    """The grants of all owners over one graph; `certain`: only those that rest on no unstated fact."""

    def __init__(self, model: Model, graph: Graph, *, certain: bool) -> None:
        self.stated = _stated(model)
        found = (*called(model, graph), *asked_of_services(model), *unlisted_members(model))
        self.met = Table(grant for grant in found if not (certain and grant.missing))

    def _from(self, node: str) -> Iterator[Grant]:
        yield from self.stated.table.leading_from.get(node, ())
        yield from self.met.leading_from.get(node, ())

    def closure(self, owner: str) -> dict[HeldNode, tuple[Grant, ...]]:
        """S(owner): what it holds, and the shortest way to each."""
        return self.closure_from(who.principal(owner))

    def closure_from(self, node: str) -> dict[HeldNode, tuple[Grant, ...]]:
        """What whoever has this principal or key holds, and the shortest way to each."""
        start = HeldNode(node, AccessMode.WRITE)
        found: dict[HeldNode, tuple[Grant, ...]] = {start: ()}
        waiting = deque([start])
        while waiting:
            held = waiting.popleft()
            # What the operator and strangers hold is said in everybody's plans, and who gets at that is told already.
            known = held == start or held.node not in NOBODYS
            for grant in self._from(held.node) if known else ():
                needs, gives = _STEPS[grant.way]
                reached = HeldNode(grant.target, gives)
                if held.access >= needs and reached not in found:
                    found[reached] = (*found[held], grant)
                    waiting.append(reached)
        return found

    def concerned(self, nodes: frozenset[str]) -> tuple[str, ...]:
        """The owners whose sets may hold one of these nodes: those from whom grants lead there."""
        import networkx as nx

        backward: nx.DiGraph[str] = nx.DiGraph()
        backward.add_nodes_from(nodes)
        for table in (self.stated.table, self.met):
            backward.add_edges_from((grant.target, grant.source) for grant in table.grants)
        found = set().union(*nx.bfs_layers(backward, nodes))
        return tuple(owner for owner in self.stated.owners if who.principal(owner) in found)

    def leaks(self, owner: str) -> Iterator[Leak]:
        """Where S(owner) leaves its owner; what lies behind the first stranger's thing on a way is not told again."""
        closure = self.closure(owner)
        strange = {held for held in closure if not self.is_due(owner, held)}
        for held in sorted(strange, key=lambda held: (len(closure[held]), held.node, held.access)):
            if strange.isdisjoint(_passed(closure[held])):
                yield Leak(owner, held, self.of(held.node), closure[held])

    def is_due(self, owner: str, held: HeldNode) -> bool:
        """True if an owner may hold this: its own, what nobody owns, what is published or shared for reading."""
        others = self.of(held.node) - {owner}
        if not others:
            return True
        return held.access is AccessMode.READ and (held.node in self.stated.public or others == {ids.OPERATOR})

    def of(self, node: str) -> frozenset[str]:
        """Whose a principal or object is."""
        owner = who.acting(node)
        if owner is not None:
            return frozenset({owner})
        return self.stated.labels.get(node, frozenset())


def _passed(grants: tuple[Grant, ...]) -> Iterator[HeldNode]:
    """What is held on a way, without its beginning, which is its owner's own, and its end."""
    yield from (HeldNode(grant.target, _STEPS[grant.way][1]) for grant in grants[:-1])


@lru_cache(maxsize=1)
def _stated(model: Model) -> Stated:
    """Of the model asked about last: several rules ask over several graphs. The operator's own set is everything."""
    shares = {share.owner for share in (model.own, *model.others)}
    return Stated(model.union, tuple(sorted(shares - {ids.OPERATOR} | {ids.FOREIGN, ids.WORLD})))


def mentioned(share: GraphFragment) -> frozenset[str]:
    """The principals and objects that a share speaks of, and its owner."""
    return spoken_of(share) | ({who.principal(share.owner)} - COMMON)


@lru_cache(maxsize=1)
def everything(model: Model) -> Authority:
    """All grants that there may be, of the model asked about last."""
    return Authority(model, model.may, certain=False)


def holdings(model: Model, owner: str) -> tuple[str, ...]:
    """S(owner) over everything that may be, sorted: `read obj:…`, `write user:…`. The certificate lists it."""
    return tuple(sorted(f"{held.access.name.lower()} {held.node}" for held in held_by(model, owner)))


def held_by(model: Model, owner: str) -> Iterable[HeldNode]:
    """S(owner) over everything that may be."""
    return everything(model).closure(owner)


@lru_cache(maxsize=8)
def leaks_of(model: Model, graph: Graph, certain: bool) -> tuple[Leak, ...]:
    """The leaks that the plan under judgement has a part in; the operator's own plan answers for all.

    What everybody can do a tenant's judgement says of strangers, not of each other tenant there is.
    """
    authority = Authority(model, graph, certain=certain)
    own = mentioned(model.own)
    own |= authority.stated.called_like(own) | authority.stated.meant_by(own)
    concerned = authority.concerned(own) if model.plan.is_tenant else authority.stated.owners
    leaks = [leak for owner in concerned for leak in authority.leaks(owner)]
    if not model.plan.is_tenant:
        return tuple(leaks)
    heard = {model.plan.owner, ids.FOREIGN, ids.WORLD}
    return tuple(
        leak for leak in leaks if not own.isdisjoint(leak.nodes) and (leak.owner in heard or not leak.is_everybodys)
    )


def steps(leak: Leak) -> tuple[str, ...]:
    """A leak in words, step by step."""
    return (leak.owner, *(_step(grant) for grant in leak.grants))


def _step(grant: Grant) -> str:
    mark = "? " if grant.missing else ""
    reason = f"; not held: {listed(grant.broken)}" if grant.broken else ""
    return f"{mark}{grant.way} {who.words(grant.target)} ({grant.why}{reason})"
