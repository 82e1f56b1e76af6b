"""Tenants apart: our kernel against OPA, Checkov and networkx on one fleet with planted conflicts, as whole processes.

All of them must find exactly what was planted (the join rules, and `interlock check` on the same tenants as files: two
networks on one VLAN; the others also what only a search over components finds), or there is no figure. Then the kernel
and networkx on bare numbers up to a million endpoints, and one tenant's re-proof beside few and beside many others.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import isolation_tools as tools
from benchmarks.isolation_bulk import KERNEL, WAYS
from benchmarks.isolation_fleet import fleet
from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed, Measured, measure
from benchmarks.report import Report, Table, median, options, run, runs_of, slope, spans
from benchmarks.world import say
from tests.e2e.project import ROOT

SIZES, ENDPOINTS, TENANTS = (1000, 10_000, 100_000), (1000, 10_000, 100_000, 1_000_000), (100, 10_000)
ROUNDS, PATIENCE = 3, 100
#: What takes longer is run once.
ONCE = 20.0

Fleets = dict[int, dict[str, list[Measured]]]
#: Way and number of endpoints -> what it measured of itself.
Bulk = dict[tuple[str, int], dict[str, Any]]


def compare(chosen: argparse.Namespace) -> Report:
    """The benchmark. Ratios are of processor seconds: other programs on the machine change them little."""
    missing = tools.absent()
    if missing:
        raise BenchmarkFailed("not installed:\n" + "\n".join(missing))
    machine = Machine.here()
    fleets = {size: _on_fleet(size, chosen) for size in chosen.sizes}
    bulk = _bulk(chosen.endpoints)
    proofs = {tenants: _script("isolation_reproof", str(tenants)) for tenants in chosen.tenants}
    return Report(
        name="isolation",
        ratios=_against_ours(fleets) | _slopes(fleets) | _of_bulk(bulk) | _of_proofs(proofs),
        table=_fleet_table(fleets),
        machine=machine,
        runs=runs_of(
            {f"{name}, {size} resources": found for size, row in fleets.items() for name, found in row.items()}
        )
        + [{"what": f"{way}, {size} endpoints", **found} for (way, size), found in bulk.items()],
        remarks=(_bulk_table(bulk).markdown(), _proof_table(proofs).markdown(), *_stopped(fleets, chosen)),
    )


def _on_fleet(size: int, chosen: argparse.Namespace) -> dict[str, list[Measured]]:
    """Every tool that is asked about so many resources; one that had to be stopped has no runs."""
    made = fleet(size)
    found: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory(prefix="interlock-benchmark-") as folder:
        for tool in tools.TOOLS:
            if size <= tool.most:
                found[tool.name] = []
                for _ in range(chosen.rounds):
                    measured = tools.run(tool, made, Path(folder), chosen.patience)
                    if measured is None:
                        break
                    found[tool.name].append(measured)
                    if measured.seconds > ONCE:
                        break
                say(f"{made.size} resources, {len(made.joined)} conflicts: {tool.name} {_cpu(found[tool.name]):.2f} s")
    return found


def _bulk(endpoints: Sequence[int]) -> Bulk:
    found: Bulk = {}
    for size in endpoints:
        for way in WAYS:
            answer = found[way, size] = _script("isolation_bulk", way, str(size))
            if answer["found"] != answer["planted"]:
                raise BenchmarkFailed(f"{way} found {answer['found']} of {answer['planted']} conflicts")
            say(f"{size} endpoints: {way} {answer['cpu_seconds']:.4f} s")
    return found


def _script(module: str, *words: str) -> dict[str, Any]:
    """What one of our scripts measured of itself."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *words]
    answer: dict[str, Any] = json.loads(measure(command, ROOT, os.environ | {"PYTHONPATH": str(ROOT)}).out)
    return answer


def _cpu(runs: Sequence[Measured]) -> float:
    return median([one.cpu_seconds for one in runs]) if runs else float("nan")


def _against_ours(fleets: Fleets) -> dict[str, float]:
    return {
        f"{name} / {ours}, {size} resources": _cpu(runs) / _cpu(row[ours])
        for ours in (tools.OURS, tools.PROVER)
        for size, row in fleets.items()
        for name, runs in row.items()
        if name not in (tools.OURS, tools.PROVER) and runs and row.get(ours)
    }


def _slopes(fleets: Fleets) -> dict[str, float]:
    """Growth of each tool's processor seconds: 1.0 is linear, and less where its start-up is a part of them."""
    return {
        f"{tool.name}, slope from {few} to {many} resources": slope(
            (few, _cpu(fleets[few][tool.name])), (many, _cpu(fleets[many][tool.name]))
        )
        for tool in tools.TOOLS
        for few, many in spans([size for size, row in fleets.items() if row.get(tool.name)])
    }


def _of_bulk(bulk: Bulk) -> dict[str, float]:
    sizes = sorted({size for _, size in bulk})
    seconds = {key: value["cpu_seconds"] for key, value in bulk.items()}
    against = {
        f"{way} / {KERNEL}, {size} endpoints": seconds[way, size] / seconds[KERNEL, size]
        for way in WAYS
        if way != KERNEL
        for size in sizes
    }
    return against | {
        f"{way}, slope from {few} to {many} endpoints": slope((few, seconds[way, few]), (many, seconds[way, many]))
        for way in WAYS
        for few, many in spans(sizes)
    }


def _judging(proof: dict[str, Any]) -> float:
    return median([one["cpu_seconds"] for one in proof["judgements"]])


def _of_proofs(proofs: dict[int, dict[str, Any]]) -> dict[str, float]:
    few, *more = proofs
    return {
        f"re-proof of one tenant, {many} tenants / {few} (goal: at most 1.2)": _judging(proofs[many])
        / _judging(proofs[few])
        for many in more
    }


def _fleet_table(fleets: Fleets) -> Table:
    return Table(
        ("", *(f"{size} resources, {unit}" for size in fleets for unit in ("s", "processor s", "MiB"))),
        tuple(
            (tool.name, *(cell for row in fleets.values() for cell in _cells(row, tool.name))) for tool in tools.TOOLS
        ),
    )


def _cells(row: dict[str, list[Measured]], name: str) -> tuple[str | int | float, ...]:
    if name not in row:
        return ("not asked", "", "")
    if not row[name]:
        return ("stopped", "", "")
    runs = row[name]
    return median([one.seconds for one in runs]), _cpu(runs), round(max(one.peak_mib for one in runs))


def _bulk_table(bulk: Bulk) -> Table:
    sizes = sorted({size for _, size in bulk})
    rows = tuple((size, *(cell for way in WAYS for cell in _exactly(bulk[way, size]))) for size in sizes)
    return Table(("endpoints", *(f"{way}, {unit}" for way in WAYS for unit in ("processor s", "MiB"))), rows)


def _exactly(answer: dict[str, Any]) -> tuple[str, int]:
    return f"{answer['cpu_seconds']:.4f}", round(answer["peak_mib"])


def _proof_table(proofs: dict[int, dict[str, Any]]) -> Table:
    rows = tuple(
        (tenants, proof["machines"], f"{_judging(proof):.4f}", proof["loading"]["cpu_seconds"])
        for tenants, proof in proofs.items()
    )
    return Table(("tenants", "machines", "re-proof, processor s", "loading the index before, processor s"), rows)


def _stopped(fleets: Fleets, chosen: argparse.Namespace) -> tuple[str, ...]:
    names = [f"{name} at {size} resources" for size, row in fleets.items() for name, runs in row.items() if not runs]
    return (f"Stopped after {chosen.patience} processor seconds: {', '.join(names)}.",) if names else ()


def main() -> int:
    """Run it."""
    parser = options(__doc__ or "")
    for name, values, unit in (("sizes", SIZES, "RESOURCES"), ("endpoints", ENDPOINTS, "N"), ("tenants", TENANTS, "N")):
        parser.add_argument(f"--{name}", type=int, nargs="+", default=values, metavar=unit)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is run (default {ROUNDS})")
    parser.add_argument("--patience", type=int, default=PATIENCE, help="processor seconds for a tool")
    return run(parser, compare)


if __name__ == "__main__":
    sys.exit(main())
