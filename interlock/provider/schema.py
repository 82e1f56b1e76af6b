"""The provider's schema for Pulumi, made from the vocabulary and from the actuators' tables."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from interlock.resources import ID_OF, KINDS, Claims, Resource

from . import NAME, VERSION
from .actuators import ACTUATORS, Actuator
from .claims import OUTPUTS as OF_CLAIMS

#: Outputs that every resource has, see `state`.
COMMON: dict[str, tuple[dict[str, Any], str]] = {
    "cloud_id": (
        {"type": "string"},
        "fingerprint of the cloud: the id of the identity service in its catalogue, and the region",
    ),
    "resolved": (
        {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
        "ids behind references",
    ),
    "marker": ({"type": "string"}, "`interlock:<owner>:<plan name>`; empty for kinds that carry none"),
    "broken": ({"type": "string"}, "why it cannot be used and will be recreated; empty if it can"),
}

#: What the provider itself is told.
_SETTINGS: dict[str, Any] = {
    "cloud": {"type": "string", "description": "entry of clouds.yaml"},
    "region": {"type": "string", "description": "region that the site states; by default the one of clouds.yaml"},
}

_IDS = {"type": "array", "items": {"type": "string"}}
_OWNER = {"type": "string", "description": "owner id of the stack, from its lock"}


@cache
def schema() -> str:
    """The schema as JSON text."""
    resources = {f"{NAME}:index:{kind}": _resource(kind) for kind in (Claims.KIND, *ACTUATORS)}
    return json.dumps(
        {
            "name": NAME,
            "version": VERSION,
            "description": "Makes what a proof of isolation allows, one resource at a time",
            "config": {"variables": _SETTINGS},
            "provider": {"inputProperties": _SETTINGS, "requiredInputs": ["cloud"]},
            "resources": resources,
        },
        indent=1,
    )


def _resource(kind: str) -> dict[str, Any]:
    cls, computed = KINDS[kind], _of_claims() if kind == Claims.KIND else _computed(ACTUATORS[kind])
    inputs = _fields(cls) | {"owner": _OWNER} | _ids(cls)
    required = [name for name, field in cls.model_fields.items() if field.is_required()] + ["owner"]
    return {
        "description": (cls.__doc__ or "").strip(),
        "inputProperties": inputs,
        "requiredInputs": required,
        "properties": inputs | computed,
        "required": [*required, *(name for name in COMMON if name in computed)],
    }


def _computed(actuator: Actuator[Any]) -> dict[str, Any]:
    computed: dict[str, Any] = {name: form | {"description": text} for name, (form, text) in COMMON.items()}
    for name, text in actuator.OUTPUTS.items():
        secret = {"secret": True} if name in actuator.SECRET else {}
        computed[name] = {"$ref": "pulumi.json#/Any", "description": text} | secret
    return computed


def _of_claims() -> dict[str, Any]:
    return {name: {"type": "string", "description": text} for name, text in OF_CLAIMS.items()}


def _ids(cls: type[Resource]) -> dict[str, Any]:
    fields = cls.model_json_schema()["properties"]
    return {
        ID_OF + name: (_IDS if refers.inside else _form(fields[name], {}))
        | {"description": f"id behind `{name}`, if it names the same plan"}
        for name, refers in cls.reference_fields().items()
    }


def _fields(cls: type[Resource]) -> dict[str, Any]:
    changes = cls.changes()
    described = cls.model_json_schema()
    return {
        name: _form(form, described) | {"description": _effect(changes[name].effect, changes[name].reason)}
        for name, form in described["properties"].items()
    }


def _effect(effect: str, reason: str) -> str:
    return f"change: {effect}" + (f" ({reason})" if reason else "")


def _form(form: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema in Pulumi's dialect: no null, no enumerations, nested objects as any value."""
    options = [option for option in form.get("anyOf", ()) if option.get("type") != "null"]
    if options:
        return _form(options[0], whole)
    match form.get("type"):
        case "integer" | "string" | "boolean" as simple:
            return {"type": simple}
        case "array":
            return {"type": "array", "items": _form(form.get("items", {}), whole)}
        case "object":
            return {
                "type": "object",
                "additionalProperties": _form(form.get("additionalProperties", {}), whole),
            }
    return {"$ref": "pulumi.json#/Any"}
