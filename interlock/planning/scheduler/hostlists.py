"""Lists of host names and addresses as Slurm writes them: `n[001-004,007]`, `10.0.0.[9-12]`.

Slurm takes a bracket at the end of a name only. A range counts with as many digits as its first number has, so `n9` and
`n10` are one range, and `n09` and `n9` are two names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

#: A name that ends in a number. Longer numbers stay in front of it: Slurm counts with 64 bits.
_NUMBERED = re.compile(r"(?P<head>.*?)(?P<number>\d{1,9})")
#: Hosts of one range at most, `MAX_RANGE` of Slurm.
_LONGEST = 64 * 1024


def folded(names: Sequence[str]) -> str:
    """The names, in their order: Slurm reads the same names in the same order."""
    parts = (_numbered(name) for name in names)
    return ",".join(_group(head, [number for _, number in of_head]) for head, of_head in groupby(parts, lambda p: p[0]))


def _numbered(name: str) -> tuple[str, str]:
    found = _NUMBERED.fullmatch(name)
    return (name, "") if found is None else (found["head"], found["number"])


def _group(head: str, numbers: Sequence[str]) -> str:
    """All that follow each other with one head."""
    if not numbers[0]:
        return ",".join(head for _ in numbers)
    if len(numbers) == 1:
        return head + numbers[0]
    return f"{head}[{','.join(_runs(numbers))}]"


def _runs(numbers: Sequence[str]) -> Iterator[str]:
    run = [numbers[0]]
    for number in numbers[1:]:
        if number == f"{int(run[-1]) + 1:0{len(run[0])}}" and len(run) < _LONGEST:
            run.append(number)
        else:
            yield _written(run)
            run = [number]
    yield _written(run)


def _written(run: Sequence[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}"
