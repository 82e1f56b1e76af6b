"""One site and one tenant, made once through the servicer for all tests that look at them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from tests.conftest import Sandbox
from tests.provider.declared import site, site_folder, tenant
from tests.provider.driver import Process, Program

SITE_OWNER, OWNER = "5172e0", "0a11ce"

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that expect an empty cloud come before those that look at the world: it stands until its last test."""
    places = [place for place, item in enumerate(items) if HERE in item.path.parents]
    ordered = sorted((items[place] for place in places), key=lambda item: "world" in getattr(item, "fixturenames", ()))
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


@dataclass(frozen=True)
class Journal:
    """What the services were asked to change by us."""

    folder: Path

    def ours(self) -> int:
        lines = (self.folder / "requests.jsonl").read_text().splitlines()
        entries = [json.loads(line) for line in lines]
        return sum(1 for entry in entries if "interlock" in entry["user_agent"] and not entry.get("token"))


@dataclass(frozen=True)
class World:
    """The stacks that exist."""

    site: Program
    tenant: Program


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site's folder with an image file."""
    return site_folder(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def operator(sandbox: Sandbox) -> Cloud:
    """The operator's hands: what a person does beside us."""
    return Cloud(sandbox.cloud)


@pytest.fixture(scope="session")
def journal(sandbox: Sandbox) -> Journal:
    """The sandbox's journal of requests."""
    return Journal(sandbox.dir)


@pytest.fixture
def process(sandbox: Sandbox) -> Iterator[Process]:
    """A provider process of the test's own."""
    found = Process()
    yield found
    found.close()


@pytest.fixture(scope="session")
def world(sandbox: Sandbox, folder: Path) -> Iterator[World]:
    """A site and a tenant, as an `up` of each makes them."""
    processes = [Process(), Process()]
    objects: Any = {"site_owner": SITE_OWNER, "folder": folder}
    operators = Program(processes[0], "lyon-site", SITE_OWNER, site("prov", 700), **objects)
    alice = Program(processes[1], "lyon-alice", OWNER, tenant("alice", 2100), **objects)
    for program in (operators, alice):
        assert program.admit(preview=False) == []
        program.create_all()
    yield World(operators, alice)
    for process in processes:
        process.close()
