"""The hash that locks and plans record of a request: of all that a plan rests on."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_jsonable_python

from interlock.model.tenant.request import Pins, Tenant
from interlock.resources import Frozen, digest_of

from .younger_keys import UNPLANNED_OF_REQUESTS, YOUNGER


def request_hash(tenant: Tenant) -> str:
    """`sha256:` of a request in full form, but for what no plan rests on, and younger keys at their defaults."""
    return digest_of(_as_requested(tenant))


def _as_requested(part: Any) -> Any:
    """A part of a request as JSON, without younger keys at their defaults."""
    match part:
        case Frozen() | Pins():
            kind = type(part)
            hidden = next((names for of, names in UNPLANNED_OF_REQUESTS if kind is of), frozenset[str]())
            young = YOUNGER.get(kind, frozenset())
            fields = {name: getattr(part, name) for name in kind.model_fields if name not in hidden}
            return {
                name: _as_requested(value)
                for name, value in fields.items()
                if name not in young or value != kind.model_fields[name].default
            }
        case tuple() | list():
            return [_as_requested(item) for item in part]
        case dict():
            return {key: _as_requested(value) for key, value in part.items()}
    return to_jsonable_python(part)
