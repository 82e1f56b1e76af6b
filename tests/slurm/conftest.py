"""Two clusters for each process that runs these tests, one on a fabric and one without."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from .clusters import WITH_FABRIC, RunningCluster, running, size_of_this_machine, without_fabric
from .hall import program, require_slurm


@pytest.fixture(scope="session")
def on_fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    """Without root or Slurm an error names the line to run."""
    with running(tmp_path_factory.mktemp("train"), WITH_FABRIC) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def without_any(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    """Its nodes are as large as this machine."""
    require_slurm()
    printed = subprocess.run([program("slurmd"), "-C"], capture_output=True, text=True, check=True).stdout
    with running(tmp_path_factory.mktemp("serve"), without_fabric(size_of_this_machine(printed))) as cluster:
        yield cluster
