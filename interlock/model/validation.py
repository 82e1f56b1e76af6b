"""From a file model's complaints to faults with a place, a code and a hint: one per fault, all at once."""

from __future__ import annotations

import types
import typing
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from .errors import Code, InputError, InputErrors
from .source import KEY, Source, Step
from .values import QUOTE_IT, shown

#: What pydantic calls it -> what people call it.
EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list, [a, b] or lines that begin with a dash",
    "dict_type": "a mapping, key: value",
    "model_type": "a mapping, key: value",
    "none_required": "nothing",
}


#: Numbers out of bounds.
BOUNDS = {
    "greater_than_equal": "at least {ge} is possible here",
    "less_than_equal": "at most {le} is possible here",
    "less_than": "less than {lt} is possible here",
}


class FileModel(BaseModel):
    """A part of an input file as people write it: strict types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


M = TypeVar("M", bound=FileModel)


def validated(model: type[M], source: Source) -> M:
    """The file in the form of `model`. Raises InputErrors with every fault, in the order of the lines."""
    value = source.value()
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = [_input_error(model, source, detail) for detail in error.errors(include_url=False)]
        raise InputErrors(in_file_order(found)) from None


def in_file_order(errors: list[InputError]) -> list[InputError]:
    """The faults sorted by line and column; those without a line first."""
    return sorted(errors, key=lambda error: _line_and_column(error.position))


def nearest(name: str, known: typing.Iterable[str]) -> str:
    """A hint for a name that does not exist: the one most like it, else all there are."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"there are: {', '.join(names)}" if names else "there are none"


def _line_and_column(position: str) -> tuple[str, int, int]:
    name, line, column = [*position.rsplit(":", 2), "", ""][:3]
    return (name, int(line), int(column)) if line.isdigit() and column.isdigit() else (position, 0, 0)


def _input_error(model: type[FileModel], source: Source, detail: ErrorDetails) -> InputError:
    path = detail["loc"]
    code, message, hint = _described(model, path, detail)
    return source.error(code, path, message, hint)


def _described(model: type[FileModel], path: tuple[Step, ...], detail: ErrorDetails) -> tuple[Code, str, str]:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in set(Code):
        return Code(kind), context["text"], context["hint"]
    if kind == "extra_forbidden":
        hint = nearest(str(path[-1]), _keys_at(model, path[:-1]))
        return Code.UNKNOWN_KEY, f"unknown key `{path[-1]}`", hint
    if kind == "missing":
        return Code.MISSING_KEY, f"`{path[-1]}` is missing", f"add `{path[-1]}:` here"
    if kind == "literal_error":
        return Code.VALUE, f"{shown(detail['input'])} is not one of {context['expected']}", ""
    if kind in BOUNDS:
        return Code.VALUE, f"{shown(detail['input'])}: {BOUNDS[kind].format(**context)}", ""
    if kind in EXPECTED:
        return Code.WRONG_TYPE, _wrong_type(path, detail), _type_hint(kind, detail["input"])
    return Code.VALUE, f"{shown(detail['input'])}: {detail['msg'].lower()}", ""


def _wrong_type(path: tuple[Step, ...], detail: ErrorDetails) -> str:
    names = [step for step in path if isinstance(step, str) and step != KEY]
    what = f"`{names[-1]}`" if names else "the file"
    return f"{what} is {shown(detail['input'])}, not {EXPECTED[detail['type']]}"


def _type_hint(kind: str, value: object) -> str:
    if kind == "string_type" and value is not None and not isinstance(value, list | dict):
        return QUOTE_IT
    if kind == "int_type" and isinstance(value, str) and value.isdigit():
        return "write the number without quotes"
    return ""


def _keys_at(model: type[FileModel], path: tuple[Step, ...]) -> list[str]:
    """The keys that the file may have at `path`."""
    kind: Any = model
    for step in path:
        kind = _kind_below(kind, step)
    return list(kind.model_fields) if _is_model(kind) else []


def _kind_below(kind: Any, step: Step) -> Any:
    if _is_model(kind):
        field = kind.model_fields.get(str(step))
        return _bare(field.annotation) if field else None
    arguments = typing.get_args(kind)
    return _bare(arguments[-1]) if arguments else None


def _bare(kind: Any) -> Any:
    """A type without `Annotated` and `| None`."""
    if typing.get_origin(kind) is Annotated:
        return _bare(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return _bare(next(item for item in typing.get_args(kind) if item is not type(None)))
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
