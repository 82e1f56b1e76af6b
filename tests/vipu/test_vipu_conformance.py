"""The table of conformance is whole: every command, refusal and test is in it, and each test that it names is there."""

from __future__ import annotations

import ast
from pathlib import Path

from sandbox.vipu.commands import COMMANDS
from sandbox.vipu.conformance import COMMAND_TESTS, RULES, all_rows, place_of_test
from sandbox.vipu.flags import FLAGS
from sandbox.vipu.handlers import HANDLERS
from sandbox.vipu.refusals import REFUSALS

ROOT = Path(__file__).resolve().parents[2]


def _tests() -> dict[tuple[str, str], str]:
    """File and name of each test -> its text, with what it is parametrized by."""
    found = {}
    for path in (ROOT / "tests" / "vipu").glob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
                lines = text.splitlines()[first - 1 : node.end_lineno]
                found[path.relative_to(ROOT).as_posix(), node.name] = "\n".join(lines)
    return found


_TESTS = _tests()


def test_every_row_names_tests_that_are_there() -> None:
    assert all(row.tests for row in all_rows())
    named = {place_of_test(name) for row in all_rows() for name in row.tests}
    assert named - _TESTS.keys() == set()


def test_every_test_shows_a_row() -> None:
    """But those of the table itself."""
    shown = {place_of_test(name) for row in all_rows() for name in row.tests}
    assert {test for test in _TESTS.keys() - shown if "conformance" not in test[0]} == set()


def test_every_command_and_refusal_has_a_row() -> None:
    assert COMMAND_TESTS.keys() == {item.words for item in COMMANDS}
    assert {name for row in RULES for name in row.conditions} == REFUSALS.keys()


def test_every_refusal_is_seen_by_a_test_of_its_row() -> None:
    """The condition stands in a test that the row names; or the code, where a client alone sees it."""
    for row in RULES:
        texts = [_TESTS[place_of_test(name)] for name in row.tests]
        for condition in row.conditions:
            sign = {"late": "DEADLINE_EXCEEDED", "unreached": "UNAVAILABLE", "injected": "UNAVAILABLE: on demand"}
            assert any(sign.get(condition, f'"{condition}"') in text for text in texts), (row.rule, condition)


def test_every_command_has_a_handler_and_flags_that_exist() -> None:
    assert HANDLERS.keys() | {("discover", "agent")} == {(item.verb, item.noun) for item in COMMANDS}
    assert {name for item in COMMANDS for name in item.flags} <= {flag.name for flag in FLAGS if not flag.everywhere}


def test_a_source_says_where_or_that_there_is_none() -> None:
    sources = [row.source for row in all_rows()] + [item.source for item in COMMANDS] + [flag.source for flag in FLAGS]
    assert all(source.words for source in sources)
    guides = [source for source in sources if "Guide, " in source.words]
    assert len(guides) > 20
    assert {source.basis for source in guides} == {"documented"}
