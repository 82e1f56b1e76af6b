"""The stand-in language host under the real engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from pulumi.runtime.proto.language_pb2 import ProgramInfo

from tests.toolchain.conftest import ROOT, Project
from toolchain import run_program
from toolchain.language_host import IGNORING_SIGINT, NoSuchEnvironment, python_for
from toolchain.making import write_executable
from toolchain.plugin import ensure_plugin
from toolchain.pulumi_cli import language_host_script


def resources(project: Project) -> list[str]:
    """Types of all resources in the stack's state."""
    state = json.loads(project.pulumi("stack", "export").stdout)
    return [resource["type"] for resource in state["deployment"].get("resources", [])]


def await_(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def started_program(project: Project) -> int:
    mark = project.folder / "started"
    await_(lambda: mark.is_file() and mark.read_text())
    return int(mark.read_text())


def test_preview_up_again_and_destroy(project: Project) -> None:
    project.pulumi("config", "set", "--secret", "key", "hidden")
    preview = project.pulumi("preview")
    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert resources(project) == []

    up = project.pulumi("up", "--yes")
    assert up.returncode == 0, up.stdout + up.stderr
    assert resources(project) == ["pulumi:pulumi:Stack", "tiny:index:Box"]
    outputs = json.loads(project.pulumi("stack", "output", "--json", "--show-secrets").stdout)
    assert outputs == {"secret": "hidden", "folder": str(project.folder)}
    assert "hidden" not in up.stdout + up.stderr

    again = project.pulumi("up", "--yes", "--expect-no-changes")
    assert again.returncode == 0, again.stdout + again.stderr

    assert project.pulumi("destroy", "--yes").returncode == 0
    assert resources(project) == []


def test_a_refusing_program_shows_its_sentence_and_nothing_else(project: Project) -> None:
    project.pulumi("config", "set", "case", "refused")
    up = project.pulumi("up", "--yes")
    told = up.stdout + up.stderr
    assert up.returncode != 0
    assert "error: ISO-01: two tenants share vlan:1101" in told
    assert "Traceback" not in told
    assert "exit code" not in told
    assert resources(project) == []


def test_a_crash_shows_the_traceback_once(project: Project) -> None:
    project.pulumi("config", "set", "case", "crashed")
    preview = project.pulumi("preview", "--color", "never")
    assert preview.returncode != 0
    diagnostics = preview.stdout.split("Diagnostics:")[1]
    assert diagnostics.count("ValueError: a bug") == 1


def test_a_mandatory_policy_blocks_before_anything_is_made(project: Project) -> None:
    up = project.pulumi("up", "--yes", "--policy-pack", str(project.folder.parent / "pack"))
    told = up.stdout + up.stderr
    assert up.returncode != 0
    assert "found 2 resources" in told
    assert "KeyboardInterrupt" not in told
    assert resources(project) == []


def test_beside_a_pack_the_program_starts_ahead(project: Project) -> None:
    """It has imported what this project's program needs before the engine asks for it; without a pack it has not."""
    project.pulumi("config", "set", "case", "ahead")
    assert project.pulumi("preview").returncode == 0
    assert (project.folder / "ahead").read_text() == "False"
    project.pulumi("preview", "--policy-pack", str(project.folder.parent / "pack"))
    assert (project.folder / "ahead").read_text() == "True"


def test_ctrl_c_stops_the_program_and_frees_the_stack(project: Project) -> None:
    project.pulumi("config", "set", "case", "slow")
    running = project.start("up", "--yes", "--skip-preview")
    program = started_program(project)
    os.killpg(running.pid, signal.SIGINT)
    told, _ = running.communicate(timeout=60)
    assert running.returncode != 0
    assert "Traceback" not in told
    await_(lambda: not alive(program))
    project.pulumi("config", "rm", "case")
    assert project.pulumi("up", "--yes").returncode == 0


@pytest.mark.parametrize("pack", [False, True])
def test_a_killed_engine_leaves_no_process(project: Project, pack: bool) -> None:
    project.pulumi("config", "set", "case", "slow")
    running = project.start("preview", *(["--policy-pack", str(project.folder.parent / "pack")] if pack else []))
    program = started_program(project)
    running.kill()
    running.communicate(timeout=60)
    await_(lambda: not alive(program))


def test_a_program_whose_engine_is_gone_shows_no_traceback(tmp_path: Path) -> None:
    """As after the second Ctrl-C: nobody listens at the addresses that it was given."""
    (tmp_path / "__main__.py").write_text("import pulumi\npulumi.export('answer', 42)\n")
    folder, gone = str(tmp_path), "127.0.0.1:9"
    program = run_program.Program(
        program=folder, arguments=[], folder=folder, root=folder, project="tiny", stack="dev", organization="",
        dry_run=True, parallel=1, monitor=gone, engine=gone, config={}, secret_keys=[],
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", run_program.__file__],
        input=json.dumps(asdict(program)), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == run_program.ALREADY_EXPLAINED, done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def _command(kind: str, folder: Path) -> list[str]:
    """What the engine, or the host for it, starts."""
    host = folder / "pulumi-language-python"
    write_executable(host, language_host_script(ROOT))
    ensure_plugin(ROOT, folder)
    (provider,) = folder.glob("plugins/*/pulumi-resource-interlock")
    program = [sys.executable, "-P", run_program.__file__, "--preload"]
    return {"host": [str(host)], "provider": [str(provider)], "program": [*IGNORING_SIGINT, *program]}[kind]


@pytest.mark.parametrize("kind", ["host", "provider", "program"])
def test_what_the_engine_ends_with_sigint_says_nothing(kind: str, tmp_path: Path) -> None:
    """It sends the signal to the process group of its plugin, whatever that is doing, imports included."""
    process = subprocess.Popen(
        _command(kind, tmp_path), cwd=ROOT.root, start_new_session=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    words = Path(f"/proc/{process.pid}/cmdline")
    await_(lambda: "trap" not in words.read_text() and "-P" in words.read_text().split("\0"), 10)
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.01)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("module", ["nowhere_at_all", "json"])
def test_what_cannot_be_imported_ahead_stops_no_program(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another project's environment may have no such module, or another one of that name."""
    monkeypatch.setattr(run_program, "AHEAD", module)
    run_program.preload()


def test_about_says_that_it_is_a_stand_in(project: Project) -> None:
    assert "stand-in for Pulumi's Python language host" in project.pulumi("about").stdout


def test_install_refuses_and_names_the_way(project: Project) -> None:
    installed: subprocess.CompletedProcess[str] = project.pulumi("install")
    assert installed.returncode != 0
    assert "./run prepare" in installed.stderr


def test_an_environment_that_is_not_there_is_named(tmp_path: Path) -> None:
    program = ProgramInfo(root_directory=str(tmp_path))
    program.options.update({"virtualenv": "nowhere"})
    with pytest.raises(NoSuchEnvironment, match="nowhere"):
        python_for(program)
