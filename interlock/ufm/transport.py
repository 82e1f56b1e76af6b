"""One request to a UFM: over TLS that is always verified, with time limits, and never followed elsewhere.

Proxies, `.netrc` and redirects are not used: each could take the secret to somebody else. No error and no log holds
the secret, also where UFM, or what stands before it, sends it back.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)

from interlock.retry import RetryPolicy, Tried, persist

from .errors import UfmError, UfmTrouble
from .loading import FabricAccess

#: Seconds to connect, between two parts of an answer, and for all of it.
CONNECT, READ, WHOLE = 10.0, 60.0, 120.0
#: Bytes of the largest answer: a partition with some ten thousand members takes one megabyte, all links of a hall of
#: 1 023 nodes twelve.
LARGEST = 64 * 1024 * 1024
_PART = 64 * 1024
#: Characters of what UFM says that an error shows.
_SHOWN = 300
MASK = "[secret]"
#: What `json` raises: the second one of lists in lists in lists, some ten thousand deep.
_NO_JSON = (ValueError, RecursionError)

#: Requests that may be sent once more although the first may have had its effect. Not PUT: it takes out whoever came in
#: between.
_REPEATED = frozenset({"GET", "DELETE", "POST"})
_BY_STATUS = {
    400: UfmTrouble.INVALID, 401: UfmTrouble.UNAUTHORIZED, 403: UfmTrouble.FORBIDDEN, 404: UfmTrouble.NOT_FOUND,
    409: UfmTrouble.CONFLICT, 429: UfmTrouble.THROTTLED, 502: UfmTrouble.UNREACHABLE, 503: UfmTrouble.UNREACHABLE,
    504: UfmTrouble.UNREACHABLE,
}  # fmt: skip
_PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class UfmAnswer:
    """An answer below 400: status, JSON (or text, where it is none), and where its job is, if it has one."""

    status: int
    value: Any
    location: str = ""


@dataclass(frozen=True)
class UfmTransport:
    """Requests to one UFM. `told`: hears of each secret before it is used, so that others can mask it, too."""

    access: FabricAccess
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    told: Callable[[str], None] = lambda _: None

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, query: Mapping[str, str] | None = None
    ) -> UfmAnswer:
        """The answer. Raises `UfmError`."""
        secret = self.access.secret()
        self.told(secret)
        prefix, login = _login(self.access, secret)
        self.told(login)
        url = f"{self.access.url}{prefix}{path}" + (f"?{urlencode(query)}" if query else "")
        call = _Call(self, method, path, url, (secret, login))
        return persist(self.retry_policy, lambda: call.once(body))


def _login(access: FabricAccess, secret: str) -> tuple[str, str]:
    """(prefix of paths, text after the word *Basic*). UFM takes a token as it is there, in an API of its own."""
    if access.username is None:
        return "/ufmRestV3", secret
    return "/ufmRest", base64.b64encode(f"{access.username}:{secret}".encode()).decode()


@dataclass(frozen=True)
class _Call:
    to: UfmTransport
    method: str
    path: str
    url: str
    #: Never shown; the second one logs in.
    secrets: tuple[str, str] = field(repr=False)

    def once(self, body: Mapping[str, Any] | None) -> Tried[UfmAnswer]:
        access = self.to.access
        headers = {"Authorization": f"Basic {self.secrets[1]}", "Accept": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        try:
            # A pool for each request: calls are few, and come from many threads.
            with urllib3.PoolManager(
                cert_reqs="CERT_REQUIRED", ca_certs=None if access.ca_file is None else str(access.ca_file)
            ) as pool:
                answer = pool.request(
                    self.method, self.url, body=content, headers=headers, redirect=False, retries=False,
                    preload_content=False, timeout=urllib3.Timeout(connect=CONNECT, read=READ),
                )  # fmt: skip
                return self._answered(answer.status, answer.headers, self._read(answer))
        except _Endless as error:
            return self._lost(str(error))
        except (HTTPError, OSError) as error:
            return self._unconnected(error)

    def _read(self, answer: Any) -> str:
        """The whole text of an answer, in the time and size that one may have."""
        parts, size, until = [], 0, time.monotonic() + WHOLE
        for part in answer.stream(_PART):
            parts.append(part)
            size += len(part)
            if size > LARGEST:
                raise _Endless(f"its answer is larger than {LARGEST // 1024 // 1024} MiB")
            if time.monotonic() > until:
                raise _Endless(f"its answer takes longer than {WHOLE:.0f} s")
        return b"".join(parts).decode("utf-8", errors="replace")

    def _answered(self, status: int, headers: Mapping[str, str], text: str) -> Tried[UfmAnswer]:
        if status < 300:
            try:
                value = json.loads(text) if text.strip() else {}
            except _NO_JSON:
                if self.method == "GET":
                    what = f"its answer is no JSON: {self._said(text)}"
                    return self._failed(UfmTrouble.SERVICE, what, "see whether `url` leads to UFM itself", again=True)
                value = text
            return Tried(UfmAnswer(status, value, headers.get("Location", "")))
        if status < 400:
            where = self._hidden(headers.get("Location", "nowhere"))[:_SHOWN]
            hint = "give UFM's own address as `url`: the login is sent nowhere else"
            return self._failed(UfmTrouble.SERVICE, f"it redirects to {where}", hint)
        trouble = _BY_STATUS.get(status, UfmTrouble.SERVICE if status >= 500 else UfmTrouble.INVALID)
        passing = status in _PASSING
        if passing and status != 429 and self.method not in _REPEATED:
            trouble = UfmTrouble.LOST_ANSWER
        again = passing and (status == 429 or self.method in _REPEATED)
        return self._failed(trouble, f"status {status}: {self._said(text)}", self._hint(trouble), again=again)

    def _unconnected(self, error: Exception) -> Tried[UfmAnswer]:
        if isinstance(error, SSLError):
            hint = "name the issuer's certificate as `ca_file`, or give UFM one that is known; it is never skipped"
            what = f"its certificate was not accepted ({self._hidden(str(error))[:_SHOWN]})"
            return self._failed(UfmTrouble.UNREACHABLE, what, hint)
        if isinstance(error, NameResolutionError):
            what = "its name is not known (DNS)"
            return self._failed(UfmTrouble.UNREACHABLE, what, "check `url` in fabrics.yaml, and your DNS")
        if isinstance(error, NewConnectionError | ConnectTimeoutError):
            hint = "check that UFM runs, and the network and firewall between here and it"
            return self._failed(UfmTrouble.UNREACHABLE, "nobody takes the connection", hint, again=True)
        return self._lost(
            "it did not answer in time" if isinstance(error, ReadTimeoutError) else "the connection broke"
        )

    def _lost(self, what: str) -> Tried[UfmAnswer]:
        """A request that was sent, and nobody knows what came of it."""
        trouble = UfmTrouble.UNREACHABLE if self.method == "GET" else UfmTrouble.LOST_ANSWER
        hint = "run the command again: it looks first at what is there"
        return self._failed(trouble, what, hint, again=self.method in _REPEATED)

    def _failed(self, trouble: UfmTrouble, what: str, hint: str, *, again: bool = False) -> Tried[UfmAnswer]:
        access = self.to.access
        said = f"UFM of {access.infiniband} ({access.url}), {self.method} {self.path.partition('/guids/')[0]}: {what}"
        return Tried(failure=UfmError(trouble, access.infiniband, self._hidden(said), hint), again=again)

    def _hint(self, trouble: UfmTrouble) -> str:
        position = self.to.access.position
        return {
            UfmTrouble.UNAUTHORIZED: f"check user and password, or the token, named at {position}",
            UfmTrouble.FORBIDDEN: "the user needs the group Fabric_Admin at UFM",
            UfmTrouble.INVALID: "UFM does not take these values; see its log, and which release it is",
        }.get(trouble, "see UFM's log, then run the command again")

    def _said(self, text: str) -> str:
        """What UFM says, in one line: the `error` of JSON, else its text; of a page its title."""
        # Hidden before spaces are joined, and after JSON is read: each changes how a secret is spelt.
        return self._hidden(_in_one_line(self._hidden(text)))[:_SHOWN] or "no text"

    def _hidden(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return text


class _Endless(Exception):
    """An answer that is too long or takes too long."""


def _in_one_line(text: str) -> str:
    lower = text.lower()
    if "<html" in lower or "<!doctype" in lower:
        start, end = lower.find("<title>"), lower.find("</title>")
        title = " ".join(text[start + 7 : end].split()) if 0 <= start < end else ""
        return f"a page of HTML{f', {title!r}' if title else ''}"
    try:
        value = json.loads(text)
    except _NO_JSON:
        return " ".join(text.split())
    if isinstance(value, dict):
        value = next((value[key] for key in ("error", "message", "detail", "description") if value.get(key)), value)
    return " ".join(str(value).split())
