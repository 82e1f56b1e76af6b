"""Opens the site as `interlock lock TENANT` does, locks through their index, and does nothing else.

python -m benchmarks.opening     prints how many locks there are; INTERLOCK_STACKS names the folder of sites
"""

from __future__ import annotations

import infra.cli.main  # noqa: F401 - the command imports it, too: so both start up alike
from benchmarks.halls import SITE
from infra.locking.index import held
from infra.program.gate import Gate


def opened() -> int:
    """Read all files, of locks only their claims where the index has them; returns the number of locks."""
    return sum(1 for _ in held(Gate.indexed(SITE).workspace.locks))


if __name__ == "__main__":
    print(opened())
