"""Whether a certificate is true, by brute force, from docs/design/semantics.md alone; no code is the checker's.

`about(found, known)`: it says nothing but what the certificate `known` says, in whatever way. `sound(found)`: what it
says follows from the facts in it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS

#: Everything but the answer itself: the forest and the set of what the owner holds can be written in several ways.
BOUND = ("format", "judgement", "statement", "boundary")
STRONGER = {"read": 1, "write": 2}
NEEDS = {"acts as": 2, "reads": 2, "writes": 2, "keeps": 1, "serves": 1, "controls": 2}
GIVES = {"acts as": 2, "reads": 1, "writes": 2, "keeps": 2, "serves": 2, "controls": 2}


def about(found: dict[str, Any], known: dict[str, Any]) -> bool:
    """True if it speaks of the same plan, site, locks and facts."""
    return all(found[part] == known[part] for part in BOUND)


def sound(found: dict[str, Any]) -> bool:
    """True if classes and calls are as the facts have them, and nobody meets anybody."""
    return _forest(found) and _calls(found) and _apart(found)


#: Table of facts -> (row of the table of edges, assumptions, how the two ends of its edges follow from a row).
_TABLES: dict[str, tuple[tuple[str, ...], Callable[[list[str]], list[tuple[str, str]]]]] = {
    "machines": (("A3",), lambda row: [(f"dev:{row[0]}/{part}", f"dev:{row[0]}/gw") for part in ("rnic", "bmc")]),
    "links": (("A4",), lambda row: [(f"dev:{row[0]}/rnic", f"dev:{row[1]}/rnic")]),
    "vlans": (("A1",), lambda row: [(row[0], "fabric:" + _switch(row[0]))]),
    "groups": (("A1", "A7"), lambda row: [(row[0], f"L:{_switch(row[0])}:{row[0].split(':')[-1]}")]),
    "gateways": ((), lambda row: [(row[0], row[0].split("@")[0])]),
    "terminals": ((), lambda row: [(row[0], row[1])]),
    "members": ((), lambda row: [(row[0], "K:" + row[1])]),
    "in_band": (("A13",), lambda row: [(row[0], "dev:" + row[1])]),
    "partitions": (("A8",), lambda row: [(row[0], "fabric:" + row[1])]),
    "keys": (("A6",), lambda row: [(row[0], "fabric:" + row[1])]),
    "projects": (("A2",), lambda row: [(row[0], "cloud:" + row[1])]),
    "claims": (("A10",), lambda row: [(row[0], "foreign:" + row[1])]),
    "cleaned": (("A9",), lambda row: [(row[0], "former:" + row[1])]),
}
#: How many columns of a table's rows come before the names of declarations.
_COLUMNS = {"machines": 1, "vlans": 1, "groups": 1, "gateways": 1}


def _switch(vlan: str) -> str:
    return vlan[len("L:") :].rsplit(":", 1)[0].split("~")[0]


def edges(said: dict[str, Any]) -> set[tuple[str, str]]:
    """Every edge that is stated, or follows from a fact and is kept away by no guards."""
    found = {(row[0], row[1]) for rows in said["facts"].values() for row in rows} | _along_cables(said["ground"])
    kinds = {item["name"]: item["kind"] for item in said["terminals"]}
    for table, (assumptions, ends) in _TABLES.items():
        for row in said["ground"][table]:
            names = row[_COLUMNS.get(table, 2) :]
            asked = {f"assumptions.{name}.{guard}" for name in assumptions for guard in ASSUMPTION_GUARDS[name]}
            for name in names:
                kind = kinds.get(name)
                asked |= {f"sharing.{name}.guards.{guard}" for guard in SHARING_GUARDS.get(kind or "", ("none",))}
                asked |= {"external.address_scope"} if kind == "external-network" else set()
            if not asked or any(said["guards"].get(guard) is not True for guard in asked):
                found |= {*ends(row)}
    for server, serial in said["ground"]["guests"]:
        for kind, between in (("dev", False), ("cpu", True)):
            asked = {f"assumptions.A5.{name}" for name in ASSUMPTION_GUARDS["A5"] if (name == "mitigations") == between}
            if any(said["guards"].get(guard) is not True for guard in asked):
                found.add((server, f"{kind}:{serial}"))
    return found


def _along_cables(ground: dict[str, Any]) -> set[tuple[str, str]]:
    """What one end of a cable carries meets what the other end carries by the same tag."""
    rows = [(port, tag, vlan) for port, tag, vlan in ground["carried"]]
    cables = [(a, b) for a, b in ground["cables"]]
    met = {(x, y) for a, tag, x in rows for b, other, y in rows if tag == other and (a, b) in cables}
    hosts = [(port, node, node.split(":")[-1] if node.startswith("L:") else "0") for port, node in ground["uplinks"]]
    return met | {(node, x) for at, node, tag in hosts for port, other, x in rows if (at, tag) == (port, other)}


def _apart(found: dict[str, Any]) -> bool:
    """Nobody meets anybody, and no identity has two holders."""
    said = found["statement"]
    both = {(a, b) for x, y in edges(said) for a, b in ((x, y), (y, x))}
    owned = said["labels"]
    meetings = ({label for other in _meets(node, both) for label in owned.get(other, ())} for node in owned)
    return all(len(who) < 2 for who in meetings) and all(len(set(who)) == 1 for who in said["exclusive"].values())


def _forest(found: dict[str, Any]) -> bool:
    there = edges(found["statement"])
    both = there | {(b, a) for a, b in there}
    nodes = set(found["classes"]) | {end for edge in there for end in edge}
    if nodes != set(found["classes"]):
        return False
    least: dict[str, str] = {}
    while fresh := nodes - least.keys():
        met = _meets(min(fresh), both)
        least |= dict.fromkeys(met, min(met))
    return all(
        found["classes"][node][0] == least[node] and _way(found["classes"], node, least[node], both) for node in nodes
    )


def _meets(start: str, both: set[tuple[str, str]]) -> set[str]:
    """Everything that a frame let loose at a node gets to."""
    near: dict[str, list[str]] = {}
    for a, b in both:
        near.setdefault(a, []).append(b)
    found, fresh = {start}, {start}
    while fresh:
        fresh = {other for node in fresh for other in near.get(node, ())} - found
        found |= fresh
    return found


def _way(classes: dict[str, Any], node: str, least: str, both: set[tuple[str, str]]) -> bool:
    way = [node]
    while classes[way[-1]][1]:
        way.append(classes[way[-1]][1])
        if len(way) > len(classes) or way[-1] not in classes:
            return False
    return way[-1] == least and all(step in both for step in pairwise(way))


def _calls(found: dict[str, Any]) -> bool:
    """The set holds its owner and all that follows, and nothing that is not due to it."""
    said = found["statement"]
    held: dict[str, set[int]] = {}
    for item in found["holds"]:
        how, _, node = item.partition(" ")
        held.setdefault(node, set()).add(STRONGER[how])
    if 2 not in held.get(f"prin:{said['owner']}", ()):
        return False
    closed = all(
        GIVES[way] in held.get(target, ()) or max(held.get(source, {0})) < NEEDS[way]
        for way, source, target in said["grants"]
    )
    return closed and all(_due(said, node, how) for node, hows in held.items() for how in hows)


def _due(said: dict[str, Any], node: str, how: int) -> bool:
    others = set(said["owners"].get(node, ())) - {said["owner"]}
    return not others or said["owner"] == "op" or (how == 1 and (others == {"op"} or node in said["public"]))
