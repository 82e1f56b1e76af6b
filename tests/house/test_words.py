"""Private words that had a standard one do not come back; docs/glossary.md has those that are used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.test_house import ROOT

#: What was once said -> what to write.
REPLACED = {
    r"made anew": "recreated",
    r"\bstrays\b": "unmanaged resources",
    r"rehearsals?\b": "preview token",
    r"[Ww]hat others made": "unmanaged resources",
    r"is no reason": "the reason must not be empty",
    r"cannot be said\b": "not supported, or: no plan can hold it",
    r"\b(?:Site)?Sheet\b": "PlanBuilder",
    r"\bPace\b": "RetryPolicy",
}
#: Where the words of people stand: the product, its pages and its messages.
FOLDERS = ("infra", "interlock", "policies", "components", "toolchain", "sandbox", "benchmarks", "docs", "stacks")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")


def texts() -> Iterator[Path]:
    yield from (ROOT / name for name in PAGES)
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in {".py", ".md", ".yaml"})


def found(text: str) -> list[str]:
    """The words that a text still has."""
    return [match.group() for word in REPLACED for match in re.finditer(word, text)]


def test_replaced_words_stand_nowhere() -> None:
    assert len(list(texts())) > 500
    assert {path.relative_to(ROOT).as_posix(): words for path in texts() if (words := found(path.read_text()))} == {}


def test_a_replaced_word_would_be_found() -> None:
    assert found("the port is made anew; two strays") == ["made anew", "strays"]
    assert found("class SiteSheet(PlanBuilder): ...") == ["SiteSheet"]
    assert found("the observed plan; recreated") == []
