"""Without root, or without Open vSwitch: one line that says what to run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sandbox.fabric.fabric import Fabric
from sandbox.fabric.needs import PROGRAMS, FabricLacks, require_fabric

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
