"""Searches on small graphs: which way a witness shows, from whom to whom, and how far it goes on to a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest import mock

import networkx as nx
import numpy as np
import pytest

from policies.about import SiteFact
from policies.graph import kernel
from policies.graph.search import Labels, Path, connected, extended, facts_of, labelled, meeting, shortest


def graph(*edges: str, nodes: Sequence[str] = ()) -> nx.Graph[str]:
    """Edges written `a-b`, and nodes without one."""
    found: nx.Graph[str] = nx.Graph()
    found.add_edges_from((a, b) for a, _, b in (edge.partition("-") for edge in edges))
    found.add_nodes_from(nodes)
    return found


def owned(**labels: str) -> Labels:
    """Node -> owners, written `acme op`."""
    return {node: frozenset(names.split()) for node, names in labels.items()}


def test_facts_of_an_edge() -> None:
    found: nx.Graph[str] = nx.Graph()
    missing, broken = (SiteFact("x"),), (SiteFact("y"),)
    found.add_edge("a", "b", rule="E1", missing=missing, broken=broken, weight=1)
    assert facts_of(found, "b", "a") == {"rule": "E1", "missing": missing, "broken": broken}


def test_components_by_their_least_nodes() -> None:
    assert connected(graph("z-b", "c-y", nodes=["a"])) == [{"a"}, {"b", "z"}, {"c", "y"}]


def test_nodes_with_one_of_the_labels() -> None:
    test = labelled(owned(a="acme", b="op globex", c=""), frozenset({"acme", "globex"}))
    assert [test(node) for node in "abcd"] == [True, True, False, False]
    assert not labelled(owned(a="acme"), frozenset())("a")


@pytest.mark.parametrize(
    ("sources", "ends", "within", "expected"),
    [
        ("a", "d", None, "abd"),
        # Of two ways of one length the least by names, from its first node on.
        ("a", "e", None, "abde"), ("a", "cd", None, "ac"),
        ("af", "e", None, "fe"), ("ag", "b", None, "ab"),
        ("a", "a", None, "a"), ("ab", "ab", None, "a"),
        ("x", "a", None, None), ("a", "x", None, None), ("", "a", None, None),
        # Only these may follow a source.
        ("a", "d", "cd", "acd"), ("a", "d", "acd", "acd"), ("a", "d", "bc", None), ("a", "a", "", "a"),
    ],
)  # fmt: skip
def test_the_shortest_way(sources: str, ends: str, within: str | None, expected: str | None) -> None:
    around = graph("a-b", "a-c", "b-d", "c-d", "d-e", "e-f", nodes=["g"])
    found = shortest(around, [*sources], set(ends).__contains__, None if within is None else {*within})
    assert found == (None if expected is None else tuple(expected))


@pytest.mark.parametrize(
    ("labels", "own", "expected"),
    [
        (owned(), "acme", None),
        (owned(a="acme", c="acme"), "acme", None),
        (owned(a="acme", b="globex"), "acme", "ab"),
        # From the own one if it is there; another tenant comes before whoever is nearer and no tenant.
        (owned(a="acme", b="op", d="globex"), "acme", "abcd"),
        (owned(a="acme", b="op", d="globex"), "globex", "dcba"),
        (owned(a="acme", b="op", d="world"), "acme", "ab"),
        (owned(a="globex", b="op", d="carol"), "acme", "dcba"),
        (owned(a="op", c="world"), "acme", "abc"),
        (owned(a="op", c="globex"), "acme", "cba"),
        (owned(a="foreign", c="globex"), "acme", "cba"),
        # One node of two owners is the whole way.
        (owned(b="acme globex", d="carol"), "acme", "b"),
        (owned(b="acme op", d="globex"), "acme", "bcd"),
        # Who is in another component is not met.
        (owned(a="acme", y="globex"), "acme", None),
    ],
)
def test_where_two_owners_meet(labels: Labels, own: str, expected: str | None) -> None:
    around = graph("a-b", "b-c", "c-d", "x-y")
    assert meeting(around, labels, {*"abcd"}, own) == (None if expected is None else tuple(expected))


# A device of each owner at the ends.

D1, D2, D3, D4 = "dev:acme:one", "dev:globex:two", "dev:SN/rnic", "dev:acme:four"
V1, V2, V3, V4, V5 = (f"L:S:{number}" for number in range(1, 6))


def chain(*nodes: str) -> nx.Graph[str]:
    """One after the other."""
    found: nx.Graph[str] = nx.Graph()
    nx.add_path(found, nodes)
    return found


@pytest.mark.parametrize(
    ("along", "labels", "path", "expected"),
    [
        # A device at an end says enough.
        ((D1, V1, D2), {D1: "acme", D2: "globex"}, (D1, V1, D2), (D1, V1, D2)),
        # One that is near is put before or after it; of another owner it says nothing.
        ((D1, V1, V2, D2), {D1: "acme", D2: "globex", V1: "acme", V2: "globex"}, (V1, V2), (D1, V1, V2, D2)),
        ((D1, V1, V2, D2), {D1: "op", D2: "op", V1: "acme", V2: "globex"}, (V1, V2), (V1, V2)),
        # Of a path that ends at its own owner each end has the device of who is there.
        ((D2, V1, V2, D1), {D1: "acme", D2: "globex", V1: "globex", V2: "acme"}, (V1, V2), (D2, V1, V2, D1)),
        # At most four steps away.
        ((V1, V2, V3, V4, D1), {V1: "acme globex", D1: "acme"}, (V1,), (D1, V4, V3, V2, V1)),
        ((V1, V2, V3, V4, V5, D1), {V1: "acme globex", D1: "acme"}, (V1,), (V1,)),
        # The own owner stands first; at the other end tenants come before the operator.
        ((D2, V1, D1), {V1: "acme globex", D1: "acme", D2: "globex"}, (V1,), (D1, V1, D2)),
        ((D2, V1, D3), {V1: "carol globex op", D3: "op", D2: "globex"}, (V1,), (V1, D2)),
        ((D2, V1, D3), {V1: "op world", D3: "op", D2: "world"}, (V1,), (D3, V1, D2)),
        # Whose nothing is there has no device; an end with one owner shows that one.
        ((D1, V1, V2, D4), {D1: "acme", D4: "acme"}, (V1, V2), (V1, V2)),
        ((D1, V1, V2, D4), {D1: "acme", D4: "acme", V1: "acme", V2: "acme"}, (V1, V2), (D1, V1, V2, D4)),
        # What everybody meets leads nowhere.
        ((V1, "cloud:c", D1), {V1: "acme", D1: "acme"}, (V1,), (V1,)),
        ((V1, "foreign:c", D1), {V1: "acme", D1: "acme"}, (V1,), (V1,)),
        ((V1, "cap:acme", D1), {V1: "acme", D1: "acme"}, (V1,), (V1,)),
        ((V1, "ops:c:underlay", D1), {V1: "acme", D1: "acme"}, (V1,), (V1,)),
        ((V1, "X:out", D1), {V1: "acme", D1: "acme"}, (V1,), (D1, "X:out", V1)),
    ],
)
def test_devices_at_the_ends(along: Path, labels: dict[str, str], path: Path, expected: Path) -> None:
    put = {node: frozenset(names.split()) for node, names in labels.items()}
    assert extended(chain(*along), put, path, "acme") == expected


def test_a_device_is_shown_at_one_end_only() -> None:
    """The one device of both is before the path, and no step of it stands twice."""
    labels = {V1: frozenset({"acme"}), V2: frozenset({"globex"}), D1: frozenset({"acme", "globex"})}
    around = graph()
    nx.add_cycle(around, [V1, V2, D1])
    assert extended(around, labels, (V1, V2), "acme") == (D1, V1, V2)


# Bulk questions.


def column(*numbers: int) -> kernel.Numbers:
    """As an array."""
    return np.array(numbers, dtype=np.int32)


def test_numbers_of_names() -> None:
    numbers = kernel.Numbering(["b", "a", "b", "c"])
    assert [numbers.of(name) for name in ("c", "x", "a", "x", "y", "b")] == [2, 3, 1, 3, 4, 0]
    assert numbers.all_of(["z", "b", "z", "q"]).tolist() == [5, 0, 5, 6]
    assert len(numbers) == 7
    assert len(kernel.Numbering()) == 0


@pytest.mark.parametrize(
    ("count", "pairs", "expected"),
    [
        (0, [], []),
        (3, [], [0, 1, 2]),
        (3, [(1, 1)], [0, 1, 2]),
        (4, [(3, 1)], [0, 1, 2, 1]), (4, [(1, 3)], [0, 1, 2, 1]),
        (5, [(4, 3), (3, 2), (2, 1)], [0, 1, 1, 1, 1]),
        (6, [(5, 4), (3, 2), (4, 2), (1, 0)], [0, 0, 1, 1, 1, 1]),
        (6, [(0, 5), (1, 4), (4, 5), (2, 3)], [0, 0, 1, 1, 0, 0]),
        (7, [(6, 5), (5, 4), (3, 2), (6, 3), (0, 1), (1, 0)], [0, 0, 1, 1, 1, 1, 1]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("part", [1, 2, kernel.PART])
def test_components_of_numbers(count: int, pairs: list[tuple[int, int]], expected: list[int], part: int) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    assert kernel.plain_components(count, left, right) == list(kernel.components(count, left, right)) == expected
    with mock.patch.object(kernel, "PART", part):
        for one, other in ((left, right), (right, left)):
            assert kernel.array_components(count, column(*one), column(*other)).tolist() == expected


@pytest.mark.parametrize(
    ("nodes", "labels", "expected"),
    [
        ([], [], set()),
        ([0, 1, 2], [7, 7, 8], set()),
        ([0, 1, 1, 0], [7, 7, 8, 7], {0}),
        ([0, 1, 2, 3], [1, 2, 3, 3], {0}),
        ([3, 2, 4, 4, 4], [5, 4, 1, 1, 0], {1, 2}),
    ],
)
@pytest.mark.parametrize("part", [1, 2, kernel.PART])
def test_mixed_components(nodes: list[int], labels: list[int], expected: set[int], part: int) -> None:
    component = [0, 0, 1, 1, 2]
    assert kernel.plain_mixed(component, nodes, labels) == kernel.mixed(component, nodes, labels) == expected
    with mock.patch.object(kernel, "PART", part):
        found = kernel.array_mixed(column(*component), column(*nodes), column(*labels))
    assert found.tolist() == sorted(expected)


def _noted(asked: list[str], name: str, whole: Callable[..., object]) -> Callable[..., object]:
    def noted(*given: object) -> object:
        asked.append(name)
        return whole(*given)

    return noted


@pytest.mark.parametrize("enough", [2, 3, 4])
@pytest.mark.parametrize("has_arrays", [True, False])
def test_who_is_asked(monkeypatch: pytest.MonkeyPatch, enough: int, has_arrays: bool) -> None:
    """Arrays from so many edges, or labels, on, if they are there."""
    asked: list[str] = []
    for name in ("plain_components", "plain_mixed", "array_components", "array_mixed"):
        whole = getattr(kernel, name)
        monkeypatch.setattr(kernel, name, _noted(asked, name, whole))
    monkeypatch.setattr(kernel, "ENOUGH", enough)
    monkeypatch.setattr(kernel, "_has_arrays", lambda: has_arrays)
    assert kernel.components(5, [0, 1, 3], [1, 2, 4]) == [0, 0, 0, 1, 1]
    assert kernel.mixed([0, 0, 0, 1, 1], [0, 2, 3], [7, 8, 7]) == {0}
    word = "array" if has_arrays and enough <= 3 else "plain"
    assert asked == [f"{word}_components", f"{word}_mixed"]


@pytest.mark.parametrize(
    ("size", "parts"), [(0, [(0, 4)]), (1, [(0, 4)]), (4, [(0, 4)]), (5, [(0, 4), (4, 8)]), (8, [(0, 4), (4, 8)])]
)
def test_parts_of_an_array(monkeypatch: pytest.MonkeyPatch, size: int, parts: list[tuple[int, int]]) -> None:
    monkeypatch.setattr(kernel, "PART", 4)
    assert [(part.start, part.stop) for part in kernel._parts(column(*range(size)))] == parts


@pytest.mark.parametrize("lacks", ["scipy", "numpy", ""])
def test_arrays_take_both_packages(monkeypatch: pytest.MonkeyPatch, lacks: str) -> None:
    monkeypatch.setattr(kernel, "find_spec", lambda name: None if name == lacks else object())
    kernel._has_arrays.cache_clear()
    assert kernel._has_arrays() is (not lacks)
    kernel._has_arrays.cache_clear()


def test_an_edge_has_two_ends_and_a_label_a_node() -> None:
    with pytest.raises(ValueError, match="zip"):
        kernel.plain_components(3, [0, 1], [2])
    with pytest.raises(ValueError, match="zip"):
        kernel.plain_mixed([0, 1], [0, 1], [5])
