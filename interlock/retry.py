"""One retry policy, as pure functions of what happened and how much time has passed, and the loop that obeys it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

T = TypeVar("T")

#: Seconds between two looks whether the run was cancelled.
_LOOK = 0.5


@dataclass(frozen=True)
class RetryBudget:
    """How long to go on. Times in seconds."""

    attempts: int = 6
    total: float = 60.0
    first: float = 0.5
    factor: float = 2.0
    longest: float = 10.0
    #: After which a request without an answer counts as lost.
    answer: float = 120.0
    #: By how much of itself a pause may be shorter, at random: callers that met in the service shall not meet again.
    jitter: float = 0.0


@dataclass(frozen=True)
class RetryPolicy:
    """How time passes for one process: tests need not wait. Never the wall clock, which people and NTP set."""

    budget: RetryBudget = RetryBudget()
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    #: The same among coroutines.
    rest: Callable[[float], Awaitable[None]] = asyncio.sleep
    #: Whether the run was cancelled; None: it cannot be, or nobody is to hear it.
    cancelled: Callable[[], bool] | None = None

    @property
    def is_cancelled(self) -> bool:
        """True once nobody wants what is waited for."""
        return self.cancelled is not None and self.cancelled()

    def wait(self, seconds: float) -> bool:
        """Let so many seconds pass. False, within half a second, if the run is cancelled."""
        if self.cancelled is None:
            self.sleep(seconds)
            return True
        left = seconds
        while left > 0 and not self.cancelled():
            self.sleep(min(left, _LOOK))
            left -= _LOOK
        return not self.cancelled()


@dataclass(frozen=True)
class Tried(Generic[T]):
    """What came of one attempt: an answer, or a failure and whether the same may be tried again."""

    answer: T | None = None
    failure: Exception | None = None
    again: bool = False
    #: Seconds that the service asks to wait for.
    after: float | None = None


def persist(retry_policy: RetryPolicy, attempt: Callable[[], Tried[T]]) -> T:
    """The answer, after as many attempts as the budget allows. Raises the last attempt's `failure`.

    In a run that is cancelled the budget is spent: an attempt under way is the last.
    """
    budget, start, number = retry_policy.budget, retry_policy.clock(), 0
    while True:
        number += 1
        tried = attempt()
        if tried.failure is None:
            return cast(T, tried.answer)  # without a failure it is what the attempt answered, which may be None
        wait = pause(budget, number, retry_policy.clock() - start, tried.after) if tried.again else None
        if wait is None:
            raise tried.failure
        if not retry_policy.wait(wait * random.uniform(1 - budget.jitter, 1) if tried.after is None else wait):
            raise tried.failure


def pause(budget: RetryBudget, attempt: int, elapsed: float, retry_after: float | None = None) -> float | None:
    """Seconds to wait before the next attempt, or None when the budget is spent.

    `attempt` counts from 1. A service's own `Retry-After` is obeyed if the budget allows it at all.
    """
    wanted = min(budget.first * budget.factor ** (attempt - 1), budget.longest)
    wait = wanted if retry_after is None else max(retry_after, wanted)
    if attempt >= budget.attempts or elapsed + wait > budget.total:
        return None
    return wait
