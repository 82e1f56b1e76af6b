"""What came of each fault in the last run of its tests: `python -m tests.faults.report`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from tests.faults.proxy import Proxy
from tests.support.reports import REPORTS

PATH = REPORTS / "faults.json"

DONE = "done"


@dataclass(frozen=True)
class Outcome:
    """One operation under one fault; `words` are those of a clean stop, empty if it was done."""

    operation: str
    kind: str
    fault: str
    where: str
    words: str
    requests: int

    @property
    def stopped(self) -> bool:
        return bool(self.words)


@dataclass
class Matrix:
    """All outcomes of a run."""

    outcomes: list[Outcome] = field(default_factory=list)

    @contextmanager
    def watching(self, proxy: Proxy) -> Iterator[Callable[[], int]]:
        """How many requests were seen since."""
        start = len(proxy.seen)
        yield lambda: len(proxy.seen) - start

    def write(self) -> None:
        PATH.parent.mkdir(parents=True, exist_ok=True)
        PATH.write_text(json.dumps([asdict(item) for item in self.outcomes], indent=1))

    @staticmethod
    def read() -> Matrix:
        return Matrix([Outcome(**item) for item in json.loads(PATH.read_text())])

    def lines(self) -> Iterable[str]:
        """A table of each operation, then the words of every stop, each once."""
        for operation in dict.fromkeys(item.operation for item in self.outcomes):
            yield from _table(operation, [item for item in self.outcomes if item.operation == operation])
            yield ""
        yield "The words of the stops:"
        stops: dict[tuple[str, str], str] = {}
        for item in self.outcomes:
            if item.stopped:
                stops.setdefault((item.operation, item.fault), f"{item.kind}, {item.where}: {item.words}")
        for (operation, fault), words in stops.items():
            yield f"{operation}, {fault}: {words}"


def _table(operation: str, outcomes: list[Outcome]) -> Iterable[str]:
    kinds = list(dict.fromkeys(item.kind for item in outcomes))
    width = max(len(f"{item.fault}, {item.where}") for item in outcomes)
    yield f"{operation}: done (.) or a clean stop (S)"
    for number, kind in enumerate(kinds):
        yield f"{'':{width}} {'  ' * number}{kind}"
    for row in dict.fromkeys((item.fault, item.where) for item in outcomes):
        cells = {item.kind: "S" if item.stopped else "." for item in outcomes if (item.fault, item.where) == row}
        yield f"{', '.join(row):{width}} {' '.join(cells.get(kind, ' ') for kind in kinds)}".rstrip()


def main() -> int:
    """Prints the last run's report; 4 if there was none."""
    if not PATH.exists():
        print("there is no report yet: run `./run test -k fault`", file=sys.stderr)
        return 4
    print("\n".join(Matrix.read().lines()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
