"""A figure and where it comes from. Nothing in the catalogue stands without a source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Provenance(StrEnum):
    """How far a figure can be trusted."""

    #: Read in the maker's own document.
    PRIMARY = "primary"
    #: Seen in public code or in operators' notes.
    PRACTICE = "practice"
    #: Follows from other figures by arithmetic or logic; `source` says how.
    DERIVED = "derived"
    #: Remembered, not read: only a suggestion, the operator must state the figure.
    REMEMBERED = "remembered"


@dataclass(frozen=True)
class Fact(Generic[T]):
    """One figure. `unit` is empty for plain counts."""

    value: T
    unit: str
    provenance: Provenance
    source: str

    @property
    def remembered(self) -> bool:
        """True if nobody read this figure: a plan that rests on it says so, and the site should state it."""
        return self.provenance is Provenance.REMEMBERED

    @property
    def known(self) -> T | None:
        """The value where it may be taken silently; None where it is only a suggestion."""
        return None if self.remembered else self.value


def primary(value: T, unit: str, source: str) -> Fact[T]:
    """A figure read in the maker's own document."""
    return Fact(value, unit, Provenance.PRIMARY, source)


def practice(value: T, unit: str, source: str) -> Fact[T]:
    """A figure seen in public code or in operators' notes."""
    return Fact(value, unit, Provenance.PRACTICE, source)


def derived(value: T, unit: str, source: str) -> Fact[T]:
    """A figure that follows from others; `source` says how."""
    return Fact(value, unit, Provenance.DERIVED, source)


def remembered(value: T, unit: str, source: str) -> Fact[T]:
    """A figure that nobody read: a suggestion that the operator must confirm."""
    return Fact(value, unit, Provenance.REMEMBERED, source)
