"""Collects the faults of one file while it is checked, so that all of them are reported at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from .errors import MOST_TOLD, Code, InputError, InputErrors
from .salvage import Salvage
from .source import KEY, Source, Step
from .validation import WellFormed, in_file_order, nearest


class Faults:
    """Faults of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: list[InputError] = []
        self._salvage: Salvage | None = None
        self._added = 0

    @classmethod
    def of(cls, form: WellFormed[Any]) -> Faults:
        """Those of form, to which those of meaning are added as far as they do not follow from the former."""
        faults = cls(form.source)
        faults.found = list(form.errors)
        faults._salvage = form.salvage
        return faults

    def add(self, code: Code, path: tuple[Step, ...], message: str, hint: str = "") -> None:
        """One fault of the value at `path`, unless that has lost a part, which may be all that is wrong."""
        key = path[-1:] == (KEY,)
        if self._salvage is not None:
            if self._salvage.touches(path[:-1] if key else path):
                return
            path = self._salvage.original(path)
        self._added += 1
        if self._added == MOST_TOLD:
            code, message, hint = Code.VALUE, "more faults from here on", "mend the others first"
        if self._added <= MOST_TOLD:
            self.found.append(self.source.error(code, path, message, hint))

    def lost(self, *path: Step) -> bool:
        """True if a fault of form took away what stood at `path`: what is there now is not what was meant."""
        return self._salvage is not None and self._salvage.is_lost(path)

    def short_of(self, *sections: str) -> bool:
        """True if one of these sections lost an entry to a fault of form: a name that is not there may be that one."""
        return self._salvage is not None and any(self._salvage.has_lost_entries((section,)) for section in sections)

    def need(self, path: tuple[Step, ...], what: str, name: str, known: Iterable[str]) -> None:
        """A fault if `name` is not among `known`; `what` says what it should be (`a flavour`)."""
        self.need_name(path, name, known, f"`{name}` is not {what} of this site")

    def need_name(
        self, path: tuple[Step, ...], name: str, known: Iterable[str], message: str, *, of: tuple[Step, ...] = ()
    ) -> None:
        """A fault with this message if `name` is not among `known`.

        `of`: the section of this file that the names are keys of. If an entry of it was lost to a fault of
        form, that may be the one that is meant, and nothing is told.
        """
        known = known if isinstance(known, Collection) else tuple(known)
        lost = self._salvage is not None and of != () and self._salvage.has_lost_entries(of)
        if name not in known and not lost:
            # Comparing with thousands of names takes its time, so it is left out where nothing is told.
            hint = nearest(name, known) if self._added < MOST_TOLD else ""
            self.add(Code.NO_SUCH, path, message, hint)

    def raise_if_any(self) -> None:
        """Raises InputErrors, in the order of the lines, if anything was found."""
        if self.found:
            raise InputErrors(in_file_order(self.found))
