"""One HTTP call to one service: retried within a budget, its failure classified, its answer as raw JSON."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar
from urllib.parse import parse_qsl, urlsplit

from keystoneauth1 import exceptions as trouble
from keystoneauth1.adapter import Adapter
from urllib3.exceptions import NewConnectionError

from .asked_once import shared
from .connections import address, cause_of, missing_service
from .errors import Failure, Trouble, classify, is_locked
from .retry import RETRIED_STATUS, RetryPolicy, Tried, may_repeat, persist, retry_after

P = ParamSpec("P")
T = TypeVar("T")

#: What keystoneauth lets out when a token, a catalogue or a list of versions has not the form that it reads.
MISREAD = (KeyError, TypeError, ValueError, AttributeError, IndexError)

#: What reading an answer of another form than expected ends in: null, a list or a number where an object should be.
_OF_FORM = (KeyError, TypeError, AttributeError, IndexError, ValueError)

#: Per thread, `failed`: how to fail on the answer that it got last.
_LAST = threading.local()

_LOG = logging.getLogger(__name__)


def reading(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a call returns that asks services and reads what they answer.

    Raises `Failure` where an answer has another form than is read; what happened before any answer is a fault of ours.
    """
    _LAST.failed = None
    try:
        return call(*args, **kwargs)
    except _OF_FORM as error:
        failed: Callable[[str], Failure] | None = _LAST.failed
        if failed is None:
            raise
        _LOG.debug("an answer could not be read", exc_info=error)
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        why = f"the answer has not the form that is read: {type(error).__name__}: {error} ({place})"
        raise failed(why) from error


class Answer(dict[str, Any]):
    """An object in an answer. That something is missing in it is a failure of the service, not of ours."""

    def __init__(self, values: dict[str, Any], failed: Callable[[str], Failure]) -> None:
        super().__init__(values)
        self._failed = failed

    def __missing__(self, key: str) -> Any:
        raise self._failed(f"the answer holds no {key!r}")


#: keystoneauth paces calls by the wall clock, also without a limit: set back by a day, each call would wait for a day.
UNPACED = contextlib.nullcontext()


class Api:
    """One service, with a token for one project."""

    def __init__(
        self, adapter: Adapter, service: str, retry_policy: RetryPolicy | None = None, where: str = ""
    ) -> None:
        self._adapter = adapter
        self.service = service
        #: What a failed connection is told of: the cloud, the service, the project whose token is used.
        self._where = where or service
        self._retry_policy = retry_policy or RetryPolicy()
        self._lock = threading.Lock()
        self._found = False

    def get(self, path: str, **params: Any) -> Answer:
        """The JSON at `path`; raises `Failure` if it is not there."""
        return self._json("GET", path, params=params)

    def find(self, path: str, **options: Any) -> Answer | None:
        """The JSON at `path`, or None if there is nothing."""
        try:
            return self._json("GET", path, **options)
        except Failure as failure:
            if failure.trouble is Trouble.NOT_FOUND:
                return None
            raise

    def items(self, path: str, key: str, **params: Any) -> Iterator[Answer]:
        """Every element of a list, page after page."""
        return self.pages(path, key, params)

    def pages(self, path: str, key: str, params: Mapping[str, Any], **options: Any) -> Iterator[Answer]:
        """`items`, with options of each request (`microversion`)."""
        page, seen = self._json("GET", path, params=dict(params), **options), set[str]()
        while True:
            if not isinstance(page[key], list):
                raise self._unread("GET", path, None)(f"{key!r} is no list in the answer")
            yield from page[key]
            following = _next(page, key)
            if following is None:
                return
            if following in seen:
                raise self._unread("GET", path, None)("its pages lead back to each other")
            seen.add(following)
            # `next` links carry the query of their own, and the scheme and host of the service's own idea.
            page = self._json("GET", path, params=_query(following), **options)

    def post(self, path: str, body: Any, **options: Any) -> Answer:
        """The JSON answer of a creation or an action; an empty one if there is none."""
        return self._json("POST", path, json=body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> Answer:
        """The JSON answer of a change; an empty one if there is none."""
        return self._json("PUT", path, json=body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> Answer:
        """The JSON answer of a change, as of `put`. Every PATCH of ours sets values: it may repeat."""
        return self._json("PATCH", path, json=body, idempotent=True, **options)

    def delete(self, path: str) -> None:
        """Deletes; what is not there counts as deleted."""
        try:
            self.request("DELETE", path)
        except Failure as failure:
            if failure.trouble is not Trouble.NOT_FOUND:
                raise

    def request(self, method: str, path: str, *, idempotent: bool | None = None, **options: Any) -> Any:
        """A response below 400, as it is. Raises `Failure`."""
        return persist(self._retry_policy, lambda: self._once(method, path, idempotent, options))

    def _json(self, method: str, path: str, *, idempotent: bool | None = None, **options: Any) -> Answer:
        answers = shared() if method == "GET" else None
        words = (self, path, repr(options))

        def ask() -> Tried[Any]:
            return self._once(method, path, idempotent, options)

        def attempt() -> Tried[Answer]:
            tried = ask() if answers is None else answers.answer(words, ask)
            if tried.failure is not None:
                return tried
            parsed = self._parsed(method, path, idempotent, tried.answer)
            if parsed.failure is not None and answers is not None:
                answers.forget(words)
            return parsed

        answer = persist(self._retry_policy, attempt)
        assert answer is not None  # persist raises where there is no answer
        return answer

    def _once(self, method: str, path: str, idempotent: bool | None, options: dict[str, Any]) -> Tried[Any]:
        try:
            lost = self._locate()
        except (trouble.ClientException, *MISREAD) as error:
            # A token whose catalogue cannot be read would be kept until it expires.
            self._adapter.invalidate()
            return no_login(self._where, error)
        if lost is not None:
            # Not where it is missing in the catalogue: that lasts.
            return Tried(failure=lost, again="not in the catalogue" not in lost.message)
        try:
            options = {"timeout": self._retry_policy.budget.answer, "rate_semaphore": UNPACED} | options
            answer = self._adapter.request(path, method, raise_exc=False, **options)
        except (trouble.ConnectionError, *MISREAD) as error:
            refused = never_left(error)
            kind = Trouble.UNREACHABLE if refused or method in ("GET", "HEAD") else Trouble.LOST_ANSWER
            failure = unconnected(kind, self._where, error, self.service)
            return Tried(failure=failure, again=may_repeat(method, idempotent=idempotent, refused=refused))
        except trouble.ClientException as error:
            return no_login(self._where, error)
        return Tried(answer) if answer.status_code < 400 else self._answered(method, path, idempotent, answer)

    def _locate(self) -> Failure | None:
        """Sees to a token, and to the address of the service's version.

        keystoneauth would take the catalogue's bare address while the list of versions cannot be read. There Neutron
        and Glance answer 404 to everything, and everything would be gone.
        """
        self._adapter.get_token()
        with self._lock:
            if not self._found:
                try:
                    data = self._adapter.get_endpoint_data()
                except trouble.EndpointNotFound:
                    # The catalogue was read and lacks it: another token would have the same one.
                    data = None
                if data is None or data.api_version is None:
                    why = missing_service(self._adapter, self.service)
                    return Failure(Trouble.UNREACHABLE, f"{self._where} cannot be used: {why.what}", why.hint or None)
                self._adapter.endpoint_override = data.url
                self._found = True
            return None

    def _answered(self, method: str, path: str, idempotent: bool | None, answer: Any) -> Tried[Any]:
        status = answer.status_code
        kind, said = classify(self.service, status, answer.text)
        locked = is_locked(self.service, status, answer.text)
        retried = status in RETRIED_STATUS or locked
        again = retried and may_repeat(method, idempotent=idempotent, refused=locked or status == 429)
        if retried and not again:
            # A gateway says 502, 503 or 504 also when the service behind it did the work.
            kind = Trouble.LOST_ANSWER
        failure = Failure(kind, f"{self.service} {method} {path}: {said or f'status {status}'}", service=self.service)
        return Tried(failure=failure, again=again, after=retry_after(answer.headers))

    def _parsed(self, method: str, path: str, idempotent: bool | None, answer: Any) -> Tried[Answer]:
        """The object that an answer holds. What is no JSON did not come from the service, or not whole."""
        unread = self._unread(method, path, idempotent)
        try:
            value = json.loads(answer.content or b"{}", object_hook=lambda values: Answer(values, unread))
        except ValueError:
            value = None
        if isinstance(value, Answer):
            _LAST.failed = unread
            return Tried(value)
        again = may_repeat(method, idempotent=idempotent, refused=False)
        text = " ".join(answer.text.split())[:100]
        return Tried(failure=unread(f"the answer is not its JSON: {text or 'nothing'}"), again=again)

    def _unread(self, method: str, path: str, idempotent: bool | None) -> Callable[[str], Failure]:
        """How to fail on an answer that cannot be read: whether the request had its effect is not known."""
        known = may_repeat(method, idempotent=idempotent, refused=False)
        kind = Trouble.SERVICE if known else Trouble.LOST_ANSWER
        return lambda why: Failure(kind, f"{self.service} {method} {path}: {why}", service=self.service)


def no_login(what: str, error: Exception) -> Tried[Any]:
    """A token or an address that could not be had: nothing was sent to the service itself."""
    kind, again, after = Trouble.UNREACHABLE, True, None
    if not isinstance(error, trouble.HttpError) and cause_of(error) is not None:
        return Tried(failure=unconnected(kind, what, error, "identity"), again=again)
    message = f"{what} cannot be reached: {short(error)}"
    if isinstance(error, trouble.HttpError):
        again = error.http_status in RETRIED_STATUS
        after = retry_after(error.response.headers if error.response is not None else {})
        if error.http_status == 401:
            kind, message = Trouble.UNAUTHORIZED, f"{what}: the cloud refused the credential: {short(error)}"
        elif error.http_status >= 500 and not again:
            kind = Trouble.SERVICE
    elif isinstance(error, MISREAD):
        message = f"{what} cannot be reached: the identity service's answer cannot be read ({type(error).__name__})"
    return Tried(failure=Failure(kind, message, service="identity"), again=again, after=after)


def unconnected(kind: Trouble, what: str, error: Exception, service: str) -> Failure:
    """A failed connection in one line: what, and the likely cause with the address."""
    cause = cause_of(error)
    if cause is None:
        return Failure(kind, f"{what}: {short(error)}", service=service)
    # Of a request whose answer was lost the usual hint says more: that it is found again.
    hint = cause.hint if kind is Trouble.UNREACHABLE else ""
    return Failure(kind, f"{what} cannot be reached: {cause.what}{address(error)}", hint or None, service=service)


def short(error: Exception) -> str:
    """What an exception says, on one line."""
    return " ".join(str(error).split())[:300]


def never_left(error: BaseException) -> bool:
    """True if no connection was made at all: the request cannot have had an effect."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, NewConnectionError) or isinstance(getattr(seen, "reason", None), NewConnectionError):
            return True
        if any(isinstance(getattr(arg, "reason", None), NewConnectionError) for arg in seen.args):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _next(page: dict[str, Any], key: str) -> str | None:
    if page.get("next"):
        return str(page["next"])
    links = page.get(f"{key}_links", [])
    return next((str(link["href"]) for link in links if link["rel"] == "next"), None)


def _query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))
