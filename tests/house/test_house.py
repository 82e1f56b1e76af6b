"""The house rules, held by machines: lint, types, one-way imports, size of functions and files, full annotation."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("infra", "components", "policies", "interlock", "sandbox", "toolchain", "benchmarks")
USUAL, LONGEST, FILE = 35, 60, 350
VAGUE = {"utils", "helpers", "common", "manager", "misc"}


@dataclass(frozen=True)
class Function:
    where: str
    lines: int
    annotated: bool


def sources() -> list[Path]:
    """Every Python file of ours outside tests."""
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def functions() -> Iterator[Function]:
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                yield Function(where, (node.end_lineno or node.lineno) - node.lineno + 1, _annotated(node))


def _annotated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
    named = [item for item in given if item.arg not in ("self", "cls")]
    return node.returns is not None and all(item.annotation is not None for item in named)


COMMANDS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "imports": ["lint-imports", "--no-cache"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_checked_by(name: str) -> None:
    program, *arguments = COMMANDS[name]
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_functions_are_small() -> None:
    sizes = sorted(item.lines for item in functions())
    assert sizes[int(len(sizes) * 0.95)] <= USUAL
    assert [item.where for item in functions() if item.lines > LONGEST] == []


def test_files_are_small() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert {name: lines for name, lines in long.items() if lines > FILE} == {}


def test_everything_is_annotated() -> None:
    assert [item.where for item in functions() if not item.annotated] == []


def test_no_room_has_a_vague_name() -> None:
    assert [str(path) for path in sources() if path.stem in VAGUE] == []


def test_digits_are_those_that_everybody_reads() -> None:
    """`\\d`, `isdigit` and `isdecimal` take digits of all scripts, and `²`: input is read by `is_number`, `[0-9]`."""
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        if path.relative_to(ROOT).parts[0] in ("infra", "components", "policies", "interlock")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if ("re.compile" in line and r"\d" in line)
        or (re.search(r"\.is(digit|decimal|numeric)\(", line) and "isascii()" not in line)
    ]
    assert found == []
