"""`./run test`: what pytest is called with, as one run in several processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

IN_ONE_PROCESS = frozenset(
    {"--pdb", "--trace", "-s", "--capture", "--co", "--collect-only", "-n", "--numprocesses", "--fixtures", "--markers"}
)
"""Options with which pytest is not given several processes: it needs the terminal, runs no test, or they are said."""

TOGETHER = ("-n", "auto", "--dist", "loadscope")
"""Several processes; which tests each runs is said in tests/support/groups.py."""


def pytest_arguments(arguments: Sequence[str], root: Path) -> list[str]:
    """The caller's own, with several processes unless one is asked for or one file is all that is run."""
    alone = any(word.partition("=")[0] in IN_ONE_PROCESS or word.startswith("-n") for word in arguments)
    words = [word.partition("::")[0] for word in arguments if not word.startswith("-")]
    named = {root / word for word in words if (root / word).exists()}
    one_file = len(named) == 1 and all(path.is_file() for path in named)
    return list(arguments) if alone or one_file else [*TOGETHER, *arguments]
