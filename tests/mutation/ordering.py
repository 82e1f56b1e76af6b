"""In which order tests are tried on a mutant: those first whose words are those of the changed function.

Nearly all tests reach nearly all rules, and most would not notice what one function does. A test that would is mostly
called like it, builds what it is about, or names its rule; words that many tests have say little.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from math import log, sqrt

from tests.mutation.changes import ROOT, text_of

_WORD = re.compile(r"(?:ISO|L3|SEC|TOP|CAP|PWR|AUTH|EXPO|FACT)-\d\d|[a-z]{3,}", re.ASCII)


#: A test that takes so many seconds has to be twice as much alike as one that takes none.
SLOW = 0.5


def dealt(function: str, tests: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """The tests that reach a function (`module:function`): the most alike first, a quick one before a slow one."""
    asked = _words_of(function)
    return sorted(tests, key=lambda name: (-_alike(asked, name) / (1 + seconds[name] / SLOW), seconds[name], name))


def _alike(asked: frozenset[str], test: str) -> float:
    rare = _rareness()
    words = _words_in_test(test)
    shared = sum(rare.get(word, 0.0) for word in words & asked)
    return shared / sqrt(1 + len(words))


@cache
def _words_of(function: str) -> frozenset[str]:
    """Of a function's own text, and of the rules that its module makes."""
    module, _, name = function.partition(":")
    inside = _functions(module).get(name, "")
    return frozenset(_WORD.findall(f"{inside} {module}")) | {
        word for word in _WORD.findall(text_of(module)) if "-" in word
    }


@cache
def _words_in_test(test: str) -> frozenset[str]:
    """Of a test's text and name, with its parameters, and of its file's name."""
    file, _, name = test.partition("::")
    text = _functions(file).get(name.partition("[")[0], "") if (ROOT / file).exists() else ""
    return frozenset(_WORD.findall(f"{text} {test}"))


@cache
def _functions(file: str) -> dict[str, str]:
    """Name -> text of the functions of a file, methods with the name of their class before them."""
    source = text_of(file)
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _text(source, node)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{item.name}": _text(source, item)
                for item in node.body
                if isinstance(item, ast.FunctionDef)
            }
    return found


def _text(source: str, node: ast.FunctionDef) -> str:
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    return "\n".join(source.splitlines()[first - 1 : node.end_lineno])


@cache
def _rareness() -> dict[str, float]:
    """Word -> how little it is used: by the logarithm of how many functions of tests have it."""
    files = sorted((ROOT / "tests" / "policies").glob("test_*.py"))
    texts = [text for path in files for text in _functions(path.relative_to(ROOT).as_posix()).values()]
    count = Counter(word for text in texts for word in set(_WORD.findall(text)))
    return {word: log(len(texts) / number) for word, number in count.items()}
