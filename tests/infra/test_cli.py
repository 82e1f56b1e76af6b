"""The `interlock` command as a whole: help, exit codes, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from infra.cli.command_group import COMMANDS, PASSED_ON
from infra.cli.exits import EnvironmentFailed
from infra.commands import demo
from infra.program.gate import Gate
from infra.program.places import ROOT
from infra.program.refusal import CannotBeMade
from infra.stack import foreground
from interlock import __version__
from interlock.store.refusals import in_flight
from tests.infra.conftest import Interlock, Lyon

CHILD = """\
import pathlib, time
try:
    pathlib.Path("started").touch()
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(1)
    pathlib.Path("tidied").touch()
"""

#: All but the one whose help is its supervisor's.
NAMES = [name for name in COMMANDS if name not in PASSED_ON]


def test_without_arguments_every_command_is_listed(interlock: Interlock) -> None:
    done = interlock()
    assert done.code == 2
    head, _, commands = (done.out + done.err).partition("Commands:\n")
    assert head.startswith("Usage: interlock [OPTIONS] COMMAND")
    assert [line.split()[0] for line in commands.splitlines()] == [*NAMES, "sandbox"]
    # Cut short, a line does not say what a command does.
    assert "..." not in commands


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_help_says(name: str) -> None:
    word = name.replace("-", "_")
    function = getattr(import_module(f"infra.commands.{word}"), word)
    assert function.__doc__.startswith(COMMANDS[name])


HELP = """\
import atexit, sys
atexit.register(lambda: print(*sorted({"pydantic", "networkx", "pulumi"} & set(sys.modules))))
sys.argv[1:] = ["--help"]
import infra.cli.main
infra.cli.main.main()
"""


def test_the_list_needs_no_command() -> None:
    """Whoever asks for help or mistypes a word does not wait for models and rules."""
    done = subprocess.run([sys.executable, "-c", HELP], cwd=ROOT, check=True, capture_output=True, text=True)
    assert "preflight" in done.stdout
    assert done.stdout.endswith("\n\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_command_shows_examples_that_can_be_copied(interlock: Interlock, name: str) -> None:
    done = interlock(name, "--help")
    assert done.code == 0
    examples = done.out.split("Example")[1].split("\n\n")[0].splitlines()[1:]
    assert examples
    for line in examples:
        assert line.startswith(("    interlock ", "    ./run ")), line


def test_the_version(interlock: Interlock) -> None:
    done = interlock("--version")
    assert (done.code, done.out) == (0, f"{__version__}\n")


@pytest.mark.parametrize("arguments", [("chek",), ("check", "--sit"), ("unlock",), ("check", "-f", "xml")])
def test_wrong_words_are_2(interlock: Interlock, arguments: tuple[str, ...]) -> None:
    done = interlock(*arguments)
    assert done.code == 2
    assert done.err.startswith("Usage: ")
    assert done.out == ""


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (EnvironmentFailed("no cloud: start one"), 4, "no cloud: start one\n"),
        (in_flight("lyon-acme", None), 4, f"{in_flight('lyon-acme', None)}\n"),
        (CannotBeMade("no actuator"), 2, "no actuator\n"),
        (KeyboardInterrupt(), 130, ""),
        (RuntimeError("a bug"), 4, "RuntimeError: a bug\nthis is a defect of interlock; please report it\n"),
    ],
    ids=["environment", "the store", "input", "ctrl-c", "defect"],
)
def test_no_failure_reads_as_a_verdict(
    lyon: Lyon,
    interlock: Interlock,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    said: str,
) -> None:
    def fail(self: Gate, tenant: str | None) -> None:
        raise error

    monkeypatch.setattr(Gate, "look", fail)
    done = interlock("check")
    assert done.code == code
    assert done.err.endswith(said)
    assert done.out == ""


def ended_unread(*arguments: str) -> tuple[int, str]:
    """Exit code and stderr of a command whose reader is gone before it prints."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "infra.cli", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True) as running:
        os.close(writer)
        _, told = running.communicate(timeout=60)
    return running.returncode, told


@pytest.mark.parametrize(
    "arguments",
    [("check",), ("check", "-f", "json"), ("site", "--full"), ("--version",), ("check", "--help")],
    ids=" ".join,
)
def test_a_closed_pipe_is_no_verdict_and_no_talk(lyon: Lyon, arguments: tuple[str, ...]) -> None:
    """As in `interlock check | head -1`: 128 and the number of SIGPIPE, as of a program that it kills."""
    assert ended_unread(*arguments) == (141, "")


def test_a_fault_is_told_though_nobody_reads_the_output(lyon: Lyon) -> None:
    code, told = ended_unread("check", "acne")
    assert code == 2
    assert "did you mean `acme`?" in told


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_the_caller_closed_is_no_defect(lyon: Lyon, closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m infra.cli check {closed}', sys.executable], cwd=ROOT, check=False, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_lets_a_program_in_the_foreground_end_in_its_own_way(tmp_path: Path) -> None:
    """As `pulumi up`: it needs longer than the quarter of a second that subprocess.run would give it."""
    (tmp_path / "child.py").write_text(CHILD)
    parent = "import sys; from infra.stack import foreground; foreground.run([sys.executable, 'child.py'])"
    with subprocess.Popen(
        [sys.executable, "-c", parent],
        cwd=tmp_path,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        while not (tmp_path / "started").exists():
            assert running.poll() is None
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)
        _, told = running.communicate(timeout=30)
    assert (tmp_path / "tidied").exists()
    assert "KeyboardInterrupt" in told


def test_ctrl_c_in_the_demo_says_that_the_next_run_goes_on(
    interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "supervise", interrupted)
    done = interlock("demo")
    assert done.code == 130
    assert done.err.endswith("interrupted: what exists is kept; run `./run demo` again, and it continues from there\n")


def test_a_program_in_the_foreground_gives_its_exit_code() -> None:
    assert foreground.run(["sh", "-c", "exit 7"]) == 7
