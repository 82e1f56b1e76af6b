"""Closing: the cloud is read, each difference judged, and the record written if nothing is left undecided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from infra.audit.comparison import Audit, StackAudit
from infra.cli.exits import EnvironmentFailed, Exit
from infra.program.break_glass import break_glass_of, tenant_of_stack
from infra.program.gate import Gate
from interlock.model.evidence.values import moment_text
from interlock.model.text.validation import nearest
from interlock.provider.audit.standing import UNLISTED
from interlock.resources import Claims
from interlock.store.break_glass import DecidedDifference, GlassClosing, GlassEntry, GlassRecord, MaybeRecorded

from .differences import ManualDifference, differences
from .left_behind import LeftBehind
from .recording import author
from .signing import sign
from .texts import differences_text

#: Names every difference that may wait.
ALL = "all"


@dataclass(frozen=True)
class Closing:
    """What is to be closed. `undo`: names of differences that are set back afterwards, or `all`."""

    gate: Gate
    record: GlassRecord
    undo: tuple[str, ...]
    looked: str
    now: datetime

    @classmethod
    def begun(cls, gate: Gate, stack: str, undo: tuple[str, ...], looked: str) -> Closing:
        """Reads the record first: what is opened from now on is not closed unseen. Raises `StoreFailed`."""
        return cls(gate, break_glass_of(gate).of(stack), undo, looked, datetime.now(UTC))

    def require_author(self, key: Path | None) -> str:
        """Who closes it. Raises as `author` does."""
        return author(self.gate, key, self.now)

    def of_others(self, who: str) -> list[GlassEntry]:
        """Open entries of other people."""
        return [entry for entry in self.record.open_entries if entry.opening.by != who]

    def judged(self, read: Callable[[Gate], Audit]) -> JudgedDifferences:
        """Reads the cloud, and judges. Raises as an audit does, and `typer.BadParameter` for a name of nothing."""
        audit = read(self.gate)
        stack = next((item for item in audit.stacks if item.plan.stack == self.record.stack), None)
        if stack is not None:
            found, unseen = differences(self.gate, audit, stack), not_seen(audit, stack)
        else:
            left = LeftBehind.of(self.gate, audit, self.record.stack)
            found, unseen = left.differences(), left.not_seen()
        names = {item.object for item in found}
        for name in self.undo:
            if name != ALL and name not in names:
                raise typer.BadParameter(
                    f"nothing differs that is called `{name}`: {nearest(name, names)}", param_hint="--undo"
                )
        return JudgedDifferences(self, found, unseen)


@dataclass(frozen=True)
class JudgedDifferences:
    """All that differs, and all that could not be read -> why."""

    closing: Closing
    found: tuple[ManualDifference, ...]
    not_seen: Mapping[str, str]

    @property
    def undecided(self) -> tuple[ManualDifference, ...]:
        """What stands in the way: leaks, what was not judged, and what nobody named."""
        named = self.closing.undo
        return tuple(
            item for item in self.found if not (item.verdict.can_wait and (ALL in named or item.object in named))
        )

    @property
    def code(self) -> Exit:
        """How the command ends, as far as the cloud decides."""
        if self.undecided:
            return Exit.VIOLATED
        return Exit.NOT_PROVABLE if self.not_seen and not self.closing.looked else Exit.PROVED

    def text(self) -> str:
        """For people."""
        stack, named = self.closing.record.stack, self._named
        lines = [
            f"{stack} {entry.opening.number}: open by {entry.opening.by} since {entry.opening.since}: "
            f"{entry.opening.reason}"
            for entry in self.closing.record.open_entries
        ]
        lines += differences_text(self.found, named)
        lines += [f"NOT SEEN {what}: {why}" for what, why in self.not_seen.items()]
        if self.not_seen and not self.closing.looked:
            lines.append("  next: look there, and say what you saw with `--looked`")
        left = len(self.undecided)
        lines.append(f"{stack}: {len(self.found)} differ, {left} of them neither gone nor named")
        return "\n".join(lines) + "\n"

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "stack": self.closing.record.stack,
            "entries": [entry.opening.model_dump(mode="json") for entry in self.closing.record.open_entries],
            "differences": [item.document() for item in self.found],
            "undecided": [item.object for item in self.undecided],
            "not_seen": dict(self.not_seen),
        }

    def write(self, who: str, key: Path | None) -> None:
        """Close every entry, all in one write: whoever is killed here closed all of them or none.

        Raises `EnvironmentFailed` if one was opened or closed meanwhile, or if nobody knows whether they are closed.
        """
        record = self.closing.record
        closed = tuple(self._closed(entry, who, key) for entry in record.open_entries)
        try:
            is_closed = break_glass_of(self.closing.gate).close(record, closed)
        except MaybeRecorded as error:
            raise EnvironmentFailed(
                f"{record.stack}: nobody knows whether its entries are closed: the claims store answered neither to "
                f"the record nor to the look at it: {error.what}",
                f"{error.hint}. `interlock break-glass list --closed {tenant_of_stack(record.stack)}` shows it as soon "
                "as the store is there; if they are open, run the command again",
            ) from error
        if not is_closed:
            raise EnvironmentFailed(
                f"{record.stack}: somebody opened or closed an entry while the cloud was read: nothing is closed",
                "run the command again",
            )

    @property
    def _named(self) -> tuple[str, ...]:
        return tuple(item.object for item in self.found if item not in self.undecided)

    def _closed(self, entry: GlassEntry, who: str, key: Path | None) -> GlassEntry:
        opening = entry.opening
        closing = GlassClosing(
            site=opening.site,
            stack=opening.stack,
            number=opening.number,
            by=who,
            at=moment_text(self.closing.now),
            left=tuple(DecidedDifference(object=item.object, found=item.what, decision="undo") for item in self.found),
            looked=self.closing.looked,
        )
        signed = None if key is None else sign(closing, key)
        return entry.model_copy(update={"closing": closing, "closing_signed": signed})


def not_seen(audit: Audit, stack: StackAudit) -> Mapping[str, str]:
    """What of a stack nobody read, with the reason: lists that failed, kinds that no list shows, controllers that a
    person tells.
    """
    kinds: dict[str, int] = {}
    for item in stack.plan.resources:
        kind = item.resource.KIND
        if kind in UNLISTED and kind != Claims.KIND:
            kinds[kind] = kinds.get(kind, 0) + 1
    by_hand = {
        f"V-IPU of {name}": "a person tells that controller, and an audit asks it nothing" for name in stack.unchecked
    }
    return {**audit.unread, **{f"{count} {kind}": UNLISTED[kind] for kind, count in kinds.items()}, **by_hand}
