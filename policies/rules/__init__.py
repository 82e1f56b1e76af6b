"""The rules, one readable tuple. A rule is added here and nowhere else."""

from __future__ import annotations

from .addresses import CAP_05, L3_04
from .cabling import CAP_03, TOP_08, TOP_09, TOP_15
from .completeness import FACT_01
from .data_grants import SEC_11, SEC_14
from .data_network import ISO_03
from .fabric import ISO_13, TOP_21, TOP_23
from .ports import TOP_13, TOP_14
from .power import PWR_01, PWR_02, PWR_03, PWR_04, PWR_06
from .racks import TOP_04, TOP_05, TOP_07
from .rule import Answer, Cause, Of, Polarity, Rule
from .segments import ISO_08, ISO_11, ISO_12
from .separation import ISO_01, ISO_02, ISO_05
from .topology import TOP_02, TOP_03, TOP_06
from .vipu import TOP_10, TOP_11

RULES: tuple[Rule, ...] = (
    FACT_01,
    ISO_01, ISO_02, ISO_03, ISO_05, ISO_08, ISO_11, ISO_12, ISO_13,
    L3_04,
    SEC_11, SEC_14,
    TOP_02, TOP_03, TOP_04, TOP_05, TOP_06, TOP_07, TOP_08, TOP_09, TOP_10, TOP_11, TOP_13, TOP_14, TOP_15,
    TOP_21, TOP_23,
    CAP_03, CAP_05,
    PWR_01, PWR_02, PWR_03, PWR_04, PWR_06,
)  # fmt: skip

__all__ = ["RULES", "Answer", "Cause", "Of", "Polarity", "Rule"]
