"""Values of evidence: moments with a time zone, and how old something may be."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.values import shown

_AGE = re.compile(r"([1-9][0-9]{0,4})([dh])")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})")
#: Hours of ten years: no evidence is worth anything after that.
LONGEST_AGE_H = 10 * 366 * 24


def moment(value: Any) -> datetime.datetime:
    """A moment in UTC. It must say its time zone: the same digits are another moment elsewhere."""
    hint = "write day, time and zone, as in 2026-11-23T10:05:00Z"
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        try:
            value = datetime.datetime.fromisoformat(value.upper())
        except ValueError:
            raise fault(Code.VALUE, f"{shown(value)} is no moment", hint) from None
    if not isinstance(value, datetime.datetime):
        raise fault(Code.VALUE, f"{shown(value)} is no moment", hint)
    if value.tzinfo is None:
        raise fault(Code.VALUE, f"{shown(value)} has no time zone", hint)
    try:
        return value.astimezone(datetime.UTC)
    except OverflowError:
        raise fault(Code.VALUE, f"{shown(value)} is no moment", hint) from None


def age(value: Any) -> int:
    """Hours from `30d` or `36h`."""
    match = _AGE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise fault(Code.VALUE, f"{shown(value)} is no age", "write days or hours, as in 30d or 36h")
    hours = int(match[1]) * (24 if match[2] == "d" else 1)
    if hours > LONGEST_AGE_H:
        raise fault(Code.VALUE, f"`{value}` is more than ten years", "write days or hours, as in 30d or 36h")
    return hours


def age_text(hours: int) -> str:
    """As people write it."""
    return f"{hours}h" if hours % 24 else f"{hours // 24}d"


def moment_text(value: datetime.datetime) -> str:
    """A moment as evidence and locks have it: UTC, to the second."""
    return value.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


Moment = Annotated[
    datetime.datetime,
    BeforeValidator(moment),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{_MOMENT.pattern}$", "examples": ["2026-11-23T10:05:00Z"]},
    ),
]
Age = Annotated[
    int,
    BeforeValidator(age),
    WithJsonSchema({"type": "string", "pattern": f"^{_AGE.pattern}$", "examples": ["30d"]}),
]
