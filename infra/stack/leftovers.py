"""Files that an engine left half-written in its file backend when it was killed.

The backend (gocloud.dev, `fileblob`) writes `<file>.<number>.tmp`, then `<file>.attrs`, in place, and then gives the
first its name. Killed in between, `<file>` is whole and as it was before, but with attributes that end too soon it
cannot be read any more: *failed to load checkpoint: EOF*. Attributes are a type and a checksum; a file without any is
read as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from infra.program.places import PROJECT

#: Below `.pulumi`: what the backend keeps of one stack.
_PLACES = (
    f"stacks/{PROJECT}/{{stack}}.json*",
    f"history/{PROJECT}/{{stack}}/*",
    f"backups/{PROJECT}/{{stack}}/*",
    f"locks/**/{PROJECT}/{{stack}}/*",
)
_ATTRIBUTES, _UNFINISHED = ".attrs", ".tmp"


def leftovers(folder: Path, stack: str) -> list[Path]:
    """Files that nobody can read, or will; those of a running engine among them, until its lock is looked for.

    `folder`: `.pulumi` of the backend.
    """
    return sorted({*_unfinished(folder, stack), *_unreadable(folder, stack)})


def _files(folder: Path, stack: str, suffix: str) -> Iterator[Path]:
    for place in _PLACES:
        yield from (path for path in folder.glob(place.format(stack=stack)) if path.suffix == suffix)


def _unfinished(folder: Path, stack: str) -> Iterator[Path]:
    """Files that never got their name. Among locks the engine would take them for one."""
    yield from _files(folder, stack, _UNFINISHED)


def _unreadable(folder: Path, stack: str) -> Iterator[Path]:
    """Attributes that end too soon."""
    for path in _files(folder, stack, _ATTRIBUTES):
        try:
            whole = isinstance(json.loads(path.read_text()), dict)
        except ValueError:
            whole = False
        if not whole:
            yield path
