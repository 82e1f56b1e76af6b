"""One thing that would fail later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from interlock.provider.errors import UNANSWERED, Failure
from interlock.resources import KINDS, Admission, Resource

R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class Fault:
    """`code` names the look that found it; `hint` says what to do."""

    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message}\n  next: {self.hint}" if self.hint else self.message


@dataclass(frozen=True)
class NotLookedAt(Fault):
    """A service did not answer, so nobody knows whether anything would fail. An `up` stops here, a preview says it."""


def of_failure(code: str, failure: Failure) -> Fault:
    """A failure as a fault."""
    kind = NotLookedAt if failure.trouble in UNANSWERED else Fault
    return kind(code, failure.message, failure.hint)


def planned(admission: Admission, kind: type[R]) -> Iterator[tuple[str, R]]:
    """(plan name, resource) of one kind."""
    for item in admission.resources:
        if item.kind == kind.KIND:
            yield item.name, kind.model_validate(item.spec)


def everything(admission: Admission) -> Iterator[tuple[str, Resource]]:
    """(plan name, resource) of all kinds."""
    for item in admission.resources:
        yield item.name, KINDS[item.kind].model_validate(item.spec)
