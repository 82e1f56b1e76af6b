"""Collects the faults of one file while it is checked, so that all of them are reported at once."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import Code, InputError, InputErrors
from .source import Source, Step
from .validation import in_file_order, nearest


class Faults:
    """Faults of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: list[InputError] = []

    def add(self, code: Code, path: tuple[Step, ...], message: str, hint: str = "") -> None:
        """One fault of the value at `path`."""
        self.found.append(self.source.error(code, path, message, hint))

    def need(self, path: tuple[Step, ...], what: str, name: str, known: Iterable[str]) -> None:
        """A fault if `name` is not among `known`; `what` says what it should be (`a flavour`)."""
        known = list(known)
        if name not in known:
            self.add(Code.NO_SUCH, path, f"`{name}` is not {what} of this site", nearest(name, known))

    def raise_if_any(self) -> None:
        """Raises InputErrors, in the order of the lines, if anything was found."""
        if self.found:
            raise InputErrors(in_file_order(self.found))
