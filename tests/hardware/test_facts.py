"""Every figure of the catalogue has a unit and a source, and nothing takes a remembered one silently."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from pathlib import Path

import pytest

import interlock.hardware
from interlock.hardware import Fact, Provenance

ROOT = Path(__file__).resolve().parents[2]

#: A limit of the port map and checked against it (test_designs), no figure of its own.
PLAIN = {"max_pdus"}


def constants() -> Iterator[tuple[str, object]]:
    """Every public constant of every module of the catalogue."""
    for module in pkgutil.walk_packages(interlock.hardware.__path__, "interlock.hardware."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.isupper() and not name.startswith("_"):
                yield f"{module.name.removeprefix('interlock.hardware.')}.{name}", value


def leaves(where: str, value: object) -> Iterator[tuple[str, object]]:
    """Everything below a constant that is no record and no collection; a Fact is one leaf."""
    if isinstance(value, Fact) or value is None:
        yield where, value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from leaves(f"{where}.{field.name}", getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(f"{where}[{key}]", item)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from leaves(where, item)
    else:
        yield where, value


LEAVES = [leaf for name, value in constants() for leaf in leaves(name, value)]
FACTS: list[tuple[str, Fact[object]]] = [(where, value) for where, value in LEAVES if isinstance(value, Fact)]


def test_every_figure_is_a_fact() -> None:
    bare = [
        where
        for where, value in LEAVES
        if isinstance(value, (int, float, Decimal)) and where.rpartition(".")[2] not in PLAIN
    ]
    assert bare == []


def test_there_are_many() -> None:
    assert len(FACTS) > 150
    assert len([where for where, _ in FACTS if where.startswith("gpu.")]) > 300
    assert {fact.provenance for _, fact in FACTS} == set(Provenance)


def test_every_figure_names_a_source() -> None:
    assert [where for where, fact in FACTS if len(fact.source.strip()) < 5] == []


def test_no_source_is_a_note_of_ours() -> None:
    """A source is a document that others can look up, never a paper of this project."""
    ours = [
        where
        for where, fact in FACTS
        if ".md" in fact.source or "seed " in fact.source.lower().replace("seed node", "")
    ]
    assert ours == []


def test_what_is_remembered_says_so_in_its_source() -> None:
    for where, fact in FACTS:
        if fact.remembered:
            assert "remembered" in fact.source or "nameplate" in fact.source, where


def test_a_remembered_figure_is_not_known() -> None:
    fact = Fact(1700, "W", Provenance.REMEMBERED, "remembered, not read")
    assert (fact.remembered, fact.known) == (True, None)


@pytest.mark.parametrize("provenance", [Provenance.PRIMARY, Provenance.PRACTICE, Provenance.DERIVED])
def test_any_other_figure_is_known(provenance: Provenance) -> None:
    fact = Fact(1700, "W", provenance, "a document")
    assert (fact.remembered, fact.known) == (False, 1700)


def suggestions() -> set[str]:
    """Names of attributes and constants under which some model holds a remembered figure."""
    return {where.rpartition(".")[2].rpartition("]")[2] for where, fact in FACTS if fact.remembered}


def test_the_suggestions_are_these() -> None:
    """A new one is a decision: whoever reads that attribute must ask `known`."""
    assert suggestions() == {"FEED_DERATE", "depth", "nameplate", "weight"}


def test_no_suggestion_is_taken_silently() -> None:
    """`model.weight.value` would take it; `model.weight.known` is None for a suggestion."""
    found = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room in ("interlock", "policies", "components", "infra")
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and _takes_value(node)
    }
    assert found == set()


def test_the_search_for_silent_use_finds_it() -> None:
    taken = ast.parse("watts = machine.nameplate.value").body[0]
    asked = ast.parse("watts = machine.nameplate.known").body[0]
    assert any(_takes_value(node) for node in ast.walk(taken))
    assert not any(_takes_value(node) for node in ast.walk(asked))


def _takes_value(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != "value":
        return False
    base = node.value
    name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
    return name in suggestions()
