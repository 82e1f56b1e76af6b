"""Without root, or without Open vSwitch: one line that says what to run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.fabric.bridges import initial
from sandbox.fabric.fabric import Fabric
from sandbox.fabric.kept import KeptBackend
from sandbox.fabric.needs import PROGRAMS, FabricLacks, require_fabric
from sandbox.launcher import frames
from sandbox.launcher.commands import ENVIRONMENT_FAILED
from sandbox.launcher.errors import SandboxError
from sandbox.switches.files import FileBackend

from .conftest import ROOT, folder
from .test_fabric import PAIR


def test_all_of_it_is_here() -> None:
    """The tests of this folder need it, and fail where it is not; nothing is left out."""
    require_fabric()


@pytest.mark.parametrize(
    ("absent", "packages"),
    [
        ({"ovs-vswitchd"}, "openvswitch-switch"),
        ({"ip"}, "iproute2"),
        (set(PROGRAMS), "openvswitch-switch iproute2"),
    ],
)
def test_without_programs(monkeypatch: pytest.MonkeyPatch, absent: set[str], packages: str) -> None:
    monkeypatch.setattr("sandbox.fabric.needs._found", lambda name: None if name in absent else f"/bin/{name}")
    with pytest.raises(FabricLacks) as told:
        Fabric(PAIR, folder("small")).up()
    words = str(told.value)
    assert words.endswith(f"Run: sudo apt-get install -y --no-install-recommends {packages}")
    assert all(name in words for name in absent)
    assert "\n" not in words


def test_without_root() -> None:
    """As somebody who may do nothing on this machine."""
    program = (
        "import os, sys; from pathlib import Path; from sandbox.fabric.fabric import Fabric; "
        "from tests.packets.test_fabric import PAIR; os.setuid(65534); Fabric(PAIR, Path('/tmp/nobody')).up()"
    )
    assert os.geteuid() == 0, "these tests need root: sudo ./run test tests/packets"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("Run: sudo ./run test tests/packets")
    assert "FabricLacks" in done.stderr


def as_nobody(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The sandbox's command of somebody who may do nothing on this machine."""
    words = [*command, "--dir", str(folder)]
    program = f"import os, sys; from sandbox.launcher.commands import main; os.setuid(65534); sys.exit(main({words}))"
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["up", "reset"])
def test_a_sandbox_with_frames_and_without_root(tmp_path: Path, command: str) -> None:
    """One line, before anything is installed, stopped or kept."""
    done = as_nobody(tmp_path / "cloud", command, "--frames")
    assert done.returncode == ENVIRONMENT_FAILED
    told = "network namespaces and switches that forward frames need root. Run: "
    assert done.stderr == f"sandbox: error: {told}{frames.COMMAND}\n"
    assert not (tmp_path / "cloud").exists()


def test_an_instance_keeps_whether_it_has_frames(tmp_path: Path) -> None:
    assert not frames.wanted(tmp_path)
    for wanted in (True, False):
        frames.keep(tmp_path, wanted)
        assert frames.wanted(tmp_path) is wanted
    (tmp_path / frames.FILE).write_text("frames")
    with pytest.raises(SandboxError, match=r"settings\.json is not"):
        frames.wanted(tmp_path)


def test_a_status_says_whether_frames_are_on(tmp_path: Path) -> None:
    assert (frames.words(tmp_path), frames.forwarded(tmp_path)) == (
        "off: switches keep tables, and no frame flows",
        False,
    )
    frames.keep(tmp_path, True)
    later = ("on at the next start; there are no bridges now", False)
    assert (frames.words(tmp_path), frames.forwarded(tmp_path)) == later
    frames.up(tmp_path)
    try:
        assert (frames.words(tmp_path), frames.forwarded(tmp_path)) == ("on: switches forward frames", True)
    finally:
        frames.down(tmp_path)
    assert (frames.words(tmp_path), frames.forwarded(tmp_path)) == later


def test_a_switch_that_cannot_be_kept_is_set_back(tmp_path: Path) -> None:
    """The command is refused, so what is forwarded is as before."""
    first = initial("one", ("Ethernet1",))
    after = replace(first, vlans={**first.vlans, 10: "ten"})
    bridge = FileBackend(tmp_path / "bridge.json", first)
    (tmp_path / "folder.new").mkdir()
    kept = KeptBackend(bridge, FileBackend(tmp_path / "folder.json", first))
    assert kept.load() == first
    with pytest.raises(IsADirectoryError):
        kept.apply(first, after)
    assert bridge.load() == kept.load() == first
    (tmp_path / "folder.new").rmdir()
    kept.apply(first, after)
    assert bridge.load() == kept.load() == after
