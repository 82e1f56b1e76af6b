"""What is wrong with an input file: code, place, sentence, and what to do next.

Codes are stable; a code names the kind of fault, the sentence names the case.

======= ==========================================================================
IN-001  an unknown key
IN-002  a required key is missing
IN-003  a value of the wrong type
IN-004  a number of IPUs or IPU-Machines that no vPOD can have
IN-005  a size without a unit, or with one that is not KiB, MiB, GiB or TiB
IN-006  a name that is not safe in names on the cloud, in shells and in generated files
IN-007  a value out of its range or in no known form (address, VLAN, key, port mode …)
IN-008  it names something that does not exist
IN-009  one thing twice: a name, a serial, a plug, a port
IN-010  two statements that contradict each other
IN-020  a file or folder is not there
IN-021  a file that is not UTF-8
IN-022  a file that is not YAML (or, for locks, not JSON)
IN-023  an empty file
IN-024  a key that is there twice
IN-030  a lock is missing
IN-031  a lock is older than its request
IN-032  a lock is older than the site
IN-033  a lock was edited by hand
IN-034  a lock in a form that this version does not read
IN-035  a lock that holds claims, and no request that they belong to
IN-040  two sites of one fleet claim the same thing (assumption A12)
IN-041  evidence that interlock wrote was edited by hand
IN-042  evidence that was written for another site
IN-043  evidence of a time that is yet to come
IN-044  evidence that a signature with this key would not make count
======= ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pydantic_core import PydanticCustomError

from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind

#: Faults of one kind that are told of one file, and characters of a message: a hostile file has no end of them.
MOST_TOLD, LONGEST_MESSAGE = 100, 1_000


class Code(StrEnum):
    """Stable codes of input faults; the table above says what each means."""

    UNKNOWN_KEY = "IN-001"
    MISSING_KEY = "IN-002"
    WRONG_TYPE = "IN-003"
    VPOD_SIZE = "IN-004"
    UNIT = "IN-005"
    NAME = "IN-006"
    VALUE = "IN-007"
    NO_SUCH = "IN-008"
    TWICE = "IN-009"
    CONTRADICTION = "IN-010"
    NO_FILE = "IN-020"
    NOT_UTF8 = "IN-021"
    SYNTAX = "IN-022"
    EMPTY = "IN-023"
    DUPLICATE_KEY = "IN-024"
    LOCK_MISSING = "IN-030"
    LOCK_OLDER_THAN_REQUEST = "IN-031"
    LOCK_OLDER_THAN_SITE = "IN-032"
    LOCK_EDITED = "IN-033"
    LOCK_FORMAT = "IN-034"
    LOCK_WITHOUT_REQUEST = "IN-035"
    FLEET = "IN-040"
    EVIDENCE_EDITED = "IN-041"
    EVIDENCE_OF_ANOTHER_SITE = "IN-042"
    EVIDENCE_YET_TO_COME = "IN-043"
    EVIDENCE_UNSIGNED = "IN-044"


class InputError(InterlockError):
    """One fault. `position` is `file:line:column`, or only a file where there is no line to point at."""

    kind = ErrorKind.INPUT

    def __init__(self, code: Code, position: str, message: str, hint: str = "") -> None:
        super().__init__(shown_safely(message), shown_safely(hint), place=position, code=code)

    @property
    def message(self) -> str:
        """What is wrong."""
        return self.what

    @property
    def position(self) -> str:
        """Where: `place` of every error."""
        return self.place


def shown_safely(text: str) -> str:
    """What a message quotes of a file or a device: short, and what would move a terminal's cursor as an escape."""
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[:LONGEST_MESSAGE]}…"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class InputErrors(InterlockError):
    """All faults found, in the order of files and lines; nothing was touched."""

    kind = ErrorKind.INPUT

    def __init__(self, errors: Iterable[InputError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(map(str, self.errors)))


def fault(code: Code, message: str, hint: str = "") -> PydanticCustomError:
    """A fault to raise inside a validator of a file model, where the place in the file is not known yet."""
    # The text goes in as a value, since pydantic would take braces in it for placeholders.
    return PydanticCustomError(code.value, "{text}", {"text": message, "hint": hint})
