"""What is measured of loading and planning, each in a process of its own. INTERLOCK_STACKS names the folder of sites.

python -m benchmarks.loading load     every file of the site, as most commands read them
python -m benchmarks.loading plan     the same, and then the plan of every tenant
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from benchmarks.halls import SITE
from infra.program.gate import Gate


def load() -> int:
    """Read and check all files; returns the number of tenants."""
    return len(Gate.open(SITE).workspace.tenants)


def plan() -> int:
    """Plan every tenant; a plan is let go before the next one is made. Returns the number of resources planned."""
    gate = Gate.open(SITE)
    return sum(len(gate.plan(tenant).resources) for tenant in sorted(gate.workspace.tenants))


#: The word of the command line -> what is done.
WAYS: dict[str, Callable[[], int]] = {"load": load, "plan": plan}


if __name__ == "__main__":
    print(WAYS[sys.argv[1]]())
