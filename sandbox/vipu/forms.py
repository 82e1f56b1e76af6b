"""Frozen dataclasses <-> JSON, and files that are there whole or not at all."""

from __future__ import annotations

import json
import os
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class FormWrong(Exception):
    """A file that does not hold what it ought to. Tells file, place and what was expected."""


def encoded(value: Any) -> Any:
    """A frozen value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: encoded(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encoded(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [encoded(item) for item in value]
    return value


def decoded(form: type[T], value: Any, where: str = "$") -> T:
    """A frozen value from JSON. Raises FormWrong, with the path of what is wrong."""
    found: T = _decoded(form, value, where)
    return found


def _decoded(form: Any, value: Any, where: str) -> Any:
    origin, inner = typing.get_origin(form), typing.get_args(form)
    reader = _READERS.get(origin)
    if reader is not None:
        return reader(inner, value, where)
    if is_dataclass(form):
        return _object(form, value, where)
    if form is float and type(value) is int:
        return float(value)
    if type(value) is not form:
        raise FormWrong(f"{where}: {value!r} is not of type {form.__name__}")
    return value


@cache
def _hints(form: Any) -> dict[str, Any]:
    return typing.get_type_hints(form)


def _object(form: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise FormWrong(f"{where}: {value!r} is no object")
    hints = _hints(form)
    unknown = sorted(value.keys() - hints.keys())
    if unknown:
        raise FormWrong(f"{where}: unknown key {unknown[0]!r}")
    needed = {
        item.name for item in fields(form) if item.default is MISSING and item.default_factory is MISSING
    } - value.keys()
    if needed:
        raise FormWrong(f"{where}: {min(needed)} is missing")
    return form(**{name: _decoded(hints[name], item, f"{where}.{name}") for name, item in value.items()})


def _tuple(inner: tuple[Any, ...], value: Any, where: str) -> Any:
    if not isinstance(value, list):
        raise FormWrong(f"{where}: {value!r} is no list")
    if len(inner) == 2 and inner[1] is Ellipsis:
        return tuple(_decoded(inner[0], item, f"{where}[{number}]") for number, item in enumerate(value))
    if len(value) != len(inner):
        raise FormWrong(f"{where}: {len(inner)} values, not {len(value)}")
    return tuple(
        _decoded(form, item, f"{where}[{number}]") for number, (form, item) in enumerate(zip(inner, value, strict=True))
    )


def _mapping(inner: tuple[Any, ...], value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise FormWrong(f"{where}: {value!r} is no object")
    return {key: _decoded(inner[1], item, f"{where}.{key}") for key, item in value.items()}


def _one_of(inner: tuple[Any, ...], value: Any, where: str) -> Any:
    if value not in inner:
        raise FormWrong(f"{where}: {value!r} is none of {', '.join(map(str, inner))}")
    return value


def _optional(inner: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None:
        return None
    return _decoded(next(form for form in inner if form is not type(None)), value, where)


_READERS: Mapping[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {
    tuple: _tuple,
    Mapping: _mapping,
    typing.get_origin(Mapping[str, str]): _mapping,
    typing.Literal: _one_of,
    types.UnionType: _optional,
}


def read_form(form: type[T], file: Path) -> T:
    """What a file holds. Raises FormWrong with the file's name."""
    try:
        return decoded(form, json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise FormWrong(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise FormWrong(f"{file}: no JSON: {error}") from None
    except FormWrong as error:
        raise FormWrong(f"{file}: {error}") from None


def write_whole(file: Path, text: str, mode: int = 0o600) -> None:
    """Written beside and renamed: whoever is killed in between leaves the old file.

    Not forced to the disk: a killed process loses nothing of it, and power cuts are not simulated.
    """
    beside = file.with_name(f".{file.name}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    beside.replace(file)


def write_form(file: Path, value: Any) -> None:
    """A frozen value as a file that its owner alone reads."""
    write_whole(file, json.dumps(encoded(value), indent=1) + "\n")
