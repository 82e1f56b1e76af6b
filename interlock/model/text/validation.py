"""From a file model's complaints to faults with a place, a code and a hint: one per fault, all at once."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from heapq import nlargest
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from interlock.vocabulary import Position
from interlock.vocabulary.digits import is_number

from .errors import MOST_TOLD, Code, InputError, InputErrors
from .salvage import Path, Salvage
from .source import KEY, Source, Step
from .values import QUOTE_IT, shown
from .yaml_reading import SITE, FileLimits

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


_QUOTED = re.compile("'([^']*)'")
#: A round goes up one level of the file at least, and files have fewer levels.
MOST_ROUNDS = 20
#: Names that a hint lists, and names that a misspelt one is compared with.
MOST_LISTED, MOST_COMPARED, LONGEST_NAME = 30, 300, 80


class FileModel(BaseModel):
    """A part of an input file as people write it: strict types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    #: Of the model of a whole file: how large it may be.
    LIMITS: ClassVar[FileLimits] = SITE
    #: Required key -> what stands for a missing or faulty value while the rest of the file is checked.
    STAND_INS: ClassVar[Mapping[str, Any]] = {}
    #: Unknown key -> what is said of it, and what to do: it is asked for often, and refused with a reason.
    REFUSED: ClassVar[Mapping[str, tuple[str, str]]] = {}


M = TypeVar("M", bound=FileModel)


@dataclass(frozen=True)
class WellFormed(Generic[M]):
    """What of a file has the right form, for checks of meaning; give all of it to `Faults.of`."""

    source: Source
    #: The file without its faulty parts; None if too little is left to look at.
    file: M | None
    errors: tuple[InputError, ...] = ()
    #: What was taken out, or stands in for what is not there.
    salvage: Salvage | None = None


def validated(model: type[M], source: Source) -> M:
    """The file in the form of `model`. Raises InputErrors with every fault, in the order of the lines."""
    found = well_formed(model, source)
    if found.file is None or found.errors:
        raise InputErrors(found.errors)
    return found.file


def well_formed(model: type[M], source: Source) -> WellFormed[M]:
    """The file as far as it has the form of `model`, and every fault of form.

    Faulty parts are taken out and the rest is read again, so that what it means can be checked in the same
    pass. Raises InputErrors only if the file is no YAML at all.
    """
    value = source.value(model.LIMITS)
    try:
        return WellFormed(source, model.model_validate(value))
    except ValidationError as error:
        details = error.errors(include_url=False)
    errors = [_input_error(model, source, detail) for detail in details[:MOST_TOLD]]
    if len(details) > MOST_TOLD:
        message = f"{len(details) - MOST_TOLD} more faults of form"
        errors.append(source.error(Code.VALUE, details[MOST_TOLD]["loc"], message, "mend the others first"))
    salvage = Salvage(value)
    return WellFormed(source, _rest(model, salvage, details), tuple(in_file_order(errors)), salvage)


def _rest(model: type[M], salvage: Salvage, details: list[ErrorDetails]) -> M | None:
    """The file without what is at fault; what is left may lack required keys, so this takes some rounds."""
    for _ in range(MOST_ROUNDS):
        if not salvage.take_out(_parts(model, details)):
            break
        try:
            return model.model_validate(salvage.value)
        except ValidationError as error:
            details = error.errors(include_url=False)
    return None


def _parts(model: type[M], details: list[ErrorDetails]) -> dict[Path, Any]:
    """Path -> stand-in, or `Salvage.NOTHING`: of a missing key without one, its whole mapping is the part."""
    found = dict[Path, Any]()
    for detail in details:
        path, stand_in = detail["loc"], Salvage.NOTHING
        if detail["type"] == "missing":
            kind = _kind_at(model, path[:-1])
            stand_ins = kind.STAND_INS if _is_model(kind) else {}
            stand_in = stand_ins.get(str(path[-1]), Salvage.NOTHING)
            path = path[:-1] if stand_in is Salvage.NOTHING else path
        found[path[:-1] if path and path[-1] == KEY else path] = stand_in
    return found


def in_file_order(errors: list[InputError]) -> list[InputError]:
    """The faults sorted by line and column; those without a line first."""
    return sorted(errors, key=lambda error: _line_and_column(error.position))


def nearest(name: str, known: Collection[str] | typing.Iterable[str]) -> str:
    """A hint for a name that does not exist: the one most like it, else all there are."""
    names = sorted(known)
    close = get_close_matches(name, _candidates(name, names), n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    listed = ", ".join(names[:MOST_LISTED])
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"there are: {listed}{more}" if names else "there are none"


def _meant(value: object, expected: str) -> str:
    """A hint for a word that is nearly one of those that pydantic lists."""
    close = get_close_matches(str(value)[:LONGEST_NAME], _QUOTED.findall(expected), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else ""


def _candidates(name: str, names: list[str]) -> list[str]:
    """Of thousands of names those that begin most alike: comparing takes a millisecond for every ten."""
    if len(name) > LONGEST_NAME:
        return []
    if len(names) <= MOST_COMPARED:
        return names
    return nlargest(MOST_COMPARED, names, key=lambda other: _shared(name, other))


def _shared(one: str, other: str) -> int:
    """How many characters two names begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))


def _line_and_column(position: str) -> tuple[str, int, int]:
    found = Position.named(position)
    return (position, 0, 0) if found is None else (found.file, found.line, found.column)


def _input_error(model: type[FileModel], source: Source, detail: ErrorDetails) -> InputError:
    path = detail["loc"]
    code, message, hint = _described(model, path, detail)
    return source.error(code, path, message, hint)


def _described(model: type[FileModel], path: tuple[Step, ...], detail: ErrorDetails) -> tuple[Code, str, str]:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in set(Code):
        return Code(kind), context["text"], context["hint"]
    if kind == "extra_forbidden":
        refused = _refused_at(model, path)
        if refused is not None:
            return Code.UNKNOWN_KEY, *refused
        hint = nearest(str(path[-1]), _keys_at(model, path[:-1]))
        return Code.UNKNOWN_KEY, f"unknown key `{path[-1]}`", hint
    if kind == "missing":
        return Code.MISSING_KEY, f"`{path[-1]}` is missing", f"add `{path[-1]}:` here"
    if kind == "literal_error":
        message = f"{shown(detail['input'])} is not one of {context['expected']}"
        return Code.VALUE, message, _meant(detail["input"], context["expected"])
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
    if kind == "int_type" and isinstance(value, str) and is_number(value):
        return "write the number without quotes"
    return ""


def _keys_at(model: type[FileModel], path: tuple[Step, ...]) -> list[str]:
    """The keys that the file may have at `path`."""
    kind = _kind_at(model, path)
    return list(kind.model_fields) if _is_model(kind) else []


def _refused_at(model: type[FileModel], path: tuple[Step, ...]) -> tuple[str, str] | None:
    """Message and hint of a key that is refused by name."""
    kind = _kind_at(model, path[:-1])
    return kind.REFUSED.get(str(path[-1])) if _is_model(kind) else None


def _kind_at(model: type[FileModel], path: tuple[Step, ...]) -> Any:
    """The type of what stands at `path`; None if no file has anything there."""
    kind: Any = model
    for step in path:
        kind = _kind_below(kind, step)
    return kind


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


def _is_model(kind: Any) -> typing.TypeGuard[type[FileModel]]:
    return isinstance(kind, type) and issubclass(kind, FileModel)
