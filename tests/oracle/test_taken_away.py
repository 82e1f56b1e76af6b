"""What takes an edge, a label or an obligation away: each entry, when forgotten, loses the proof (semantics §8)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.model.site.completeness import TABLES

from .comparing import answers
from .drafting import Draft
from .oracle import leaks
from .taking_away import (
    ASSUMPTIONS,
    OF_ONE_GUARD,
    RECORDS,
    TERMINALS,
    Entry,
    everything,
    guards_of_assumptions,
    guards_of_sharing,
    tables,
    without_guard,
    without_guard_of_sharing,
)
from .world import World

PAGE = Path(__file__).parents[2] / "docs/design/semantics.md"
#: Entries of the page that have their tests elsewhere -> where.
ELSEWHERE = {
    "switches.ip_routing": "tests/policies/test_guards.py",
    "flavors.whole_node.one_time_use": "tests/policies/test_rules_whole_nodes.py",
    "complete.switch_ports": "tests/policies/test_forgetting.py",
    "physical_networks.switches": "tests/errors/test_errors.py",
    "evidence": "tests/infra/test_settle_evidence.py",
    "evidence of switches": "tests/infra/test_switch_evidence.py",
    "assumptions.A14": "tests/policies/test_rules_ironic.py",
    "assumptions.A15": "tests/policies/test_rules_ironic.py",
    "sharing, other kinds": "tests/mutants/op_guards.py",
}


def both_say(world: World) -> tuple[str, str]:
    """The oracle's verdict, and the worst of the prover's."""
    codes = {item.exit_code for item in answers(world, ["site", *world.plans]).values()}
    return leaks(world).verdict, "V" if 1 in codes else "N" if 3 in codes else "P"


def loses_its_proof(known: Draft, forgotten: Draft) -> None:
    """With the fact it is proved, so the fact took something away; without it nobody knows."""
    assert both_say(known.made()) == ("P", "P")
    assert both_say(forgotten.made()) == ("N", "N")


@pytest.mark.parametrize("entry", RECORDS.values(), ids=RECORDS)
def test_a_fact_of_the_site(entry: Entry) -> None:
    loses_its_proof(entry(True), entry(False))


@pytest.mark.parametrize(("name", "guard", "made"), tuple(guards_of_assumptions()))
def test_a_guard_of_an_assumption(name: str, guard: str, made: Callable[[], Draft]) -> None:
    loses_its_proof(made(), without_guard(made(), name, guard))


@pytest.mark.parametrize(("kind", "guard"), tuple(guards_of_sharing()))
def test_a_guard_of_declared_sharing(kind: str, guard: str) -> None:
    loses_its_proof(TERMINALS[kind](), without_guard_of_sharing(TERMINALS[kind](), kind, guard))


@pytest.mark.parametrize(("table", "subject"), tuple(tables(everything().made().site)))
def test_a_declaration_of_completeness(table: str, subject: str) -> None:
    without = everything()
    without.open_tables.add((table, subject))
    loses_its_proof(everything(), without)


def test_the_page_lists_them() -> None:
    """Row by row: what the table names is tried here or where it says, and nothing is tried that it does not name."""
    text = PAGE.read_text(encoding="utf-8").partition("| takes away |")[2].partition("\n\n")[0]
    rows = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    guards = {f"assumptions.{name}" for name in (*ASSUMPTIONS, *(place.partition(".")[0] for place in OF_ONE_GUARD))}
    declared = {f"complete.{table}" for table in TABLES} - ELSEWHERE.keys()
    assert rows == {*RECORDS, *guards, *declared, *(f"sharing, {kind}" for kind in TERMINALS), *ELSEWHERE}
    assert all((PAGE.parents[2] / place).is_file() for place in ELSEWHERE.values())
