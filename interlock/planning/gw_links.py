"""Which logical racks GW-Link cables join: each machine of one with the same-numbered machine of the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import combinations

from interlock.model.site.inventory import Site

#: The machines of a whole logical rack, by bit of their position.
Racks = Mapping[str, Sequence[str | None]]


def joined_racks(site: Site, racks: Racks) -> dict[str, list[str]]:
    """For every rack those that it is joined to at all positions, in the order of `racks`.

    By cables from machine to machine, or over a GW-Link switch that both machines of a position hang on.
    """
    place = {name: (rack, bit) for rack, names in racks.items() for bit, name in enumerate(names) if name}
    direct: dict[tuple[str, str], set[int]] = {}
    switched: dict[str, set[tuple[str, int]]] = {}
    for cable in site.cables:
        if cable.kind != "gw-link":
            continue
        ends = (cable.a.device, cable.b.device)
        for one, other in (ends, ends[::-1]):
            if one not in place:
                continue
            rack, bit = place[one]
            if other in place and place[other][1] == bit:
                direct.setdefault((rack, place[other][0]), set()).add(bit)
            elif other in site.switch:
                switched.setdefault(other, set()).add((rack, bit))
    _add_switched(switched, direct)
    joined: dict[str, list[str]] = {rack: [] for rack in racks}
    order = {rack: number for number, rack in enumerate(racks)}
    for (one, other), at in sorted(direct.items(), key=lambda item: (order[item[0][0]], order[item[0][1]])):
        if one != other and len(at) == len(racks[one]):
            joined[one].append(other)
    return joined


def groups_of_racks(site: Site, racks: Mapping[str, Collection[str]]) -> list[tuple[str, ...]]:
    """The logical racks that GW-Links lead between, over these machines of them alone; each group sorted.

    Looser than `joined_racks`: one GW-Link is a way. Which ones a vPOD needs, TOP-05 says.
    """
    rack_of = {name: rack for rack, names in racks.items() for name in names}
    near: dict[str, set[str]] = {rack: set() for rack in racks}
    for cable in site.cables if len(racks) > 1 else ():
        ends = (cable.a.device, cable.b.device)
        nodes = [rack_of.get(end) or (f"switch {end}" if end in site.switch else "") for end in ends]
        if cable.kind == "gw-link" and all(nodes):
            near.setdefault(nodes[0], set()).add(nodes[1])
            near.setdefault(nodes[1], set()).add(nodes[0])
    groups, left = [], dict.fromkeys(racks)
    while left:
        reached, waiting = set[str](), [next(iter(left))]
        while waiting:
            node = waiting.pop()
            reached.add(node)
            waiting += near[node] - reached
        groups.append(tuple(sorted(reached & racks.keys())))
        left = {rack: None for rack in left if rack not in reached}
    return groups


def walk(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The connected parts of a graph, each in an order that follows its edges.

    A path is walked from one end, so that neighbours on the wire are neighbours in the list.
    """
    if not any(edges.values()):
        return [[node] for node in edges]  # most sites have no GW-Links, and importing networkx takes its time
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(edges)
    graph.add_edges_from((node, other) for node, near in edges.items() for other in near)
    order = {node: number for number, node in enumerate(edges)}
    seen: set[str] = set()
    parts = []
    for start in sorted(edges, key=lambda node: (len(edges[node]) != 1, order[node])):
        if start not in seen:
            part = list(nx.dfs_preorder_nodes(graph, start, sort_neighbors=partial(sorted, key=order.__getitem__)))
            seen.update(part)
            parts.append(part)
    return sorted(parts, key=lambda part: min(order[node] for node in part))


def _add_switched(switched: Mapping[str, set[tuple[str, int]]], direct: dict[tuple[str, str], set[int]]) -> None:
    for attached in switched.values():
        by_rack: dict[str, set[int]] = {}
        for rack, bit in attached:
            by_rack.setdefault(rack, set()).add(bit)
        for one, other in combinations(sorted(by_rack), 2):
            both = by_rack[one] & by_rack[other]
            direct.setdefault((one, other), set()).update(both)
            direct.setdefault((other, one), set()).update(both)
