"""Who meets whom: classes of what is joined, their owners, the audiences of what is shared, and paths of findings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

from .derived_edges import edges, guarded


def class_faults(pairs: set[tuple[str, str]], classes: dict[str, Any]) -> Iterator[str]:
    """Both ends of an edge in one class; each class one tree of edges with its least node at the root."""
    rooted = dict[str, bool]()
    top = {node: least for node, (least, _) in classes.items()}
    for a, b in sorted((a, b) for a, b in pairs if a <= b and (a not in top or top[a] != top.get(b))):
        yield f"{a} and {b} are joined, but in different classes"
    for node, (least, towards) in classes.items():
        if towards and (node, towards) not in pairs:
            yield f"{node} has no edge to {towards}"
        elif least > node or not _leads(classes, node, rooted):
            yield f"{node} does not lead to {least}"


def _leads(classes: dict[str, Any], node: str, known: dict[str, bool]) -> bool:
    """Whether the steps from a node end at the least node of its class; `known` is what earlier ways have shown."""
    least, way = classes[node][0], dict[str, None]()
    while node not in known and node not in way and node in classes and classes[node][0] == least:
        way[node] = None
        if classes[node][1] == "":
            known[node] = node == least
            break
        node = classes[node][1]
    answer = node in classes and classes[node][0] == least and known.get(node, False)
    known.update(dict.fromkeys(way, answer))
    return answer


def owners_of(said: dict[str, Any], classes: dict[str, Any]) -> dict[str, set[str]]:
    """Least node of a class -> everybody with a label in it."""
    owners: dict[str, set[str]] = {}
    for node, labels in said["labels"].items():
        owners.setdefault(classes.get(node, [node])[0], set()).update(labels)
    return owners


def owner_faults(said: dict[str, Any], owners: dict[str, set[str]]) -> Iterator[str]:
    """One owner to a class, and one to an identity."""
    for least, who in owners.items():
        if len(who) > 1:
            yield f"the class of {least} has the owners {' and '.join(sorted(who))}"
    for identity, holders in said["exclusive"].items():
        if len(set(holders)) != 1:
            yield f"{identity} is held by {' and '.join(holders) or 'nobody'}"


def audience_faults(said: dict[str, Any], classes: dict[str, Any], owners: dict[str, set[str]]) -> Iterator[str]:
    """Only those whom a terminal is for meet a copy of it."""
    terminals = {item["name"]: (item["node"], item["name"], {*item["audience"]}) for item in said["terminals"]}
    # A class of many owners is told as that: a few of them stand for all.
    few = {least: sorted(who - {"op", "world"})[:9] for least, who in owners.items()}
    for _, a, b, names, _, is_away in guarded(said):
        if is_away and names:
            here = {who for node in (a, b) for who in few.get(classes.get(node, [node])[0], ())}
            yield from _strangers(sorted(here), [terminals[name] for name in names])


def _strangers(here: list[str], terminals: list[tuple[str, str, set[str]]]) -> Iterator[str]:
    """Who is here, and in no audience; of one device that is declared twice, either one's counts."""
    for _, of_one in groupby(sorted(terminals, key=itemgetter(0)), itemgetter(0)):
        declared = [*of_one]
        for who in here:
            if not any({"*", who} & audience for _, _, audience in declared):
                yield f"{who} meets {' and '.join(name for _, name, _ in declared)}, and is not in its audience"


def witnesses(found: dict[str, Any], known: set[tuple[str, str]] | None = None) -> Iterator[str]:
    """Where a finding's path is none: every step is an edge of the facts, and two owners stand at the ends of Sep's."""
    said = found["statement"]
    pairs = edges(said) if known is None else known
    for item in (item for result in found["judgement"]["results"] for item in result["findings"]):
        path, labels = item["path"], said["labels"]
        on_wires = all(node in found["classes"] for node in path)
        broken = [f"{a} - {b}" for a, b in pairwise(path) if (a, b) not in pairs]
        if broken and on_wires:
            yield f"{item['id']}: {', '.join(broken)} is no edge of the facts"
        ends = {who for node in (*path[:1], *path[-1:]) for who in labels.get(node, ())}
        if item["rule"] == "ISO-02" and len(ends) < 2:
            yield f"{item['id']}: both ends of its path have one owner"
