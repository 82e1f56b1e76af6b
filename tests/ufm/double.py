"""A UFM in this process, over real TLS, for tests of the client: it keeps a table, and knows no fabric.

What a P_Key does is asked of a real subnet manager in tests/subnet_manager. Here the two public simulators of UFM are
followed where they differ (`Profile`), and every way to break off a request can be had.
"""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from interlock.ufm.loading import FabricAccess

USER, PASSWORD, TOKEN = "interlock", "canary-of-a-password", "canary-of-a-token"
PREFIX = "fec0000000000001"
#: (full, index0) would do for the table; a member is what UFM shows of it.
Table = dict[int, dict[str, dict[str, Any]]]
#: When a connection is cut: before the effect of the request, with half of the members done, after it.
Cut = Literal["before", "middle", "after"]


@dataclass(frozen=True)
class Profile:
    """How a release of UFM behaves where others do otherwise."""

    #: What is answered about a key that is not there: status and body.
    absent: tuple[int, Any] = (404, {"error": "pkey not found"})
    #: GUIDs that nobody has discovered are taken.
    takes_unknown: bool = True
    #: POST makes everybody full where each has a membership of its own.
    ignores_memberships: bool = True
    #: Changes are done by a job.
    jobs: bool = False
    #: How GUIDs and keys are written in answers.
    guid: Callable[[str], str] = str
    keys: Literal["0x{:x}", "0x{:04X}"] = "0x{:x}"
    #: An answer about one key is written as one about all.
    nested: bool = False


CONFIG_MANAGER = Profile()
INFRA_CONTROLLER = Profile(
    absent=(200, {}), takes_unknown=False, ignores_memberships=False, guid=str.upper, keys="0x{:04X}"
)
WITH_JOBS = Profile(jobs=True, nested=True)


@dataclass
class Double:
    """One UFM. Requests are counted from 1; at `cut_at` the connection is cut."""

    ports: frozenset[str]
    profile: Profile = CONFIG_MANAGER
    table: Table = field(default_factory=dict)
    ip_over_ib: dict[int, bool] = field(default_factory=dict)
    prefix: str = PREFIX
    #: Of the subnet manager besides, as nobody set it.
    configuration: dict[str, Any] = field(default_factory=lambda: {"m_key": "0x0", "m_key_per_port": False})
    #: The default partition; None: it is not shown.
    default: dict[str, Any] | None = None
    #: (method, path) of every request, in order.
    asked: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    #: Number of the changing request at which whoever asks dies; nothing of it is heard afterwards.
    cut_at: int = 0
    cut: Cut = "before"
    is_dead: bool = False
    #: Answers in place of its own: (method, beginning of the path) -> status, headers, body.
    instead: dict[tuple[str, str], tuple[int, dict[str, str], str]] = field(default_factory=dict)
    #: What jobs end as, and how many looks each takes.
    job_ends: str = "Completed"
    job_looks: dict[str, int] = field(default_factory=dict)
    #: Looks until a job ends.
    job_turns: int = 2
    #: Runs before a changing request has its effect: somebody else at work.
    meanwhile: Callable[[Double], None] | None = None
    port: int = 0
    ca: Path = Path()
    changes: int = 0
    lock: Any = field(default_factory=threading.RLock)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"https://localhost:{self.port}"

    def put(self, key: int, guid: str, membership: str = "full", *, index0: bool = True) -> None:
        """Somebody puts a member in by hand."""
        self.table.setdefault(key, {})[guid] = {"membership": membership, "index0": index0}
        self.ip_over_ib.setdefault(key, True)

    def members(self, key: int) -> dict[str, str] | None:
        """GUID -> membership; None if there is no such partition."""
        found = self.table.get(key)
        return None if found is None else {guid: str(item["membership"]) for guid, item in found.items()}

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], str]:
        """Status, headers and body. Raises `ConnectionError` where the connection is cut."""
        with self.lock:
            self.asked.append((method, path))
            if method in ("POST", "PUT"):
                self.bodies.append(body)
            if self.is_dead:
                raise ConnectionError
            if method != "GET":
                self.changes += 1
                if self.meanwhile is not None:
                    now, self.meanwhile = self.meanwhile, None
                    now(self)
            cut = method != "GET" and self.changes == self.cut_at
            if cut and self.cut == "before":
                self.is_dead = True
                raise ConnectionError
            for (which, start), given in self.instead.items():
                if which == method and path.startswith(start):
                    return given
            before = {key: {**members} for key, members in self.table.items()}
            status, value, headers = self._does(method, path, body)
            if cut:
                self.is_dead = True
                if self.cut == "middle":
                    self._take_half_back(before)
                raise ConnectionError
            return status, headers, value if isinstance(value, str) else json.dumps(value)

    def _take_half_back(self, before: Table) -> None:
        """Of those who came or changed, and of those who went, half did so."""
        for key in {*before, *self.table}:
            old, new = before.get(key, {}), self.table.get(key, {})
            come = sorted(guid for guid, item in new.items() if old.get(guid) != item)
            go = sorted(old.keys() - new.keys())
            late = {*come[(len(come) + 1) // 2 :], *go[(len(go) + 1) // 2 :]}
            kept = {guid: item for guid, item in new.items() if guid not in late}
            self.table[key] = kept | {guid: item for guid, item in old.items() if guid in late}

    def _does(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        bare, _, query = path.partition("?")
        parts = bare.strip("/").split("/")
        if method == "GET":
            return (*self._shown(parts, query), {})
        status, value = self._changed(method, parts, body)
        if status == 200 and self.profile.jobs:
            job = str(len(self.job_looks) + 1)
            self.job_looks[job] = self.job_turns
            return 202, {}, {"Location": f"/ufmRest/jobs/{job}"}
        return status, value, {}

    def _shown(self, parts: list[str], query: str) -> tuple[int, Any]:
        if parts == ["app", "ufm_version"]:
            return 200, {"ufm_release_version": "6.23.1-6"}
        if parts == ["app", "smconf"]:
            return 200, {"subnet_prefix": f"0x{self.prefix}", **self.configuration}
        if parts == ["resources", "ports"]:
            return 200, [{"guid": f"0x{guid}", "name": f"{guid}_1"} for guid in sorted(self.ports)]
        if parts[0] == "jobs":
            return 200, self._job(parts[1])
        if query != "guids_data=true":
            return 200, [self.profile.keys.format(key) for key in self.table]
        if parts == ["resources", "pkeys"]:
            return 200, {self.profile.keys.format(key): self._partition(key) for key in self.table}
        key = int(parts[2], 16)
        if key == 0x7FFF and self.default is not None:
            return 200, self.default
        if key not in self.table:
            return self.profile.absent
        shown = self._partition(key)
        return 200, {self.profile.keys.format(key): shown} if self.profile.nested else shown

    def _job(self, job: str) -> Any:
        left = self.job_looks.get(job)
        if left is None:
            return []
        self.job_looks[job] = left - 1
        return {"ID": job, "Status": "Running" if left > 0 else self.job_ends, "Summary": "the SM says no"}

    def _partition(self, key: int) -> dict[str, Any]:
        guids = [{"guid": self.profile.guid(guid), **item} for guid, item in self.table[key].items()]
        return {"partition": f"api_pkey_{key:#x}", "ip_over_ib": self.ip_over_ib.get(key, True), "guids": guids}

    def _changed(self, method: str, parts: list[str], body: dict[str, Any]) -> tuple[int, Any]:
        if method == "DELETE":
            return self._taken_out(int(parts[2], 16), parts[4].split(",") if len(parts) > 3 else None)
        key = int(body["pkey"], 16)
        unknown = [guid for guid in body["guids"] if guid not in self.ports]
        if unknown and not self.profile.takes_unknown:
            return 404, {"error": f"no such GUID: {unknown[0]}"}
        one = body.get("membership", "full")
        listed = body.get("memberships", [one] * len(body["guids"]))
        if method == "POST" and "memberships" in body and self.profile.ignores_memberships:
            listed = ["full"] * len(body["guids"])
        if method == "PUT":
            self.table[key] = {}
        for guid, membership in zip(body["guids"], listed, strict=True):
            self.table.setdefault(key, {})[guid] = {"membership": membership, "index0": body.get("index0", False)}
        self.ip_over_ib[key] = body.get("ip_over_ib", True)
        return 200, "null"

    def _taken_out(self, key: int, guids: list[str] | None) -> tuple[int, Any]:
        if key not in self.table:
            return self.profile.absent if self.profile.absent[0] == 404 else (404, "No such pkey")
        was_empty = not self.table[key]
        for guid in [*self.table[key]] if guids is None else guids:
            self.table[key].pop(guid, None)
        # It goes with its last member; one that was empty before is left.
        if not self.table[key] and (guids is None or not was_empty):
            del self.table[key]
        return 200, ""


def access(double: Double, folder: Path, *, token: bool = False) -> FabricAccess:
    """How it is asked, with the secret in a file."""
    file = folder / ("token" if token else "password")
    file.write_text(f"{TOKEN if token else PASSWORD}\n")
    file.chmod(0o600)
    name = None if token else USER
    return FabricAccess("ib-1", double.url, name, file, None, double.ca, "fabrics.yaml:2:9")


class _Handler(BaseHTTPRequestHandler):
    double: Double

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing is logged."""

    def _handle(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        wanted = {"/ufmRest/": f"Basic {basic}", "/ufmRestV3/": f"Basic {TOKEN}"}
        prefix = next((prefix for prefix in wanted if self.path.startswith(prefix)), "")
        if not prefix or self.headers["Authorization"] != wanted[prefix]:
            # As a proxy may: it says what it was sent.
            return self._send(401, {}, f"not authorized: {self.headers['Authorization']}")
        try:
            status, headers, text = self.double.answer(self.command, self.path.removeprefix(prefix.rstrip("/")), body)
        except ConnectionError:
            self.close_connection = True
            self.connection.close()
            return None
        return self._send(status, headers, text)

    do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 (names that the server looks for)

    def _send(self, status: int, headers: dict[str, str], text: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        content = text.encode()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def listening(double: Double, certificate: Path) -> Iterator[Double]:
    """It, at a port of this machine, with this certificate (and key) of `localhost`."""
    handler = type("_Bound", (_Handler,), {"double": double})
    server = ThreadingHTTPServer(("localhost", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    double.port = server.server_address[1]
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
