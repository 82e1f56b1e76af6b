"""One retry policy, as pure functions of what happened and how much time has passed, and the loop that obeys it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Generic, TypeVar

from .errors import Failure

T = TypeVar("T")

#: Answers after which the same request may succeed.
RETRIED_STATUS = frozenset({429, 502, 503, 504})

#: Methods whose repetition changes nothing. Neutron's PUT …/add_router_interface is no such PUT; its caller says so.
IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})


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


@dataclass(frozen=True)
class RetryPolicy:
    """How time passes for one process: tests need not wait. Never the wall clock, which people and NTP set."""

    budget: RetryBudget = RetryBudget()
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    #: The same among coroutines.
    rest: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class Tried(Generic[T]):
    """What came of one attempt: an answer, or a failure and whether the same may be tried again."""

    answer: T | None = None
    failure: Failure | None = None
    again: bool = False
    #: Seconds that the service asks to wait for.
    after: float | None = None


def persist(retry_policy: RetryPolicy, attempt: Callable[[], Tried[T]]) -> T | None:
    """The answer, after as many attempts as the budget allows. Raises the last `Failure`."""
    start, number = retry_policy.clock(), 0
    while True:
        number += 1
        tried = attempt()
        if tried.failure is None:
            return tried.answer
        wait = pause(retry_policy.budget, number, retry_policy.clock() - start, tried.after) if tried.again else None
        if wait is None:
            raise tried.failure
        retry_policy.sleep(wait)


def pause(budget: RetryBudget, attempt: int, elapsed: float, retry_after: float | None = None) -> float | None:
    """Seconds to wait before the next attempt, or None when the budget is spent.

    `attempt` counts from 1. A service's own `Retry-After` is obeyed if the budget allows it at all.
    """
    wanted = min(budget.first * budget.factor ** (attempt - 1), budget.longest)
    wait = wanted if retry_after is None else max(retry_after, wanted)
    if attempt >= budget.attempts or elapsed + wait > budget.total:
        return None
    return wait


def may_repeat(method: str, *, idempotent: bool | None, refused: bool) -> bool:
    """True if a request that got no answer may be sent again. `refused`: it never left this machine."""
    return refused or (method in IDEMPOTENT if idempotent is None else idempotent)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait for, given as a number or as a date.

    A date is held against the answer's own: the service's clock and ours need not agree. Without one it says nothing.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("Date", ""))
        return max((until - now).total_seconds(), 0.0)
    except (TypeError, ValueError):
        # No date, or one with a zone against one without.
        return None
