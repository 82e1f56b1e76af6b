"""What settling asks of GPU nodes besides their cleaning, by exclusive identity; of all else it asks nothing."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.model.evidence.accepting import ASSUMED_FACT, acceptance_of
from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.steps import ACCEPTANCE, SeenStep
from interlock.model.site.inventory import Site


def acceptance_steps(site: Site, identity: str) -> tuple[SeenStep, ...]:
    """What a GPU node needs besides, after its cleaning."""
    node = acceptance_of(site, identity)
    return () if node is None else node.steps


def unstated(site: Site, identity: str, step: SeenStep) -> tuple[str, ...]:
    """Facts of the site without which no measurement of a GPU node counts."""
    node = acceptance_of(site, identity) if step in ACCEPTANCE else None
    return () if node is None else node.missing(step)


def not_enough(site: Site, one: Sighting, before: Sighting | None) -> str:
    """Why what was measured of a GPU node is less than it has to show; empty for all else."""
    node = acceptance_of(site, one.identity) if one.step in ACCEPTANCE else None
    if node is None:
        return ""
    measured_at = before.at if before is not None and before.step is SeenStep.BANDWIDTH_MEASURED else None
    return node.why_not(one.measured, measured_at)


def unattested(site: Site, identities: Iterable[str]) -> tuple[str, ...]:
    """A sentence for each GPU node whose firmware nobody has to attest, because the site answers for it (A25)."""
    found = (acceptance_of(site, identity) for identity in identities)
    names = sorted(node.name for node in found if node is not None and node.rests_on_assumption)
    return tuple(f"{name}: nobody attested its firmware, it rests on {ASSUMED_FACT}" for name in names)
