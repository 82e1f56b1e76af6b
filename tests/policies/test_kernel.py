"""The bulk questions: plain Python, arrays and networkx give one answer; a clean plan needs neither of the latter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.graph import kernel
from policies.graph.graphs import EdgeFacts, Graph, connected


@st.composite
def edges(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 30))
    node = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(node, node), max_size=40))


def column(numbers: list[int]) -> kernel.Numbers:
    return np.array(numbers, dtype=np.int32)


def by_networkx(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(count))
    of: dict[int, int] = {}
    for number, component in enumerate(sorted(nx.connected_components(graph), key=min)):
        of |= dict.fromkeys(component, number)
    return [of[node] for node in range(count)]


#: Arrays that end within a part, at the end of one, and in a single one.
PARTS = st.sampled_from([1, 3, 5, kernel.PART])


@given(edges(), PARTS)
def test_components_are_found_three_ways_alike(drawn: tuple[int, list[tuple[int, int]]], part: int) -> None:
    count, pairs = drawn
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    expected = by_networkx(count, pairs)
    assert kernel.plain_components(count, left, right) == expected
    with mock.patch.object(kernel, "PART", part):
        assert by_arrays(count, left, right) == expected
        assert by_arrays(count, right, left) == expected
    assert list(kernel.components(count, left, right)) == expected


@given(st.lists(st.integers(0, 4), max_size=30), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4))), PARTS)
def test_endpoints_that_hang_on_few_nodes(hung: list[int], trunks: list[tuple[int, int]], part: int) -> None:
    pairs = [(5 + endpoint, node) for endpoint, node in enumerate(hung)] + trunks
    count = 5 + len(hung)
    expected = by_networkx(count, pairs)
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    with mock.patch.object(kernel, "PART", part):
        assert by_arrays(count, left, right) == expected
        assert by_arrays(count, right, left) == expected


def test_endpoints_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    by_scipy = kernel._searched

    def counted(count: int, left: kernel.Numbers, right: kernel.Numbers) -> kernel.Numbers:
        searched.append(count)
        return by_scipy(count, left, right)

    monkeypatch.setattr(kernel, "_searched", counted)
    endpoints, segments = list(range(8)), [8, 8, 8, 8, 9, 9, 9, 9]
    assert by_arrays(10, endpoints, segments) == [0, 0, 0, 0, 1, 1, 1, 1, 0, 1]
    assert by_arrays(10, segments, endpoints) == [0, 0, 0, 0, 1, 1, 1, 1, 0, 1]
    assert searched == [2, 2]


@given(edges(), st.data(), PARTS)
def test_mixed_components_are_those_with_two_labels(
    drawn: tuple[int, list[tuple[int, int]]], data: st.DataObject, part: int
) -> None:
    count, pairs = drawn
    component = by_networkx(count, pairs)
    put = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, 5)), max_size=30))
    nodes, labels = [node for node, _ in put], [label for _, label in put]
    owners: dict[int, set[int]] = {}
    for node, label in put:
        owners.setdefault(component[node], set()).add(label)
    expected = {number for number, found in owners.items() if len(found) > 1}
    assert kernel.plain_mixed(component, nodes, labels) == expected
    with mock.patch.object(kernel, "PART", part):
        found = kernel.array_mixed(column(component), column(nodes), column(labels))
    assert set(found.tolist()) == expected


def test_above_enough_edges_arrays_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(*_: object) -> list[int]:
        raise AssertionError("plain Python was asked")

    monkeypatch.setattr(kernel, "ENOUGH", 3)
    monkeypatch.setattr(kernel, "plain_components", plain)
    monkeypatch.setattr(kernel, "plain_mixed", plain)
    component = kernel.components(5, [0, 1, 3], [1, 2, 4])
    assert component == [0, 0, 0, 1, 1]
    assert kernel.mixed(component, [0, 2, 3], [7, 8, 7]) == {0}


def test_without_the_extra_the_answers_are_those_of_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of scipy or numpy is asked for, however many edges there are."""

    def arrays(*_: object) -> list[int]:
        raise AssertionError("arrays were asked")

    monkeypatch.setattr(kernel, "ENOUGH", 3)
    monkeypatch.setattr(kernel, "array_components", arrays)
    monkeypatch.setattr(kernel, "array_mixed", arrays)
    for missing in ("scipy", "numpy"):
        monkeypatch.setattr(kernel, "find_spec", lambda name, gone=missing: None if name == gone else object())
        kernel._has_arrays.cache_clear()
        component = kernel.components(5, [0, 1, 3], [1, 2, 4])
        assert component == [0, 0, 0, 1, 1]
        assert kernel.mixed(component, [0, 2, 3], [7, 8, 7]) == {0}
    kernel._has_arrays.cache_clear()


def test_no_edge_and_no_node() -> None:
    for find in (kernel.plain_components, by_arrays):
        assert find(0, [], []) == []
        assert find(3, [], []) == [0, 1, 2]
    assert kernel.array_mixed(column([]), column([]), column([])).tolist() == []


def by_arrays(count: int, left: list[int], right: list[int]) -> list[int]:
    found: list[int] = kernel.array_components(count, column(left), column(right)).tolist()
    return found


def test_numbers_follow_the_first_meeting() -> None:
    numbers = kernel.Numbering(["b", "a", "b"])
    assert numbers.all_of(["a", "c", "b"]).tolist() == [1, 2, 0]
    assert len(numbers) == 3


def drawn_graph(pairs: list[tuple[int, int]]) -> tuple[Graph, nx.Graph[str]]:
    ours: Graph = Graph()
    theirs: nx.Graph[str] = nx.Graph()
    for a, b in pairs:
        ours.add_edge(str(a), str(b), EdgeFacts(rule=f"{a}-{b}", missing=(), broken=()))
        theirs.add_edge(str(a), str(b), rule=f"{a}-{b}", missing=(), broken=())
    return ours, theirs


@given(edges(), st.sets(st.integers(0, 29)))
def test_our_graph_answers_like_networkx(drawn: tuple[int, list[tuple[int, int]]], some: set[int]) -> None:
    ours, theirs = drawn_graph(drawn[1])
    part = {str(node) for node in some}
    same: list[Callable[[Graph | nx.Graph[str]], object]] = [
        set,
        lambda graph: {node: set(graph[node]) for node in graph},
        lambda graph: set(map(frozenset, graph.edges)),
        lambda graph: {frozenset(ends): graph.edges[ends]["rule"] for ends in graph.edges},
        lambda graph: len(graph.edges),
        lambda graph: set(map(frozenset, graph.subgraph(part).edges)),
    ]
    for question in same:
        assert question(ours) == question(theirs)
        assert question(ours.as_networkx()) == question(theirs)
    assert connected(ours) == sorted(nx.connected_components(theirs), key=min)


CLEAN = """
import sys
from policies import judge
from tests.policies.workspace import full_site, pair
site = full_site()
acme, globex = pair(site)
assert judge(site, acme.plan, [globex.lock]).exit_code == 0
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"networkx", "scipy", "numpy"}))
"""


def test_a_clean_plan_needs_neither_networkx_nor_scipy() -> None:
    done = subprocess.run([sys.executable, "-c", CLEAN], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
