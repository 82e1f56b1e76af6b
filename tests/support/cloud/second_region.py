"""A second region of the embedded cloud's Keystone: its Neutron and Nova are a stand-in in which nothing is.

Keystone is the real one and lists the second region's endpoints in the catalogue of every token. The stand-in answers
as a Neutron and a Nova of another region do: every list is empty, and no id is known.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from interlock.provider.clouds import Cloud
from tests.conftest import Sandbox

SECOND = "RegionTwo"

#: Service type -> path of its API below the stand-in's address.
_APIS = {"network": "/v2.0", "compute": "/v2.1"}


class _Empty(BaseHTTPRequestHandler):
    """Reads only: nothing of these tests may ever change anything in another region."""

    def do_GET(self) -> None:
        api, _, rest = self.path.partition("?")[0].strip("/").partition("/")
        words = rest.split("/") if rest else []
        if not words:
            self._answer(200, _version(f"http://{self.headers['Host']}", api))
        elif len(words) == 1 or words[-1] == "detail":
            self._answer(200, {words[0].replace("-", "_"): []})
        else:
            self._answer(
                404, {"NeutronError": {"type": "NotFound", "message": f"{rest} could not be found", "detail": ""}}
            )

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Tests print nothing of it."""

    def _answer(self, status: int, body: Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _version(base: str, api: str) -> dict[str, Any]:
    """What a service says of its API."""
    link = [{"rel": "self", "href": f"{base}/{api}/"}]
    if api == "v2.1":
        return {"version": {"id": api, "status": "CURRENT", "version": "2.95", "min_version": "2.1", "links": link}}
    return {"resources": [], "versions": [{"id": api or "v2.0", "status": "CURRENT", "links": link}]}


@contextmanager
def second_region(operator: Cloud) -> Iterator[None]:
    """Keystone lists the second region meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    identity = operator.api("identity")
    endpoints: list[str] = []
    identity.post("/regions", {"region": {"id": SECOND}})
    try:
        for service in identity.items("/services", "services"):
            if service["type"] in _APIS:
                url = f"http://127.0.0.1:{server.server_port}{_APIS[service['type']]}"
                said = {"interface": "public", "region_id": SECOND, "service_id": service["id"], "url": url}
                endpoints.append(str(identity.post("/endpoints", {"endpoint": said})["endpoint"]["id"]))
        yield
    finally:
        for ident in endpoints:
            identity.delete(f"/endpoints/{ident}")
        identity.delete(f"/regions/{SECOND}")
        server.shutdown()
        server.server_close()


@contextmanager
def clouds_in(sandbox: Sandbox, folder: Path, region: str | None) -> Iterator[None]:
    """The cloud `sandbox` of clouds.yaml is in this region meanwhile; None: it names none."""
    known = yaml.safe_load(sandbox.clouds_yaml.read_text())
    known["clouds"][sandbox.cloud].pop("region_name", None)
    if region:
        known["clouds"][sandbox.cloud]["region_name"] = region
    path = folder / "clouds.yaml"
    path.write_text(yaml.safe_dump(known))
    for name in ("switches.yaml", "vipu.yaml"):
        if (sandbox.dir / name).exists():
            shutil.copy(sandbox.dir / name, folder)
    before = os.environ["OS_CLIENT_CONFIG_FILE"]
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(path)
    try:
        yield
    finally:
        os.environ["OS_CLIENT_CONFIG_FILE"] = before
