"""Provider processes that end in the middle of an operation: from some request on nothing of theirs happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from interlock.provider.actuators import s3
from interlock.provider.calls import Api

BEFORE, AFTER = "before", "after"


class Killed(Exception):
    """Stands for SIGKILL."""


@dataclass
class Death:
    """At which request a process ends, counted from 1, and whether that request still arrives."""

    at: int
    when: str
    seen: int = 0
    happened: bool = False

    def around(self, call: Callable[..., Any], *arguments: Any) -> Any:
        self.seen += 1
        if self.happened or (self.seen == self.at and self.when == BEFORE):
            self.happened = True
            raise Killed
        answer = call(*arguments)
        if self.seen == self.at:
            self.happened = True
            raise Killed
        return answer


@contextmanager
def dying(death: Death) -> Iterator[None]:
    """While it lasts, whoever asks a service meets this death: nobody but one provider process is at work then."""
    once, asked = Api._once, s3._once
    Api._once = lambda *given: death.around(once, *given)  # type: ignore[method-assign]
    s3._once = lambda *given: death.around(asked, *given)
    try:
        yield
    finally:
        Api._once, s3._once = once, asked  # type: ignore[method-assign]
