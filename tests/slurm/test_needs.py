"""Without root, or without Slurm: one line that says what to run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .hall import PROGRAMS, SlurmLacks, require_slurm

ROOT = Path(__file__).resolve().parents[2]


def test_all_of_it_is_here() -> None:
    """The tests of this folder need it, and fail where it is not; nothing is left out."""
    require_slurm()


@pytest.mark.parametrize("absent", [*PROGRAMS])
def test_without_programs(monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    monkeypatch.setattr(sys.modules[require_slurm.__module__], "_found", lambda name: None if name == absent else name)
    with pytest.raises(SlurmLacks) as told:
        require_slurm()
    line = "sudo apt-get install -y --no-install-recommends slurm-wlm slurmdbd mariadb-server-core munge iproute2"
    assert str(told.value) == f"a real Slurm needs {absent}. Run: {line}"


def test_without_root() -> None:
    assert os.geteuid() == 0, "these tests need root: sudo ./run test tests/slurm"
    code = "import os; from tests.slurm.hall import require_slurm; os.setuid(65534); require_slurm()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("Run: sudo ./run test tests/slurm")
