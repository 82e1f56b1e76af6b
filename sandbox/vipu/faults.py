"""Faults on demand: the next call of a kind fails, before or after it was done."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Literal

#: The connection is closed without an answer, with nothing or with everything done; or the call is refused.
FaultKind = Literal["cut-before", "cut-after", "refused"]


@dataclass(frozen=True)
class VipuFault:
    """One rule, which bites once. `words`: verb and noun."""

    words: str
    kind: FaultKind


@dataclass
class VipuFaults:
    """The rules that still bite, the first one first."""

    _rules: list[VipuFault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: VipuFault) -> None:
        """One rule more."""
        with self._lock:
            self._rules.append(fault)

    def take(self, words: str) -> VipuFault | None:
        """The rule that bites this call, which is used up by it."""
        with self._lock:
            for number, rule in enumerate(self._rules):
                if rule.words == words:
                    return self._rules.pop(number)
        return None


class FaultUnknown(Exception):
    """A text that is no fault."""


def vipu_fault_of(text: str) -> VipuFault:
    """A rule from `VERB NOUN=KIND`. Raises FaultUnknown."""
    words, _, kind = text.rpartition("=")
    kinds: dict[str, FaultKind] = {"cut-before": "cut-before", "cut-after": "cut-after", "refused": "refused"}
    if kind not in kinds or len(words.split()) != 2:
        raise FaultUnknown(f"{text!r}: write 'create partition=cut-after'; or cut-before, or refused")
    return VipuFault(words, kinds[kind])
