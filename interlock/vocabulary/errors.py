"""What every error that people are shown has: what is wrong, where, by which code, and what to do next."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class ErrorKind(StrEnum):
    """What kind of thing went wrong, from which a command's exit code follows."""

    #: Files or arguments are wrong.
    INPUT = "input"
    #: A tool, a store or a cloud failed or refuses.
    ENVIRONMENT = "environment"
    #: A plan joins what must stay apart.
    VIOLATED = "violated"
    #: A plan of which that cannot be told.
    NOT_PROVABLE = "not provable"
    INTERRUPTED = "interrupted"


class InterlockError(Exception):
    """An error with its parts apart; the text is made of them here, and nothing takes it to pieces again.

    `place` is `file:line:column` or a file; `code` is stable, and listed in the reference of error codes. Both, and
    `hint`, are empty where there is none.
    """

    #: The word before the hint: `hint` where an input is wrong, `next` where something was tried and failed.
    LEAD: ClassVar[str] = "hint"
    #: That of the class, where an error has none of its own.
    kind: ErrorKind = ErrorKind.ENVIRONMENT

    def __init__(self, what: str, hint: str = "", *, place: str = "", code: str = "") -> None:
        super().__init__(what, hint, place, code)
        self.what = what
        self.hint = hint
        self.place = place
        self.code = code

    def __str__(self) -> str:
        place = f"{self.place}:" if self.place else ""
        head = " ".join(part for part in (place, self.code, self.what) if part)
        return f"{head}\n  {self.LEAD}: {self.hint}" if self.hint else head
