"""Keystone, Nova, Neutron and Barbican as far as objects of V-IPU and the keys of their users ask them, in memory.

For provider processes that log in over HTTP: a stack whose servers are there already, and nothing else of a cloud.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import yaml

#: Where all servers are.
HOST = "paper-1"
_PROJECT, _USER, _PASSWORD = "0a" * 16, "0b" * 16, "on-paper-only"
_LATER = "2999-01-01T00:00:00.000000Z"


@dataclass
class PaperCloud:
    """Its objects, by id. `address`: where it listens."""

    address: str = ""
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    projects: dict[str, dict[str, Any]] = field(default_factory=dict)
    secrets: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def server(self, name: str, mark: str, networks: Mapping[str, str]) -> str:
        """A server that is ACTIVE, with an address on each network; its id."""
        ident = str(uuid4())
        addresses = {network: [{"addr": address, "version": 4}] for network, address in networks.items()}
        self.servers[ident] = {
            "id": ident, "name": name, "status": "ACTIVE", "tenant_id": _PROJECT, "metadata": {"interlock": mark},
            "addresses": addresses, "flavor": {"id": "f"}, "image": {"id": "i"}, "key_name": None,
            "OS-EXT-STS:task_state": None, "OS-EXT-SRV-ATTR:host": HOST,
        }  # fmt: skip
        return ident

    def project(self, name: str, mark: str) -> str:
        """A project; its id."""
        ident = uuid4().hex
        self.projects[ident] = {"id": ident, "name": name, "description": mark, "domain_id": "default"}
        return ident

    def clouds_yaml(self, address: str) -> str:
        """How it is logged in to at this address."""
        auth = {
            "auth_url": f"{address}/identity/v3", "username": "operator", "password": _PASSWORD,
            "project_id": _PROJECT, "user_domain_id": "default",
        }  # fmt: skip
        return yaml.safe_dump({"clouds": {"sandbox": {"auth": auth, "region_name": "paper"}}})

    def answer(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        """Status and JSON of one request."""
        place = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(place.query).items()}
        with self._lock:
            for wanted, path, act in self._routes():
                found = re.fullmatch(path, place.path.rstrip("/"))
                if wanted == method and found is not None:
                    status, value = act(found[1] if found.groups() else "", query, body)
                    return status, value
        return 404, {"error": {"code": 404, "message": f"nothing on paper: {method} {target}"}}

    def _routes(self) -> tuple[tuple[str, str, Callable[[str, dict[str, str], Any], tuple[int, Any]]], ...]:
        secrets = "/key-manager/v1/secrets"
        return (
            ("GET", "/identity/v3", lambda *_: self._version("identity/v3", "v3.14")),
            ("POST", "/identity/v3/auth/tokens", lambda *_: (201, self._token())),
            ("GET", "/identity/v3/domains", lambda *_: (200, {"domains": [_DOMAIN]})),
            ("GET", "/identity/v3/projects", lambda *_: (200, {"projects": [*self.projects.values()]})),
            ("GET", "/identity/v3/projects/([^/]+)", lambda ident, *_: _found("project", self.projects.get(ident))),
            ("GET", "/compute/v2.1", lambda *_: self._version("compute/v2.1", "v2.1", newest="2.93")),
            ("GET", "/compute/v2.1/servers/([^/]+)", lambda ident, *_: _found("server", self.servers.get(ident))),
            ("GET", "/compute/v2.1/os-services", lambda *_: (200, {"services": [_SERVICE]})),
            ("GET", "/network(?:/v2.0)?", lambda *_: self._version("network/v2.0", "v2.0")),
            ("GET", "/network/v2.0/ports", lambda *_: (200, {"ports": []})),
            ("GET", "/key-manager(?:/v1)?", lambda *_: self._version("key-manager/v1", "v1")),
            ("GET", secrets, lambda _, query, __: self._listed(query)),
            ("POST", secrets, lambda _, __, body: self._new(body)),
            ("GET", f"{secrets}/([^/]+)", lambda ident, *_: _found("", self._shown(ident))),
            ("DELETE", f"{secrets}/([^/]+)", lambda ident, *_: (204 if self.secrets.pop(ident, None) else 404, None)),
            ("GET", f"{secrets}/([^/]+)/metadata", lambda ident, *_: self._metadata(ident)),
            ("PUT", f"{secrets}/([^/]+)/metadata", lambda ident, _, body: self._annotated(ident, body)),
        )

    def _version(self, path: str, ident: str, newest: str = "") -> tuple[int, Any]:
        links = [{"rel": "self", "href": f"{self.address}/{path}/"}]
        found = {"id": ident, "status": "CURRENT", "links": links, "version": newest, "min_version": "2.1"}
        return 200, {"version": found if newest else {"id": ident, "status": "CURRENT", "links": links}}

    def _token(self) -> Any:
        catalog = [
            {"type": kind, "id": kind, "name": kind, "endpoints": [
                {"interface": "public", "region_id": "paper", "region": "paper", "url": f"{self.address}/{path}"},
            ]}
            for kind, path in _ENDPOINTS.items()
        ]  # fmt: skip
        return {"token": {
            "methods": ["password"], "expires_at": _LATER, "issued_at": "2026-01-01T00:00:00.000000Z",
            "user": {"id": _USER, "name": "operator", "domain": _DOMAIN},
            "project": {"id": _PROJECT, "name": "operators", "domain": _DOMAIN},
            "roles": [{"id": "admin", "name": "admin"}], "catalog": catalog,
        }}  # fmt: skip

    def _new(self, body: dict[str, Any]) -> tuple[int, Any]:
        ident = str(uuid4())
        self.secrets[ident] = {"expiration": None, "mode": None, "metadata": {}} | body
        return 201, {"secret_ref": self._shown(ident)["secret_ref"]}

    def _shown(self, ident: str) -> dict[str, Any]:
        """As it is listed: without what it holds."""
        if ident not in self.secrets:
            return {}
        shown = {key: self.secrets[ident][key] for key in ("name", "mode", "expiration")}
        return shown | {"status": "ACTIVE", "secret_ref": f"{self.address}/key-manager/v1/secrets/{ident}"}

    def _listed(self, query: dict[str, str]) -> tuple[int, Any]:
        found = [
            self._shown(ident)
            for ident, item in self.secrets.items()
            if all(item[key] == query[key] for key in ("name", "mode") if key in query)
        ]
        return 200, {"secrets": found, "total": len(found)}

    def _metadata(self, ident: str) -> tuple[int, Any]:
        found = self.secrets.get(ident)
        return (404, None) if found is None else (200, {"metadata": found["metadata"]})

    def _annotated(self, ident: str, body: Any) -> tuple[int, Any]:
        if ident not in self.secrets:
            return 404, None
        self.secrets[ident]["metadata"] = body["metadata"]
        return 201, {}


_ENDPOINTS = {
    "identity": "identity/v3", "compute": "compute/v2.1", "network": "network", "key-manager": "key-manager",
}  # fmt: skip
_DOMAIN = {"id": "default", "name": "Default", "enabled": True}
_SERVICE = {"host": HOST, "binary": "nova-compute", "status": "enabled", "state": "up"}


def _found(key: str, value: Any) -> tuple[int, Any]:
    if not value:
        return 404, {"itemNotFound": {"code": 404, "message": "not found"}}
    return 200, {key: value} if key else value


class _Desk(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, cloud: PaperCloud) -> None:
        self.cloud = cloud
        super().__init__(("127.0.0.1", 0), _Clerk)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news."""


class _Clerk(BaseHTTPRequestHandler):
    server: _Desk
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, value = self.server.cloud.answer(self.command, self.path, json.loads(body) if body else None)
        data = b"" if status == 204 else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Subject-Token", "paper")
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - http.server looks for them

    def log_message(self, *args: Any) -> None:
        """Nothing: the proxy before it keeps what was asked."""


@contextmanager
def paper_cloud() -> Iterator[PaperCloud]:
    """One that listens."""
    cloud = PaperCloud()
    desk = _Desk(cloud)
    cloud.address = f"http://127.0.0.1:{desk.server_address[1]}"
    threading.Thread(target=desk.serve_forever, daemon=True).start()
    try:
        yield cloud
    finally:
        desk.shutdown()
        desk.server_close()


def write_clouds(cloud: PaperCloud, address: str, folder: Path) -> Path:
    """`clouds.yaml` that leads to it at this address."""
    path = folder / "clouds.yaml"
    path.write_text(cloud.clouds_yaml(address))
    return path
