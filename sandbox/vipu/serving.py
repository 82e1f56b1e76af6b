"""A controller on the network: user API and admin API on one address or on two, with TLS where there are certificates.

The protocol is our own: POST /call with verb, noun, id and options as JSON. It is not that of V-IPU.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .access import VipuAccess
from .certificates import certificates_of
from .controller import VipuController
from .faults import VipuFault, VipuFaults
from .forms import FormWrong
from .refusals import VipuRefused
from .scene import ApiName, Call

NOTICE = "simulator of V-IPU, no wire compatibility"
_MOST_BYTES = 1 << 20
_IDLE_SECONDS = 30.0
#: How often the controller looks at its agents while nobody asks.
_POLL_SECONDS = 0.25


@dataclass(frozen=True)
class ServingSettings:
    """Addresses. Port 0: any that is free. Without an admin port the user's address serves both APIs."""

    host: str = "127.0.0.1"
    port: int = 0
    admin_host: str = "127.0.0.1"
    admin_port: int | None = 0


@dataclass
class Serving:
    """One controller that is served."""

    controller: VipuController
    settings: ServingSettings = field(default_factory=ServingSettings)
    faults: VipuFaults = field(default_factory=VipuFaults)
    _servers: dict[ApiName, _VipuServer] = field(default_factory=dict)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def user(self) -> tuple[str, int]:
        """Host and port of the user API."""
        return self._address("user")

    @property
    def admin(self) -> tuple[str, int]:
        """Host and port of the admin API; the same if it is not apart."""
        return self._address("admin" if "admin" in self._servers else "user")

    def start(self) -> None:
        """Serve from now on. Raises OSError if an address is in use."""
        asked = self.settings
        apart = asked.admin_port is not None
        try:
            self._serve("user", asked.host, asked.port, serves="user" if apart else "admin")
            if asked.admin_port is not None:
                self._serve("admin", asked.admin_host, asked.admin_port, serves="admin")
        except OSError:
            self.stop()
            raise
        threading.Thread(target=self._poll, daemon=True).start()

    def stop(self) -> None:
        """Serve no longer; the controller stays open."""
        self._ended.set()
        for server in self._servers.values():
            server.shutdown()
            server.server_close()
        self._servers.clear()

    @contextmanager
    def running(self) -> Iterator[Serving]:
        """Started, and stopped in the end."""
        self.start()
        try:
            yield self
        finally:
            self.stop()

    def _serve(self, name: ApiName, host: str, port: int, serves: ApiName) -> None:
        server = _VipuServer((host, port), self.controller, self.faults, serves, lambda: self.user)
        certificates = certificates_of(self.controller.storage.folder)
        if certificates.there:
            # The handshake belongs to the connection's own thread: a client that does not speak stops nobody else.
            server.socket = certificates.server_context().wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._servers[name] = server
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def _address(self, name: ApiName) -> tuple[str, int]:
        host, port = self._servers[name].server_address[:2]
        return str(host), int(port)

    def _poll(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            try:
                self.controller.settle()
            except (FormWrong, OSError, ValueError):
                # The file of racks, or of the clock, is told to whoever asks next.
                continue


class _VipuServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        address: tuple[str, int],
        controller: VipuController,
        faults: VipuFaults,
        serves: ApiName,
        user_api: Callable[[], tuple[str, int]],
    ) -> None:
        self.controller, self.faults, self.serves, self.user_api = controller, faults, serves, user_api
        super().__init__(address, _VipuHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off, or has no certificate, is no news."""


class _VipuHandler(BaseHTTPRequestHandler):
    server: _VipuServer
    protocol_version = "HTTP/1.1"
    server_version = "simulator"
    sys_version = f"({NOTICE})"
    timeout = _IDLE_SECONDS

    def do_POST(self) -> None:
        """One call."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MOST_BYTES:
            self.close_connection = True
            self._send(413, {"error": {"code": "INVALID_ARGUMENT", "text": "the body is too long"}})
            return
        try:
            call = _call_of(json.loads(self.rfile.read(length)))
        except (ValueError, KeyError, TypeError, AttributeError):
            self._send(400, {"error": {"code": "INVALID_ARGUMENT", "text": "the body is no call"}})
            return
        fault = self.server.faults.take(f"{call.verb} {call.noun}")
        if fault is not None and fault.kind == "cut-before":
            self.close_connection = True
            return
        status, answer = self._answered(call, fault)
        if fault is not None and fault.kind == "cut-after":
            self.close_connection = True
            return
        self._send(status, answer)

    def _answered(self, call: Call, fault: VipuFault | None) -> tuple[int, Any]:
        access = VipuAccess(
            self.server.serves, self.headers.get("X-Vipu-User") or "", self.headers.get("X-Vipu-Key") or ""
        )
        try:
            if fault is not None and fault.kind == "refused":
                raise VipuRefused("injected")
            value = self.server.controller.answer(call, access)
        except VipuRefused as error:
            return 400, {"error": {"code": error.code, "text": error.text}}
        except (FormWrong, OSError, ValueError) as error:
            return 500, {"error": {"code": "UNAVAILABLE", "text": str(error)}}
        host, port = self.server.user_api()
        release = self.server.controller.settings.release
        return 200, {"release": release, "value": value, "user_api": {"host": host, "port": port}}

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: the controller has a log of its own."""


def _call_of(body: Any) -> Call:
    options = {
        str(name): tuple(map(str, value)) if isinstance(value, list) else value
        for name, value in body["options"].items()
    }
    if not all(isinstance(value, str | int | tuple) for value in options.values()):
        raise TypeError("options")
    return Call(str(body["verb"]), str(body["noun"]), str(body["id"]), options)
