"""The benchmark of SuperPODs in its cheapest form: it runs, and the generated halls are what they say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu_halls import COMMANDS, PEER
from benchmarks.superpods import nodes_of, write_superpod
from interlock.model.load import load_workspace
from tests.conftest import ROOT


def test_every_process_is_measured_and_more_tenants_than_nodes_are_left_out() -> None:
    words = ["--units", "1", "--tenants", "2", "64", "--format", "json"]
    command = [sys.executable, "-m", "benchmarks.gpu_halls", *words]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [row[0] for row in report["table"]["rows"]] == [f"{what}, 31 nodes, 2 tenants" for what in COMMANDS]
    for what in {*COMMANDS} - {PEER}:
        assert report["ratios"][f"{what} / {PEER}, peak memory, 31 nodes, 2 tenants"] > 0


@pytest.mark.parametrize("units", [1, 3])
def test_superpods_of_other_sizes_have_every_node_cabled(tmp_path: Path, units: int) -> None:
    write_superpod(tmp_path / "stacks", units, 2)
    workspace = load_workspace(tmp_path / "stacks", "superpod")
    site, wanted = workspace.site, nodes_of(units) // 2
    assert len(site.gpu_nodes) == nodes_of(units) == 32 * units - 1
    assert all(site.far_end(node.name, "in-band1") and site.far_end(node.name, "bmc") for node in site.gpu_nodes)
    assert [cluster.nodes for tenant in workspace.tenants.values() for cluster in tenant.clusters] == [wanted] * 2
