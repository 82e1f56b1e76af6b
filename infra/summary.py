"""Texts for people at the end of a run: why a plan was refused, and what exists after a demo."""

from __future__ import annotations

from policies import Judgement
from policies.report import short


def refusal(judgement: Judgement) -> str:
    """Why nothing was applied: the most specific finding with its witness, the others by name."""
    return short(judgement)
