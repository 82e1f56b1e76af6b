"""Edges that follow from tables of facts, by a table of rows of its own; all others are stated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from .guards import KEPT_AWAY, required
from .reading import Malformed

#: Of tables with two columns the row of the table of edges, and the edge's second end around the second column.
_JOINING: dict[str, tuple[str, ...]] = {
    "in_band": ("E14", "dev"), "partitions": ("E17", "fabric"), "keys": ("E19", "fabric"), "members": ("E19", "K"),
    "firmware": ("A23", "former"), "projects": ("A2", "cloud"), "claims": ("A10", "foreign"),
    "cleaned": ("A9", "former"), "balanced": ("A16", "ops", "load-balancers"), "managed": ("A24", "ops", "bmc-access"),
    "encapsulated": ("A17", "ops", "underlay"), "served": ("A18", "ops", "network-nodes"),
    "migrating": ("A19", "ops", "migration-and-consoles"), "backed": ("A20", "ops", "back-end-storage"),
    "routed_out": ("A21", "ops", "behind-external"), "talking": ("A22", "ops", "vlan-protocols"),
}  # fmt: skip


def grounded(said: dict[str, Any]) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """(row, end, end, declarations) of each edge that follows from a table, there or kept away."""
    ground = said["ground"]
    for (serial,) in ground["machines"]:
        yield from (("E15", f"dev:{serial}/gw", f"dev:{serial}/{part}", ()) for part in ("rnic", "bmc"))
    for a, b in ground["links"]:
        yield "E16", f"dev:{a}/rnic", f"dev:{b}/rnic", ()
    for server, serial in ground["guests"]:
        yield from (("E18", server, f"{kind}:{serial}", ()) for kind in ("dev", "cpu"))
    for (vlan,) in ground["vlans"]:
        yield "A1", vlan, f"fabric:{_bridge(vlan)}", ()
    for group, *names in ground["groups"]:
        yield "E1", group, f"L:{_bridge(group)}:{group.rpartition(':')[2]}", tuple(names)
    for copy, *names in ground["gateways"]:
        yield "E11", copy, copy.partition("@")[0], tuple(names)
    for copy, device, *names in ground["terminals"]:
        yield "E9", copy, device, tuple(names)
    for table, (row, kind, *service) in _JOINING.items():
        yield from ((row, a, ":".join((kind, b, *service)), tuple(names)) for a, b, *names in ground[table])


def wired(said: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(row, end, end) of each edge along a cable: frames with one tag, or with none ("0"), are in a VLAN at each end.

    Raises Malformed where they are many more than the facts: no port takes one tag into a hundred VLANs.
    """
    carried: dict[str, dict[str, list[str]]] = {}
    for port, tag, vlan in said["ground"]["carried"]:
        carried.setdefault(port, {}).setdefault(tag, []).append(vlan)
    cables = (
        ("E2" if tag == "0" else "E1", carried[a][tag], carried[b][tag])
        for a, b in {*map(tuple, said["ground"]["cables"])}
        for tag in carried.get(a, {}).keys() & carried.get(b, {}).keys()
    )
    uplinks = (
        ("E4", [host], carried.get(port, {}).get(host.rpartition(":")[2] if host.partition(":")[0] == "L" else "0", []))
        for port, host in said["ground"]["uplinks"]
    )
    found, most = list[tuple[str, str, str]](), 10_000 + 100 * len(said["ground"]["carried"])
    for row, near, far in chain(cables, uplinks):
        if len(found) + len(near) * len(far) > most:
            raise Malformed("statement.ground.carried: too many VLANs by one tag")
        found += ((row, x, y) for x in near for y in far)
    return found


def _bridge(vlan: str) -> str:
    """The switch of `L:<serial>:<vlan>`, or of a group of a private VLAN in it, `L:<serial>~<group>:<vlan>`."""
    return vlan.partition(":")[2].rpartition(":")[0].partition("~")[0]


def guarded(said: dict[str, Any]) -> Iterator[tuple[str, str, str, tuple[str, ...], frozenset[frozenset[str]], bool]]:
    """The same with the guards that keep the edge away, by assumption and declaration, and whether all of them do."""
    held, known = required(said), dict[tuple[str, ...], tuple[frozenset[frozenset[str]], bool]]()
    for row, a, b, names in grounded(said):
        case = (row, b.partition(":")[0], *names)
        if case not in known:
            asked = {held(name, False) for name in KEPT_AWAY.get(f"{row} {case[1]}", KEPT_AWAY[row])}
            asked |= {held(name, True) for name in names}
            known[case] = frozenset(filter(None, asked)), bool(asked) and None not in asked
        yield row, a, b, names, *known[case]


def edges(said: dict[str, Any]) -> set[tuple[str, str]]:
    """Every edge, in both directions: what is stated as one, and what follows and is not kept away."""
    stated = [(a, b) for rows in said["facts"].values() for a, b in rows] + [ends[1:] for ends in wired(said)]
    there = ((a, b) for _, a, b, _, _, is_away in guarded(said) if not is_away)
    return {ends for a, b in (*stated, *there) for ends in ((a, b), (b, a))}


def told(said: dict[str, Any]) -> str:
    """Which rows of the table of edges it derives, and of which rows edges are stated, in words."""
    derived = sorted({row for row, *_ in grounded(said)} | {row for row, *_ in wired(said)})
    stated = sorted(row for row, pairs in said["facts"].items() if pairs)
    return f"edges derived from facts: {', '.join(derived) or 'none'}; stated as edges: {', '.join(stated) or 'none'}"
