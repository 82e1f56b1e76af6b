"""Test equipment of the sandbox: a journal of all changes asked for, and a trap that holds one of them.

Every API of the sandbox is wrapped in `Journal`. It appends one JSON line per mutating
request to DIR/requests.jsonl, before the client sees the answer; bodies and headers are
never written, because they hold secrets. `n` counts arrivals over all services; `token`
marks requests that only prove who somebody is.

The trap is for tests that kill a client in mid-request. While DIR/trap.json exists,
{"n": 3, "when": "before", "user_agent": "interlock"}, the third mutating request since
then whose User-Agent contains that text is held: DIR/trap.hit appears with the request
in it, and it waits until DIR/trap.release appears, the trap is removed, or 60 seconds
are over. With "path" in the trap, only requests whose path contains that text are counted.
Its client then gets 503 with an empty body. With "before" the service never saw
the request; with "after" it was processed and only its answer is lost. A trap hits once.
"""

import fcntl
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
Record = dict[str, object]

MUTATING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# s3tokens and ec2tokens are Swift asking Keystone whose signature it sees
TOKEN_PATHS = frozenset({"/v3/auth/tokens", "/v3/s3tokens", "/v3/ec2tokens"})
HOLD_SECONDS = 60.0


class Journal:
    """The outermost WSGI layer of one service."""

    def __init__(self, application: Application, service: str, folder: Path) -> None:
        self.application = application
        self.service = service
        self.folder = folder

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in MUTATING:
            return self.application(environ, start_response)
        record = self.describe(environ)
        when = self.arrive(record)
        if when == "before":
            return self.lose(record, start_response)
        status, headers, body = collect(self.application, environ)
        if when == "after":
            return self.lose(record, start_response)
        self.write(record, status)
        start_response(status, headers)
        return body

    def describe(self, environ: Environ) -> Record:
        """What the journal tells of a request."""
        method = environ["REQUEST_METHOD"]
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        token = {"token": True} if method == "POST" and path.rstrip("/") in TOKEN_PATHS else {}
        return {
            "n": 0,
            "t": round(time.time(), 3),
            "service": self.service,
            "method": method,
            "path": path,
            "user_agent": environ.get("HTTP_USER_AGENT", ""),
            "status": 0,
            **token,
        }

    def arrive(self, record: Record) -> str:
        """Number the request; returns "before" or "after" when it is the one that a trap waits for."""
        with self.locked():
            record["n"] = count_up(self.folder / "requests.count", "")
            trap = None if "token" in record else self.trap()
            if not trap or any(str(trap.get(part, "")) not in str(record[part]) for part in ("user_agent", "path")):
                return ""
            seen = count_up(self.folder / "trap.count", str(trap["armed"]))
        return str(trap["when"]) if seen == trap["n"] else ""

    def trap(self) -> dict[str, Any] | None:
        """The trap, if one is armed; costs one stat when none is. `armed` tells one trap from the next."""
        path = self.folder / "trap.json"
        try:
            mark = path.stat()
            words = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):  # none, or one that is being written
            return None
        return {**words, "armed": f"{mark.st_ino}.{mark.st_mtime_ns}"}

    def lose(self, record: Record, start_response: StartResponse) -> Iterable[bytes]:
        """Hold the request, then drop its answer."""
        release, hit = self.folder / "trap.release", self.folder / "trap.hit"
        release.unlink(missing_ok=True)
        whole = beside(hit)
        whole.write_text(json.dumps(record), encoding="utf-8")
        whole.replace(hit)
        deadline = time.monotonic() + HOLD_SECONDS
        while time.monotonic() < deadline and not release.exists() and (self.folder / "trap.json").exists():
            time.sleep(0.02)
        self.write(record | {"trapped": True}, "503 Service Unavailable")
        start_response("503 Service Unavailable", [("Content-Length", "0"), ("Connection", "close")])
        return [b""]

    def write(self, record: Record, status: str) -> None:
        """Append one line; the lock keeps lines of different processes apart."""
        line = json.dumps(record | {"status": int(status.split()[0])})
        with self.locked(), (self.folder / "requests.jsonl").open("a", encoding="utf-8") as journal:
            journal.write(line + "\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One process and thread at a time; never held while a request is processed."""
        with (self.folder / "requests.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def count_up(path: Path, era: str) -> int:
    """Add one to a counter kept in a file; another era than the recorded one begins at one.

    The file is whole whenever its writer is killed: half of it would make every later request fail.
    """
    recorded = path.read_text(encoding="utf-8").split(" ") if path.exists() else ["0", era]
    number = int(recorded[0]) + 1 if recorded[1] == era else 1
    whole = beside(path)
    whole.write_text(f"{number} {era}", encoding="utf-8")
    whole.replace(path)
    return number


def beside(path: Path) -> Path:
    """Where a file is written before it takes its place: one for each, since `trap.hit` and `trap.count` meet."""
    return path.with_name(f"{path.name}.new")


def collect(application: Application, environ: Environ) -> tuple[str, list[tuple[str, str]], list[bytes]]:
    """Run a request to its end. Answers to mutating requests are small enough to keep."""
    begun: list[tuple[str, list[tuple[str, str]]]] = []
    written: list[bytes] = []

    def start(status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], None]:
        begun.append((status, headers))
        return written.append

    answer = application(environ, start)
    try:
        written.extend(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()
    status, headers = begun[-1]
    return status, headers, written
