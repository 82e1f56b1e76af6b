"""What can go wrong between the provider and a service, one line each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.faults.proxy import Act, Request, Response

#: Seconds for which a service that says nothing is waited for here.
SILENCE = 4.0


@dataclass(frozen=True)
class Fault:
    """`before`: the service never sees the request. `after`: it did what was asked, and only its answer suffers."""

    says: str
    before: Act | None
    after: Act | None = None


def status(code: int, **headers: str) -> Act:
    """An answer of a gateway or of the service, in no particular words."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return lambda request, ask: Response(code, (("Content-Type", "text/plain"), *named), b"injected")


def words(of: dict[str, tuple[int, Any]]) -> Act:
    """An answer in the words of each service; those that have none for it say 409."""

    def act(request: Request, ask: Callable[[], Response]) -> Response:
        code, body = of.get(request.service, (409, {"error": {"code": 409, "message": "Conflict occurred"}}))
        return Response(code, (("Content-Type", "application/json"),), json.dumps(body).encode())

    return act


def lost(act: Act) -> Act:
    """The same, but the service did its work before."""

    def after(request: Request, ask: Callable[[], Response]) -> Response:
        ask()
        return act(request, ask)

    return after


def reset(request: Request, ask: Callable[[], Response]) -> Response:
    return Response(0, cut=0)


def half(request: Request, ask: Callable[[], Response]) -> Response:
    whole = ask()
    return replace(whole, cut=len(whole.body) // 2) if len(whole.body) > 1 else replace(whole, cut=0)


def silence(request: Request, ask: Callable[[], Response]) -> Response:
    time.sleep(1.5 * SILENCE)
    return Response(0, cut=0)


def text(content_type: str, body: str) -> Act:
    return lambda request, ask: Response(200, (("Content-Type", content_type),), body.encode())


def changed(change: Callable[[Any], None]) -> Act:
    """The service's own answer with something in its JSON changed in place."""

    def act(request: Request, ask: Callable[[], Response]) -> Response:
        whole = ask()
        value = json.loads(whole.body)
        change(value)
        return replace(whole, body=json.dumps(value).encode())

    return act


_PORTAL = text("text/html", "<html><body>Please log in to the wireless network</body></html>")
_OTHER = text("application/json", '{"status": "ok"}')

_IN_USE = words(
    {
        "neutron": (409, {"NeutronError": {"type": "NetworkInUse", "message": "There are ports in use", "detail": ""}}),
        "nova": (409, {"conflictingRequest": {"code": 409, "message": "It is in use"}}),
        "cinder": (400, {"badRequest": {"code": 400, "message": "Volume status must be available or error"}}),
        "manila": (
            403,
            {"forbidden": {"code": 403, "message": "Share status must be one of available"}},
        ),
    }
)
_QUOTA = words(
    {
        "neutron": (409, {"NeutronError": {"type": "OverQuota", "message": "Quota exceeded", "detail": ""}}),
        "nova": (403, {"forbidden": {"code": 403, "message": "Quota exceeded for cores"}}),
        "cinder": (413, {"overLimit": {"code": 413, "message": "VolumeLimitExceeded"}}),
        "manila": (413, {"overLimit": {"code": 413, "message": "Maximum number of shares: quota is exceeded."}}),
        "glance": (413, {"message": "Quota exceeded for images"}),
        "barbican": (403, {"title": "Forbidden", "code": 403, "description": "Quota reached for project p."}),
    }
)
_SECONDS = status(429, Retry_After="2")
_DATE = status(429, Date="Fri, 01 Jan 1999 00:00:00 GMT", Retry_After="Fri, 01 Jan 1999 00:00:03 GMT")

FAULTS: dict[str, Fault] = {
    "401": Fault("the token is worth nothing any more", status(401)),
    "403": Fault("the role does not allow it", status(403)),
    "404": Fault("what it needs was deleted a moment ago", status(404)),
    "409 in use": Fault("somebody still uses it", _IN_USE),
    "over quota": Fault("the quota is full: 409, 403 or 413", _QUOTA),
    "413": Fault("too large, or too many requests", status(413)),
    "429": Fault("too many requests, wait 2 seconds", _SECONDS),
    "429 date": Fault("too many requests, wait until a time", _DATE),
    "500": Fault("the service has a fault of its own", status(500), lost(status(500))),
    "502": Fault("the gateway got nonsense from the service", status(502), lost(status(502))),
    "503": Fault("the gateway has no service", status(503), lost(status(503))),
    "504": Fault("the gateway waited in vain", status(504), lost(status(504))),
    "reset": Fault("the line breaks", reset, lost(reset)),
    "half a body": Fault("the line breaks in the middle of the answer", None, half),
    "no JSON": Fault("something else answers", _PORTAL, lost(_PORTAL)),
    "other JSON": Fault("it is JSON, and not the service's", _OTHER, lost(_OTHER)),
    "silence": Fault("no answer at all", silence, lost(silence)),
}  # fmt: skip
