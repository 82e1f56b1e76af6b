"""Holds the k-th request that changes something, and kills whoever sent it, or loses its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import StrEnum

from tests.faults.proxy import Injection, Request, Response
from tests.kills.victims import Victim

_BROKEN = Response(502, cut=0)
_CHANGES = ("POST", "PUT", "PATCH", "DELETE")


class Fault(StrEnum):
    """What happens at the request."""

    #: Killed, and the service never sees it.
    BEFORE = "before"
    #: The service did it; killed before the answer comes back.
    AFTER = "after"
    #: The service did it and the line breaks; nobody is killed.
    LOST = "lost"
    #: Killed while the service is at it, which does it with nobody waiting for an answer.
    DURING = "during"


#: What happens at requests; a command runs for a while, so that there is `DURING`, too.
AT_REQUESTS = (Fault.BEFORE, Fault.AFTER, Fault.LOST)
AT_COMMANDS = (*AT_REQUESTS, Fault.DURING)


class Trap(Injection):
    """Counts what changes something, and springs at request `at`; 0: it only counts."""

    def __init__(self, victim: Victim, at: int = 0, fault: Fault = Fault.BEFORE) -> None:
        super().__init__(self._spring, "", "*", "", first=at, last=at)
        self._victim = victim
        self._fault = fault
        #: All that changes something.
        self.requests: list[Request] = []
        #: Set once the service has done what it was asked, or will never.
        self.ended = threading.Event()

    def meets(self, request: Request) -> bool:
        if request.method not in _CHANGES or request.path.endswith("/auth/tokens"):
            return False
        self.requests.append(request)
        self.seen += 1
        return self.seen == self.first

    def _spring(self, request: Request, ask: Callable[[], Response]) -> Response:
        """What whoever was killed had sent off may live on: a command gets the answer that nobody reads."""
        try:
            if self._fault is Fault.DURING:
                self._victim.kill()
            answer = _BROKEN if self._fault is Fault.BEFORE else ask()
            if self._fault in (Fault.BEFORE, Fault.AFTER):
                self._victim.kill()
        finally:
            self.ended.set()
        return _BROKEN if self._fault is Fault.LOST else answer
