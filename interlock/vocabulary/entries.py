"""Entries of a specification: what a finding comes from, and what would have to change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial


class EntryKind(StrEnum):
    """Which file of the specification an entry is in."""

    #: What another tenant holds.
    LOCK = "lock"
    #: A resource or component of the plan under judgement.
    RESOURCE = "resource"
    #: A fact of the site in its full form.
    SITE = "site"


@dataclass(frozen=True, slots=True, order=True)
class SpecEntry:
    """`resource:<plan name>`, `site:<path of the fact>` or `lock:<tenant>`."""

    kind: EntryKind
    name: str

    @classmethod
    def parse(cls, text: str) -> SpecEntry:
        """From what `str` writes. Raises ValueError for anything else."""
        kind, colon, name = text.partition(":")
        if not colon:
            raise ValueError(f"{text!r} is no entry of a specification, such as site:external.vlan")
        return cls(EntryKind(kind), name)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


of_resource = partial(SpecEntry, EntryKind.RESOURCE)
of_site = partial(SpecEntry, EntryKind.SITE)
of_lock = partial(SpecEntry, EntryKind.LOCK)
