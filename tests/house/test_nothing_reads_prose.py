"""Findings are data: their text is made when they are shown, and nobody takes it apart again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from textwrap import indent

import pytest

from tests.house.test_house import ROOT

ROOMS = ("policies", "components", "infra")
#: Fields that hold text for people.
PROSE = frozenset({"message", "witness", "title"})
#: Methods that look into a text.
LOOKING = frozenset({
    "count", "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex",
    "rpartition", "rsplit", "rstrip", "lstrip", "strip", "split", "splitlines", "startswith",
})  # fmt: skip
#: Functions of `re` and methods of its patterns.
MATCHING = frozenset({"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"})


def _is_prose(tree: ast.AST, names: set[str]) -> bool:
    """True if an expression has a field of prose in it, or a name that stands for some."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr in PROSE) or (isinstance(node, ast.Name) and node.id in names)
        for node in ast.walk(tree)
    )


def _bound(node: ast.AST) -> tuple[list[ast.expr], ast.expr] | None:
    """What a statement or comprehension binds, and from what."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return targets, value
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            return [target], value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            return [target], value
        case _:
            return None


def _names_of_prose(tree: ast.AST) -> set[str]:
    """Names that are bound to a field of prose, or to what is made of it."""
    found: set[str] = set()
    bindings = [pair for node in ast.walk(tree) if (pair := _bound(node)) is not None]
    while True:
        prose = [targets for targets, value in bindings if _is_prose(value, found)]
        names = {node.id for targets in prose for target in targets for node in ast.walk(target)
                 if isinstance(node, ast.Name)}  # fmt: skip
        if names <= found:
            return found
        found |= names


def _looks_into(node: ast.AST, names: set[str]) -> bool:
    """True for a call, comparison or `match` that decides by what prose says."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=arguments):
            asked = attr in LOOKING and _is_prose(value, names)
            return asked or (attr in MATCHING and any(_is_prose(item, names) for item in arguments))
        case ast.Compare(ops=operators, left=left, comparators=others):
            pairs = zip(operators, [left, *others], others, strict=False)
            return any(_compares(operator, a, b, names) for operator, a, b in pairs)
        case ast.Match(subject=subject):
            return _is_prose(subject, names)
        case _:
            return False


def _compares(operator: ast.cmpop, left: ast.expr, right: ast.expr, names: set[str]) -> bool:
    if isinstance(operator, ast.In | ast.NotIn):
        return _is_prose(right, names)
    texts = (isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (left, right))
    return any(texts) and (_is_prose(left, names) or _is_prose(right, names))


def reading(tree: ast.Module) -> Iterator[int]:
    """The lines at which a module looks into prose; names count inside the function, or class, that binds them."""
    for scope in tree.body:
        inside = [scope] if not isinstance(scope, ast.ClassDef) else scope.body
        for part in inside:
            names = _names_of_prose(part)
            yield from (node.lineno for node in ast.walk(part) if isinstance(node, ast.expr | ast.stmt)
                        and _looks_into(node, names))  # fmt: skip


def test_nobody_looks_into_what_a_finding_says() -> None:
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    assert len(files) > 150
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{line}"
        for path in files
        for line in reading(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        '_WORD.findall(finding.message)',
        're.search("port (.*)", finding.witness[0])',
        '"port" in finding.message',
        'any("port" in step for step in finding.witness)',
        '[step.split() for step in finding.witness]',
        'text = " ".join((finding.message, *finding.witness))\n    words = text.split()',
        'finding.title.startswith("no ")',
        'finding.message == "no path"',
        'for step in finding.witness:\n        step.removeprefix("? ")',
    ],
)  # fmt: skip
def test_who_does_is_found(line: str) -> None:
    assert list(reading(ast.parse(f"def entries(finding):\n    {line}\n")))
    method = indent(f"def entries(self, finding):\n    {line}\n", "    ")
    assert list(reading(ast.parse(f"class Entries:\n{method}")))


@pytest.mark.parametrize(
    "line",
    [
        'f"{finding.rule}: {finding.message}"',
        '", ".join(finding.witness)',
        'sorted(findings, key=lambda item: (item.rule, item.message))',
        'finding.rule.startswith("ISO-")',
        '"resource:a" in finding.about',
    ],
)  # fmt: skip
def test_who_shows_it_is_not(line: str) -> None:
    assert not list(reading(ast.parse(f"def shown(finding, findings):\n    {line}\n")))
