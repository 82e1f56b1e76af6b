"""Which tests share a world, so that one process must run them all, and which of them take long.

A test belongs to the first row whose path begins its own; without a row, its file is a group. Rows stand in the order
in which they begin: what takes longest comes first, so that all processes end at about the same time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Tests that one process runs, in their order. `cloud`: they use the process's embedded cloud."""

    name: str
    paths: tuple[str, ...]
    cloud: bool = True


TWO_TENANTS = ("apply", "audit", "break_glass", "change", "fence", "killed_claims", "leave")
"""Tests with the real engine that look at a site with two tenants, which take long to make."""

GROUPS: tuple[Group, ...] = (
    # Long before others, and on no cloud: mypy, the import contracts, the linter.
    Group("house", ("tests/house/",), cloud=False),
    # The clones of a newcomer have a cloud of their own each.
    Group("pages", ("tests/e2e/test_demo.py",), cloud=False),
    Group("gpu demo", ("tests/e2e/test_demo_gpu.py",), cloud=False),
    # A cloud of its own, with GPU nodes and a subnet manager.
    Group("hall", ("tests/e2e/test_subnet_manager_hall.py",), cloud=False),
    # A cloud of its own, with GPU nodes below hypervisors.
    Group("passed devices", ("tests/passing/",), cloud=False),
    # A cloud of its own, with switches that forward frames.
    Group("frames", ("tests/packets/test_applied.py",), cloud=False),
    # A site and two tenants that the engine applied; then the site alone, with a small tenant that comes and goes.
    Group("engine, two tenants", tuple(f"tests/e2e/test_{name}.py" for name in TWO_TENANTS)),
    Group("engine, small tenant", tuple(f"tests/e2e/test_{name}" for name in ("f", "k"))),
    Group("engine, others", ("tests/e2e/",)),
    Group("kills", ("tests/kills/",)),
    Group("faults", ("tests/faults/",)),
    Group("provider", ("tests/provider/",)),
    Group("machine", ("tests/machine/",)),
    Group("together", ("tests/together/",)),
    Group("sandbox", ("tests/sandbox/",)),
    # One Versity gateway for all of them, beside the cloud's Swift.
    Group("buckets", ("tests/buckets/",)),
    # Random tests, each a minute or so of computing.
    Group("oracle", ("tests/oracle/",), cloud=False),
    Group("certificate", ("tests/certificate/",), cloud=False),
    Group("clean sites", ("tests/mutants/test_no_false_alarm.py",), cloud=False),
    Group("mutants", ("tests/mutants/test_mutants.py",), cloud=False),
    Group("store", ("tests/store/",), cloud=False),
    # Three servers with a real sshd for all of them.
    Group("logins", ("tests/access/",), cloud=False),
    # Two clusters of ten nodes, with daemons of Slurm in each, for all of them.
    Group("slurm", ("tests/slurm/",), cloud=False),
    # Random partition tables, each with a sweep of its own.
    Group("partition tables", ("tests/subnet_manager/test_subnet_manager_proof.py",), cloud=False),
    # One fabric for all of them.
    Group("packets", ("tests/packets/",), cloud=False),
)
"""All groups of more than one file, and those that take long."""


def group_of(nodeid: str) -> str:
    """The name of a test's group: that of its row, or its file."""
    return next((row.name for row in GROUPS if nodeid.startswith(row.paths)), nodeid.partition("::")[0])


def on_cloud(group: str) -> bool:
    """True if the tests of this group use the process's embedded cloud."""
    return any(row.cloud for row in GROUPS if row.name == group)


def place_of(group: str) -> int:
    """The lower, the earlier a group begins."""
    names = [row.name for row in GROUPS]
    return names.index(group) if group in names else len(names)


NEEDS = frozenset({"sandbox", "demo", "newcomer", "project", "moto"})
"""Fixtures that start a cloud, Pulumi's engine or a server: a fast run has no test that uses one."""

SLOW = (
    "tests/access/", "tests/benchmarks/", "tests/buckets/", "tests/docs/test_commands.py", "tests/e2e/",
    "tests/faults/", "tests/house/",
    "tests/infra/test_access.py", "tests/infra/test_engine.py", "tests/infra/test_terminal.py", "tests/kills/",
    "tests/mutants/test_matrix.py", "tests/pack/", "tests/packets/", "tests/passing/",
    "tests/provider/test_serving.py", "tests/slurm/",
    "tests/store/test_folder_kill.py", "tests/store/test_ledger_fences.py",
    "tests/store/test_ledger_kill.py", "tests/store/test_s3_faults.py", "tests/store/test_stores.py",
    "tests/subnet_manager/", "tests/together/", "tests/toolchain/",
)  # fmt: skip
"""Paths of tests without such a fixture that a fast run leaves out, too: they start many processes, or check all files.

`./run test --fast` is for somebody who changes the model, the planner or the rules; mypy has its own command.
"""


ONLY_LONG = ("tests/e2e/test_demo_gpu.py",)
"""Paths of tests that a long run alone takes: minutes on a cloud of their own, for what others show in pieces."""

MUTANTS = "tests/mutants/test_mutants.py"
"""Several hundred judgements, of which a fast run takes a sample."""

FAST_SHARE = 4
"""A fast run takes one of so many."""


def is_slow_path(path: str) -> bool:
    """True for a file or folder, from the root of the project, of which `--fast` runs nothing."""
    return f"{path}/".startswith(SLOW)


def is_slow(nodeid: str, fixtures: Iterable[str]) -> bool:
    """True for a test that `--fast` leaves out."""
    return nodeid.startswith(SLOW) or not NEEDS.isdisjoint(fixtures)
