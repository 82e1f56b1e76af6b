"""A figure and where it comes from. Nothing in the catalogue stands without a source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Provenance(StrEnum):
    """How far a figure can be trusted. What is only remembered is not here: the site must state it."""

    #: Read in the maker's own document.
    PRIMARY = "primary"
    #: Seen in public code or in operators' notes.
    PRACTICE = "practice"
    #: Follows from other figures by arithmetic or logic; `source` says how.
    DERIVED = "derived"


@dataclass(frozen=True)
class Fact(Generic[T]):
    """One figure. `unit` is empty for plain counts."""

    value: T
    unit: str
    provenance: Provenance
    source: str
