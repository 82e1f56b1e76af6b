"""The program that fetches what waits for a server, asked as its unit runs it, from a service that a test scripts."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from interlock.planning import plan_tenant
from interlock.planning.guest import secrets_in_guest
from interlock.planning.guest.secret_files import PROGRAM, UNIT, fetched_secrets, program
from interlock.planning.hashes import site_hash
from interlock.planning.plan import Plan
from interlock.resources import BareMetalServer, Server, StoredCredential
from interlock.resources.asked_names import TABLE
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, locked, pod64, site_locked, tenant

REFUSED = secrets_in_guest.REFUSED
SECRET = "[default]\naws_secret_access_key = never-printed\n"
WAIT: dict[str, Any] = {"items": {}, "said": ["s3: something waits"], "again": 0}
GIVEN: dict[str, Any] = {"items": {"s3": SECRET}, "said": [], "again": None}
GONE: dict[str, Any] = {"items": {}, "said": ["s3 was already handed over at noon"], "again": None}


class Guest:
    """A server's folders, and its metadata: one answer after the other, the last one for ever."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: list[Any] = []
        self.asked = 0
        listener = self

        class Metadata(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                said = listener.answers[min(listener.asked, len(listener.answers) - 1)]
                listener.asked += 1
                body = said if isinstance(said, bytes) else json.dumps({"static": {}, "interlock": said}).encode()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of http.server
                return

        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def boot(self, *answers: Any, expects: tuple[str, ...] = ("s3",), minutes: float = 1) -> tuple[int, str]:
        """Runs the program; exit code and all that it said."""
        self.answers, self.asked = list(answers), 0
        table = self.folder / "table.json"
        table.write_text(json.dumps(expects))
        command = [
            sys.executable, "-c", program(), "--table", str(table), "--folder", str(self.folder / "secrets"),
            "--vendor-data", f"http://127.0.0.1:{self.listener.server_port}/", "--minutes", str(minutes),
            "--most", "0.01",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        said = done.stdout + done.stderr
        assert "never-printed" not in said
        return done.returncode, said

    def file(self, name: str = "s3") -> Path:
        return self.folder / "secrets" / name


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Guest]:
    made = Guest(tmp_path)
    yield made
    made.listener.shutdown()
    made.listener.server_close()


def test_it_asks_until_it_is_given_and_then_never_again(server: Guest) -> None:
    code, said = server.boot({}, b"{", WAIT, WAIT, GIVEN)
    assert (code, server.asked) == (0, 5)
    assert server.file().read_text() == SECRET
    assert said.count("something waits") == 1
    assert (server.file().stat().st_mode & 0o777, server.file().parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [path.name for path in server.file().parent.iterdir()] == ["s3"]
    assert server.boot(GONE) == (0, "all is there\n")
    assert server.asked == 0


def test_what_was_handed_over_already_is_told(server: Guest) -> None:
    code, said = server.boot(WAIT, GONE)
    assert code == REFUSED
    assert "s3 was already handed over at noon" in said
    assert "the operator has to leave it again" in said
    assert not server.file().exists()


def test_it_gives_up_after_its_minutes(server: Guest) -> None:
    code, said = server.boot(WAIT, minutes=0)
    assert code == REFUSED
    assert "nothing came within 0.0 minutes" in said


def test_of_two_things_one_may_come_later(server: Guest) -> None:
    code, _ = server.boot({**GIVEN, "again": 0}, {**GIVEN, "items": {"vipu": "key"}}, expects=("s3", "vipu"))
    assert (code, server.file().read_text(), server.file("vipu").read_text()) == (0, SECRET, "key")


@pytest.mark.parametrize("name", ["../../outside", "/outside", "", ".s3.new", "other"])
def test_what_it_does_not_expect_is_written_nowhere(server: Guest, name: str) -> None:
    code, said = server.boot({"items": {name: SECRET}, "said": [], "again": None})
    assert code == REFUSED
    assert "is none that this server expects" in said
    assert not list(server.folder.rglob("*outside*"))
    assert not server.file("other").exists()


def test_a_name_that_leads_elsewhere_is_not_asked_for(server: Guest) -> None:
    assert server.boot(GONE, expects=("../x", "S3"))[0] == 0
    assert server.asked == 0


def test_it_asks_for_nothing_that_it_has_no_room_for(server: Guest) -> None:
    (server.folder / "secrets").write_text("a file where the folder is to be")
    code, _ = server.boot(GIVEN)
    assert (code, server.asked) == (1, 0)


def test_a_link_that_is_in_the_way_is_not_followed(server: Guest) -> None:
    target = server.folder / "target"
    server.file().parent.mkdir()
    (server.file().parent / ".s3.new").symlink_to(target)
    assert server.boot(GIVEN)[0] == 0
    assert not target.exists()


def test_a_document_has_names_and_the_program_and_no_more() -> None:
    part = fetched_secrets(("vipu", "s3"))
    files = {file.path: file for file in part.files}
    assert files[TABLE].content == '["s3", "vipu"]\n'
    assert (files[PROGRAM].content, files[PROGRAM].mode) == (program(), 0o755)
    assert f"ExecStart={PROGRAM}\n" in files[f"/etc/systemd/system/{UNIT}"].content
    assert UNIT in part.commands[-1]
    assert fetched_secrets(()).files == ()


def test_the_program_runs_with_the_python_of_old_images() -> None:
    ast.parse(program(), feature_version=(3, 8))
    imported = {
        name.name.partition(".")[0]
        for node in ast.walk(ast.parse(program()))
        if isinstance(node, ast.Import)
        for name in node.names
    }
    assert imported <= sys.stdlib_module_names


def planned_with(channel: bool, *, whole: bool = False, keys: tuple[int, ...] = (1,)) -> Plan:
    site = (bare_metal_pod64() if whole else pod64()).model_copy(update={"channel": channel})
    pods = (bare_metal_vpod(),) if whole else tenant("acme").vpods
    request = tenant("acme", vpods=tuple(pod.model_copy(update={"s3_keys": keys}) for pod in pods))
    return plan_tenant(site, site_locked(site), request, locked(site, request))


@pytest.mark.parametrize("whole", [False, True], ids=["virtual", "whole hosts"])
def test_servers_that_nova_knows_fetch_their_keys_where_the_site_has_the_channel(whole: bool) -> None:
    def fetching(channel: bool) -> dict[str, bool]:
        servers = {item.name: item.resource for item in planned_with(channel, whole=whole).resources}
        kinds = (Server, BareMetalServer)
        return {name: PROGRAM in server.user_data for name, server in servers.items() if isinstance(server, kinds)}

    assert set(fetching(channel=False).values()) == {False}
    found = fetching(channel=True)
    # Ironic alone knows whole hosts, and Nova answers their metadata no question.
    assert {name for name, fetches in found.items() if fetches} == {
        name for name in found if "poplar" in name and not whole
    }
    assert {True, False} == {"poplar" in name for name in found}


def handed(plan: Plan) -> dict[str, StoredCredential]:
    found = {item.name: item.resource for item in plan.resources}
    return {name: item for name, item in found.items() if isinstance(item, StoredCredential)}


@pytest.mark.parametrize(
    ("keys", "newest"), [((1,), "acme-train-s3-key"), ((1, 2), "acme-train-s3-key-2"), ((2,), "acme-train-s3-key-2")]
)
def test_each_server_that_fetches_is_handed_the_newest_key_of_its_vpod(keys: tuple[int, ...], newest: str) -> None:
    plan = planned_with(channel=True, keys=keys)
    fetching = {
        item.name for item in plan.resources if isinstance(item.resource, Server) and PROGRAM in item.resource.user_data
    }
    found = handed(plan)
    assert {item.place for item in found.values()} == fetching
    assert {(item.credential, item.item, item.project) for item in found.values()} == {(newest, "s3", "acme-project")}
    assert all(item.is_declared for item in found.values())


def test_nothing_is_handed_to_whole_hosts_nor_where_nobody_asks_the_service() -> None:
    assert handed(planned_with(channel=True, whole=True)) == {}
    assert handed(planned_with(channel=False)) == {}


def test_a_site_that_begins_to_hand_keys_over_makes_locks_old() -> None:
    """What a server is handed is a grant that others' proofs rest on; who never states it keeps its locks."""
    site = pod64()
    assert site_hash(site.model_copy(update={"channel": True})) != site_hash(site)
