"""Lock files: read with their hash checked, written so that equal locks are equal bytes."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from .errors import Code, InputError, InputErrors
from .lock import FORMAT, Lock, SiteLock
from .source import Source

L = TypeVar("L", Lock, SiteLock)


def load_lock(file: Path, name: str, kind: type[L]) -> L:
    """The lock in `file`; messages call it `name`. Raises InputErrors if it is not what was written."""
    source = Source.read(file, name)
    value = _json(source)
    command = _command(file)
    if value.get("format") != FORMAT:
        message = f"a lock of format {value.get('format')}: this version reads format {FORMAT}"
        raise InputErrors([source.error(Code.LOCK_FORMAT, ("format",), message, f"run `{command}`")])
    lock = _validated(source, value, kind, command)
    if lock.hash != lock.expected_hash():
        raise InputErrors(
            [_edited(source, ("hash",), "edited by hand: its hash does not fit what it says", command)]
        )
    if lock.id != _identity(file):
        message = f"a lock of `{lock.id}` under the name of `{_identity(file)}`"
        raise InputErrors([_edited(source, ("id",), message, command)])
    return lock


def dump_lock(lock: Lock | SiteLock, file: Path) -> None:
    """Writes the lock, sealed, at once or not at all: a crash leaves the old file."""
    text = json.dumps(lock.sealed().model_dump(mode="json"), indent=2, sort_keys=True) + "\n"
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _identity(file: Path) -> str:
    return file.name.removesuffix(".lock.json")


def _command(file: Path) -> str:
    return f"interlock lock {_identity(file)}"


def _json(source: Source) -> dict[str, Any]:
    if "\n<<<<<<< " in f"\n{source.text}":
        hint = "take either side whole, then run `interlock lock`; halves of two locks are no lock"
        raise InputErrors([InputError(Code.SYNTAX, f"{source.name}:1:1", "an unresolved merge", hint)])
    try:
        value = json.loads(source.text)
    except (json.JSONDecodeError, RecursionError) as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        hint = f"restore it with `git checkout -- {source.name}`"
        position = f"{source.name}:{line}:{column}"
        raise InputErrors([InputError(Code.SYNTAX, position, "not JSON", hint)]) from None
    return value if isinstance(value, dict) else {}


def _validated(source: Source, value: dict[str, Any], kind: type[L], command: str) -> L:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        found = [_edited(source, detail["loc"], _where(detail["loc"]), command) for detail in details]
        raise InputErrors(found) from None


def _where(path: tuple[str | int, ...]) -> str:
    return f"edited by hand: no lock says `{'.'.join(str(step) for step in path)}` so"


def _edited(source: Source, path: tuple[str | int, ...], message: str, command: str) -> InputError:
    hint = f"restore it with `git checkout -- {source.name}`, or change the request and run `{command}`"
    return source.error(Code.LOCK_EDITED, path, message, hint)
