"""One HTTP call to one service: retried within a budget, its failure classified, its answer as raw JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from keystoneauth1 import exceptions as trouble
from keystoneauth1.adapter import Adapter
from urllib3.exceptions import NewConnectionError

from .errors import Failure, Trouble, classify
from .retry import RETRIED_STATUS, Budget, may_repeat, pause

#: Seconds after which a request without an answer counts as lost.
TIMEOUT = 120.0


class Api:
    """One service, with a token for one project."""

    def __init__(
        self,
        adapter: Adapter,
        service: str,
        budget: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._adapter = adapter
        self.service = service
        self._budget = budget or Budget()
        self._clock = clock
        self._sleep = sleep

    def get(self, path: str, **params: Any) -> Any:
        """The JSON at `path`; raises `Failure` if it is not there."""
        return self.request("GET", path, params=params).json()

    def find(self, path: str, **options: Any) -> Any | None:
        """The JSON at `path`, or None if there is nothing."""
        try:
            return self.request("GET", path, **options).json()
        except Failure as failure:
            if failure.trouble is Trouble.NOT_FOUND:
                return None
            raise

    def items(self, path: str, key: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Every element of a list, page after page."""
        page = self.request("GET", path, params=params).json()
        while True:
            yield from page[key]
            following = _next(page, key)
            if following is None:
                return
            # `next` links carry the query of their own, and the scheme and host of the service's own idea.
            page = self.request("GET", path, params=_query(following)).json()

    def post(self, path: str, body: Any, **options: Any) -> Any:
        """The JSON answer of a creation or an action; None if there is none."""
        return _json(self.request("POST", path, json=body, **options))

    def put(self, path: str, body: Any = None, **options: Any) -> Any:
        """The JSON answer of a change; None if there is none."""
        return _json(self.request("PUT", path, json=body, **options))

    def patch(self, path: str, body: Any, **options: Any) -> Any:
        """The JSON answer of a change; None if there is none. Every PATCH of ours sets values: it may repeat."""
        return _json(self.request("PATCH", path, json=body, idempotent=True, **options))

    def delete(self, path: str) -> None:
        """Deletes; what is not there counts as deleted."""
        try:
            self.request("DELETE", path)
        except Failure as failure:
            if failure.trouble is not Trouble.NOT_FOUND:
                raise

    def request(self, method: str, path: str, *, idempotent: bool | None = None, **options: Any) -> Any:
        """A response below 400. Raises `Failure`."""
        start, attempt = self._clock(), 0
        while True:
            attempt += 1
            answer, failure, again, after = self._once(method, path, idempotent, options)
            if failure is None:
                return answer
            wait = pause(self._budget, attempt, self._clock() - start, after) if again else None
            if wait is None:
                raise failure
            self._sleep(wait)

    def _once(
        self, method: str, path: str, idempotent: bool | None, options: dict[str, Any]
    ) -> tuple[Any, Failure | None, bool, float | None]:
        """(answer, failure, may be sent again, the service's Retry-After)."""
        try:
            answer = self._adapter.request(path, method, raise_exc=False, timeout=TIMEOUT, **options)
        except trouble.ConnectionError as error:
            refused = _never_left(error)
            kind = Trouble.UNREACHABLE if refused or method in ("GET", "HEAD") else Trouble.LOST_ANSWER
            failure = Failure(kind, f"{self.service}: {_short(error)}", service=self.service)
            return None, failure, may_repeat(method, idempotent=idempotent, refused=refused), None
        except trouble.ClientException as error:
            return None, self._no_login(error), False, None
        if answer.status_code < 400:
            return answer, None, False, None
        return self._answered(method, path, idempotent, answer)

    def _answered(
        self, method: str, path: str, idempotent: bool | None, answer: Any
    ) -> tuple[None, Failure, bool, float | None]:
        status = answer.status_code
        kind, said = classify(self.service, status, answer.text)
        retried = status in RETRIED_STATUS
        again = retried and may_repeat(method, idempotent=idempotent, refused=status == 429)
        if retried and not again:
            # A gateway says 502, 503 or 504 also when the service behind it did the work.
            kind = Trouble.LOST_ANSWER
        failure = Failure(kind, f"{self.service} {method} {path}: {said or f'status {status}'}", service=self.service)
        return None, failure, again, _retry_after(answer.headers.get("Retry-After"))

    def _no_login(self, error: Exception) -> Failure:
        if isinstance(error, trouble.HttpError) and error.http_status == 401:
            return Failure(Trouble.UNAUTHORIZED, f"the cloud refused the credential: {_short(error)}")
        if isinstance(error, (trouble.EndpointNotFound, trouble.DiscoveryFailure)):
            return Failure(Trouble.UNREACHABLE, f"the catalogue has no usable {self.service}: {_short(error)}")
        return Failure(Trouble.SERVICE, f"{self.service}: {_short(error)}", service=self.service)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _never_left(error: BaseException) -> bool:
    """True if no connection was made at all: the request cannot have had an effect."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, NewConnectionError) or isinstance(getattr(seen, "reason", None), NewConnectionError):
            return True
        if any(isinstance(getattr(arg, "reason", None), NewConnectionError) for arg in seen.args):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _retry_after(value: str | None) -> float | None:
    return float(value) if value and value.isdigit() else None


def _json(answer: Any) -> Any:
    return answer.json() if answer.content else None


def _next(page: dict[str, Any], key: str) -> str | None:
    if page.get("next"):
        return str(page["next"])
    links = page.get(f"{key}_links", [])
    return next((str(link["href"]) for link in links if link["rel"] == "next"), None)


def _query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))
