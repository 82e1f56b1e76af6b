"""`interlock unlock`: what a killed engine leaves goes, what a living one holds stays."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infra.cli.exits import EnvironmentFailed
from infra.commands.unlock import mend
from infra.stack.backend import FileBackend
from infra.stack.engine import Engine
from tests.infra.conftest import Interlock

HERE = socket.gethostname()
STACK = "lyon-acme"


def state_folder(base: Path) -> Path:
    return base / "state" / ".pulumi"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """An engine whose PATH holds no pulumi: what needs none must not ask it."""
    return Engine({"PULUMI_BACKEND_URL": f"file://{tmp_path / 'state'}", "PATH": str(tmp_path)}, tmp_path)


Put = Callable[..., Path]


@pytest.fixture
def put_lock(tmp_path: Path) -> Put:
    """Writes a lock as the engine does, with its file of attributes."""

    def put(pid: int, host: str = HERE, stack: str = STACK, text: str | None = None) -> Path:
        folder = state_folder(tmp_path) / "locks" / "organization" / "clusters" / stack
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{pid}.json"
        record = {"pid": pid, "username": "root", "hostname": host, "timestamp": "2026-01-02T03:04:05Z"}
        path.write_text(json.dumps(record) if text is None else text)
        path.with_name(f"{path.name}.attrs").write_text("{}")
        return path

    return put


@pytest.fixture
def dead() -> int:
    """The id of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def living(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is called pulumi and runs."""
    program = tmp_path / "pulumi"
    shutil.copy(shutil.which("sleep") or "", program)
    with subprocess.Popen([program, "60"]) as process:
        yield process
        process.kill()


def test_nothing_to_unlock_is_no_error(engine: Engine) -> None:
    assert mend(engine, STACK) == []


def test_the_lock_of_a_dead_process_goes_whole(engine: Engine, put_lock: Put, dead: int) -> None:
    path = put_lock(dead)
    assert mend(engine, STACK) == [f"{STACK}: removed the lock of process {dead}, which is gone"]
    assert list(path.parent.iterdir()) == []


def test_what_a_kill_left_half_written_goes_and_nothing_else(engine: Engine, put_lock: Put, dead: int) -> None:
    folder = state_folder(engine.folder)
    lock = put_lock(dead)
    begun = lock.with_name("2.json.18eaa4.tmp")
    begun.write_text("")
    state = f"stacks/clusters/{STACK}.json"
    whole = [state, f"{state}.attrs", "stacks/clusters/lyon-b.json.1.tmp"]
    cut = [f"history/clusters/{STACK}/1.json.attrs", f"stacks/clusters/{STACK}.json.bak.attrs"]
    for name in (*whole, *cut):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('{"checkpoint": {}}' if name in whole else "")
    said = mend(engine, STACK)
    assert said[0] == f"{STACK}: removed the lock of process {dead}, which is gone"
    assert said[1].startswith(f"{STACK}: removed 3 half-written file(s)")
    assert not begun.exists()
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == sorted(whole)
    assert mend(engine, STACK) == []


def test_while_the_engine_runs_nothing_goes(
    engine: Engine, put_lock: Put, living: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    begun = put_lock(living.pid).with_name("2.json.18eaa4.tmp")
    begun.write_text("")
    with pytest.raises(EnvironmentFailed, match="which may be running"):
        mend(engine, STACK)
    assert begun.exists()


def test_the_lock_of_a_process_that_nobody_collected_goes(engine: Engine, put_lock: Put) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    while "\nState:\tZ" not in Path(f"/proc/{process.pid}/status").read_text():
        pass
    path = put_lock(process.pid)
    mend(engine, STACK)
    process.wait()
    assert not path.exists()


def test_a_reused_id_is_another_program(engine: Engine, put_lock: Put) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        path = put_lock(other.pid)
        mend(engine, STACK)
        other.kill()
    assert not path.exists()


def test_the_lock_of_a_living_pulumi_stays(engine: Engine, put_lock: Put, living: subprocess.Popen[bytes]) -> None:
    path = put_lock(living.pid)
    with pytest.raises(EnvironmentFailed, match=rf"locked by process {living.pid} .* `pulumi cancel`"):
        mend(engine, STACK)
    assert path.exists()


def test_the_lock_of_another_host_stays(engine: Engine, put_lock: Put, dead: int) -> None:
    path = put_lock(dead, host="elsewhere")
    with pytest.raises(EnvironmentFailed, match="on elsewhere since 2026-01-02T03:04:05Z"):
        mend(engine, STACK)
    assert path.exists()


def test_one_lock_that_may_be_in_use_keeps_all(engine: Engine, put_lock: Put, dead: int) -> None:
    paths = [put_lock(dead), put_lock(dead + 1, host="elsewhere")]
    with pytest.raises(EnvironmentFailed):
        mend(engine, STACK)
    assert all(path.exists() for path in paths)


def test_locks_of_other_stacks_are_left_alone(engine: Engine, put_lock: Put, dead: int) -> None:
    path = put_lock(dead, stack=f"{STACK}-2")
    assert mend(engine, STACK) == []
    assert path.exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pid": "x"}'])
def test_a_lock_that_cannot_be_read_is_named(engine: Engine, put_lock: Put, text: str) -> None:
    put_lock(1, text=text)
    with pytest.raises(EnvironmentFailed, match=r"1\.json is a lock that cannot be read"):
        mend(engine, STACK)


@pytest.mark.parametrize("url", ["", "s3://states", "https://api.pulumi.com"])
def test_a_backend_elsewhere_cannot_be_judged(tmp_path: Path, url: str) -> None:
    with pytest.raises(EnvironmentFailed, match="no local folder"):
        mend(Engine({"PULUMI_BACKEND_URL": url}, tmp_path), STACK)


@pytest.mark.parametrize(
    ("url", "folder"),
    [("file:///var/state", "/var/state"), ("file://./state", "/base/state"), ("file://~/s", "{home}/s")],
)
def test_backend_urls_in_all_their_forms(url: str, folder: str) -> None:
    expected = Path(folder.format(home=Path.home())) / ".pulumi"
    assert FileBackend.at(url, Path("/base")).folder == expected


def test_a_backend_in_the_home_of_nobody_is_told() -> None:
    with pytest.raises(EnvironmentFailed, match="PULUMI_BACKEND_URL is file://~nobody-has-this-name/x"):
        FileBackend.at("file://~nobody-has-this-name/x", Path("/base"))


def test_the_command_says_what_it_did(
    interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, put_lock: Put, dead: int
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path / 'state'}")
    state = tmp_path / "state/.pulumi/stacks/clusters" / f"{STACK}.json"
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text('{"version": 3, "checkpoint": {"latest": {}}}')
    put_lock(dead)
    assert f"removed the lock of process {dead}" in interlock("unlock", STACK).err
    assert interlock("unlock", STACK).err == f"{STACK}: nothing to unlock\n"
    put_lock(dead, host="elsewhere")
    refused = interlock("unlock", STACK)
    assert refused.code == 4
    assert "Traceback" not in refused.err


def test_a_stack_that_is_not_there_is_2_and_named_with_what_is(
    interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path / 'state'}")
    folder = tmp_path / "state/.pulumi/stacks/clusters"
    folder.mkdir(parents=True)
    for name in ("lyon-acme.json", "lyon-acme.json.bak", "lyon-acme.json.attrs", "lyon-site.json.gz"):
        (folder / name).write_text('{"checkpoint": {}}')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    missing = interlock("unlock", "lyon-acne")
    assert (missing.code, missing.out) == (2, "")
    assert "no stack `lyon-acne`: did you mean `lyon-acme`? There are: lyon-acme, lyon-site" in " ".join(
        missing.err.split()
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    found = interlock("unlock", "lyon-acme", "--format", "json")
    assert (found.code, json.loads(found.out)) == (0, {"version": 1, "stack": "lyon-acme", "done": []})
