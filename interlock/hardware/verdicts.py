"""Result of a calculation: it fits, it fits with a warning, it does not fit, or it is unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "warn", "error", "unknown"]


@dataclass(frozen=True)
class PlacementVerdict:
    """One finding. `reason` is empty only for `ok`; `unknown` (a figure is missing) is never a pass."""

    outcome: Outcome
    reason: str = ""

    @property
    def passes(self) -> bool:
        """True for `ok` and `warn`."""
        return self.outcome in ("ok", "warn")


OK = PlacementVerdict("ok")


def warning(reason: str) -> PlacementVerdict:
    """It works, but somebody should look at it."""
    return PlacementVerdict("warn", reason)


def fault(reason: str) -> PlacementVerdict:
    """It cannot work."""
    return PlacementVerdict("error", reason)


def unknown(reason: str) -> PlacementVerdict:
    """A figure is missing; `reason` names it."""
    return PlacementVerdict("unknown", reason)
