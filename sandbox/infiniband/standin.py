"""The stand-in of UFM's REST interface: HTTPS on a loopback port, two ways to log in, faults on demand."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from .certificates import ServerCertificate, make_certificate
from .faults import UfmFault, UfmFaults
from .job_list import JobList
from .partition_calls import PartitionCalls
from .processes import SubnetFailed
from .profiles import DOCUMENTED, UfmProfile
from .requests import UfmRefused
from .routes import NOTICE, UfmCall, UfmReply, UfmRoutes
from .subnet import LiveSubnet

#: Prefix -> True if one logs in there with a token.
_PREFIXES = {"/ufmRestV3": True, "/ufmRest": False}
_IDLE_SECONDS = 30
_MOST_BYTES = 4 << 20


class StandIn:
    """One server in front of one subnet. `url` has no prefix: clients put `/ufmRest` or `/ufmRestV3` behind it."""

    def __init__(self, subnet: LiveSubnet, profile: UfmProfile = DOCUMENTED, *, asynchronous: bool = False) -> None:
        self.profile = profile
        self.faults = UfmFaults()
        self.user, self.password = "admin", secrets.token_urlsafe(18)
        self._tokens: list[str] = []
        self.token = self._new_token()
        #: Method and path of every request, in the order of their arrival.
        self.requests: list[tuple[str, str]] = []
        self.jobs = JobList()
        self.calls = PartitionCalls(subnet, profile)
        self._routes = UfmRoutes(subnet, self.calls, self.jobs, new_token=self._new_token, asynchronous=asynchronous)
        self.certificate: ServerCertificate = make_certificate(subnet.folder / "ufm")
        self._server: _UfmServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def ca_file(self) -> str:
        """The authority by which clients verify the server."""
        return str(self.certificate.authority)

    @property
    def url(self) -> str:
        """`https://127.0.0.1:<port>`. Raises RuntimeError unless it serves."""
        if self._server is None:
            raise RuntimeError("the stand-in does not serve")
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    def start(self, port: int = 0) -> None:
        """Serve from now on. `port` 0: any that is free."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate.chain, self.certificate.key)
        self._server = _UfmServer(("127.0.0.1", port), self)
        # The handshake belongs to the connection's own thread: a client that does not speak stops nobody else.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Serve no longer; jobs that run are waited for."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self.jobs.wait()
        self._server = self._thread = None

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[StandIn]:
        """Started, and stopped in the end."""
        self.start(port)
        try:
            yield self
        finally:
            self.stop()

    def answer(self, method: str, target: str, authorization: str, body: bytes) -> tuple[UfmReply, UfmFault | None]:
        """What one request is answered with, and the fault that bites it. A fault that cuts `before` does nothing."""
        parts = urlsplit(target)
        prefix = next((item for item in _PREFIXES if parts.path.startswith(f"{item}/")), "")
        path = unquote(parts.path[len(prefix) :])
        self.requests.append((method, path))
        fault = self.faults.take(method, path)
        if fault is not None and (fault.status is not None or fault.cut == "before"):
            return UfmReply(fault.status or 500, "on demand"), fault
        try:
            if prefix not in self.profile.prefixes:
                raise UfmRefused(404, "The requested URL was not found")
            self._log_in(prefix, authorization)
            call = UfmCall(method, path, dict(parse_qsl(parts.query)), _json(body))
            return self._routes.answer(call, fault), fault
        except UfmRefused as error:
            return UfmReply(error.status, error.text), fault
        except SubnetFailed as error:
            return UfmReply(503, str(error).splitlines()[0]), fault

    def _new_token(self) -> str:
        self._tokens.append(secrets.token_hex(16))
        return self._tokens[-1]

    def _log_in(self, prefix: str, authorization: str) -> None:
        # With a token the raw token stands behind the word Basic: the real one does so, too.
        plain = f"{self.user}:{self.password}".encode()
        wanted = self._tokens if _PREFIXES[prefix] else [base64.b64encode(plain).decode("ascii")]
        if not any(hmac.compare_digest(authorization.encode(), f"Basic {word}".encode()) for word in wanted):
            raise UfmRefused(401, "Unauthorized")


def _json(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        raise UfmRefused(400, "the body is no JSON") from None


class _UfmServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], standin: StandIn) -> None:
        self.standin = standin
        super().__init__(address, _UfmHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off, or that does not trust the certificate, is no news."""


class _UfmHandler(BaseHTTPRequestHandler):
    server: _UfmServer
    protocol_version = "HTTP/1.1"
    server_version = "TwistedWeb"
    sys_version = f"({NOTICE})"
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        """Any method."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MOST_BYTES:
            self.close_connection = True
            self._send(UfmReply(413, "the body is too long"))
            return
        body = self.rfile.read(length)
        reply, fault = self.server.standin.answer(
            self.command, self.path, self.headers.get("Authorization") or "", body
        )
        if fault is not None and fault.cut is not None:
            self.close_connection = True
            return
        self._send(reply)

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def _send(self, reply: UfmReply) -> None:
        is_text = isinstance(reply.value, str)
        data = reply.value.encode() if is_text else json.dumps(reply.value).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "text/html" if is_text else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Rest-Version", "1.0")
        if reply.status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="UFM"')
        if reply.job is not None:
            self.send_header("Location", f"/ufmRest/jobs/{reply.job}")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: `StandIn.requests` has them."""
