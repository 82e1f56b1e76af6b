"""Every key of the files that people write, with its form and default, from the file models."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from interlock.model.text.validation import FileModel
from interlock.model.text.values import MOST_NUMBER

from .tables import code


@dataclass(frozen=True)
class Key:
    """A key by its path: `vpods.<name>.machines`, `racks[].tor.serial`."""

    path: str
    form: str
    default: str
    #: What the file model says of it, which editors show too; empty where it says nothing.
    meaning: str = ""

    @property
    def top(self) -> str:
        """The key of the file's first level that it belongs to."""
        return self.path.split(".")[0].removesuffix("[]")


def keys(model: type[FileModel], before: str = "") -> Iterator[Key]:
    """The keys of a model and of all models below it, in the order of the source."""
    described = model.model_json_schema()
    for name, field in model.model_fields.items():
        form = form_of(described["properties"][name])
        default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
        yield Key(before + name, form, default, _meaning(described["properties"][name], field.description))
        # pydantic takes the outermost Annotated apart, and leaves those inside.
        for suffix, inner in _inside(field.annotation):
            yield from keys(inner, f"{before}{name}{suffix}.")


def _meaning(schema: dict[str, Any], description: str | None) -> str:
    return " ".join((description or schema.get("description", "")).split())


def _inside(annotation: Any) -> Iterator[tuple[str, type[FileModel]]]:
    """The file models in an annotation, with what their place adds to the path."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, FileModel):
        yield "", annotation
    elif origin is Annotated:
        yield from _inside(arguments[0])
    elif origin in (list, dict):
        place = "[]" if origin is list else ".<name>"
        yield from ((place + rest, model) for rest, model in _inside(arguments[-1]))
    else:
        yield from (found for argument in arguments for found in _inside(argument))


def _default(value: Any) -> str:
    if value is None or value in ({}, (), []) or isinstance(value, FileModel):
        return "–"
    if isinstance(value, bool):
        return code(str(value).lower())
    # `ipum-[01-16]` was expanded already when it became a default.
    return code(f"{value[0]} … {value[-1]}") if isinstance(value, list | tuple) else code(value)


def form_of(schema: dict[str, Any]) -> str:
    """A JSON schema in a few words."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if options:
        forms = dict.fromkeys(form_of(option) for option in options)
        # A number, a range, several of them, or a list of these.
        return ("ids" if {"number", "text"} < forms.keys() else " or ".join(forms)) + _example(schema)
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        return " or ".join(code(_yaml(value)) for value in schema["enum"] if value is not None)
    match schema.get("type"):
        case "integer" | "number":
            return "number" + _bounds(schema)
        case "boolean":
            return "true or false"
        case "array":
            return f"list of {_plural(form_of(schema.get('items', {})))}"
        case "string" | ["string", *_]:
            return "text" + _example(schema)
    return "mapping"


def _plural(form: str) -> str:
    head, comma, rest = form.partition(",")
    return f"{head}s{comma}{rest}" if head in ("text", "number", "mapping") else form


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _example(schema: dict[str, Any]) -> str:
    return f", as in {code(schema['examples'][0])}" if "examples" in schema else ""


def _bounds(schema: dict[str, Any]) -> str:
    last = schema.get("maximum", schema.get("exclusiveMaximum", 0) - 1)
    if "minimum" not in schema:
        return ""
    return f", {schema['minimum']} to {last}" if 0 < last < MOST_NUMBER else f", at least {schema['minimum']}"
