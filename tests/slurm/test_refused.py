"""Files that somebody damaged: what a real slurmctld refuses, and what it takes without a word.

So that Slurm starts is no proof that it read what was meant; `tests/slurm/test_hostlists.py` compares what it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.planning.scheduler import ClusterServer, Scheduler, files_of

from .clusters import WITH_FABRIC, RunningCluster

#: The second controller's server, where none runs, as the only controller of a cluster of its own.
ALONE = replace(WITH_FABRIC, name="alone", head=ClusterServer("spare", "10.77.0.6"), second=None)
FILES = {Path(path).name: text for path, text in files_of(Scheduler.SLURM, ALONE, "spare").items() if "/slurm/" in path}


def started(cluster: RunningCluster, files: Mapping[str, str]) -> tuple[int, str]:
    """Exit code of a slurmctld with these files, 124 if it ran until it was ended, and what it wrote."""
    spare = cluster.hall.servers["spare"]
    folder = spare.folder / "etc-slurm" / "alone"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = spare.run("timeout", "2", "env", "SLURM_CONF=/etc/slurm/alone/slurm.conf", "slurmctld", "-D", "-c")
    return done.returncode, done.stderr


def test_intact_files_are_taken(on_fabric: RunningCluster) -> None:
    code, words = started(on_fabric, FILES)
    assert code == 124
    assert "Running as primary controller" in words
    assert "fatal" not in words
    assert "WARNING" not in words


@pytest.mark.parametrize(
    ("name", "intact", "damaged", "words"),
    [
        ("slurm.conf", "n[001,", "n[005-001,", "Unable to create NodeName list from n[005-001,003,005,007,009]"),
        ("slurm.conf", "10.77.0.[11,", "10.77.0.[", "NodeAddr count must equal that of NodeName records"),
        ("slurm.conf", "10.77.0.[11,", "10.77.0.[x,", "Unable to create NodeAddr list from 10.77.0.[x,13,15,17,19]"),
        ("topology.conf", "n[001,", "n[005-001,", "Invalid node name (n[005-001,003,005,007,009]) in switch config"),
        ("topology.conf", "su[01-02]", "su[01-03]", "Switch configuration spine has invalid child (su03)"),
    ],
)
def test_damaged_files_are_refused(on_fabric: RunningCluster, name: str, intact: str, damaged: str, words: str) -> None:
    assert intact in FILES[name]
    code, told = started(on_fabric, {**FILES, name: FILES[name].replace(intact, damaged)})
    assert code == 1
    assert f"fatal: {words}" in told


def test_a_node_on_no_switch_is_only_a_warning(on_fabric: RunningCluster) -> None:
    missing = FILES["topology.conf"].replace("n[001,", "n[")
    assert missing != FILES["topology.conf"]
    code, told = started(on_fabric, {**FILES, "topology.conf": missing})
    assert code == 124
    assert "WARNING: switches lack access to 1 nodes: n001" in told
