"""S3 servers in this process: moto, moto one request at a time, and moto without ears for conditions.

Moto's own server needs Flask; its proxy, which is the same backend, does not, and is asked here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any

from moto.moto_proxy.proxy3 import MotoRequestHandler
from werkzeug.exceptions import HTTPException
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

AWS = "https://s3.us-east-1.amazonaws.com"
#: Headers of a request, and what is done with it.
Application = Callable[[Request, dict[str, str]], Response]


def moto(request: Request, headers: dict[str, str]) -> Response:
    """What moto answers."""
    path = request.environ["RAW_URI"]
    try:
        status, said, body = MotoRequestHandler(0).parse_request(request.method, AWS, path, headers, request.get_data())
    except HTTPException as refused:
        return Response(refused.get_body(), refused.code, content_type="application/xml")
    return Response(body, status, said)


def in_turn(application: Application) -> Application:
    """One request at a time: moto looks and then writes, and nothing keeps others out in between."""
    turn = Lock()

    def answer(request: Request, headers: dict[str, str]) -> Response:
        with turn:
            return application(request, headers)

    return answer


def deaf(application: Application, *conditions: str) -> Application:
    """A server that takes these headers and does nothing with them, as many did until 2024."""

    def answer(request: Request, headers: dict[str, str]) -> Response:
        return application(request, {name: value for name, value in headers.items() if name not in conditions})

    return answer


@contextmanager
def serving(application: Application) -> Iterator[str]:
    """The address at which this answers."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        request = Request(environ)
        return application(request, dict(request.headers))(environ, start)

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, answer, threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
