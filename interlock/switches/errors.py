"""A switch that could not be read: which one, why, and what to do."""

from __future__ import annotations

from interlock.vocabulary import InterlockError


class SwitchUnread(InterlockError):
    """Nothing is known of this switch. `place` is its name in the site file."""

    LEAD = "next"

    def __init__(self, switch: str, what: str, hint: str) -> None:
        super().__init__(what, hint, place=switch)
