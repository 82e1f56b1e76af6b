"""The request journal and the trap: in one process, and around the real services."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import openstack
import pytest
from openstack import exceptions

from sandbox.services.journal import Journal, beside, count_up
from tests.sandbox.cloud import Cloud, Running, until


def lines(folder: Path) -> list[dict[str, Any]]:
    journal = folder / "requests.jsonl"
    text = journal.read_text(encoding="utf-8") if journal.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def arm(folder: Path, number: int, when: str) -> None:
    for name in ("trap.hit", "trap.release"):
        (folder / name).unlink(missing_ok=True)
    words = {"n": number, "when": when, "user_agent": "interlock"}
    (folder / "trap.json").write_text(json.dumps(words), encoding="utf-8")


def disarm(folder: Path) -> None:
    for name in ("trap.json", "trap.hit", "trap.release"):
        (folder / name).unlink(missing_ok=True)


def trapped(folder: Path) -> dict[str, Any] | None:
    hit = folder / "trap.hit"
    return json.loads(hit.read_text(encoding="utf-8")) if hit.exists() else None


def test_a_counter_outlives_a_writer_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = tmp_path / "requests.count"
    assert [count_up(counter, "") for _ in range(2)] == [1, 2]

    def killed(self: Path, *_: object, **__: object) -> None:
        self.open("w").close()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            count_up(counter, "")
    assert count_up(counter, "") == 3
    assert count_up(counter, "another") == 1


def test_what_is_written_at_once_is_written_beside_each_other(tmp_path: Path) -> None:
    """A hit took the place of a counter, or the other way round, when two services wrote at the same moment."""
    names = ("trap.hit", "trap.count", "trap.json", "trap.release", "requests.count")
    assert len({beside(tmp_path / name) for name in names} | {tmp_path / "trap.new"}) == len(names) + 1


class Service:
    """A WSGI application that remembers what it processed."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[str] = []
        self.journal = Journal(self.answer, "toy", folder)

    def answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.seen.append(environ["PATH_INFO"])
        start_response("201 Created", [("Content-Length", "2")])
        return iter([b"o", b"k"])

    def ask(self, path: str, method: str = "POST", agent: str = "interlock/1") -> tuple[str, bytes]:
        statuses: list[str] = []
        environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "HTTP_USER_AGENT": agent}
        body = b"".join(self.journal(environ, lambda status, _: statuses.append(status)))
        return statuses[0], body


def test_only_mutating_requests_are_written_and_tokens_are_marked(tmp_path: Path) -> None:
    service = Service(tmp_path)
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
        assert service.ask("/thing", method) == ("201 Created", b"ok")
    service.ask("/v3/auth/tokens")
    seen = lines(tmp_path)
    assert [(line["n"], line["method"], line["status"]) for line in seen] == [
        (1, "POST", 201),
        (2, "PUT", 201),
        (3, "PATCH", 201),
        (4, "DELETE", 201),
        (5, "POST", 201),
    ]
    assert [line.get("token", False) for line in seen] == [False] * 4 + [True]


def test_numbers_are_shared_by_services_and_threads(tmp_path: Path) -> None:
    services = [Service(tmp_path), Service(tmp_path)]
    askers = [threading.Thread(target=one.ask, args=("/thing",)) for one in services for _ in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert sorted(line["n"] for line in lines(tmp_path)) == list(range(1, 41))


@pytest.mark.parametrize(("when", "processed"), [("before", ["/1", "/3"]), ("after", ["/1", "/2", "/3"])])
def test_the_trap_holds_the_kth_request_of_a_client(tmp_path: Path, when: str, processed: list[str]) -> None:
    service = Service(tmp_path)
    for era in ("first", "second"):  # a trap armed again counts again
        service.seen.clear()
        arm(tmp_path, 2, when)
        service.ask("/other", agent="nova-compute")
        service.ask("/v3/auth/tokens")
        assert service.ask("/1")[0] == "201 Created"
        answers: list[tuple[str, bytes]] = []
        held = threading.Thread(target=lambda into=answers: into.append(service.ask("/2")))
        held.start()
        hit = until(lambda: trapped(tmp_path))
        assert (hit["path"], answers) == ("/2", []), era
        assert service.ask("/3")[0] == "201 Created"
        (tmp_path / "trap.release").touch()
        held.join(timeout=5)
        assert answers == [("503 Service Unavailable", b"")]
        assert sorted(service.seen) == sorted([*processed, "/other", "/v3/auth/tokens"])
        disarm(tmp_path)


@pytest.fixture
def folder(sandbox: Running) -> Iterator[Path]:
    """The running instance's folder; no trap stays behind."""
    yield sandbox.dir
    disarm(sandbox.dir)


def test_real_services_write_the_journal(cloud: Cloud, folder: Path) -> None:
    before = len(lines(folder))
    network = cloud.admin.network.create_network(name=f"journal-{cloud.tag}")
    list(cloud.admin.network.networks())
    cloud.admin.network.delete_network(network)
    cloud.admin.object_store.create_container(f"journal-{cloud.tag}")
    cloud.admin.object_store.delete_container(f"journal-{cloud.tag}")
    new = lines(folder)[before:]
    own = [line for line in new if "openstacksdk" in line["user_agent"] and "token" not in line]
    assert [(line["service"], line["method"], line["status"]) for line in own] == [
        ("neutron", "POST", 201),
        ("neutron", "DELETE", 204),
        ("swift", "PUT", 201),
        ("swift", "DELETE", 204),
    ]
    assert own[0]["path"] == "/v2.0/networks"
    assert [line["n"] for line in own] == sorted({line["n"] for line in own})


@pytest.mark.parametrize(("when", "made"), [("before", 0), ("after", 1)])
def test_a_real_service_loses_the_request_or_its_answer(cloud: Cloud, folder: Path, when: str, made: int) -> None:
    config = openstack.config.OpenStackConfig(
        config_files=[str(cloud.running.clouds_yaml)], app_name="interlock", app_version="test"
    )
    client = openstack.connection.Connection(config=config.get_one(cloud.running.cloud))
    name = f"trap-{when}-{cloud.tag}"
    arm(folder, 1, when)
    failures: list[Exception] = []

    def create() -> None:
        try:
            client.network.create_network(name=name)
        except exceptions.SDKException as error:
            failures.append(error)

    held = threading.Thread(target=create)
    held.start()
    until((folder / "trap.hit").exists)
    assert len(list(cloud.admin.network.networks(name=name))) == made
    (folder / "trap.release").touch()
    held.join(timeout=10)
    assert len(failures) == 1
    left = list(cloud.admin.network.networks(name=name))
    assert len(left) == made
    for network in left:
        cloud.admin.network.delete_network(network)
