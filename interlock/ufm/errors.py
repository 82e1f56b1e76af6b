"""What can go wrong with UFM, by what one can do about it."""

from __future__ import annotations

from enum import StrEnum

from interlock.vocabulary import InterlockError


class UfmTrouble(StrEnum):
    """Classes of failure; the words are those of the provider's own classes."""

    UNREACHABLE = "unreachable"
    #: The request may or may not have had its effect.
    LOST_ANSWER = "lost answer"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    CONFLICT = "conflict"
    INVALID = "invalid"
    THROTTLED = "throttled"
    SERVICE = "service failed"


class UfmError(InterlockError):
    """A request to a UFM that did not succeed. `place` is the name of its InfiniBand subnet."""

    LEAD = "next"

    def __init__(self, trouble: UfmTrouble, infiniband: str, what: str, hint: str) -> None:
        super().__init__(what, hint, place=infiniband)
        self.trouble = trouble
