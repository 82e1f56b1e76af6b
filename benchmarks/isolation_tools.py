"""The programs that `benchmarks.isolation` compares: how each is started, and what its answer means."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import isolation_site as site
from benchmarks.isolation_fleet import Fleet, Pair
from benchmarks.measure import BenchmarkFailed, Measured, measure
from tests.e2e.project import ROOT

PLACE = ROOT / ".interlock" / "bench"
OPA, CHECKOV = PLACE / "bin" / "opa", PLACE / "checkov" / "bin" / "checkov"
RULES = ROOT / "benchmarks" / "isolation_rules"
#: How to have them, where they are not.
INSTALL = {
    OPA: f'GOBIN="$PWD/{OPA.parent.relative_to(ROOT)}" go install github.com/open-policy-agent/opa@v1.10.0',
    CHECKOV: f"python -m venv {CHECKOV.parents[1].relative_to(ROOT)} and pip install checkov in it (500 MB)",
}
#: Memory is looked at this often: some of these programs live for a tenth of a second.
EVERY = 0.005
#: A process that has used its processor seconds is killed. Wall time would stop tools for what others do.
LIMITED, STOPPED = 'ulimit -t "$0" && exec "$@"', -signal.SIGKILL


@dataclass(frozen=True)
class Tool:
    """One program with one rule."""

    name: str
    command: Callable[[Fleet, Path], list[str | Path]]
    #: What it said -> the conflicts it found; and those that it has to find.
    found: Callable[[Fleet, str], set[Pair]]
    expected: Callable[[Fleet], set[Pair]]
    #: More resources it is not asked about: minutes, for what is known already.
    most: int = 10**9


def run(tool: Tool, fleet: Fleet, folder: Path, patience: int) -> Measured | None:
    """Measure it; None if so many processor seconds were not enough. Raises BenchmarkFailed if its answer is wrong."""
    command = ["sh", "-c", LIMITED, str(patience), *tool.command(fleet, folder)]
    try:
        measured = measure(command, ROOT, os.environ | {"PYTHONPATH": str(ROOT)}, EVERY)
    except BenchmarkFailed as error:
        if f"ended with {STOPPED}:" in str(error):
            return None
        raise
    found, expected = tool.found(fleet, measured.out), tool.expected(fleet)
    if found != expected:
        raise BenchmarkFailed(
            f"{tool.name}: {len(found)} found, {len(expected)} planted, {len(found ^ expected)} differ"
        )
    return measured


def absent() -> list[str]:
    """What is to be installed first."""
    return [f"{path.name}: {how}" for path, how in INSTALL.items() if not path.exists()]


def _script(name: str) -> Callable[[Fleet, Path], list[str | Path]]:
    return lambda fleet, folder: [sys.executable, ROOT / "benchmarks" / name, fleet.write(folder)]


def _opa(rule: str) -> Callable[[Fleet, Path], list[str | Path]]:
    rego = RULES / f"{rule}.rego"
    return lambda fleet, folder: [
        OPA, "eval", "-d", rego, "-i", fleet.write(folder), "--format", "values", "data.isolation.conflicts",
    ]  # fmt: skip


def _checkov(fleet: Fleet, folder: Path) -> list[str | Path]:
    """It takes checks from a package, so the one check gets one of its own."""
    checks = folder / "checks"
    checks.mkdir(exist_ok=True)
    (checks / "__init__.py").touch()
    shutil.copy(RULES / "checkov_check.py", checks)
    return [
        CHECKOV, "--file", fleet.write_plan(folder), "--framework", "terraform_plan", "--external-checks-dir", checks,
        "--check", "CKV_ISOLATION_1", "--output", "json", "--compact", "--skip-download", "--soft-fail",
    ]  # fmt: skip


def _pairs(_: Fleet, said: str) -> set[Pair]:
    return {(a, b) for a, b in json.loads(said)}


def _first_value(_: Fleet, said: str) -> set[Pair]:
    return {(a, b) for a, b in json.loads(said)[0]}


def _failed(fleet: Fleet, said: str) -> set[Pair]:
    """It names the second network on a VLAN; the first one's tenant is looked up."""
    first: dict[tuple[str, int], str] = {}
    for item in fleet.networks:
        first.setdefault((item["physical_network"], item["vlan"]), item["tenant"])
    by_id = {item["id"]: item for item in fleet.networks}
    failed = (by_id[item["resource"].rpartition(".")[2]] for item in json.loads(said)["results"]["failed_checks"])
    return {(first[item["physical_network"], item["vlan"]], item["tenant"]) for item in failed}


def _joined(fleet: Fleet) -> set[Pair]:
    return fleet.joined


def _on_one_vlan(fleet: Fleet) -> set[Pair]:
    return fleet.on_one_vlan


OURS, PROVER, NETWORKX, COMPONENT, JOIN, CHECKED = (
    "our kernel alone", "interlock check, all rules", "networkx", "OPA, component rule", "OPA, join rule",
    "Checkov, join rule",
)  # fmt: skip

TOOLS: tuple[Tool, ...] = (
    Tool(OURS, _script("isolation_ours.py"), _pairs, _joined),
    Tool(PROVER, site.check, site.pairs_of, _on_one_vlan, most=10_000),
    Tool(NETWORKX, _script("isolation_networkx.py"), _pairs, _joined),
    Tool(COMPONENT, _opa("component"), _first_value, _joined),
    Tool(JOIN, _opa("join"), _first_value, _on_one_vlan),
    Tool(CHECKED, _checkov, _failed, _on_one_vlan, most=10_000),
)
