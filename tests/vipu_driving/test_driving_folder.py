"""The folder of a command: in memory, gone with the command though we were killed, and swept up at the next look."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from interlock.vipu.commands import VipuLines
from interlock.vipu.flags import VipuSpelling
from interlock.vipu.own_folder import LEFT_AFTER, MEMORY, PREFIX, line_in_folder, own_folder
from interlock.vipu.transport import Ran

from .stand import PYTHON

_DRIVER = """
from interlock.vipu.transport import LocalRunner
LocalRunner("c").run(["/bin/sh", "-c", "echo secret > key; pwd > {told}; sleep 1"])
"""


def _gone(folder: Path) -> bool:
    until = time.monotonic() + 30
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.1)
    return not folder.exists()


def _written(file: Path) -> Path:
    until = time.monotonic() + 60
    while not (file.exists() and file.read_text().endswith("\n")) and time.monotonic() < until:
        time.sleep(0.05)
    return Path(file.read_text().strip())


def test_a_key_goes_with_its_command_though_we_are_killed(tmp_path: Path) -> None:
    told = tmp_path / "told"
    killed = subprocess.Popen([PYTHON, "-c", _DRIVER.format(told=told)])
    folder = _written(told)
    assert folder.is_relative_to(MEMORY)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert _gone(folder)


def test_a_key_goes_from_another_machine_though_the_connection_ends(tmp_path: Path) -> None:
    """As its ssh server ends a command: the shell is told to hang up, and its command with it."""
    told = tmp_path / "told"
    line = line_in_folder(["/bin/sh", "-c", f"echo secret > key; pwd > {told}; sleep 30"])
    shell = subprocess.Popen(["/bin/sh", "-c", line], start_new_session=True)
    folder = _written(told)
    assert folder.is_relative_to(MEMORY)
    os.killpg(shell.pid, signal.SIGHUP)
    shell.wait(20)
    assert _gone(folder)


def test_what_a_killed_shell_left_goes_at_the_next_look(tmp_path: Path) -> None:
    """And nothing else: neither a folder in which a command may be, nor what another program calls so."""
    old, young, other = tmp_path / f"{PREFIX}old", tmp_path / f"{PREFIX}young", tmp_path / "vipu-old"
    hours_ago = time.time() - 60 * LEFT_AFTER - 60
    for folder in (old, young, other):
        folder.mkdir()
        (folder / "key").write_text("secret")
    for folder in (old, other):
        os.utime(folder, (hours_ago, hours_ago))
    with own_folder(tmp_path) as folder_now:
        assert (old.exists(), young.exists(), other.exists()) == (False, True, True)
        assert Path(folder_now).parent == tmp_path


def test_of_users_nothing_is_quoted() -> None:
    """Every line that there is, with what may be shown of the answers to it."""
    lines = VipuLines(VipuSpelling({}))
    partition = lines.partition(
        "p", allocation="a", ipus=4, gcds=1, replicas=1, reconfigurable=False, sync_type="s", routing="default"
    )
    shown = [
        lines.agent("a", "h", 1),
        lines.cluster("c", ["a"], 1, "mesh", "none"),
        lines.allocation("a", "c"),
        partition,
    ]
    hidden = [lines.user("u", ["a"]), lines.user_of("u", ["a"]), lines.new_key("u")]
    for noun in ("agent", "cluster", "allocation", "partition"):
        shown += [lines.listed(noun), lines.removed(noun, "x")]
    hidden += [lines.listed("user"), lines.removed("user", "x")]
    assert [line.is_quoted for line in shown] == [True] * len(shown)
    assert [line.is_quoted for line in hidden] == [False] * len(hidden)


@pytest.mark.parametrize(
    "said",
    [
        'error in admin.hcl: api-access-key="abc123def"', "User created: access key is 'abc123def'",
        '{"access_key": "abc123def"}', "token: abc123def is refused",
    ],
)  # fmt: skip
def test_a_key_in_words_is_masked(said: str) -> None:
    """A command that refuses its file of settings may quote it, and in that stands the key of the administrator."""
    told = Ran(1, "", said).said
    assert "abc123def" not in told
    assert "[secret]" in told
    assert Ran(1, "", "unknown flag: --new-access-key").said == "unknown flag: --new-access-key"
