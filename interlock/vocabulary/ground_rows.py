"""How a certificate writes the facts that edges follow from: the columns of its tables, made from the edge's two ends.

The checker makes the ends again, by itself: `infra/checker/derived_edges.py`.
"""

from __future__ import annotations

from typing import Final

#: Row of the table of edges, with the kind of the second end where that matters -> the table of the fact.
_TABLES: Final = {
    "E1": "groups", "E9": "terminals", "E11": "gateways", "E14": "in_band", "E15": "machines", "E16": "links",
    "E17": "partitions", "E18": "guests", "E19": "members", "E19 fabric": "keys", "A1": "vlans", "A2": "projects",
    "A9": "cleaned", "A10": "claims", "A16": "balanced", "A17": "encapsulated", "A18": "served", "A19": "migrating",
    "A20": "backed", "A21": "routed_out", "A22": "talking", "A23": "firmware", "A24": "managed",
}  # fmt: skip
#: What edges along cables follow from: the ends of a cable between switches, what of a host is behind a switch port,
#: and by which tag ("0": none) a port carries which VLAN.
WIRED: Final = ("cables", "carried", "uplinks")
#: All tables, sorted.
TABLES: Final = tuple(sorted((*_TABLES.values(), *WIRED)))


def table_and_row(rule: str, a: str, b: str) -> tuple[str, tuple[str, ...]]:
    """Which table an edge of this row of the table of edges follows from, and the fact. Raises KeyError for others."""
    kind, _, rest = b.partition(":")
    table = _TABLES.get(f"{rule} {kind}") or _TABLES[rule]
    match table:
        case "machines":
            return table, (_device(b),)
        case "links":
            return table, (_device(a), _device(b))
        case "vlans" | "groups" | "gateways":
            return table, (a,)
        case "terminals":
            return table, (a, b)
        case _ if kind == "ops":
            # Which service it is follows from the table.
            return table, (a, rest.rpartition(":")[0])
        case _:
            return table, (a, rest)


def _device(node: str) -> str:
    """The serial, as identities write it, of which a node is a part."""
    return node.partition(":")[2].partition("/")[0]
