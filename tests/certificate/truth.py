"""Whether a certificate is true, by brute force, from docs/design/semantics.md alone; no code is the checker's.

`about(found, known)`: it says nothing but what the certificate `known` says, in whatever way. `sound(found)`: what it
says follows from the facts in it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

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


def _apart(found: dict[str, Any]) -> bool:
    """Nobody meets anybody, no identity has two holders, and whatever keeps an edge away is stated to hold."""
    said = found["statement"]
    both = {(a, b) for rows in said["facts"].values() for x, y in rows for a, b in ((x, y), (y, x))}
    owned = said["labels"]
    meetings = ({label for other in _meets(node, both) for label in owned.get(other, ())} for node in owned)
    kept = [row[2:] for rows in said["held"].values() for row in rows]
    return (
        all(len(who) < 2 for who in meetings)
        and all(len(set(holders)) == 1 for holders in said["exclusive"].values())
        and all(guards and all(said["guards"].get(guard) is True for guard in guards) for guards in kept)
    )


def _forest(found: dict[str, Any]) -> bool:
    edges = {(row[0], row[1]) for rows in found["statement"]["facts"].values() for row in rows}
    both = edges | {(b, a) for a, b in edges}
    nodes = set(found["classes"]) | {end for edge in edges for end in edge}
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
