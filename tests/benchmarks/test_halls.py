"""The benchmarks of many racks in their cheapest form: they run, and the generated halls are what they say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import loading, opening, plain
from benchmarks.editing import EDITS
from benchmarks.halls import SITE, SIZES, racks_for, tenant_name, write_halls
from benchmarks.report import slope, spans
from interlock.model.load import load_workspace
from tests.conftest import ROOT


def report_of(benchmark: str, *words: str) -> Any:
    """What a benchmark prints, run as a person would."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", "--rounds", "1", "--format", "json", *words]
    done = subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_halls_load_with_every_rack_a_leaf_group_of_its_own(tmp_path: Path) -> None:
    write_halls(tmp_path / "stacks", 20)
    workspace = load_workspace(tmp_path / "stacks", SITE)
    site = workspace.site
    assert len(workspace.tenants) == 20
    assert len(site.logical_racks) == racks_for(20) == 2
    assert len(site.machines) == 2 * 16
    fabrics = [item.switches for item in site.physical_networks if item.name.startswith("fabric-")]
    assert fabrics == [("tor-001",), ("tor-002",)]
    sizes = {tenant: [vpod.machines for vpod in request.vpods] for tenant, request in workspace.tenants.items()}
    assert sizes[tenant_name(19)] == [SIZES[1]]
    assert sizes[tenant_name(20)] == [SIZES[20]]


@pytest.mark.parametrize(("tenants", "racks"), [(1, 1), (100, 7), (1000, 70), (10000, 700)])
def test_racks_for_tenants(tenants: int, racks: int) -> None:
    machines = sum(next(size for every, size in SIZES.items() if n % every == 0) for n in range(1, tenants + 1))
    assert racks_for(tenants) == racks
    assert machines <= racks * 16


def test_fleet_measures_every_process_at_every_size() -> None:
    report = report_of("fleet", "--sizes", "1", "3")
    assert len(report["table"]["rows"]) == len(report["runs"]) == 4 * 2
    ratios = report["ratios"]
    for what in ("lock", "load", "load and plan"):
        assert ratios[f"{what} / plain pydantic, processor time, 3 tenants"] > 0
        assert f"{what}, peak memory, slope from 1 to 3 tenants" in ratios
    assert "plain pydantic, processor time, slope from 1 to 3 tenants" in ratios


def test_editing_keeps_the_site_for_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of("editing", "--sizes", "3", "--keep", str(tmp_path))
    assert [row[:2] for row in report["table"]["rows"]] == [[3, "warm"], [3, "no"]]
    assert report["ratios"]["index warm / no index, 3 tenants"] > 0
    stacks = tmp_path / "3" / "stacks"
    # Three edits, of which the first made the index: 20, 10, 20 GiB.
    assert EDITS[1] in (stacks / SITE / "tenants" / f"{tenant_name(1)}.yaml").read_text()
    monkeypatch.setenv("INTERLOCK_STACKS", str(stacks))
    assert loading.load() == opening.opened() == 3
    assert loading.plan() > 3 * 10
    # The site, three requests, their locks: the peer reads what we read, but for the site's lock.
    assert plain.read_all(stacks / SITE) == 1 + 3 + 3


def test_startup_compares_with_a_python_that_does_nothing() -> None:
    report = report_of("startup")
    assert [row[0] for row in report["table"]["rows"]] == ["interlock --help", "python -c pass"]
    assert all(ratio > 1 for ratio in report["ratios"].values())


@pytest.mark.parametrize(("figure", "expected"), [(7.0, 0.0), (700.0, 1.0), (70000.0, 2.0)])
def test_slope_of_a_hundred_times_as_many(figure: float, expected: float) -> None:
    assert slope((100, 7.0), (10000, figure)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sizes", "expected"), [((5,), []), ((1, 3), [(1, 3)]), ((100, 10000, 1000), [(100, 10000), (1000, 10000)])]
)
def test_spans_of_sizes(sizes: tuple[int, ...], expected: list[tuple[int, int]]) -> None:
    assert spans(sizes) == expected
