"""However a file is made, checking it takes work in proportion to its size: texts that are looked at are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infra.checker import GROUND, Malformed, edges, wired
from infra.checker.authority import authority_faults
from infra.checker.isolation import audience_faults, owners_of
from infra.checker.reading import _object

Found = dict[str, Any]
Attack = Callable[[int], object]
SIZE, TIMES = 300, 4


class Text(str):
    """A text that counts how often it is looked at."""

    __slots__ = ()
    looks = 0

    def __eq__(self, other: object) -> bool:
        Text.looks += 1
        return str.__eq__(self, other)

    def __lt__(self, other: str) -> bool:
        Text.looks += 1
        return str.__lt__(self, other)

    def __hash__(self) -> int:
        Text.looks += 1
        return str.__hash__(self)

    def startswith(self, *words: Any) -> bool:
        """As a text does."""
        Text.looks += 1
        return str.startswith(self, *words)


class Guards(dict[Text, bool]):
    """Guards by name that count how often one is asked for."""

    def get(self, name: Any, otherwise: Any = None) -> Any:
        """As a dictionary does."""
        Text.looks += 1
        return dict.get(self, name, otherwise)


def stating(ground: dict[str, list[list[str]]], **parts: Any) -> Found:
    """A statement with nothing in it but these rows and parts."""
    said: Found = {"facts": {}, "guards": Guards(), "terminals": [], "labels": {}, "owner": "acme", "grants": []}
    return said | {"owners": {}, "public": [], "ground": {name: [] for name in GROUND} | ground} | parts


def declared(name: str, *audience: str) -> Found:
    """A declaration of sharing for somebody."""
    return {"name": name, "kind": "routed-back-end", "node": f"T-{name}", "audience": [Text(who) for who in audience]}


def holding(*names: str, more: int = 0) -> Guards:
    """All that declarations take, and so many guards of the first besides."""
    held = [f"sharing.{name}.guards.{guard}" for name in names for guard in ("default_deny", "permits_service_only")]
    held += [f"sharing.{names[0]}.guards.g{number}" for number in range(more)]
    return Guards({Text(guard): True for guard in held})


def _keys(size: int) -> object:
    """An object with many keys, one of them twice."""
    with pytest.raises(Malformed, match="the key k0 stands twice"):
        _object([(Text(f"k{number}"), 1) for number in (*range(size), 0)])
    return None


def _groups(size: int) -> object:
    """Each row names a declaration of its own, and there are many guards of others."""
    names = [f"d{number}" for number in range(size)]
    rows = [[f"L:S~g{name}:7", name] for name in names]
    guards = holding(*names, more=size)
    return edges(stating({"groups": rows}, terminals=[declared(name) for name in names], guards=guards))


def _groups_of_one(size: int) -> object:
    """Each row names a declaration of its own, and one that has many guards."""
    names = [f"d{number}" for number in range(size)]
    rows = [[f"L:S~g{name}:7", "first", name] for name in names]
    terminals = [declared(name) for name in ("first", *names)]
    return edges(stating({"groups": rows}, terminals=terminals, guards=holding("first", *names, more=size)))


def _met(size: int) -> object:
    """A device with a large audience and many copies."""
    copies = [[f"dev:T@{number}", "dev:T", "first"] for number in range(size)]
    terminals = [declared("first", *(f"t{number}" for number in range(size)))]
    labels = {f"dev:T@{number}": [f"t{number}"] for number in range(size)}
    said = stating({"terminals": copies}, terminals=terminals, labels=labels, guards=holding("first"))
    return list(audience_faults(said, {}, owners_of(said, {})))


def _met_by_many(size: int) -> object:
    """Many owners at one device that is for none of them, and has many copies."""
    names = [f"d{number}" for number in range(size)]
    terminals = [declared(name) for name in names]
    labels = {"dev:T": [Text(f"t{number}") for number in range(size)]}
    copies = [[f"dev:T@{name}", "dev:T", name] for name in names]
    said = stating({"terminals": copies}, terminals=terminals, labels=labels, guards=holding(*names))
    return list(audience_faults(said, {}, owners_of(said, {})))


def _many_at_one_row(size: int) -> object:
    """One copy, of many declared devices."""
    names = [f"d{number}" for number in range(size)]
    terminals = [declared(name, "acme") | {"node": Text(f"T-{name}")} for name in names]
    rows = [["dev:T@7", "dev:T", *names]]
    said = stating({"terminals": rows}, terminals=terminals, labels={"dev:T": ["acme"]}, guards=holding(*names))
    return list(audience_faults(said, {}, owners_of(said, {})))


def _public(size: int) -> object:
    """Much that is held, and much that is public."""
    public = [Text(f"p{number}") for number in range(size)]
    said = stating({}, public=public, owners={f"x{number}": ["globex"] for number in range(size)})
    return list(authority_faults(said, ["write prin:acme", *(f"read x{number}" for number in range(size))]))


@pytest.mark.parametrize(
    "attack",
    [_keys, _groups, _groups_of_one, _met, _met_by_many, _many_at_one_row, _public],
    ids=lambda of: of.__name__,
)
def test_a_file_of_four_times_the_size_takes_four_times_the_work(attack: Attack) -> None:
    """Where it is sorted a little more; where each was compared with each, sixteen times."""
    looks = []
    for size in (SIZE, TIMES * SIZE):
        Text.looks = 0
        attack(size)
        looks.append(Text.looks)
    assert looks[1] < 1.6 * TIMES * looks[0], looks
    assert looks[1] > SIZE, "nothing was counted"


def test_what_cables_join_is_refused_as_soon_as_it_is_too_much() -> None:
    """Each of many ports is cabled with each: before, all was joined first."""
    size, tags = 400, (Text("7"), Text("8"))
    carried: list[list[str]] = [[f"p{port}", tag, f"L:S{port}:{tag}"] for port in range(size) for tag in tags]
    cables = [[f"p{a}", f"p{b}"] for a in range(size) for b in range(size)]
    Text.looks = 0
    with pytest.raises(Malformed, match="too many VLANs by one tag"):
        wired(stating({"carried": carried, "cables": cables}))
    assert Text.looks < 7 * (10_000 + 100 * len(carried)), Text.looks
