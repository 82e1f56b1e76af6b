"""Exit codes of `interlock …`, in one place."""

from __future__ import annotations

from enum import IntEnum

from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind


class Exit(IntEnum):
    """0 proved, 1 violated, 2 the input is wrong, 3 not provable, 4 the environment failed, 130 Ctrl-C,
    141 nobody reads on: `interlock check | head`.
    """

    PROVED = 0
    VIOLATED = 1
    INPUT = 2
    NOT_PROVABLE = 3
    ENVIRONMENT = 4
    INTERRUPTED = 130
    UNREAD = 141


EXITS = {
    ErrorKind.INPUT: Exit.INPUT,
    ErrorKind.ENVIRONMENT: Exit.ENVIRONMENT,
    ErrorKind.VIOLATED: Exit.VIOLATED,
    ErrorKind.NOT_PROVABLE: Exit.NOT_PROVABLE,
    ErrorKind.INTERRUPTED: Exit.INTERRUPTED,
}
"""The code with which a command ends that an error of a kind has stopped."""


class Interrupted(InterlockError):
    """Stopped by Ctrl-C where there is more to say than that; the text says what stands and how to go on."""

    kind = ErrorKind.INTERRUPTED


class EnvironmentFailed(InterlockError):
    """Something outside our files failed: a tool, a process, the cloud. It says what to do next."""

    LEAD = "next"
