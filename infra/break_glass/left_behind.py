"""What is there of a stack whose request is gone: no file says what was planned, so the site's view has to do.

Whatever carries a marker of the stack counts, whatever nobody plans and no other stack answers for, and every switch
port that no plan has. None of it may stay while an entry is open: no plan can hold it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from infra.audit.comparison import Audit, StackAudit
from infra.program.break_glass import break_glass_of
from infra.program.gate import Gate
from infra.switches.survey import planned_ports
from interlock.provider.audit.unmanaged import UnmanagedResource
from interlock.store.history import History
from interlock.vocabulary import StackName
from interlock.vocabulary.markers import Marker
from interlock.vocabulary.owners import OwnerId

from .differences import DifferenceVerdict, Judging, ManualDifference, at_ports, told_of, verdict_of

_BY_HAND = "remove it once you know that nobody needs it; or restore request and lock, and close it by them"


@dataclass(frozen=True)
class LeftBehind:
    """One stack without a request, as the site sees it. `owners`: every owner id that its name is known to have had."""

    gate: Gate
    audit: Audit
    stack: str
    owners: frozenset[OwnerId]

    @classmethod
    def of(cls, gate: Gate, audit: Audit, stack: str) -> LeftBehind:
        """With the owner ids that the claims store has, and the lock if that is still there. Raises `StoreFailed`."""
        owners = {past.owner for past in History(break_glass_of(gate).store).all_of(stack)}
        record = gate.applied.records.get(stack) if gate.applied is not None else None
        lock = gate.workspace.locks.get(StackName.parse(stack).tenant or "")
        owners |= {found.owner for found in (record, lock) if found is not None}
        return cls(gate, audit, stack, frozenset(owners))

    def differences(self) -> tuple[ManualDifference, ...]:
        """All that is there, each once; leaks by the stacks that meet it."""
        every = {(item.kind, item.id): item for item in self.audit.unmanaged}
        found = dict[tuple[str, str], ManualDifference]()
        for kind, ident, mark in self._marked():
            why = f"it carries {mark}, and no request says what {self.stack} was to have"
            found[kind, ident] = self._judged(kind, ident, why, every.get((kind, ident)))
        for (kind, ident), item in every.items():
            if not item.stack:
                found.setdefault((kind, ident), self._judged(kind, ident, item.why, item))
        planned = {(port.port.switch, port.port.port) for port in planned_ports(self.gate)}
        seen = (item for item in self.audit.switches if (item.switch, item.port) not in planned)
        return (*found.values(), *at_ports(seen))

    def not_seen(self) -> Mapping[str, str]:
        """What nobody can tell, with the reason: a person has to look at it in any case."""
        gone = (
            "neither its request nor what it was planned to be is known, so what was taken away by hand is no "
            "difference: see that nothing of it is left that somebody needs"
        )
        unknown = (
            "the claims store has no owner id of it, so objects with its marker cannot be told from those of others"
        )
        return {
            **self.audit.unread,
            self.stack: gone,
            **({} if self.owners else {f"objects of {self.stack}": unknown}),
        }

    def _marked(self) -> Iterator[tuple[str, str, str]]:
        """(kind, id, marker) of what carries a marker of the stack. Every stack of an audit has seen the same lists."""
        words = next((item.words for item in self.audit.stacks if item.words is not None), None)
        for kind, ident, mark in words.found.markers if words is not None else ():
            if Marker.parse(mark).owner in self.owners:
                yield kind, ident, mark

    def _judged(self, kind: str, ident: str, why: str, item: UnmanagedResource | None) -> ManualDifference:
        """By the rules of the stacks that it is at; no plan holds it, so that none is violated says little."""
        findings = [found for stack in self._at(item) for found in Judging(self.gate, stack).alone(None, item) or ()]
        verdict = verdict_of(tuple(findings), DifferenceVerdict.NOT_JUDGED)
        return ManualDifference(f"{kind} {ident}", why, verdict, _BY_HAND, "", told_of(tuple(findings)))

    def _at(self, item: UnmanagedResource | None) -> Iterator[StackAudit]:
        return (stack for stack in self.audit.stacks if item is not None and item in stack.unmanaged)
