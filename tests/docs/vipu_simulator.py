"""The tables of the page about the simulator of V-IPU."""

from __future__ import annotations

from sandbox.vipu.conformance import conformance_cells, unverified_cells

from .tables import table


def conformance(_: str) -> str:
    """Each command and rule, with its source and its tests."""
    return table(("command or rule", "source", "enforced", "tests"), conformance_cells())


def unverified_flags(_: str) -> str:
    """Flags that no public source has."""
    return table(("flag", "program", "meaning"), unverified_cells())
