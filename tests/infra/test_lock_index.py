"""The index of locks: the same result with it, without it, and with a damaged one."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra import lock_index
from infra.gate import Gate, NotPlanned
from infra.lock_index import IndexedReader, LazyLocks, held
from infra.lock_making import Making
from interlock.model.lock import Lock
from interlock.model.locks import load_lock
from tests.infra.conftest import Interlock, Lyon


@pytest.fixture
def crowd(lyon: Lyon, interlock: Interlock) -> Lyon:
    """The site with four small tenants, locked, and an index of them."""
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 2")
    text = lyon.file("tenants/acme.yaml").read_text().replace("machines: 4", "machines: 2")
    for name in ("hooli", "initech"):
        lyon.file(f"tenants/{name}.yaml").write_text(text)
    assert interlock("lock").code == 0
    interlock("lock", "acme")
    assert index(lyon).is_file()
    return lyon


def index(lyon: Lyon) -> Path:
    """The index of the site."""
    return lyon.stacks.parent / ".interlock" / "index" / "lyon.sqlite"


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of lock files that are parsed from now on."""
    names: list[str] = []

    def load(file: Path, name: str, kind: type) -> object:
        names.append(file.name)
        return load_lock(file, name, kind)

    monkeypatch.setattr(lock_index, "load_lock", load)
    monkeypatch.setattr("interlock.model.locks.load_lock", load)
    return names


def test_one_tenants_run_parses_one_lock(crowd: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch) -> None:
    names = parsed(monkeypatch)
    assert interlock("lock", "acme").code == 0
    assert names == ["site.lock.json", "acme.lock.json"]


def test_a_changed_file_is_read_anew_whatever_its_times_say(
    crowd: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd.replace("tenants/hooli.yaml", "machines: 2", "machines: 1")
    interlock("lock", "hooli")
    names = parsed(monkeypatch)
    interlock("lock", "acme")
    assert names == ["site.lock.json", "hooli.lock.json", "acme.lock.json"]


def test_an_edited_lock_is_found_with_the_index_too(crowd: Lyon, interlock: Interlock) -> None:
    crowd.replace("tenants/hooli.lock.json", '"serial": 1', '"serial": 7')
    done = interlock("lock", "acme")
    assert done.code == 2
    assert "IN-033" in done.err


def test_copied_owners_and_missing_requests_are_found_with_the_index_too(crowd: Lyon, interlock: Interlock) -> None:
    crowd.file("tenants/hooli.yaml").unlink()
    done = interlock("lock", "acme")
    assert done.code == 2
    assert "tenants/hooli.lock.json: IN-035" in done.err


@pytest.mark.parametrize("damage", ["gone", "cut off", "no database", "another table", "an entry"])
def test_a_damaged_index_is_made_anew_and_changes_nothing(crowd: Lyon, interlock: Interlock, damage: str) -> None:
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


def test_an_index_that_cannot_be_written_is_no_fault(
    crowd: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(index(crowd).parent)
    index(crowd).parent.write_text("a file where the folder should be")
    done = interlock("lock", "acme")
    assert done.code == 0
    assert "the result is the same without it" in done.err


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


def _outcome(gate: Gate, tenant: str) -> Lock | str:
    """The lock that a tenant gets, or why it gets none."""
    try:
        return Making(gate, held(gate.workspace.locks), move=True).make(tenant).new
    except NotPlanned as error:
        return str(error)


def _sized(line: str, size: int) -> str:
    """A line of a request with another number of machines."""
    head, found, tail = line.partition("machines: ")
    digits = len(tail) - len(tail.lstrip("0123456789"))
    return f"{head}machines: {size}{tail[digits:]}" if found and digits else line
