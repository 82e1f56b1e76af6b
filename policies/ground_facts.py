"""Facts of a certificate that edges follow from, in tables: whether such an edge is there, guards of the site decide.

The checker derives these edges again, by tables of its own (`infra/checker/derived_edges.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from interlock.model.site.inventory import Site
from interlock.vocabulary.ground_rows import TABLES, table_and_row
from policies.about import SiteFact

from .edges.shape import Edge
from .facts.guards import sharing_facts
from .wired_facts import Wired

#: Table -> its rows, sorted.
Tables = dict[str, tuple[tuple[str, ...], ...]]

#: Where the site file states guards.
_GUARDS = ("assumptions.", "sharing.", "external.address_scope")


def is_ground(edge: Edge) -> bool:
    """True if guards of the site alone decide whether the edge is there, and nothing else that is or is not stated."""
    return bool(edge.guards) and all(
        isinstance(guard, SiteFact) and guard.path.startswith(_GUARDS) for guard in edge.guards
    )


def tables_of(edges: Iterable[Edge], site: Site, wired: Wired) -> Tables:
    """The facts of these edges and of those along cables; every table is there.

    A row of the first ends with the declarations whose guards are asked.
    """
    named = {
        str(fact): item.name
        for item in site.sharing
        for fact, _ in sharing_facts(site, [item])
        if fact.path != "external.address_scope"
    }
    found: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set, wired.tables())
    for edge in edges:
        table, row = table_and_row(edge.rule, edge.a, edge.b)
        declared = {named[str(guard)] for guard in edge.guards if str(guard) in named}
        found[table].add((*row, *sorted(declared)))
    return {table: tuple(sorted(found[table])) for table in TABLES}
