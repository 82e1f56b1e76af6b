"""The rules, one readable tuple. A rule is added here and nowhere else."""

from __future__ import annotations

from .addresses import CAP_05, L3_04
from .data_network import ISO_03
from .rule import Answer, Cause, Polarity, Rule
from .segments import ISO_08, ISO_11, ISO_12
from .separation import ISO_01, ISO_02, ISO_05
from .topology import TOP_02, TOP_03, TOP_06

RULES: tuple[Rule, ...] = (
    ISO_01, ISO_02, ISO_03, ISO_05, ISO_08, ISO_11, ISO_12,
    L3_04,
    TOP_02, TOP_03, TOP_06,
    CAP_05,
)  # fmt: skip

__all__ = ["RULES", "Answer", "Cause", "Polarity", "Rule"]
