"""Assumptions that do not hold, or that nobody stated."""

from __future__ import annotations

from interlock.model.site.guards import ASSUMPTION_GUARDS

from .scene import Scene


def _guard(made: Scene, assumption: str) -> None:
    guard = made.rng.choice(ASSUMPTION_GUARDS[assumption])
    made.draft.assumptions[assumption][guard] = made.rng.choice((False, None))


def hypervisor(made: Scene) -> None:
    """A5."""
    _guard(made, "A5")


def switches(made: Scene) -> None:
    """A1."""
    _guard(made, "A1")


def cloud_or_pools(made: Scene) -> None:
    """A2 or A10."""
    _guard(made, made.rng.choice(("A2", "A10")))


def nothing_stated(made: Scene) -> None:
    """One assumption of which the site file states nothing."""
    made.draft.assumptions[made.rng.choice(sorted(made.draft.assumptions))] = {}


PLOTS = (hypervisor, hypervisor, *[switches] * 3, *[cloud_or_pools] * 3, nothing_stated)
