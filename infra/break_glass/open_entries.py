"""What is open of changes by hand at a site, for an audit and for lists."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from infra.program.break_glass import break_glass_of, tenant_of_stack
from infra.program.gate import Gate

from .signing import why_unsigned


@dataclass(frozen=True)
class OpenGlass:
    """An entry that nobody closed."""

    stack: str
    number: int
    by: str
    reason: str
    since: str
    until: str
    is_expired: bool
    #: Why its signature is not good, where the site lists who may sign; empty if it is.
    unsigned: str

    @property
    def is_finding(self) -> bool:
        """True if its time is over, or nobody answers for it."""
        return self.is_expired or bool(self.unsigned)

    @property
    def hint(self) -> str:
        """What to do."""
        return f"`interlock break-glass close {tenant_of_stack(self.stack)}` says what was changed, and closes it"

    def __str__(self) -> str:
        over = " that is over" if self.is_expired else ""
        unsigned = f"; {self.unsigned}" if self.unsigned else ""
        return (
            f"{self.stack} {self.number}: {self.by} changes objects by hand since {self.since}, until {self.until}"
            f"{over}: {self.reason}{unsigned}"
        )

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def open_entries(gate: Gate, now: datetime) -> tuple[OpenGlass, ...]:
    """Those of every stack of the site, by stack and number. Raises `StoreFailed`."""
    signers = gate.workspace.signers
    return tuple(
        OpenGlass(
            stack=record.stack,
            number=entry.opening.number,
            by=entry.opening.by,
            reason=entry.opening.reason,
            since=entry.opening.since,
            until=entry.opening.until,
            is_expired=entry.is_expired(now),
            unsigned=why_unsigned(entry, signers),
        )
        for record in break_glass_of(gate).all()
        for entry in record.open_entries
    )
