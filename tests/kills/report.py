"""What came of each point in the last run of its tests: `python -m tests.kills.report`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.reports import REPORTS
from tests.support.sampling import WHOLE, Part

PATH = REPORTS / "kills.json"
FAULTS = ("before", "after", "lost")
#: Of commands, which run for a while.
DURING = "during"


@dataclass(frozen=True)
class Point:
    """One command of one resource, interrupted at one of its requests; the next run converged."""

    stack: str
    kind: str
    step: str
    #: Number of the request, and how many there are.
    at: int
    of: int
    fault: str
    request: str
    #: False: the answer was lost, and the provider found out by itself.
    stopped: bool


def write(points: Iterable[Point], part: Part = WHOLE) -> None:
    """Beside the points of other tests of the same run; those of one part of a long run in a file of their own."""
    PATH.parent.mkdir(parents=True, exist_ok=True)
    _path(part).write_text(json.dumps([asdict(point) for point in points], indent=1))


def of_other_parts(part: Part) -> list[Point] | None:
    """What the other parts of a long run took; None until each of them has run."""
    paths = [_path(Part(number, part.of)) for number in range(1, part.of + 1) if number != part.number]
    if not all(path.exists() for path in paths):
        return None
    return [Point(**item) for path in paths for item in json.loads(path.read_text())]


def _path(part: Part) -> Path:
    return PATH if part.of == 1 else PATH.with_name(f"kills-{part.number}-of-{part.of}.json")


def read() -> list[Point]:
    """The last run's points."""
    return [Point(**item) for item in json.loads(PATH.read_text())]


def lines(points: list[Point]) -> Iterator[str]:
    """Of each stack a table: a row for each kind, a column for each step, how many points of each fault."""
    for stack in dict.fromkeys(point.stack for point in points):
        yield from _table(stack, [point for point in points if point.stack == stack])
        yield ""
    stopped = sum(point.stopped for point in points if point.fault == "lost")
    lost = sum(point.fault == "lost" for point in points)
    yield f"{len(points)} points, all converged; of {lost} lost answers the provider mended {lost - stopped} by itself"


def _table(stack: str, points: list[Point]) -> Iterator[str]:
    steps = list(dict.fromkeys(point.step for point in points))
    faults = (*FAULTS, DURING) if any(point.fault == DURING for point in points) else FAULTS
    counts = Counter((point.kind, point.step, point.fault) for point in points)
    kinds = list(dict.fromkeys(point.kind for point in points))
    rows = [[kind, *("/".join(_counts(counts, kind, step, faults)) for step in steps)] for kind in kinds]
    head = [f"{stack} ({'/'.join(faults)})", *steps]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _counts(counts: Counter[tuple[str, str, str]], kind: str, step: str, faults: tuple[str, ...]) -> list[str]:
    found = [counts[kind, step, fault] for fault in faults]
    return [str(count) for count in found] if any(found) else ["-"]


def main() -> int:
    """Prints the last run's report; 4 if there was none."""
    if not PATH.exists():
        print("there is no report yet: run `./run test -k kill`", file=sys.stderr)
        return 4
    print("\n".join(lines(read())))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
