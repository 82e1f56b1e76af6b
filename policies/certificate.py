"""What a checker needs to see for itself that a plan keeps owners apart (docs/design/semantics.md, certificate).

The certificate holds what the judgement rests on (`policies.statement`), and the answer in a form that is quick to
check: the classes as a forest, and the set of all that the owner can do by calls. `infra.checker` rebuilds both by
tables of its own; it imports nothing of this package.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from interlock.resources import Frozen, digest_of

from .authority.closure import holdings
from .footprints.versions import boundary_versions
from .judging import Seen
from .proof import Judgement
from .statement import Statement, statement

if TYPE_CHECKING:
    from .graph.search import Graph

FORMAT: Final = 5


class Certificate(Frozen):
    """A judgement with everything that it rests on."""

    format: int = FORMAT
    #: ISO date of the day, in UTC, as of which it was judged: waivers counted by it.
    date: str
    judgement: Judgement
    statement: Statement
    #: Boundary node -> version of what others have on it.
    boundary: dict[str, str]
    #: Node -> (least node of its class, neighbour towards that node or nothing).
    classes: dict[str, tuple[str, str]]
    #: `read <node>` or `write <node>`: all that the owner can do by calls.
    holds: tuple[str, ...]
    digest: str = ""

    def sealed(self) -> Certificate:
        """The same certificate with its digest, over all else in it."""
        return self.model_copy(update={"digest": digest_of(self.model_dump(mode="json", exclude={"digest"}))})


def certificate(seen: Seen, judgement: Judgement, today: date | None = None) -> Certificate:
    """The certificate of one judgement, `seen` being what it was made of, `today` the day that it was judged as of."""
    return Certificate(
        date=(today or datetime.now(UTC).date()).isoformat(),
        judgement=judgement,
        statement=statement(seen.model),
        boundary=boundary_versions(seen.model, seen.locks),
        classes=forest(seen.model.may),
        holds=holdings(seen.model, seen.model.plan.owner),
    ).sealed()


def forest(graph: Graph) -> dict[str, tuple[str, str]]:
    """One tree for each class: node -> (least node of its class, next step of a shortest way to it, or nothing)."""
    import networkx as nx

    found: dict[str, tuple[str, str]] = {}
    for members in nx.connected_components(graph):
        least = min(members)
        found[least] = (least, "")
        for node, towards in nx.bfs_predecessors(graph, least, sort_neighbors=sorted):
            found[node] = (least, towards)
    return dict(sorted(found.items()))
