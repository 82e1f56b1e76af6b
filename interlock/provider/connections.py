"""Why a connection failed, in a few words, and what to do: refused, no such name, TLS, no answer in time."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from keystoneauth1 import exceptions as trouble
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.connection import SSLError
from urllib3.exceptions import ConnectTimeoutError, ReadTimeoutError


@dataclass(frozen=True)
class ConnectionCause:
    """The likely cause of a failed connection. `hint` is empty where nothing better is known than the usual."""

    what: str
    hint: str = ""


_REFUSED = ConnectionCause(
    "the connection was refused",
    "nothing listens there: check `auth_url` in clouds.yaml and the endpoints of the catalogue, and whether the "
    "service runs",
)
_NAME = ConnectionCause(
    "its host name is not known (DNS)", "check the host name in clouds.yaml or in the catalogue, and your DNS"
)
_TLS = ConnectionCause(
    "its TLS certificate or protocol was not accepted",
    "set `cacert` of this cloud in clouds.yaml to the issuer's certificate, and check http against https",
)
_TIMEOUT = ConnectionCause(
    "it did not answer in time", "check VPN, proxy and firewall between here and it, then run it again"
)
_ROUTE = ConnectionCause("there is no route to it", "check VPN and routes between here and it")
_BROKEN = ConnectionCause("the connection broke")


def cause_of(error: BaseException) -> ConnectionCause | None:
    """The likely cause; None if it is no failed connection."""
    chain = list(_chain(error))
    if any(isinstance(one, ssl.SSLError | SSLError) for one in chain):
        return _TLS
    if any(isinstance(one, socket.gaierror) for one in chain):
        return _NAME
    # Before timeouts: urllib3 derives its error of a refused connection from that of a timeout.
    codes = {one.errno for one in chain if isinstance(one, OSError)}
    if errno.ECONNREFUSED in codes:
        return _REFUSED
    if codes & {errno.ENETUNREACH, errno.EHOSTUNREACH}:
        return _ROUTE
    timeouts = (ConnectTimeoutError, ReadTimeoutError, TimeoutError, trouble.ConnectTimeout)
    if any(isinstance(one, timeouts) for one in chain):
        return _TIMEOUT
    return _BROKEN if any(isinstance(one, trouble.ConnectFailure | ConnectionError) for one in chain) else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and all that it was made from: by cause, by context, and as requests and urllib3 wrap it."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        waiting += [item for item in inner if isinstance(item, BaseException)]


def address(error: BaseException) -> str:
    """` at host:port` of a failed request, where the error says it; else nothing."""
    for one in _chain(error):
        url = getattr(getattr(one, "request", None), "url", None)
        found = urlsplit(url) if url else None
        if found is not None and found.hostname:
            return f" at {found.hostname}:{found.port or (443 if found.scheme == 'https' else 80)}"
    return ""


def missing_service(adapter: Adapter, service: str) -> ConnectionCause:
    """Why the catalogue gives no address for a service: another region, or none at all."""
    region = adapter.region_name
    try:
        auth: Any = adapter.auth or adapter.session.auth
        catalogue = auth.get_access(adapter.session).service_catalog
        found = catalogue.get_endpoints_data(service_type=service, interface=None)
    except (trouble.ClientException, KeyError, TypeError, ValueError, AttributeError):
        found = {}
    regions = sorted({str(one.region_name) for entries in found.values() for one in entries if one.region_name})
    if region and regions and region not in regions:
        return ConnectionCause(
            f"it is not in the catalogue of region {region}, only of {', '.join(regions)}",
            "correct `region_name` of this cloud in clouds.yaml",
        )
    if not regions:
        return ConnectionCause(
            "it is not in the catalogue", "ask for a service of this type, or correct the cloud's entry"
        )
    return ConnectionCause(
        "it is in the catalogue and does not say which versions it speaks",
        "check its endpoint in the catalogue, then run the command again",
    )
