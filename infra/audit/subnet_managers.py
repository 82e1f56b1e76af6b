"""What an audit takes of a survey of subnet managers: where one is not set as the site says that it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from infra.fabrics.survey import ManagerSurvey
from infra.program.gate import Gate

from .comparison import Audit


def with_managers(found: Audit, gate: Gate, survey: ManagerSurvey) -> Audit:
    """The audit with what UFMs say. What the site does not say to be so is no drift, whatever they say."""
    site = gate.workspace.site.as_of(datetime.now(UTC))
    held = {guard for item in site.assumptions if item.id == "A6" for guard, value in item.guards.items() if value}
    differ = tuple(str(item) for item in survey.findings if item.value is False and item.guard in held)
    unread = {f"subnet manager of {name}": f"{error.what}; {error.hint}" for name, error in survey.unread.items()}
    return replace(found, managers=differ, unread={**found.unread, **unread})
