"""What may be tried again of requests to a service, and after how long; the loop itself is `interlock.retry`."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from interlock.retry import RetryBudget, RetryPolicy, Tried, pause, persist

__all__ = [
    "IDEMPOTENT", "RETRIED_STATUS", "RetryBudget", "RetryPolicy", "Tried", "may_repeat", "pause", "persist",
    "retry_after",
]  # fmt: skip

#: Answers after which the same request may succeed.
RETRIED_STATUS = frozenset({429, 502, 503, 504})

#: Methods whose repetition changes nothing. Neutron's PUT …/add_router_interface is no such PUT; its caller says so.
IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})


def may_repeat(method: str, *, idempotent: bool | None, refused: bool) -> bool:
    """True if a request that got no answer may be sent again. `refused`: it never left this machine."""
    return refused or (method in IDEMPOTENT if idempotent is None else idempotent)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait for, given as a number or as a date.

    A date is compared with the answer's own: the service's clock and ours need not agree. Without one it says nothing.
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
