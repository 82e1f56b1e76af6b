"""Nobody looks for the beginning or end of an identity in text, outside `interlock/vocabulary`: ask its value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from interlock.vocabulary.nodes import OtherTextNode, is_identity, parse

ROOT = Path(__file__).parents[2]
ROOMS = ("interlock", "policies", "components", "infra")
VOCABULARY = "interlock/vocabulary/"
#: Methods of text that take a beginning, an end or a separator.
METHODS = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition"})


def _is_of_an_identity(text: str) -> bool:
    """True for what the text of a node or of an exclusive identity begins with, such as `L:`."""
    return is_identity(text) or (text.endswith(":") and not isinstance(parse(f"{text}x"), OtherTextNode))


def asked_of_text(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The beginnings of identities that a method of text is given, with their lines."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
            for word in (node for argument in call.args for node in ast.walk(argument)):
                if isinstance(word, ast.Constant) and isinstance(word.value, str) and _is_of_an_identity(word.value):
                    yield word.value, call.lineno


def test_identities_are_not_taken_apart_as_text() -> None:
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(VOCABULARY):
                found += [(name, text, line) for text, line in asked_of_text(ast.parse(path.read_text()))]
    assert found == []


def test_the_search_finds_what_it_looks_for() -> None:
    code = 'a.startswith("L:"); b.startswith(("dev:", "R:")); c.removeprefix("segment:"); d.startswith("site:")'
    assert [text for text, _ in asked_of_text(ast.parse(code))] == ["L:", "dev:", "R:", "segment:"]
