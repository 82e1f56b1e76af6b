"""What is derived: edges that are certain, edges that guards may keep away, labels, and what one owner has alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from infra.checker import GUARDS

#: The two ends of an edge, in either order.
Pair = frozenset[str]


def escaped(name: str) -> str:
    """A name or serial inside an identity: what separates its parts is written as in a URL."""
    for character in "%:/@~":
        name = name.replace(character, f"%{ord(character):02X}")
    return name


def identity(kind: str, *parts: str) -> str:
    """`<kind>:<part>:<part>` of parts that are escaped already."""
    return ":".join((kind, *parts))


def plug(serial: str, interface: str) -> str:
    """A device or switch, as far as one interface of it goes."""
    return f"{escaped(serial)}/{escaped(interface)}"


def assumed(name: str) -> frozenset[str]:
    """The guards of an assumption, as a certificate names them."""
    return frozenset(f"assumptions.{name.split()[0]}.{guard}" for guard in GUARDS[name])


@dataclass
class Ground:
    """Everything derived from one site and all its plans. An edge stands with the row of the table that it is from."""

    certain: dict[Pair, str] = field(default_factory=dict)
    #: Ends -> the owner whose plan an edge is from; those of the site itself are not here.
    planned_by: dict[Pair, str] = field(default_factory=dict)
    #: Whose plan is being read.
    reading: str = ""
    #: Ends -> row, and the guards that all have to hold for the edge to be away.
    guarded: dict[Pair, tuple[str, frozenset[str]]] = field(default_factory=dict)
    labels: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: What carries the operator's label unless a plan has it.
    lent: set[str] = field(default_factory=set)
    #: Identity -> who has it.
    exclusive: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: Owner -> the nodes, and the exclusive identities, that its plan itself names.
    named: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    held: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    guards: dict[str, bool | None] = field(default_factory=dict)
    #: What of the inputs these tables do not read, in words.
    unread: Counter[str] = field(default_factory=Counter)

    def join(self, row: str, a: str, others: Iterable[str]) -> None:
        """Certain edges from one node to others."""
        for other in others:
            self._note(frozenset((a, other)))
            self.certain.setdefault(frozenset((a, other)), row)

    def join_unless(self, guards: frozenset[str], row: str, a: str, others: Iterable[str]) -> None:
        """Edges that are away while all these guards hold; of no guards: certain ones."""
        if not guards or not all(self.guards.get(guard) is True for guard in guards):
            self.join(row, a, others)
            return
        for other in others:
            self._note(frozenset((a, other)))
            self.guarded.setdefault(frozenset((a, other)), (row, guards))

    def _note(self, pair: Pair) -> None:
        if self.reading:
            self.planned_by.setdefault(pair, self.reading)

    def classes(self) -> dict[str, str]:
        """Node -> one node that stands for all that certain edges join it with."""
        above: dict[str, str] = {}

        def top(node: str) -> str:
            while above.setdefault(node, node) != node:
                above[node] = above[above[node]]
                node = above[node]
            return node

        for a, b in (tuple(pair) for pair in self.certain if len(pair) > 1):
            above[top(a)] = top(b)
        return {node: top(node) for node in list(above)}
