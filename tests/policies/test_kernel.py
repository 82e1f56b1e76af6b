"""The bulk questions: plain Python, arrays and networkx give one answer; what a clean plan and a lock import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import deque
from pathlib import Path
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.graph import kernel
from policies.graph.search import connected, shortest


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


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = sys.modules["numpy"] = None  # importing either then raises ModuleNotFoundError
from policies.graph import kernel
kernel.ENOUGH = 3
component = kernel.components(5, [0, 1, 3], [1, 2, 4])
print(component, kernel.mixed(component, [0, 2, 3], [7, 8, 7]))
"""


def test_without_scipy_plain_python_answers_at_any_size() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_SCIPY], capture_output=True, text=True, check=True)
    assert done.stdout == "[0, 0, 0, 1, 1] {0}\n"


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


def named(pairs: list[tuple[int, int]]) -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from((str(a), str(b)) for a, b in pairs)
    return graph


def by_queue(graph: nx.Graph[str], sources: set[str], ends: set[str], within: set[str] | None) -> list[str] | None:
    """The search that witnesses were written by before networkx walked: a queue, neighbours in the order of names."""
    queue = deque(sorted(source for source in sources if source in graph))
    came_from: dict[str, str | None] = dict.fromkeys(queue)
    while queue:
        node = queue.popleft()
        if node in ends:
            path, before = [node], came_from[node]
            while before is not None:
                path.append(before)
                before = came_from[before]
            return path[::-1]
        for near in sorted(graph[node]):
            if near not in came_from and (within is None or near in within):
                came_from[near] = node
                queue.append(near)
    return None


SOME = st.sets(st.integers(0, 29).map(str))


@given(edges(), SOME, SOME, st.none() | SOME)
def test_of_the_shortest_ways_the_least_by_names_is_found(
    drawn: tuple[int, list[tuple[int, int]]], sources: set[str], ends: set[str], within: set[str] | None
) -> None:
    graph = named(drawn[1])
    found = shortest(graph, sources, ends.__contains__, within=within)
    assert (None if found is None else list(found)) == by_queue(graph, sources, ends, within)


def test_of_two_ways_of_one_length_the_lesser_begins_with_the_lesser_name() -> None:
    graph: nx.Graph[str] = nx.Graph([("a", "y"), ("y", "c"), ("b", "x"), ("x", "c"), ("b", "w"), ("w", "d")])
    assert shortest(graph, ["b", "a"], {"c", "d"}.__contains__) == ("a", "y", "c")
    assert shortest(graph, ["b"], {"c", "d"}.__contains__) == ("b", "w", "d")
    assert shortest(graph, ["b"], {"c", "d"}.__contains__, within={"x", "c", "d"}) == ("b", "x", "c")
    assert shortest(graph, ["b"], {"c"}.__contains__, within={"c"}) is None


def test_components_come_in_the_order_of_their_least_nodes() -> None:
    graph: nx.Graph[str] = nx.Graph([("d", "b"), ("c", "a")])
    graph.add_node("e")
    assert connected(graph) == [{"a", "c"}, {"b", "d"}, {"e"}]


CLEAN = """
import sys
from policies import footprint, judge
from tests.policies.workspace import full_site, pair
site = full_site()
acme, globex = pair(site)
libraries = {"networkx", "scipy", "numpy"}
footprint(site, acme.plan)
print(*sorted({name.partition(".")[0] for name in sys.modules} & libraries))
assert judge(site, acme.plan, [globex.lock]).exit_code == 0
print(*sorted({name.partition(".")[0] for name in sys.modules} & libraries))
"""


def test_a_lock_is_written_without_networkx_and_a_clean_plan_judged_without_arrays() -> None:
    done = subprocess.run([sys.executable, "-c", CLEAN], capture_output=True, text=True, check=True)
    assert done.stdout == "\nnetworkx\n"


def test_no_rule_sees_the_bulk_kernel() -> None:
    rules = sorted((Path(__file__).parents[2] / "policies" / "rules").glob("*.py"))
    imported = {
        f"{node.module}.{alias.name}"
        for file in rules
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert "policies.graph.search.shortest" in imported
    assert not {name for name in imported if "kernel" in name}
