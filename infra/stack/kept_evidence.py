"""What one settling went by, as the store keeps it for the report: by then files of evidence may be gone."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.values import moment_text
from interlock.store.history import SeenRecord, SettledThing, Settlement

from .handing_over import UNLISTED, Demand, Handover
from .settling import LookedAt


def settlement_of(found: LookedAt, handover: Handover, freed: Iterable[str]) -> Settlement:
    """All that is handed out, each with the entries that counted. Ask only where nothing is in the way."""
    demands = {one.identity: one for one in handover.demands if one.identity != UNLISTED}
    names = sorted({*demands, *freed})
    return Settlement(
        at=moment_text(handover.now),
        things=tuple(_thing(handover, name, demands.get(name)) for name in names),
        nothing_left=found.is_empty and not found.plan.resources,
    )


def seen_record(handover: Handover, one: Sighting) -> SeenRecord:
    """One entry, with everybody who signed it."""
    signed = handover.signatures is not None and not one.asked_now
    return SeenRecord(
        step=str(one.step),
        at=moment_text(one.at),
        by=one.by,
        position=one.position,
        signed_by=handover.signatures.signers_of(one, handover.now) if signed and handover.signatures else (),
    )


def _thing(handover: Handover, identity: str, demand: Demand | None) -> SettledThing:
    if demand is None:
        return SettledThing(identity=identity)
    steps = tuple(seen_record(handover, one) for one in handover.counted(demand))
    return SettledThing(identity=identity, about=dict(demand.entry), steps=steps)
