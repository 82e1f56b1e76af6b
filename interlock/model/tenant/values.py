"""Values of requests: amounts of money, days, rule ids, yes-or-no answers that YAML reads by itself."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.values import QUOTE_IT, shown

_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,2}))?")
_PER_MONTH = re.compile(r"(\S+) +([A-Z]{3}) +per +month")
_CURRENCY = re.compile(r"[A-Z]{3}")
_RULE = re.compile(r"[A-Z][A-Z0-9]{1,2}-[0-9]{2}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOUNT_POINT = re.compile(r"(/[A-Za-z0-9_][A-Za-z0-9._-]*)+")
#: Where a server keeps what it runs on: a share there would hide it.
_SYSTEMS = ("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var")
#: Places that have something of a server's below them; a share may be mounted below, not at them.
_PARENTS = ("/home", "/media", "/mnt", "/opt", "/srv", "/tmp")
#: Characters of a reason.
LONGEST_REASON = 400


def amount(value: Any) -> str:
    """A decimal amount as text without needless zeros. Never a float: 0.1 is not a tenth there."""
    if isinstance(value, float):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not exact", f'put it in quotes: "{value:.2f}"')
    text = str(value) if isinstance(value, str) or type(value) is int else ""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        hint = "write digits and at most two decimals, as in 5000 or 4999.90"
        raise fault(Code.VALUE, f"{shown(value)} is no amount", hint)
    whole, cents = match[1].lstrip("0") or "0", (match[2] or "").rstrip("0")
    if whole == "0" and not cents:
        raise fault(Code.VALUE, "an amount of 0", "leave `budget:` out for no limit")
    return f"{whole}.{cents:0<2}" if cents else whole


def mount_point(value: Any) -> str:
    """An absolute path where a server may mount something: not where it keeps its system."""
    if not isinstance(value, str) or not _MOUNT_POINT.fullmatch(value):
        hint = "write an absolute path without `..`, as in /mnt/datasets; letters, digits, `.`, `_` and `-`"
        raise fault(Code.VALUE, f"{shown(value)} is no place to mount at", hint)
    if value.split("/")[1] in _SYSTEMS or value in _PARENTS:
        hint = "take a folder of its own, as in /mnt/datasets"
        raise fault(Code.VALUE, f"at {value} a share would hide what servers keep there", hint)
    return value


def currency(value: Any) -> str:
    """The three letters of a currency, as ISO 4217 has them."""
    if not isinstance(value, str) or not _CURRENCY.fullmatch(value):
        raise fault(Code.VALUE, f"{shown(value)} is no currency", "write its three capitals, as in EUR")
    return value


def budget_mapping(value: Any) -> Any:
    """The mapping that `5000 EUR per month` is short for."""
    if isinstance(value, dict) or value is None:
        return value
    match = _PER_MONTH.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise fault(Code.VALUE, f"{shown(value)} is no budget", "write it as in `5000 EUR per month`")
    return {"per_month": match[1], "currency": match[2]}


def day(value: Any) -> str:
    """An ISO date. YAML has read 2027-01-31 as a date already, unless it stands in quotes."""
    if isinstance(value, datetime.datetime):
        raise fault(Code.VALUE, f"{shown(value)} has a time of day", "write the day alone, as in 2027-01-31")
    if isinstance(value, datetime.date):
        return value.isoformat()
    try:
        text = value if isinstance(value, str) and _DAY.fullmatch(value) else ""
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise fault(Code.VALUE, f"{shown(value)} is no date", "write it as in 2027-01-31") from None


def rule_id(value: Any) -> str:
    """The id of a rule. Whether there is such a rule, and whether it may be waived, is for the proof to say."""
    if not isinstance(value, str) or not _RULE.fullmatch(value):
        raise fault(Code.VALUE, f"{shown(value)} is no id of a rule", "write it as reports do, as in ISO-07")
    return value


def reason(value: Any) -> str:
    """Why something is allowed: one line."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    text = value.strip()
    if not text or len(text) > LONGEST_REASON or not text.isprintable():
        raise fault(
            Code.VALUE,
            f"the reason {shown(value)} is not one line of text" if text else "the reason must not be empty",
            f"write one line of 1 to {LONGEST_REASON} characters",
        )
    return text


def separation(value: Any) -> Any:
    """`no` without quotes is false to YAML."""
    return "no" if value is False else value


def mapping_of_size(value: Any) -> Any:
    """`100GiB` alone is short for `{size: 100GiB}`."""
    return value if isinstance(value, dict) or value is None else {"size": value}


def mapping_of_defaults(value: Any) -> Any:
    """`checkpoints:` with nothing after it means all defaults."""
    return {} if value is None else value


def all_or_listed(value: Any) -> Any:
    """`all` is the same as nothing; else the servers are listed."""
    if value is not None and value != "all" and not isinstance(value, list):
        raise fault(Code.VALUE, f"{shown(value)} is neither `all` nor a list of servers", "write all, or [0, 1]")
    return None if value == "all" else value


_NUMBER_OR_TEXT = WithJsonSchema({"type": ["integer", "string"], "examples": ["4999.90"]})
MountPoint = Annotated[
    str,
    BeforeValidator(mount_point),
    WithJsonSchema({"type": "string", "pattern": f"^{_MOUNT_POINT.pattern}$", "examples": ["/mnt/datasets"]}),
]
Amount = Annotated[str, BeforeValidator(amount), _NUMBER_OR_TEXT]
#: Of S3 keys. Two digits are the number's place in an access key.
KeyNumbers = Annotated[list[Annotated[int, Field(ge=1, le=99)]], Field(min_length=1, max_length=2)]
Currency = Annotated[
    str,
    BeforeValidator(currency),
    WithJsonSchema({"type": "string", "pattern": f"^{_CURRENCY.pattern}$", "examples": ["EUR"]}),
]
Day = Annotated[
    str,
    BeforeValidator(day),
    WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$", "examples": ["2027-01-31"]}),
]
RuleId = Annotated[
    str,
    BeforeValidator(rule_id),
    WithJsonSchema({"type": "string", "pattern": f"^{_RULE.pattern}$", "examples": ["ISO-07"]}),
]
Reason = Annotated[
    str,
    BeforeValidator(reason),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_REASON}),
]
SERVERS = WithJsonSchema({"anyOf": [{"const": "all"}, {"type": "array", "items": {"type": "integer", "minimum": 0}}]})
SEPARATION = WithJsonSchema({"enum": ["vpods", "no", False]})
