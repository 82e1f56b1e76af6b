"""What waits for a server, handed over by the real Nova, Keystone and Barbican through the real service.

The tests play Neutron's metadata proxy: the real one finds out by port and network which server asks, and says it to
Nova in the same headers, signed with the secret that both have. Nova's metadata API is Nova's own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter

from interlock.channel import Shelf
from interlock.planning.guest.secret_files import program
from tests.sandbox.cloud import PASSWORD, Cloud, Running, Tenant, until
from tests.support.cloud.journal import Trap

ROOT = Path(__file__).resolve().parents[2]
GAP = 1
SECRET = "[default]\naws_access_key_id = abc\naws_secret_access_key = canary-{}\n"
#: Nova's signature of its own shared secret, which the sandbox's configuration names.
SHARED = PASSWORD.encode()


class Metadata:
    """Nova's metadata API, asked as Neutron's proxy asks it."""

    def __init__(self, running: Running, tenant: Tenant) -> None:
        ports = json.loads((running.dir / "ports.json").read_text(encoding="utf-8"))
        self.url = f"http://127.0.0.1:{ports['nova_metadata']}"
        self.vendor_port = int(ports["vendor_data"])
        self.tenant = tenant.id

    def get(self, server: str, path: str, signature: str | None = None) -> bytes:
        headers = {
            "X-Instance-ID": server,
            "X-Tenant-ID": self.tenant,
            "X-Instance-ID-Signature": signature or hmac.new(SHARED, server.encode(), hashlib.sha256).hexdigest(),
            "X-Forwarded-For": "10.0.0.9",
        }
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(f"{self.url}/openstack/latest/{path}", headers=headers)
        with opener.open(request, timeout=40) as answer:
            body: bytes = answer.read()
            return body

    def ask(self, server: str) -> dict[str, Any]:
        """What the service says to a server, as Nova hands it on."""
        said: dict[str, Any] = json.loads(self.get(server, "vendor_data2.json"))["interlock"]
        return said

    def twice(self, server: str) -> dict[str, Any]:
        """As the program in a server asks."""
        self.ask(server)
        time.sleep(GAP + 0.1)
        return self.ask(server)


class Handing:
    """The service as a process, on the port that Nova's configuration names."""

    def __init__(self, running: Running, port: int, caller: str, log: Path) -> None:
        self.running, self.port, self.caller, self.log = running, port, caller, log
        self.start()

    def interlock(self, *words: str, text: str | None = None) -> str:
        """A command of ours that ends; what it printed."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "infra.cli", "channel", *words, "--cloud", self.running.cloud],
            input=text, capture_output=True, text=True, cwd=ROOT, env=self.environment, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), "OS_CLIENT_CONFIG_FILE": str(self.running.clouds_yaml)}

    def start(self) -> None:
        words = ["serve", "--cloud", self.running.cloud, "--caller", self.caller]
        command = [sys.executable, "-P", "-m", "infra.cli", "channel", *words, "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--gap", str(GAP)], cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        begun = self.log.read_text().count("listens on")
        until(lambda: self.log.read_text().count("listens on") > begun or self.process.poll() is not None)
        assert self.process.poll() is None, self.log.read_text()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(20) == 0


@pytest.fixture(scope="module")
def metadata(sandbox: Running, tenant: Tenant) -> Metadata:
    return Metadata(sandbox, tenant)


@pytest.fixture(scope="module")
def service(
    cloud: Cloud, sandbox: Running, metadata: Metadata, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Handing]:
    nova = cloud.admin.identity.find_user("nova").id
    made = Handing(sandbox, metadata.vendor_port, nova, tmp_path_factory.mktemp("channel") / "log")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def servers(cloud: Cloud, tenant: Tenant) -> Iterator[list[str]]:
    """Two servers of a tenant's, which have nothing but their ids here."""
    cloud.grant(cloud.admin.identity.find_user("admin"), tenant, "admin")
    compute = cloud.login("admin", tenant.id).compute
    flavor = cloud.admin.compute.create_flavor(name=f"channel-{cloud.tag}", ram=512, vcpus=1, disk=1)
    image = cloud.admin.image.create_image(
        name=f"channel-{cloud.tag}", container_format="bare", disk_format="raw", visibility="public",
        data=b"x" * 4096, validate_checksum=False,
    )  # fmt: skip
    made = [compute.create_server(name=name, flavor_id=flavor.id, image_id=image.id, networks="none") for name in "ab"]
    for server in made:
        compute.wait_for_server(server, interval=0.2, wait=60)
    yield [server.id for server in made]
    for server in made:
        compute.delete_server(server)
    for server in made:
        compute.wait_for_delete(server, interval=0.2, wait=60)
    cloud.admin.compute.delete_flavor(flavor)
    cloud.admin.image.delete_image(image)


@pytest.fixture
def server(servers: list[str], service: Handing) -> Iterator[str]:
    yield servers[0]
    service.interlock("remove", servers[0])


@pytest.fixture
def left(server: str, service: Handing) -> str:
    """A secret that waits for the server."""
    text = SECRET.format(uuid.uuid4().hex)
    assert f"s3 waits for {server}" in service.interlock("put", server, "s3", text=text)
    return text


def test_it_is_handed_over_once_and_to_no_other_server(
    metadata: Metadata, service: Handing, servers: list[str], left: str
) -> None:
    server, other = servers
    assert metadata.twice(other)["said"] == ["nothing is there for this server"]
    first = metadata.ask(server)
    assert (first["items"], first["again"]) == ({}, GAP)
    time.sleep(GAP + 0.1)
    assert metadata.ask(server)["items"] == {"s3": left}
    second = metadata.ask(server)
    assert (second["items"], second["again"]) == ({}, None)
    assert "was already handed over" in second["said"][0]
    log = service.log.read_text()
    assert f"server {server}: s3 handed over" in log
    assert f"server {server}: refused: s3 was already handed over" in log
    assert f"server {other}: nothing is there for it" in log
    assert service.interlock("look", server).startswith("s3: taken at ")


def test_it_stands_nowhere_else(
    cloud: Cloud, sandbox: Running, metadata: Metadata, service: Handing, server: str, left: str
) -> None:
    canary = left.rpartition("canary-")[2].strip()
    processes = ""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            processes += path.read_text(errors="replace")
        except OSError:
            continue
    assert metadata.twice(server)["items"] == {"s3": left}
    seen = {
        "processes": processes,
        "service": service.log.read_text(),
        "server": json.dumps(cloud.admin.compute.get(f"/servers/{server}").json()),
        "look": service.interlock("look", server, "--json"),
        **{path: metadata.get(server, path).decode() for path in ("meta_data.json", "vendor_data.json")},
        "again": json.dumps(metadata.ask(server)),
        **{path.name: path.read_text(errors="replace") for path in (sandbox.dir / "log").iterdir()},
        "journal": (sandbox.dir / "requests.jsonl").read_text(),
    }
    assert {"nova.log", "barbican.log"} <= seen.keys()
    assert [where for where, text in seen.items() if canary in text] == []


def test_nova_refuses_a_forged_signature(metadata: Metadata, servers: list[str], service: Handing, left: str) -> None:
    theirs = hmac.new(SHARED, servers[1].encode(), hashlib.sha256).hexdigest()
    for signature in ("0" * 64, theirs):
        with pytest.raises(urllib.error.HTTPError) as refused:
            metadata.get(servers[0], "vendor_data2.json", signature)
        assert refused.value.code == 403
    assert "waits until" in service.interlock("look", servers[0])


def test_no_user_but_the_metadata_apis_is_answered(
    cloud: Cloud, metadata: Metadata, service: Handing, server: str, left: str
) -> None:
    """Not the administrator, nor another service's user: such as that of nova-compute, which writes config drives."""
    project = cloud.admin.identity.find_project("service").id
    tokens = [cloud.admin.session.get_token(), cloud.login("cinder", project).session.get_token(), "forged"]
    answers = [post(metadata.vendor_port, server, token) for token in tokens]
    assert answers == [403, 403, 401]
    assert post(metadata.vendor_port, server, cloud.login("nova", project).session.get_token()) == 200


def post(port: int, server: str, token: str) -> int:
    body = json.dumps({"instance-id": server}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, {"X-Auth-Token": token}, method="POST")
    try:
        with opener.open(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_what_expired_is_given_to_nobody(cloud: Cloud, metadata: Metadata, service: Handing, server: str) -> None:
    barbican = Adapter(cloud.admin.session, service_type="key-manager", min_version="1", max_version="1.latest")
    Shelf(barbican).put(server, "s3", "x", datetime.now(UTC) + timedelta(seconds=3))
    metadata.ask(server)
    time.sleep(3.2)
    said = metadata.ask(server)
    assert said["items"] == {}
    assert "expired at" in said["said"][0]
    assert "nobody fetched it" in service.interlock("look", server)


def test_of_eight_questions_at_once_one_is_given_it(metadata: Metadata, server: str, left: str) -> None:
    metadata.ask(server)
    time.sleep(GAP + 0.1)
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(metadata.ask, [server] * 8))
    assert [item["items"] for item in said if item["items"]] == [{"s3": left}]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_service_killed_at_the_deletion_never_gives_it_twice(
    sandbox: Running, metadata: Metadata, service: Handing, server: str, left: str, when: str
) -> None:
    """Killed with the secret in its hands. Before the deletion it still waits; after it, it is lost, as is told."""
    metadata.ask(server)
    time.sleep(GAP + 0.1)
    trap = Trap(sandbox.dir)
    trap.arm(1, when, path="/v1/secrets/")
    asking = threading.Thread(target=metadata.ask, args=(server,))
    asking.start()
    held = trap.wait(20)
    assert held is not None
    assert held["method"] == "DELETE"
    service.kill()
    trap.release()
    asking.join()
    service.start()
    said = metadata.ask(server)
    assert said["items"] == ({"s3": left} if when == "before" else {})
    if when == "after":
        assert service.interlock("look", server).startswith("s3: lost")


@contextmanager
def proxied(metadata: Metadata, server: str) -> Iterator[str]:
    """What a server reaches at 169.254.169.254: Neutron's proxy, for this server alone."""

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metadata.get(server, "vendor_data2.json")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of http.server
            return

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listener.server_port}/openstack/latest/vendor_data2.json"
    listener.shutdown()
    listener.server_close()


def test_the_program_in_a_server_fetches_it(metadata: Metadata, server: str, left: str, tmp_path: Path) -> None:
    def run(folder: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "table").write_text('["s3"]')
        words = ["--table", str(tmp_path / "table"), "--folder", str(tmp_path / folder), "--vendor-data", url]
        command = [sys.executable, "-c", program(), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    with proxied(metadata, server) as url:
        first, second, other = run("one"), run("one"), run("two")
    written = tmp_path / "one" / "s3"
    assert (first.returncode, written.read_text()) == (0, left)
    assert (written.stat().st_mode & 0o777, written.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert left.split()[-1] not in first.stdout + first.stderr
    assert (second.returncode, second.stdout) == (0, "all is there\n")
    assert other.returncode == 65
    assert "was already handed over" in other.stderr
    assert not (tmp_path / "two" / "s3").exists()
