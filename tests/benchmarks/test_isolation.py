"""`benchmarks.isolation`: every way finds what is planted, and a wrong or a late answer is no figure."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import isolation_bulk as bulk
from benchmarks import isolation_networkx, isolation_ours, isolation_site
from benchmarks import isolation_tools as tools
from benchmarks.isolation_fleet import Fleet, fleet
from benchmarks.measure import BenchmarkFailed
from benchmarks.report import PAGE


@pytest.mark.parametrize("way", bulk.WAYS)
def test_every_way_finds_the_planted_components(way: str) -> None:
    count, left, right, labels, planted = bulk.numbers(70_000)
    assert planted == 3
    assert bulk.WAYS[way](count, left, right, labels) == planted


def test_kernel_and_networkx_find_the_planted_pairs() -> None:
    made = fleet(2000)
    lists = {"networks": made.networks, "servers": made.servers, "ports": made.ports}
    assert len(made.on_one_vlan) == len(made.by_one_server) == 2
    assert set(isolation_ours.conflicts(isolation_ours.load_kernel(), lists)) == made.joined
    assert set(isolation_networkx.conflicts(lists)) == made.joined


def said(stack: str, *about: str, rule: str = "ISO-01", verdict: str = "violated") -> dict[str, object]:
    return {"stack": stack, "findings": [{"rule": rule, "verdict": verdict, "about": about}]}


def test_the_pairs_that_interlock_check_names() -> None:
    reports = [
        said("halls-site", "lock:t00001", "lock:t00002"),
        said("halls-t00051", "resource:t00051-train-ipu-data", "lock:t00052"),
        said("halls-t00007", "lock:t00008", rule="ISO-03"),
        said("halls-t00007", "lock:t00008", verdict="proved"),
    ]
    found = isolation_site.pairs_of(Fleet(), json.dumps({"version": 1, "stacks": reports}))
    assert found == {("t000000", "t000001"), ("t000050", "t000051")}


def answering(script: str) -> tools.Tool:
    return tools.Tool(
        "a tool",
        lambda fleet, folder: [sys.executable, "-c", script],
        lambda fleet, out: {(a, b) for a, b in json.loads(out)},
        lambda fleet: fleet.joined,
    )


def test_a_tool_that_finds_less_than_was_planted_has_no_figure(tmp_path: Path) -> None:
    made = fleet(100)
    measured = tools.run(answering(f"print({json.dumps(json.dumps(sorted(made.joined)))})"), made, tmp_path, 10)
    assert measured is not None
    with pytest.raises(BenchmarkFailed, match="0 found, 2 planted"):
        tools.run(answering("print([])"), made, tmp_path, 10)


def test_a_tool_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    assert tools.run(answering("while True: pass"), fleet(100), tmp_path, 1) is None


def test_the_page_has_a_place_for_it() -> None:
    assert "<!-- begin isolation -->" in PAGE.read_text()
    assert "<!-- end isolation -->" in PAGE.read_text()
