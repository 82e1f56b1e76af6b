"""Assumptions that do not hold, or that nobody stated."""

from __future__ import annotations

from interlock.model.site.guards import ASSUMPTION_GUARDS

from .scene import Scene, machine


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


def operators_services(made: Scene) -> None:
    """One of A16 to A21: what everybody is on and no plan shows."""
    _guard(made, made.rng.choice(("A16", "A17", "A18", "A19", "A20", "A21")))


def talking_switch(made: Scene) -> None:
    """A22, where a machine or a whole host is lent."""
    if not any(made.machines.values()):
        machine(made, made.one())
    _guard(made, "A22")


def way_to_bmcs(made: Scene) -> None:
    """A24, where a machine or a whole host is lent."""
    if not any(made.machines.values()):
        machine(made, made.one())
    _guard(made, "A24")


def nothing_stated(made: Scene) -> None:
    """One assumption of which the site file states nothing."""
    made.draft.assumptions[made.rng.choice(sorted(made.draft.assumptions))] = {}


PLOTS = (
    hypervisor, hypervisor, *[switches] * 3, *[cloud_or_pools] * 3, operators_services, operators_services,
    talking_switch, nothing_stated, way_to_bmcs,
)  # fmt: skip
