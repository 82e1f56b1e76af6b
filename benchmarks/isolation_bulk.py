"""The kernel and networkx on bare numbers: endpoints on segments, segments on trunks, a label on every endpoint.

Run as a process of its own: `isolation_bulk.py WAY ENDPOINTS`; prints the seconds of wall and processor time that the
question took, without imports and without the making of the numbers, how many components it found, and the most memory
that the process had, with its imports and numbers.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]
#: Endpoints on a segment, segments of one tenant, tenants of which one segment too many is joined.
ON_SEGMENT, SEGMENTS, EVERY = 16, 4, 500
#: At most so many rounds, and none more after so many seconds.
ROUNDS, ENOUGH = 9, 3.0


def numbers(endpoints: int) -> tuple[int, Numbers, Numbers, Numbers, int]:
    """(nodes, left ends, right ends, label of each endpoint, conflicts planted)."""
    segments = endpoints // ON_SEGMENT
    order = np.random.default_rng(1).permutation(segments * ON_SEGMENT).astype(np.int32)
    segment_of = np.repeat(np.arange(segments, dtype=np.int32), ON_SEGMENT)
    labels = np.empty(len(order), dtype=np.int32)
    labels[order] = segment_of // SEGMENTS
    last = np.arange(1, segments, dtype=np.int32)
    tenant, place = np.divmod(last, SEGMENTS)
    joined = last[(place != 0) | (tenant % EVERY == 1)]
    left = np.concatenate([order, len(order) + joined - 1]).astype(np.int32)
    right = np.concatenate([len(order) + segment_of, len(order) + joined]).astype(np.int32)
    return len(order) + segments, left, right, labels, int(np.count_nonzero((place == 0) & (tenant % EVERY == 1)))


def by_kernel(count: int, left: Numbers, right: Numbers, labels: Numbers) -> int:
    """Components with two labels."""
    from policies.graph import kernel

    component = kernel.array_components(count, left, right)
    endpoints = np.arange(len(labels), dtype=np.int32)
    return len(kernel.array_mixed(component, endpoints, labels))


def by_networkx(count: int, left: Numbers, right: Numbers, labels: Numbers) -> int:
    """The same, as anybody would write it: nodes, edges, labels as attributes of the nodes."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(zip(left.tolist(), right.tolist(), strict=True))
    for node, label in enumerate(labels.tolist()):
        graph.nodes[node]["label"] = label
    found = ({graph.nodes[node].get("label") for node in item} - {None} for item in nx.connected_components(graph))
    return sum(len(owners) > 1 for owners in found)


def by_networkx_lean(_: int, left: Numbers, right: Numbers, labels: Numbers) -> int:
    """The same, as quick as we could write it: nodes come with the edges, so that neighbours lie together in memory.

    Labels stay in a dict beside the graph. Nodes without an edge are left out: none can be in a conflict.
    """
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph(zip(left.tolist(), right.tolist(), strict=True))
    label = dict(enumerate(labels.tolist()))
    found = ({label[node] for node in item if node in label} for item in nx.connected_components(graph))
    return sum(len(owners) > 1 for owners in found)


KERNEL = "kernel"
WAYS: dict[str, Callable[[int, Numbers, Numbers, Numbers], int]] = {
    KERNEL: by_kernel,
    "networkx": by_networkx,
    "networkx, written for speed": by_networkx_lean,
}


def main(way: str, endpoints: int) -> None:
    """Once on few numbers for the imports, then on all: the median of some rounds."""
    find = WAYS[way]
    found = find(*numbers(1000)[:4])
    count, left, right, labels, planted = numbers(endpoints)
    rounds: list[tuple[float, float]] = []
    while len(rounds) < ROUNDS and sum(wall for wall, _ in rounds) < ENOUGH:
        begun, spent = time.perf_counter(), time.process_time()
        found = find(count, left, right, labels)
        rounds.append((time.perf_counter() - begun, time.process_time() - spent))
    seconds, processor = (statistics.median(column) for column in zip(*rounds, strict=True))
    answer = {"seconds": seconds, "cpu_seconds": processor, "peak_mib": peak_mib(), "found": found, "planted": planted}
    print(json.dumps(answer))


def peak_mib() -> float:
    """The most that this program held. `ru_maxrss` would also count what the program that started it held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
