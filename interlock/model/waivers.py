"""Waivers, as a request and a site file have them: who lets a rule pass, why, and until when."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from interlock.model.tenant.values import Day, Reason
from interlock.model.text.names import DisplayName
from interlock.model.text.validation import FileModel
from interlock.resources import Frozen


class Waiver(Frozen):
    """A rule that the operator lets pass for one stack: who answers for it, why, and until which day."""

    rule: str
    owner: str
    reason: str
    #: ISO date; from the day after it the waiver counts no more.
    expires: str


class WaiverFile(FileModel):
    """A rule that may be broken."""

    owner: DisplayName = Field(description="Who answers for it.")
    reason: Reason = Field(description="Why, in one line.")
    expires: Day = Field(description="Last day on which it counts.")


def waivers_of(files: Mapping[str, WaiverFile]) -> tuple[Waiver, ...]:
    """By rule. When they end and whether they may be given is judged with the plan."""
    return tuple(Waiver(rule=rule, **file.model_dump()) for rule, file in sorted(files.items()))
