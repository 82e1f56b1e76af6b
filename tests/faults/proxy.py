"""A reverse proxy on loopback between the provider and the sandbox: one listener for each service.

It hands everything on as it is, except that addresses of services in the answers (Keystone's catalogue, lists of
versions, links to next pages) become its own, so that whoever logs in through it does everything through it. One
`Injection` at a time makes it lie: see `tests.faults.table`.
"""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: Headers that belong to one connection, not to the message.
_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


@dataclass(frozen=True)
class Request:
    """What arrived."""

    service: str
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True)
class Response:
    """What goes back. `cut`: bytes of it after which the line breaks; 0 breaks it at once."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    cut: int | None = None


#: Makes the answer; the second argument asks the service itself.
Act = Callable[[Request, Callable[[], Response]], Response]


@dataclass
class Injection:
    """The requests that a fault meets: from the `first` to the `last` (None: until further notice) that match."""

    act: Act
    service: str
    method: str
    path: str
    first: int = 1
    last: int | None = 1
    seen: int = 0
    #: What was answered by the fault.
    hits: list[Request] = field(default_factory=list)

    def meets(self, request: Request) -> bool:
        """Counts the request if it matches; True if it is one to be met."""
        wanted = (self.service, self.method) in ((request.service, request.method), (request.service, "*"))
        if not wanted or not re.search(self.path, request.target):
            return False
        self.seen += 1
        return self.first <= self.seen and (self.last is None or self.seen <= self.last)


@dataclass(frozen=True)
class Encrypted:
    """Files of a service that speaks TLS: its certificate and key, with which the proxy speaks for it, and who issued
    them.
    """

    chain: Path
    key: Path
    authority: Path


class Proxy:
    """The listeners. `ports`: service -> port on which it really listens; `encrypted`: those that speak TLS."""

    def __init__(self, ports: dict[str, int], encrypted: dict[str, Encrypted] | None = None) -> None:
        self.seen: list[Request] = []
        self._lock = threading.Lock()
        self._injections: list[Injection] = []
        self._real = ports
        self._encrypted = encrypted or {}
        self._servers = {service: _Server(self, service, self._encrypted.get(service)) for service in ports}
        self._own = {service: server.server_address[1] for service, server in self._servers.items()}
        for server in self._servers.values():
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def close(self) -> None:
        for server in self._servers.values():
            server.shutdown()
            server.server_close()

    def own(self, text: str) -> str:
        """A text with the services' addresses replaced by the proxy's."""
        for service, port in self._real.items():
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{self._own[service]}")
        return text

    @contextmanager
    def injected(self, *injections: Injection) -> Iterator[None]:
        """While it lasts, these faults; the first that meets a request answers it."""
        with self._lock:
            self._injections = list(injections)
        try:
            yield
        finally:
            with self._lock:
                self._injections = []

    def answer(self, request: Request) -> Response:
        with self._lock:
            self.seen.append(request)
            met = next((one for one in self._injections if one.meets(request)), None)
            if met is not None:
                met.hits.append(request)
        if met is None:
            return self._ask(request)
        return met.act(request, lambda: self._ask(request))

    def _ask(self, request: Request) -> Response:
        line = self._line(request.service)
        try:
            # The host stays as it was: S3 signs it, and services make their links from it.
            line.request(request.method, request.target, body=request.body or None, headers=request.headers)
            answer = line.getresponse()
            body = answer.read()
        finally:
            line.close()
        headers = tuple((name, self.own(value)) for name, value in answer.getheaders() if name.lower() not in _HOP)
        if "json" in (answer.getheader("Content-Type") or ""):
            body = self.own(body.decode()).encode()
        return Response(answer.status, headers, body)

    def _line(self, service: str) -> http.client.HTTPConnection:
        port, files = self._real[service], self._encrypted.get(service)
        if files is None:
            return http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        context = ssl.create_default_context(cafile=str(files.authority))
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=120, context=context)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: Proxy, service: str, encrypted: Encrypted | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        if encrypted is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(encrypted.chain, encrypted.key)
            # The handshake belongs to the connection's own thread.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.proxy = proxy
        self.service = service

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nothing to talk about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.server.service, self.command, self.path, dict(self.headers.items()), body)
        self._send(self.server.proxy.answer(request))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - http.server looks for them

    def _send(self, answer: Response) -> None:
        """All in one piece; a cut one ends in a reset."""
        empty = self.command == "HEAD" or answer.status in (204, 304)
        length = [] if answer.status == 204 else [("Content-Length", str(len(answer.body)))]
        if self.command == "HEAD":
            length = [(name, value) for name, value in answer.headers if name.lower() == "content-length"] or length
        lines = [f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, 'Odd')}"]
        lines += [f"{name}: {value}" for name, value in (*answer.headers, *length)]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if answer.cut is None:
            self.wfile.write(head + (b"" if empty else answer.body))
            return
        if answer.cut:
            self.wfile.write(head + answer.body[: answer.cut])
        self._reset(gently=bool(answer.cut))

    def _reset(self, *, gently: bool) -> None:
        self.close_connection = True
        if gently:
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            # Closed with zero seconds to linger: the client gets a RST.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.connection.close()

    def log_message(self, *args: Any) -> None:
        """Nothing: `Proxy.seen` has it all."""
