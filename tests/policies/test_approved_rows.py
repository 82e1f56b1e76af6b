"""Exact rows: what the prover makes of each example and of each seeded defect is what somebody looked at and kept.

Other tests ask for a verdict; these ask for all that leads there: every edge with its guards, label, premise, class of
a footprint, count and word. `python -m tests.policies.approved_texts` writes the texts again.
"""

from __future__ import annotations

import pytest

from tests.policies.approved_texts import (
    APPROVED,
    CASES,
    PLAIN,
    WORLDS,
    approved,
    approved_findings,
    findings,
    rows,
)


@pytest.mark.parametrize("place", WORLDS)
def test_rows_of_an_example(place: str) -> None:
    assert rows(place) == approved(place)


@pytest.mark.parametrize(("rule", "words"), CASES)
def test_findings_of_a_defect(rule: str, words: str) -> None:
    assert findings(rule, words) == approved_findings(rule, words)


def test_the_files_are_those_of_examples_and_defects() -> None:
    there = {path.relative_to(APPROVED).as_posix() for path in APPROVED.rglob("*.txt")}
    assert there == set(WORLDS) | {f"findings/{rule}.txt" for rule, _ in CASES}


def test_a_row_that_is_missing_is_told() -> None:
    """A text is held to every line: one edge less is a difference."""
    lines = approved(PLAIN).splitlines()
    edges = [line for line in lines if line.startswith("+ E")]
    assert edges
    assert "\n".join(line for line in lines if line != edges[0]) + "\n" != rows(PLAIN)
