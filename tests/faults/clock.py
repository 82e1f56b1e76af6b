"""Time that passes when somebody waits."""

from __future__ import annotations

import asyncio
import threading
import time

from interlock.provider.retry import RetryBudget, RetryPolicy

#: Seconds for which a wait really lasts, at most: the services behind need some to get on.
THREAD, LOOP = 0.01, 0.1


class Clock:
    """A monotonic clock that only waiting advances."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0.0
        #: All waits between attempts of one request, in order.
        self.waits: list[float] = []

    def now(self) -> float:
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        self._pass(seconds)
        self.waits.append(seconds)
        time.sleep(min(seconds, THREAD))

    async def rest(self, seconds: float) -> None:
        self._pass(seconds)
        await asyncio.sleep(min(seconds, LOOP))

    def retry_policy(self, budget: RetryBudget | None = None) -> RetryPolicy:
        return RetryPolicy(budget or RetryBudget(), self.now, self.sleep, self.rest)

    def _pass(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds
