"""The folder: killed in the middle of a write, its lock, its rights, and where it lies."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.store import folder
from interlock.store.folder import FolderStore
from interlock.store.objects import StoreFailed
from interlock.store.places import open_store
from tests.store.racing import race
from tests.store.world import there

#: What a writer asks of the system, in order: a kill at each of them.
STEPS = ("unlink", "_write", "hardlink_to", "replace", "_sync")


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "claims")


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_in_a_write_leaves_no_half_body(
    monkeypatch: pytest.MonkeyPatch, store: FolderStore, step: str, moment: str
) -> None:
    old, new = b"old" * 10_000, b"new" * 20_000
    version = store.put_new("claims/a", old)
    for write in (lambda: store.put_over("claims/a", new, version), lambda: store.put_new("claims/b", new)):
        with monkeypatch.context() as patch:
            killed_at(patch, step, moment, write)
    again = FolderStore(store.path)
    assert there(again, "claims/a").body in (old, new)
    begun = again.get("claims/b")
    assert begun is None or begun.body == new
    # What the killed writer left stands in nobody's way, and is no part of anything.
    again.put_over("claims/a", b"third", there(again, "claims/a").version)
    again.put_new("claims/c", b"c")
    assert {key for key, _ in again.items("claims/")} <= {"claims/a", "claims/b", "claims/c"}
    assert again.get("claims/b") == begun
    assert not (store.path / ".draft").exists()


def killed_at(patch: pytest.MonkeyPatch, step: str, moment: str, write: Callable[[], object]) -> None:
    holder = folder if step.startswith("_") else Path
    real = getattr(holder, step)

    def dying(*arguments: object, **named: object) -> None:
        if moment == "after":
            real(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        patch.setattr(holder, step, dying)
        try:
            write()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def test_others_may_not_look(store: FolderStore) -> None:
    store.put_new("claims/a", b"1")
    assert [path.stat().st_mode & 0o777 for path in (store.path, store.path / "claims")] == [0o700, 0o700]
    assert (store.path / "claims" / "a").stat().st_mode & 0o777 == 0o600


def test_a_writer_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch, store: FolderStore) -> None:
    monkeypatch.setattr(folder, "PATIENCE", 0.05)
    store.put_new("claims/a", b"1")
    with (store.path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StoreFailed, match="another process has been writing"):
            store.put_new("claims/b", b"1")
        assert there(store, "claims/a").body == b"1"
    store.put_new("claims/b", b"1")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "claims").write_text("a file")
    store = FolderStore(tmp_path / "claims")
    for call in (lambda: store.get("claims/a"), lambda: store.put_new("claims/a", b"1")):
        with pytest.raises(StoreFailed, match="must be a folder"):
            call()


def test_reading_makes_nothing(store: FolderStore) -> None:
    assert store.get("claims/a") is None
    assert list(store.items("claims/")) == []
    assert not store.path.exists()


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    (home / ".config" / "openstack").mkdir(parents=True)
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("OS_CLIENT_CONFIG_FILE", raising=False)
    monkeypatch.chdir(here)
    # Not the working folder: the command, the program and the provider have others.
    (here / "clouds.yaml").touch()
    (home / ".config/openstack/clouds.yaml").touch()
    assert open_store("", "lyon").name == (home / ".config/openstack/claims/lyon").as_uri()
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "cloud" / "clouds.yaml"))
    assert open_store("", "lyon").name == (tmp_path / "cloud/claims/lyon").as_uri()
    assert open_store("file:///var/the%20claims", "lyon").name == "file:///var/the%20claims/lyon"


@pytest.mark.parametrize("url", ["claims", "http://host/x", "file:claims", "file://host/claims", "s3:///prefix"])
def test_what_is_no_place(url: str) -> None:
    with pytest.raises(StoreFailed, match="no such kind of store"):
        open_store(url, "lyon")


def test_the_parts_that_cost_are_loaded_when_asked_for(tmp_path: Path) -> None:
    assert race(modules, (tmp_path.as_uri(),)) == [[]]


def modules(url: str) -> list[str]:
    import sys

    open_store(url, "lyon").get("claims/a")
    return [name for name in ("boto3", "openstack", "keystoneauth1") if name in sys.modules]
