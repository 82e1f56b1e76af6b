"""What we know of the engine's files, held against the real one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from infra.cli.exits import EnvironmentFailed
from infra.commands.unlock import mend
from infra.program.places import DEMO_PASSPHRASE
from infra.stack.engine import Engine
from tests.infra.conftest import STACKS
from toolchain.layout import CheckoutLayout
from toolchain.pulumi_cli import find_pulumi
from toolchain.variables import foreign_path, variables

STACK = "lyon-acme"
SLEEPER = "import pathlib, time\npathlib.Path('started').write_text('x')\ntime.sleep(60)\n"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """The real engine with a project of the test's own: the committed stack files, a program that sleeps."""
    layout = CheckoutLayout.here()
    pulumi = find_pulumi(layout, foreign_path(layout, os.environ))
    assert pulumi, "no Pulumi here: ./run prepare"
    shutil.copytree(STACKS, tmp_path / "stacks", ignore=lambda _, names: [n for n in names if "." not in n])
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "__main__.py").write_text(SLEEPER)
    option = f"{{name: python, options: {{toolchain: pip, virtualenv: {layout.venv}}}}}"
    (tmp_path / "Pulumi.yaml").write_text(f"name: clusters\nmain: infra\nstackConfigDir: stacks\nruntime: {option}\n")
    (tmp_path / "state").mkdir()
    own = {
        "PULUMI_BACKEND_URL": f"file://{tmp_path / 'state'}",
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_CONFIG_PASSPHRASE": DEMO_PASSPHRASE,
    }
    return Engine({**os.environ, **variables(layout, os.environ, pulumi), **own}, tmp_path)


def stack_files(engine: Engine) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (engine.folder / "stacks").glob("Pulumi.*.yaml")}


def test_a_stack_is_made_once_and_its_committed_file_keeps_every_byte(engine: Engine) -> None:
    before = stack_files(engine)
    assert f"Pulumi.{STACK}.yaml" in before
    assert engine.init(STACK) is True
    assert engine.init(STACK) is False
    assert engine.outputs(STACK) == {}
    assert stack_files(engine) == before


CREATED = f"{STACK}: dropped 1 interrupted create(s); `pulumi up` finds what they made"
OTHERS = (
    f"{STACK}: the update or deletion of gone, changed was interrupted: run the same command again, or "
    "`pulumi up --refresh`"
)


@pytest.mark.parametrize(
    ("operations", "said"),
    [
        ({"made": "creating", "gone": "deleting", "changed": "updating"}, [CREATED, OTHERS]),
        ({"made": "creating"}, [CREATED]),
        # Left alone, the next `up` would warn of them.
        ({"gone": "deleting", "changed": "updating"}, [OTHERS]),
    ],
)
def test_operations_that_a_kill_interrupted_are_dropped(
    engine: Engine, operations: dict[str, str], said: list[str]
) -> None:
    engine.init(STACK)
    # Written into the file, as `pulumi stack import` lets no pending operation in.
    file = engine.folder / "state" / ".pulumi" / "stacks" / "clusters" / f"{STACK}.json"
    document = json.loads(file.read_text())
    document["checkpoint"]["latest"]["pending_operations"] = [pending(*item) for item in operations.items()]
    file.write_text(json.dumps(document))
    assert mend(engine, STACK) == said
    assert "pending_operations" not in file.read_text()
    assert mend(engine, STACK) == []


def pending(name: str, operation: str) -> dict[str, object]:
    urn = f"urn:pulumi:{STACK}::clusters::interlock:index:Network::{name}"
    return {"resource": {"urn": urn, "custom": True, "type": "interlock:index:Network"}, "type": operation}


def test_a_killed_up_leaves_a_lock_that_is_removed(engine: Engine) -> None:
    engine.init(STACK)
    command = engine._command("up", "--yes", "--skip-preview", "--stack", STACK)
    with subprocess.Popen(
        command, cwd=engine.folder, env=dict(engine.environment), stdout=subprocess.DEVNULL
    ) as running:
        started, end = engine.folder / "infra" / "started", time.monotonic() + 60
        while not started.exists():
            assert running.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        (held,) = engine.backend.locks(STACK)
        assert (held.pid, held.host, held.dead) == (running.pid, socket.gethostname(), False)
        with pytest.raises(EnvironmentFailed, match=f"locked by process {running.pid}"):
            mend(engine, STACK)
        running.kill()
    assert mend(engine, STACK) == [f"{STACK}: removed the lock of process {running.pid}, which is gone"]
    assert list(engine.backend.locks(STACK)) == []
    # The backend agrees: a command that takes the lock runs.
    engine.ask("stack", "import", "--stack", STACK, given=engine.ask("stack", "export", "--stack", STACK))


@pytest.mark.parametrize("left", ["", '{"user.content_type":"app'], ids=["empty", "cut"])
def test_a_state_that_a_kill_left_half_written_is_read_again(engine: Engine, left: str) -> None:
    """The engine writes attributes in place before a new state gets its name: killed there, it reads neither."""
    engine.init(STACK)
    state = engine.folder / "state" / ".pulumi" / "stacks" / "clusters" / f"{STACK}.json"
    before = engine.ask("stack", "export", "--stack", STACK)
    attributes, unfinished = state.with_name(f"{state.name}.attrs"), state.with_name(f"{state.name}.18eaa4.tmp")
    assert attributes.exists()
    attributes.write_text(left)
    unfinished.write_text("{")
    with pytest.raises(EnvironmentFailed, match="EOF"):
        engine.ask("stack", "export", "--stack", STACK)
    said = f"{STACK}: removed 2 half-written file(s); the state is the one that was written before"
    assert mend(engine, STACK) == [said]
    assert not unfinished.exists()
    assert engine.ask("stack", "export", "--stack", STACK) == before
    assert mend(engine, STACK) == []


def test_a_failure_of_pulumi_is_told_in_its_own_words(engine: Engine) -> None:
    with pytest.raises(EnvironmentFailed, match=r"pulumi stack output .* failed: .*no stack named 'nobody'"):
        engine.ask("stack", "output", "--stack", "nobody")


def test_without_pulumi_the_way_to_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed, match=r"\./run"):
        Engine({"PATH": str(tmp_path)}, tmp_path).ask("version")
