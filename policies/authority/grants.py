"""One grant, as the closures of Auth read it, and all that the plans state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from policies.about import Fact
from policies.edges.premises import Way
from policies.edges.shape import GraphFragment, Relation, Union
from policies.facts import identities as ids
from policies.facts import principals as who

#: Premises of which no edge of the graph is made, but steps of the closed sets.
OF_AUTH = frozenset(
    {Relation.GRANT, Relation.HOLDS, Relation.EXPOSED, Relation.RULED, Relation.MOUNTS, Relation.LISTENS}
)
#: Principals of which every plan may say what they hold.
NOBODYS = frozenset({who.principal(ids.OPERATOR), who.principal(ids.FOREIGN)})
#: Principals that are nobody's in particular: through them everybody meets everybody.
COMMON = NOBODYS | {who.EVERYBODY}


def spoken_of(share: GraphFragment) -> frozenset[str]:
    """The principals and objects that a share speaks of, but for those that everybody's does."""
    columns = (column for item in share.premises if item.relation in OF_AUTH for column in item.tuple)
    return frozenset(column for column in columns if who.is_principal_or_object(column)) - COMMON


class Grant(NamedTuple):
    """Whoever holds `source` holds `target`, as far as the way says."""

    way: Way
    source: str
    target: str
    #: What gives it: a resource, or where the two meet.
    why: str
    #: Facts without which nobody knows whether it is given.
    missing: tuple[Fact, ...] = ()
    #: Guards that would take it away and do not hold.
    broken: tuple[Fact, ...] = ()
    #: True if it only follows from packets of two owners meeting, which rules about packets explain better.
    follows: bool = False
    #: The plan name of what gives it; of what the cloud or a service gives by itself, words that are no plan name.
    given_by: str = ""


class Table:
    """Grants, and those that lead from each principal or object."""

    def __init__(self, grants: Iterable[Grant]) -> None:
        self.grants = tuple(grants)
        self.leading_from: defaultdict[str, list[Grant]] = defaultdict(list)
        for grant in self.grants:
            self.leading_from[grant.source].append(grant)


@dataclass(frozen=True)
class Stated:
    """What plans and locks state, whatever the graph: who owns what, and every grant that one of them gives."""

    union: Union
    #: Everybody whose set may leak.
    owners: tuple[str, ...]

    @cached_property
    def opened(self) -> frozenset[str]:
        """References that the plan which makes them cannot resolve."""
        return frozenset(node for node, _ in self.union.facts(Relation.HOLDS) if who.is_unresolved(node))

    def called_like(self, nodes: Iterable[str]) -> frozenset[str]:
        """Open references that one of these nodes may be: what is made under a name decides what others' mean."""
        names = {who.kind_and_name(node) for node in nodes} if self.opened else set()
        return frozenset(node for node in self.opened if who.kind_and_name(node) in names)

    def meant_by(self, nodes: Iterable[str]) -> frozenset[str]:
        """What others make under the names of these open references: it is what their grants are about."""
        return frozenset(self.alike[node] for node in nodes if node in self.alike)

    @cached_property
    def alike(self) -> dict[str, str]:
        """Open references of one plan -> what another plan makes under that name, if it is one thing."""
        named: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for node, _ in self.union.facts(Relation.HOLDS) if self.opened else ():
            if node not in self.opened:
                named[who.kind_and_name(node)].add(node)
        found = ((node, named.get(who.kind_and_name(node), set())) for node in self.opened)
        return {node: min(nodes) for node, nodes in found if len(nodes) == 1}

    @cached_property
    def labels(self) -> dict[str, frozenset[str]]:
        """Principal or object -> whose it is."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for node, label in self.union.facts(Relation.HOLDS):
            if node not in self.alike:
                found[node].add(label)
        return {node: frozenset(labels) for node, labels in found.items()}

    @cached_property
    def public(self) -> frozenset[str]:
        """What a request declares open to everybody."""
        return frozenset(node for node, _ in self.union.facts(Relation.EXPOSED))

    @cached_property
    def table(self) -> Table:
        """Every grant."""
        return Table(self._grants())

    def _grants(self) -> Iterator[Grant]:
        for way, source, target, why in self.union.facts(Relation.GRANT):
            yield Grant(Way(way), self.alike.get(source, source), self.alike.get(target, target), why, given_by=why)
        for node, labels in self.labels.items():
            for label in sorted(labels):
                yield Grant(Way.WRITES, who.principal(label), node, f"{label}'s own")
        for owner in self.owners:
            yield Grant(Way.ACTS_AS, who.principal(owner), who.EVERYBODY, "everybody")
