"""The service that Nova's metadata API asks (`DynamicJSON` vendor data): WSGI, with the standard library alone.

Nova posts who the server is, with a token of its own service user. Nobody but that user is answered: whoever else can
reach the port could name any server. Nova builds config drives with the same question, and what it gets stays on the
host's disk; so the metadata API has a user of its own, which nova-compute does not have.

Source: nova/api/metadata/vendordata_dynamic.py; Keystone's API reference, `GET /v3/auth/tokens`.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Collection, Iterable
from typing import Any

from keystoneauth1.exceptions import ClientException

from .desk import Desk
from .tickets import Adapter

LOG = logging.getLogger("interlock.channel")

#: Not `application/json`: keystoneauth, by which Nova asks, writes bodies of that type into Nova's log at level DEBUG.
CONTENT_TYPE = "application/vnd.interlock.channel+json; charset=utf-8"
#: Nova sends the user data along: 64 KiB, as JSON.
MOST_BYTES = 1 << 18

Start = Callable[[str, list[tuple[str, str]]], object]


class RequestRefused(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class Callers:
    """Who may ask. `users`: ids of Keystone, not names; a name may be given to somebody else."""

    def __init__(self, keystone: Adapter, users: Collection[str]) -> None:
        self._keystone = keystone
        self._users = frozenset(users)

    def check(self, token: str) -> None:
        """Raises `RequestRefused` unless Keystone says that the token is valid and one of theirs."""
        if not token:
            raise RequestRefused("401 Unauthorized", "a request without a token")
        try:
            answer = self._keystone.request(
                "/auth/tokens", "GET", headers={"X-Subject-Token": token}, params={"nocatalog": ""},
                raise_exc=False, log=False, timeout=4,
            )  # fmt: skip
            said = answer.json()["token"] if answer.status_code == 200 else None
            user = "" if said is None else str(said["user"]["id"])
        except (ClientException, OSError, ValueError, KeyError, TypeError) as error:
            raise RequestRefused(
                "503 Service Unavailable", f"Keystone does not answer: {type(error).__name__}"
            ) from None
        if answer.status_code >= 500:
            raise RequestRefused("503 Service Unavailable", f"Keystone answers with {answer.status_code}")
        if said is None:
            raise RequestRefused("401 Unauthorized", "a token that Keystone does not know")
        if user not in self._users:
            raise RequestRefused("403 Forbidden", f"user {user} is none of those who may ask")


class Service:
    """The application."""

    def __init__(self, desk: Desk, callers: Callers) -> None:
        self._desk = desk
        self._callers = callers

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        """One request. A refusal is told to Nova, which logs it and gives the server an empty object."""
        try:
            if environ.get("REQUEST_METHOD") != "POST":
                raise RequestRefused("405 Method Not Allowed", "only POST is answered")
            self._callers.check(str(environ.get("HTTP_X_AUTH_TOKEN", "")))
            body = json.dumps(self._desk.ask(_server(environ)).canonical())
        except RequestRefused as refused:
            LOG.warning("%s: refused: %s", environ.get("REMOTE_ADDR", "?"), refused.why)
            return _answer(start, refused.status, json.dumps({"said": [refused.why]}))
        return _answer(start, "200 OK", body)


def _answer(start: Start, status: str, body: str) -> Iterable[bytes]:
    sent = body.encode()
    headers = [("Content-Type", CONTENT_TYPE), ("Cache-Control", "no-store"), ("Content-Length", str(len(sent)))]
    start(status, headers)
    return [sent]


def _server(environ: dict[str, Any]) -> str:
    """The id of the server that Nova names, in the one form that Nova writes. Raises `RequestRefused`."""
    bad = "400 Bad Request"
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        raise RequestRefused(bad, "a length that is no number") from None
    if not 0 < length <= MOST_BYTES:
        raise RequestRefused("413 Content Too Large", f"a body of {length} bytes")
    try:
        said = json.loads(environ["wsgi.input"].read(length))
        return str(uuid.UUID(str(said["instance-id"])))
    except (ValueError, KeyError, TypeError):
        raise RequestRefused(bad, "a body that names no server") from None
