"""The index of locks: the same result with it, without it, and with a damaged one."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.locking import index as lock_index
from infra.locking.index import IndexedReader, LazyLocks, held
from infra.locking.making import Making
from infra.program.gate import Gate, Judged, NotPlanned
from interlock.model.load import InputErrors
from interlock.model.lock.files import load_lock
from interlock.model.lock.record import Lock
from tests.builders.pod64 import ssh_key
from tests.infra.conftest import Interlock, Lyon


@pytest.fixture
def crowd(lyon: Lyon, interlock: Interlock) -> Lyon:
    """The site with four small tenants, locked, and an index of them."""
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 2")
    text = lyon.file("tenants/acme.yaml").read_text().replace("machines: 4", "machines: 2")
    for name in ("hooli", "initech"):
        lyon.file(f"tenants/{name}.yaml").write_text(re.sub(r"ssh-ed25519 .*", ssh_key(name), text))
    assert interlock("lock").code == 0
    interlock("lock", "acme")
    assert index(lyon).is_file()
    return lyon


def index(lyon: Lyon) -> Path:
    """The index of the site."""
    return lyon.stacks.parent / ".interlock" / "index" / "lyon.sqlite"


def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of lock files that are read with every check from now on."""
    names: list[str] = []

    def load(file: Path, name: str, kind: type) -> object:
        names.append(file.name)
        return load_lock(file, name, kind)

    monkeypatch.setattr(lock_index, "load_lock", load)
    monkeypatch.setattr("interlock.model.lock.files.load_lock", load)
    return names


COMMANDS = {
    "lock": ("lock", "acme"),
    "check": ("check", "acme"),
    "plan": ("plan", "acme"),
    "capacity": ("capacity",),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_was_checked_before_is_not_checked_again(
    crowd: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    names = checked(monkeypatch)
    assert interlock(*COMMANDS[command]).code == 0
    assert names == ["site.lock.json"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_the_same_with_and_without(crowd: Lyon, interlock: Interlock, command: str) -> None:
    indexed = interlock(*COMMANDS[command])
    shutil.rmtree(index(crowd).parent)
    assert interlock(*COMMANDS[command]) == indexed
    assert indexed.code == 0


def test_a_changed_file_is_read_again_whatever_its_times_say(
    crowd: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd.replace("tenants/hooli.yaml", "machines: 2", "machines: 1")
    interlock("lock", "hooli")
    names = checked(monkeypatch)
    interlock("lock", "acme")
    assert names == ["site.lock.json", "hooli.lock.json"]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_edited_lock_is_found_with_the_index_too(crowd: Lyon, interlock: Interlock, command: str) -> None:
    crowd.replace("tenants/hooli.lock.json", '"serial": 1', '"serial": 7')
    done = interlock(*COMMANDS[command])
    assert done.code == 2
    assert "IN-033" in done.err


@pytest.mark.parametrize("broken", ["edited", "cut off", "gone"])
def test_a_lock_that_changes_during_the_run_is_checked(crowd: Lyon, broken: str) -> None:
    locks, file = Gate.indexed("lyon").workspace.locks, crowd.file("tenants/hooli.lock.json")
    text = file.read_text()
    if broken == "gone":
        file.unlink()
    else:
        file.write_text(text.replace('"serial": 1', '"serial": 7') if broken == "edited" else text[:200])
    with pytest.raises(InputErrors):
        locks["hooli"]


def test_copied_owners_and_missing_requests_are_found_with_the_index_too(crowd: Lyon, interlock: Interlock) -> None:
    crowd.file("tenants/hooli.yaml").unlink()
    done = interlock("lock", "acme")
    assert done.code == 2
    assert "tenants/hooli.lock.json: IN-035" in done.err


@pytest.mark.parametrize("damage", ["gone", "cut off", "no database", "another table", "an entry"])
def test_a_damaged_index_is_recreated_and_changes_nothing(crowd: Lyon, interlock: Interlock, damage: str) -> None:
    before, file = crowd.locks(), index(crowd)
    data = file.read_bytes()
    if damage == "gone":
        shutil.rmtree(file.parent)
    elif damage == "cut off":
        file.write_bytes(data[: len(data) // 2])
    elif damage == "no database":
        file.write_bytes(b"nothing that sqlite wrote" * 200)
    else:
        with closing(sqlite3.connect(file)) as connection, connection:
            if damage == "another table":
                connection.execute("DROP TABLE locks")
                connection.execute("CREATE TABLE locks (id TEXT PRIMARY KEY)")
            else:
                connection.execute("UPDATE locks SET claims = replace(claims, 'ipum-', 'ipux-') WHERE id = 'hooli'")
    done = interlock("lock", "acme")
    assert done.code == 0, done.err
    about = [line for line in done.err.splitlines() if line.startswith("the index ")]
    assert len(about) == (0 if damage == "gone" else 1)
    assert crowd.locks() == before
    again = interlock("lock", "acme")
    assert "the index" not in again.err


@pytest.mark.parametrize("command", COMMANDS)
def test_an_index_that_cannot_be_written_is_no_fault(crowd: Lyon, interlock: Interlock, command: str) -> None:
    before = interlock(*COMMANDS[command])
    shutil.rmtree(index(crowd).parent)
    index(crowd).parent.write_text("a file where the folder should be")
    assert interlock(*COMMANDS[command]) == before


def test_a_folder_that_is_closed_to_us_is_no_fault(
    crowd: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `Path.is_file` and `unlink` fail there; the tests may run as root, whom no mode stops."""
    file, whole = index(crowd), Path.is_file
    refused = PermissionError(13, "Permission denied")

    def is_file(self: Path) -> bool:
        if self == file:
            raise refused
        return whole(self)

    def unlink(self: Path, missing_ok: bool = False) -> None:
        raise refused

    monkeypatch.setattr(Path, "is_file", is_file)
    done = interlock("check", "acme")
    assert (done.code, done.err) == (0, "")
    monkeypatch.setattr(Path, "is_file", whole)
    file.write_bytes(b"nothing that sqlite wrote" * 200)
    monkeypatch.setattr(Path, "unlink", unlink)
    done = interlock("check", "acme")
    assert done.code == 0
    assert done.err.startswith(f"the index {file} is damaged")


def test_the_index_ignores_itself_in_git(crowd: Lyon) -> None:
    assert (index(crowd).parent / ".gitignore").read_text() == "*\n"


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.dictionaries(
        st.sampled_from(["acme", "globex", "hooli", "initech"]), st.sampled_from([1, 2, 4]), min_size=1
    ),
    wanted=st.sampled_from(["acme", "globex", "hooli", "initech"]),
)
def test_the_same_lock_with_and_without(crowd: Lyon, sizes: dict[str, int], wanted: str) -> None:
    for name, size in sizes.items():
        file = crowd.file(f"tenants/{name}.yaml")
        lines = file.read_text().splitlines()
        file.write_text("\n".join(_sized(line, size) for line in lines) + "\n")
    plain, indexed = Gate.open("lyon"), Gate.open("lyon", IndexedReader(index(crowd)))
    assert isinstance(indexed.workspace.locks, LazyLocks)
    assert {lock.id: (lock.allocation, lock.released) for lock in held(indexed.workspace.locks)} == {
        name: (lock.allocation, lock.released) for name, lock in plain.workspace.locks.items()
    }
    results = [_outcome(gate, wanted) for gate in (plain, indexed)]
    assert results[0] == results[1]
    assert dict(indexed.workspace.locks) == dict(plain.workspace.locks)
    judged = [_judged(gate, wanted) for gate in (plain, indexed)]
    assert judged[0] == judged[1]


#: Claims that are given up note the moment.
NOW = datetime(2026, 11, 23, tzinfo=UTC)


def _outcome(gate: Gate, tenant: str) -> Lock | str:
    """The lock that a tenant gets, or why it gets none."""
    try:
        return Making(gate, held(gate.workspace.locks), move=True, now=NOW).make(tenant).new
    except NotPlanned as error:
        return str(error)


def _judged(gate: Gate, tenant: str) -> Judged | str:
    """A plan and its judgement, or why there is none: the lock may be older than the request."""
    try:
        return gate.judge(tenant)
    except InputErrors as error:
        return str(error)


def _sized(line: str, size: int) -> str:
    """A line of a request with another number of machines."""
    head, found, tail = line.partition("machines: ")
    digits = len(tail) - len(tail.lstrip("0123456789"))
    return f"{head}machines: {size}{tail[digits:]}" if found and digits else line
