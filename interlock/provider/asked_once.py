"""Looks at one moment share their answers: what several of them ask of a service in the same words is asked once.

For a preflight, which changes nothing and waits for nothing. What failed, or could not be read, is not kept: whoever
wants it asks for itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from .retry import Tried

#: Per thread, `answers`: those that it shares with other threads.
_HERE = threading.local()

#: How a request is told from others: the connection to the service, the path, and the query with its options.
Words = tuple[Hashable, ...]


class SharedAnswers:
    """The answers of one moment, by the words of the request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[Words, Future[Tried[Any]]] = {}

    def answer(self, words: Words, ask: Callable[[], Tried[Any]]) -> Tried[Any]:
        """What was answered to these words, once there is an answer; if nobody has asked so far, what `ask` returns."""
        while True:
            with self._lock:
                asked, is_first = self._asked.get(words), words not in self._asked
                if asked is None:
                    asked = self._asked[words] = Future()
            tried = self._ask(words, asked, ask) if is_first else asked.result()
            if is_first or tried.failure is None:
                return tried

    def forget(self, words: Words) -> None:
        """The next one asks again."""
        with self._lock:
            self._asked.pop(words, None)

    def _ask(self, words: Words, asked: Future[Tried[Any]], ask: Callable[[], Tried[Any]]) -> Tried[Any]:
        tried: Tried[Any] = Tried(failure=RuntimeError("it was not asked"))
        try:
            tried = ask()
        finally:
            # Forgotten before it is told: who waited and hears of a failure must not find it again.
            if tried.failure is not None:
                self.forget(words)
            asked.set_result(tried)
        return tried


@contextmanager
def sharing(answers: SharedAnswers) -> Iterator[None]:
    """Meanwhile this thread shares answers."""
    _HERE.answers = answers
    try:
        yield
    finally:
        _HERE.answers = None


def shared() -> SharedAnswers | None:
    """What this thread shares; None: it asks for itself."""
    found: SharedAnswers | None = getattr(_HERE, "answers", None)
    return found
