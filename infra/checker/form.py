"""The form of a certificate: what has not exactly this form is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from typing import Any

from .answers import FINE, MAY_WARN
from .authority import WAYS
from .guards import SHARING
from .reading import Malformed, printable

_SEVERE = {"B", "E", "W", "I"}
_VERDICTS, _TEXTS, _ROW = {*FINE, *MAY_WARN}, [str], (str, str)
_FINDING = {
    "rule": str, "severity": _SEVERE, "verdict": _VERDICTS, "message": str, "witness": _TEXTS,
    "missing": _TEXTS, "hint": str, "specificity": int, "id": str, "path": _TEXTS, "about": _TEXTS, "fix": _TEXTS,
    "fix_kind": {None, "smallest", "minimal"},
}  # fmt: skip
_RESULT = {"rule": str, "title": str, "severity": _SEVERE, "verdict": _VERDICTS, "count": int, "findings": [_FINDING]}
_WAIVER = {
    "rule": str, "owner": str, "reason": str, "expires": date, "findings": int, "hint": str,
    "state": {"used", "unused", "expired", "unknown rule"},
}  # fmt: skip
#: Tables of facts from which edges follow, with the form of a row. What stands in a row besides its columns names the
#: declarations of sharing whose guards are asked.
GROUND: dict[str, list[tuple[Any, ...]]] = {
    "machines": [(str,)], "vlans": [(str,)], "groups": [(str, ...)], "gateways": [(str, ...)],
    "terminals": [(str, str, ...)], "members": [(str, str, ...)], "carried": [(str, str, str)],
    **{name: [_ROW] for name in (
        "links", "guests", "in_band", "partitions", "keys", "projects", "claims", "cleaned", "firmware", "balanced",
        "encapsulated", "served", "migrating", "backed", "routed_out", "talking", "managed", "cables", "uplinks",
    )},
}  # fmt: skip
#: The form of a certificate, as values: a type (`date`: a day, as text), a set of constants, `[form]` for a list, a
#: tuple for a row (`...`: more texts), `{str: form}` for an object with any keys, any other dict for one with these.
FORM: dict[Any, Any] = {
    "format": int, "date": date,
    "judgement": {
        "site": str, "stack": str, "plan_hash": str, "footprints": str, "results": [_RESULT], "waivers": [_WAIVER],
        "without_actuator": _TEXTS, "applied_state": str, "boundary": str, "rule_set": str, "statement": str,
    },
    "statement": {
        "semantics": int, "owner": str, "facts": {str: [_ROW]}, "ground": GROUND, "unknown": {str: _TEXTS},
        "guards": {str: {True, False, None}}, "evidence": {str: [(str,) * 5]}, "labels": {str: _TEXTS},
        "terminals": [{"name": str, "kind": {*SHARING}, "node": str, "audience": _TEXTS, "rule": str}],
        "exclusive": {str: _TEXTS}, "grants": [(set(WAYS), str, str)], "owners": {str: _TEXTS}, "public": _TEXTS,
    },
    "boundary": {str: str}, "classes": {str: _ROW}, "holds": [re.compile(r"(read|write) .+", re.DOTALL)],
    "digest": str,
}  # fmt: skip


def require_form(value: Any, form: Any = FORM, place: str = "it") -> None:
    """Raises Malformed where a value has not a form, or lacks or has a key too many."""
    if isinstance(form, dict) and type(value) is dict:
        if str not in form and value.keys() != form.keys():
            words = sorted(map(str, value.keys() ^ form.keys()))
            raise Malformed(printable(f"{place}: missing, or not known: {', '.join(words)}"))
        _require_each(value.items(), form, place)
    elif isinstance(form, list) and type(value) is list:
        _require_each(enumerate(value), {str: form[0]}, place)
    elif not _fits(value, form):
        raise Malformed(printable(f"{place}: not of its form"))


def _require_each(items: Iterable[tuple[Any, Any]], forms: dict[Any, Any], place: str) -> None:
    for key, item in items:
        form = forms[str] if str in forms else forms[key]
        if isinstance(form, dict | list) or not _fits(item, form):
            require_form(item, form, f"{place}.{key}")


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, tuple):
        least = len(form) - (form[-1] is ...)
        fits = type(value) is list and least <= len(value) and (form[-1] is ... or len(value) == least)
        return fits and {*map(type, value)} == {str} and (form[0] is str or value[0] in form[0])
    if isinstance(form, set):
        return any(type(value) is type(item) and value == item for item in form)
    if isinstance(form, re.Pattern):
        return type(value) is str and form.fullmatch(value) is not None
    if form is date:
        with suppress(TypeError, ValueError):
            return bool(date.fromisoformat(value).isoformat() == value)
    return type(value) is form
