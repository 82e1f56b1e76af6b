"""One retry policy, as pure functions of what happened and how much time has passed."""

from __future__ import annotations

from dataclasses import dataclass

#: Answers after which the same request may succeed.
RETRIED_STATUS = frozenset({429, 502, 503, 504})

#: Methods whose repetition changes nothing. Neutron's PUT …/add_router_interface is no such PUT; its caller says so.
IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})


@dataclass(frozen=True)
class Budget:
    """How long to go on. Times in seconds."""

    attempts: int = 6
    total: float = 60.0
    first: float = 0.5
    factor: float = 2.0
    longest: float = 10.0


def pause(budget: Budget, attempt: int, elapsed: float, retry_after: float | None = None) -> float | None:
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
