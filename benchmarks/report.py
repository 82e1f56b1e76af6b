"""A benchmark's results: as a table for people, as JSON for programs, or as a block of docs/benchmarks.md."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import Machine
from benchmarks.measure import BenchmarkFailed, Measured

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"

Cell = str | int | float


@dataclass(frozen=True)
class Table:
    """Rows of figures. Units stand in the headings."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        """The table as Markdown, which reads well in a terminal too."""
        texts = [self.headings, *(tuple(_shown(cell) for cell in row) for row in self.rows)]
        widths = [max(len(row[column]) for row in texts) for column in range(len(self.headings))]
        lines = [_line(row, widths) for row in texts]
        ruler = "|" + "|".join("-" * (width + 1) + (":" if n else "-") for n, width in enumerate(widths)) + "|"
        return "\n".join([lines[0], ruler, *lines[1:]])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(row, widths, strict=True)
    cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
    return f"| {' | '.join(cells)} |"


def _shown(cell: Cell) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Report:
    """What one benchmark found. `ratios` are the results; the tables say what they were made from."""

    name: str
    ratios: dict[str, float]
    table: Table
    #: What it was measured on, looked at before.
    machine: Machine
    #: Every single measurement, in the order in which they were made.
    runs: list[dict[str, Any]] = field(default_factory=list)
    remarks: tuple[str, ...] = ()

    def as_json(self) -> str:
        """All of it."""
        content = asdict(self) | {"ratios": {key: round(value, 3) for key, value in self.ratios.items()}}
        return json.dumps(content, indent=1, ensure_ascii=False)

    def as_text(self) -> str:
        """The table, the ratios, the remarks, and the machine."""
        ratios = "\n".join(f"- {name}: **{value:.2f}**" for name, value in self.ratios.items())
        parts = [self.table.markdown(), ratios, *self.remarks, str(self.machine)]
        return "\n\n".join(part for part in parts if part)

    def write(self, page: Path = PAGE) -> None:
        """Put the text between this benchmark's two marks in the page."""
        begin, end = (f"<!-- {word} {self.name} -->" for word in ("begin", "end"))
        text = page.read_text()
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise BenchmarkFailed(f"{page.name} has no place for {self.name}: put {begin} and {end} into it")
        page.write_text(f"{before}{begin}\n{self.as_text()}\n{end}{after}")


def median(values: Sequence[float]) -> float:
    """The middle one; of an even number the mean of the middle two."""
    return statistics.median(values)


def slope(smaller: tuple[float, float], larger: tuple[float, float]) -> float:
    """Growth between two pairs of (size, figure) in log-log: 1.0 is linear, 2.0 quadratic, 0.0 none."""
    return math.log(larger[1] / smaller[1]) / math.log(larger[0] / smaller[0])


def spans(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """From the smallest size to the largest, and from the last but one, where start-up weighs least."""
    ordered = sorted(set(sizes))
    return list(dict.fromkeys((first, ordered[-1]) for first in (ordered[0], *ordered[-2:-1]) if first < ordered[-1]))


#: Heading -> the figure of several runs of the same command.
FIGURES: dict[str, Callable[[Sequence[Measured]], Cell]] = {
    "seconds": lambda runs: median([one.seconds for one in runs]),
    "processor seconds": lambda runs: median([one.cpu_seconds for one in runs]),
    "of the services": lambda runs: median([one.service_seconds or 0.0 for one in runs]),
    "peak MiB": lambda runs: round(max(one.peak_mib for one in runs)),
}


def table_of(rows: Mapping[str, Sequence[Measured]]) -> Table:
    """What was measured -> its runs, as medians; of memory the highest peak."""
    looked_at = any(one.service_seconds is not None for runs in rows.values() for one in runs)
    figures = {name: figure for name, figure in FIGURES.items() if looked_at or name != "of the services"}
    return Table(
        ("", *figures),
        tuple((name, *(figure(runs) for figure in figures.values())) for name, runs in rows.items()),
    )


def runs_of(rows: Mapping[str, Sequence[Measured]]) -> list[dict[str, Any]]:
    """Every run by itself."""
    return [{"what": name, **one.figures()} for name, runs in rows.items() for one in runs]


def options(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=("table", "json"), default="table", help="form of the results on stdout")
    parser.add_argument("--write", action="store_true", help="also write the results into docs/benchmarks.md")
    return parser


def run(parser: argparse.ArgumentParser, benchmark: Callable[[argparse.Namespace], Report]) -> int:
    """Run one benchmark; its exit code: 0 measured, 4 something failed, which is then said."""
    chosen = parser.parse_args()
    try:
        report = benchmark(chosen)
        if chosen.write:
            report.write()
    except BenchmarkFailed as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 4
    print(report.as_json() if chosen.format == "json" else report.as_text())
    return 0
