"""The glossary: sorted, every term in use, and every name in code style there."""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from types import ModuleType

import pytest

from tests.docs.pages import ROOT, pages, text_of

PAGE = "docs/glossary.md"
PACKAGES = ("infra", "components", "policies", "interlock")
_ROW = re.compile(r"^\| (?P<term>[^|]+?) \| (?P<meaning>[^|]+?) \| (?P<place>[^|]+?) \|$", re.MULTILINE)
ROWS = [(row["term"], row["meaning"], row["place"]) for row in _ROW.finditer(text_of(PAGE)) if row["term"] != "term"]
TERMS = [term for term, _, _ in ROWS]
#: What a reader of the issue list, the messages or the code meets first.
WANTED = {
    "admission", "allocation state", "audience", "boundary", "certificate", "claim", "footprint", "IPU-Machine",
    "lineage", "logical rack", "marker", "observed plan", "plan", "Poplar host", "preview token", "proof",
    "released", "settled", "terminal", "unmanaged resource", "V-IPU controller", "vPOD", "witness",
}  # fmt: skip


@cache
def elsewhere() -> str:
    """All other pages, and all code, as one text in lower case on one line."""
    files = [file for name in PACKAGES for file in (ROOT / name).rglob("*.py")]
    texts = [text_of(page) for page in pages() if page != PAGE] + [file.read_text() for file in files]
    return " ".join(" ".join(texts).lower().replace("_", " ").split())


def test_terms_are_sorted_and_stand_once() -> None:
    assert sorted(TERMS, key=lambda term: term.lower().replace("-", "")) == TERMS
    assert len(set(TERMS)) == len(TERMS)


def test_the_terms_that_readers_meet_first_are_there() -> None:
    assert set(TERMS) >= WANTED


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used(term: str) -> None:
    assert re.search(rf"\b{re.escape(term.lower())}", elsewhere()), f"nobody says {term!r}"


@pytest.mark.parametrize(("term", "place"), [(term, place) for term, _, place in ROWS if place.startswith("`")])
def test_a_name_in_the_code_is_there(term: str, place: str) -> None:
    module, _, name = place.strip("`").partition(":")
    found = pkgutil.resolve_name(f"{module}:{name}")
    assert name or isinstance(found, ModuleType), f"{term}: {place} is no module"


@pytest.mark.parametrize(("term", "place"), [(term, place) for term, _, place in ROWS if not place.startswith("`")])
def test_a_term_that_is_not_in_the_code_links_to_a_page(term: str, place: str) -> None:
    assert re.fullmatch(r"\[[^\]]+\]\([^)]+\)", place), f"{term}: {place} is neither a name nor a link"
