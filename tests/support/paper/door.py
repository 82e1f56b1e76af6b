"""`python -m tests.support.paper.door INSTANCE`: runs commands of V-IPU in controllers' servers.

Has imported `sandbox.vipu.station`, which stands for ssh to a server, and forks one process for each request: imports
take a second, a fork takes milliseconds. Its port is the one line that it writes; it ends with its stdin.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socketserver import ForkingMixIn
from typing import Any

from sandbox.vipu import station


class _Door(ForkingMixIn, HTTPServer):
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever knocked was killed."""


class _Porter(BaseHTTPRequestHandler):
    def _handle(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        out, err, here = io.StringIO(), io.StringIO(), Path.cwd()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = station.main((sys.argv[1], asked["server"], asked["program"], *asked["words"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        said = {"code": code, "out": out.getvalue(), "err": err.getvalue(), "files": _written(here)}
        self.wfile.write(json.dumps(said).encode())

    do_GET = do_POST = _handle  # noqa: N815 - http.server looks for them

    def log_message(self, *args: Any) -> None:
        """Nothing: the proxy before it keeps what was asked."""


def _written(before: Path) -> dict[str, str]:
    """Settings that a command wrote into the folder in which it ran: they are written where the caller runs it."""
    if (here := Path.cwd()) == before:
        return {}
    found = {path.name: path.read_text(encoding="utf-8") for path in here.glob("*.vipu-cli.hcl")}
    for name in found:
        (here / name).unlink()
    return found


def _end_with_stdin() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def main() -> None:
    """Serves until stdin ends."""
    door = _Door(("127.0.0.1", 0), _Porter)
    print(door.server_address[1], flush=True)
    # A thread that only waits: what is forked beside it holds no lock of its.
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    door.serve_forever()


if __name__ == "__main__":
    main()
