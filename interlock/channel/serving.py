"""The service as a process: one port, one thread for each request, TLS if a certificate is given."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

LOG = logging.getLogger("interlock.channel")


class Threads(ThreadingMixIn, WSGIServer):
    """Each request in a thread: a slow answer of Barbican holds up one server only."""

    daemon_threads = True
    request_queue_size = 128
    secure: ssl.SSLContext | None = None

    def get_request(self) -> tuple[Any, Any]:
        """A connection. The handshake of TLS comes in the thread, when something is read."""
        connection, address = super().get_request()
        connection.settimeout(Quiet.timeout)
        if self.secure is not None:
            connection = self.secure.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - of socketserver
        """A line for what broke off; the usual traceback could quote what was sent."""
        LOG.warning("%s: the connection broke off", client_address[0])


class Quiet(WSGIRequestHandler):
    """Tells nothing of its own: the application logs what counts, without bodies and tokens."""

    timeout = 15

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of http.server
        """Nothing."""

    def address_string(self) -> str:
        """The address; a name would have to be asked for."""
        return str(self.client_address[0])


def listening(
    application: Callable[..., Any], host: str, port: int, certificate: str | None = None, key: str | None = None
) -> Threads:
    """A server that listens; `serve_forever` answers. OSError if it cannot, or if the certificate cannot be read."""
    server = Threads((host, port), Quiet)
    server.set_app(application)
    if certificate is not None:
        server.secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        server.secure.load_cert_chain(certificate, key)
    return server
