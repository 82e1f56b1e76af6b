"""What the checker says of each thing that does not hold, word by word, and of what holds nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from infra.checker import Malformed, complaints, digest, edges, proof_of, told, wired
from infra.checker.isolation import _leads, audience_faults, class_faults, owner_faults, owners_of
from tests.certificate.altering import sealed
from tests.certificate.test_certificate import clean
from tests.certificate.test_grounded import stating

Found = dict[str, Any]
Classes = dict[str, list[str]]


def changed(change: Callable[[Found], None], *, seal: bool = True) -> Found:
    """A sound certificate, changed."""
    found: Found = json.loads(json.dumps(clean()[3][0]))
    change(found)
    return sealed(found) if seal else found


def _of(*way: str, value: object) -> Callable[[Found], None]:
    def change(found: Found) -> None:
        part = found
        for key in way[:-1]:
            part = part[key]
        part[way[-1]] = value

    return change


SEMANTICS = "version 8 of the semantics is not that of this checker, which is 7"
STATEMENT = "the facts are not those that the judgement rests on"
BOUNDARY = "the versions of the boundary nodes are not those of the judgement"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_of("format", value=6), ["format 6 is not known"]),
        (_of("statement", "semantics", value=8), [SEMANTICS]),
        (_of("statement", "public", value=["nobody"]), []),
        (_of("date", value="2100-01-02"), ["it is of 2100-01-02, after 2100-01-01"]),
    ],
)
def test_what_is_told_of_a_sealed_certificate(change: Callable[[Found], None], words: list[str]) -> None:
    assert list(complaints(changed(change), day="2100-01-01")) == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_of("digest", value="sha256:0"), ["the digest is not that of the certificate"]),
        (_of("judgement", "statement", value="sha256:0"), [STATEMENT]),
        (_of("judgement", "boundary", value="sha256:0"), [BOUNDARY]),
    ],
)
def test_each_digest_is_compared(change: Callable[[Found], None], words: list[str]) -> None:
    found = changed(change, seal=False)
    if words != ["the digest is not that of the certificate"]:
        found["digest"] = digest({key: value for key, value in found.items() if key != "digest"})
    assert list(complaints(found)) == words


def test_the_proof_is_compared_if_one_is_named() -> None:
    found, proof = clean()[3]
    assert proof_of(found["judgement"]) == proof
    assert list(complaints(found)) == list(complaints(found, proof)) == []
    assert list(complaints(found, "sha256:0")) == [f"it is about proof {proof}"]


def test_what_is_no_certificate_is_refused_before_anything_is_told() -> None:
    with pytest.raises(Malformed, match=r"^it\.format: not of its form$"):
        list(complaints(changed(_of("format", value="4"))))


def test_what_a_certificate_says_is_printed_without_control_characters() -> None:
    found = changed(_of("statement", "exclusive", value={"a\x1b[2J": ["b", "c"]}))
    assert list(complaints(found)) == ["a\\x1b[2J is held by b and c"]


def test_the_operators_stack_is_asked_other_rules() -> None:
    def operators(found: Found) -> None:
        found["statement"] |= {"owner": "op", "owners": {}}
        found["holds"] = [*found["holds"], "write prin:op"]

    (words,) = complaints(changed(operators))
    assert words.startswith("not asked, or not with this severity: CAP-03 (E), ISO-13 (E), PWR-01 (E)")


# Edges along cables.


def carried(near: int, far: int, more: int = 0) -> Found:
    """So many VLANs by one tag at each end of a cable, and so many facts besides."""
    said = stating("cables", ["a", "b"])
    rows = [["a", "7", f"L:A:{number}"] for number in range(near)]
    rows += [["b", "7", f"L:B:{number}"] for number in range(far)]
    said["ground"]["carried"] = rows + [["c", "7", f"L:C:{number}"] for number in range(more)]
    return said


@pytest.mark.parametrize("more", [0, 1])
def test_ten_thousand_edges_and_a_hundred_for_each_fact_are_taken(more: int) -> None:
    """240 times 250 is 60 000, and 490 facts allow for 59 000: ten facts more are just enough."""
    assert len(wired(carried(240, 250, 10 + more))) == 60_000
    with pytest.raises(Malformed, match=r"^statement\.ground\.carried: too many VLANs by one tag$"):
        wired(carried(240, 250, 9 - more))


def test_one_edge_too_many() -> None:
    """One more by another tag, where 500 facts allow for 60 000."""
    said = carried(240, 250, 8)
    said["ground"]["carried"] += [["a", "8", "L:A:1000"], ["b", "8", "L:B:1000"]]
    with pytest.raises(Malformed, match="too many VLANs by one tag"):
        wired(said)
    said["ground"]["carried"].append(["c", "8", "L:C:1000"])
    assert len(wired(said)) == 60_001


def test_a_port_without_any_tag_in_common_joins_nothing() -> None:
    said = stating("cables", ["a", "b"])
    said["ground"]["carried"] = [["a", "7", "L:A:7"], ["b", "8", "L:B:8"], ["c", "7", "L:C:7"]]
    assert wired(said) == []


def test_rows_that_are_derived_and_stated() -> None:
    said = stating("machines", ["M"])
    said["facts"] = {"E7": [["a", "b"]], "E6": [["a", "b"]], "E4": []}
    said["ground"]["cables"] = [["a", "b"]]
    said["ground"]["carried"] = [["a", "7", "L:A:7"], ["b", "7", "L:B:7"], ["a", "0", "L:A:1"], ["b", "0", "L:B:1"]]
    assert told(said) == "edges derived from facts: E1, E15, E2; stated as edges: E6, E7"
    assert told(stating("machines", ["M"])) == "edges derived from facts: E15; stated as edges: none"
    assert told(stating("cables", ["a", "b"])) == "edges derived from facts: none; stated as edges: none"


# Classes.


def both(*pairs: str) -> set[tuple[str, str]]:
    """Edges written `ab`, in both directions."""
    return {ends for pair in pairs for ends in ((pair[0], pair[1]), (pair[1], pair[0]))}


@pytest.mark.parametrize(
    ("pairs", "classes", "words"),
    [
        (both("ab", "bc"), {"a": ["a", ""], "b": ["a", "a"], "c": ["a", "b"]}, []),
        (both(), {"a": ["a", ""], "b": ["b", ""]}, []),
        (both("ba"), {"a": ["a", ""]}, ["a and b are joined, but in different classes"]),
        (both("ab"), {"b": ["b", ""]}, ["a and b are joined, but in different classes"]),
        (both("ab"), {"a": ["a", ""], "b": ["b", ""]}, ["a and b are joined, but in different classes"]),
        (both("cc"), {}, ["c and c are joined, but in different classes"]),
        (both("ab"), {"a": ["a", ""], "b": ["a", "a"], "c": ["a", "b"]}, ["c has no edge to b"]),
        (both("ab"), {"a": ["a", ""], "b": ["a", ""]}, ["b does not lead to a"]),
        # The root is the least, and not any node of the class.
        (both("ab"), {"a": ["b", "b"], "b": ["b", ""]}, ["a does not lead to b"]),
        # A circle has no root.
        (both("bc"), {"b": ["a", "c"], "c": ["a", "b"]}, ["b does not lead to a", "c does not lead to a"]),
    ],
)
def test_classes_are_trees_of_edges(pairs: set[tuple[str, str]], classes: Classes, words: list[str]) -> None:
    assert list(class_faults(pairs, classes)) == words


@pytest.mark.parametrize(
    ("classes", "node", "leads"),
    [
        ({"a": ["a", ""], "b": ["a", "a"], "c": ["a", "b"]}, "c", True),
        ({"a": ["a", ""]}, "a", True),
        ({"b": ["a", ""]}, "b", False),
        # Through a node of another class, to another class, to none.
        ({"a": ["a", ""], "b": ["a", "x"], "x": ["w", "a"]}, "b", False),
        ({"a": ["a", ""], "b": ["a", "x"], "x": ["x", ""]}, "b", False),
        ({"a": ["a", ""], "b": ["a", "x"]}, "b", False),
        ({"b": ["a", "b"]}, "b", False),
    ],
)
def test_steps_end_at_the_least_node(classes: Classes, node: str, leads: bool) -> None:
    known: dict[str, bool] = {}
    assert _leads(classes, node, known) is leads
    assert known.get(node) is leads
    # What is known is said again, of whatever leads there.
    assert _leads(classes | {"z": [classes[node][0], node]}, "z", known) is leads


class _Counted(dict[str, list[str]]):
    looks = 0

    def __getitem__(self, node: str) -> list[str]:
        self.looks += 1
        return super().__getitem__(node)


def test_no_step_is_taken_twice() -> None:
    """A chain of a class, asked from its root to its end."""
    names = [f"n{number:04}" for number in range(1000)]
    chain = _Counted({name: [names[0], before] for name, before in zip(names, ["", *names], strict=False)})
    known: dict[str, bool] = {}
    assert all(_leads(chain, name, known) for name in names)
    assert chain.looks < 20 * len(names)


# Owners.

TREES: Classes = {"a": ["a", ""], "b": ["a", "a"], "z": ["z", ""]}


def said_of(**parts: object) -> Found:
    """A statement with nothing in it but these parts."""
    empty = {"labels": {}, "exclusive": {}, "owner": "acme", "grants": [], "owners": {}, "public": [], "terminals": []}
    return empty | parts


def test_owners_of_a_class_and_of_an_identity() -> None:
    labels = {"a": ["acme"], "b": ["globex", "acme"], "z": ["op"], "nowhere": ["carol"]}
    held = {"machine:1": ["acme"], "machine:2": ["acme", "acme"], "machine:3": ["globex", "acme"], "machine:4": []}
    said = said_of(labels=labels, exclusive=held)
    owners = owners_of(said, TREES)
    assert owners == {"a": {"acme", "globex"}, "z": {"op"}, "nowhere": {"carol"}}
    assert list(owner_faults(said, owners)) == [
        "the class of a has the owners acme and globex",
        "machine:3 is held by globex and acme",
        "machine:4 is held by nobody",
    ]


def terminals(*kinds: tuple[str, str, list[str]]) -> list[dict[str, Any]]:
    """Declarations: name, device and audience."""
    return [
        {"name": name, "kind": "monitoring", "node": node, "audience": who, "rule": "SEC-02"}
        for name, node, who in kinds
    ]


@pytest.mark.parametrize(
    ("declared", "who", "words"),
    [
        (terminals(("mine", "T", ["acme"])), ["acme"], []),
        (terminals(("mine", "T", ["acme"])), ["op", "world"], []),
        (terminals(("mine", "T", ["*"])), ["globex"], []),
        (
            terminals(("mine", "T", ["acme"])), ["globex", "carol", "acme"],
            ["carol meets mine, and is not in its audience", "globex meets mine, and is not in its audience"],
        ),
        # A device that is declared twice is for either one's audience.
        (terminals(("mine", "T", ["acme"]), ("out", "T", ["globex"])), ["globex"], []),
        (
            terminals(("mine", "T", ["acme"]), ("out", "T", ["globex"])), ["carol"],
            ["carol meets mine and out, and is not in its audience"],
        ),
        # Whichever names stand between, and in whatever order.
        (
            terminals(("c", "T", ["acme"]), ("a", "U", ["*"]), ("d", "T", ["globex"]), ("b", "T", ["dave"])),
            ["acme", "globex", "carol", "dave"], ["carol meets c and d and b, and is not in its audience"],
        ),
        # Two devices are not.
        (
            terminals(("mine", "T", ["acme"]), ("out", "U", ["globex"])), ["globex"],
            ["globex meets mine, and is not in its audience"],
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["dev:T/e0@7", "dev:T"])
def test_audiences_of_copies(declared: list[dict[str, Any]], who: list[str], words: list[str], end: str) -> None:
    """At either end of what is kept away."""
    said = stating("terminals", ["dev:T/e0@7", "dev:T", *(item["name"] for item in declared)])
    said |= {"terminals": declared, "labels": {end: who}}
    for item in declared:
        said["guards"] |= {key.replace(".mine.", f".{item['name']}."): True for key in said["guards"]}
    assert edges(said) == set()
    assert list(audience_faults(said, {}, owners_of(said, {}))) == words


def test_of_a_class_of_many_owners_a_few_are_told() -> None:
    """The class is told as that; who else is in it would be told again at each copy."""
    who = [f"t{number}" for number in range(12)]
    said = stating("terminals", ["dev:T/e0@7", "dev:T", "mine"])
    said |= {"terminals": terminals(("mine", "T", ["acme"])), "labels": {"dev:T": ["op", *who, "world"]}}
    found = list(audience_faults(said, {}, owners_of(said, {})))
    assert found == [f"{name} meets mine, and is not in its audience" for name in sorted(who)[:9]]


def test_who_meets_a_device_that_is_joined_is_told_by_its_class() -> None:
    """Where a guard does not hold there is an edge, and no audience."""
    said = stating("terminals", ["dev:T/e0@7", "dev:T", "mine"])
    said |= {"terminals": terminals(("mine", "T", ["acme"])), "labels": {"dev:T": ["globex"]}}
    said["guards"] = dict.fromkeys(said["guards"], False)
    assert edges(said) == {("dev:T/e0@7", "dev:T"), ("dev:T", "dev:T/e0@7")}
    assert list(audience_faults(said, {}, owners_of(said, {}))) == []
