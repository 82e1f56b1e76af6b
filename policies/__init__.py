"""The proof: facts -> edges -> graph -> authority, footprints -> rules -> findings -> judging.

It sees only frozen facts, and touches no file, cloud or engine.

`footprint` says what others could collide with in a plan, `judge` asks every rule about a plan and the locks
of all others, `prove` makes the proof that components accept. docs/design/semantics.md says what is proved.
"""

from __future__ import annotations

from .judging import footprint, judge, prove
from .proof import Finding, Judgement, NotProved, Proof, RuleResult, Severity, Verdict, admission
from .rules import RULES, Rule

__all__ = [
    "RULES", "Finding", "Judgement", "NotProved", "Proof", "Rule", "RuleResult", "Severity", "Verdict",
    "admission", "footprint", "judge", "prove",
]  # fmt: skip
