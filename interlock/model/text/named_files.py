"""Files that a key of another file names: keys, passwords, certificates."""

from __future__ import annotations

import stat
from pathlib import Path

from .errors import Code
from .faults import Faults
from .source import Step


def named_file(
    stated: str | None, path: tuple[Step, ...], folder: Path, faults: Faults, *, secret: bool
) -> Path | None:
    """The file, relative to the folder of the file that names it at `path`; None if none is named.

    A fault is added where there is no such file, or where it is `secret` and others than its owner may read it.
    """
    if stated is None:
        return None
    try:
        found = folder / Path(stated).expanduser()
        is_there = found.is_file()
        mode = found.stat().st_mode if is_there else 0
    except (OSError, RuntimeError) as error:
        # Of `~somebody` whom nobody knows, a folder that is closed, a name that is too long.
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        hint = "write the path in full, to a file that you may read"
        faults.add(Code.NO_FILE, path, f"`{stated}` cannot be looked at: {why}", hint)
        return None
    if not is_there:
        faults.add(Code.NO_FILE, path, f"there is no file `{found}`", "paths are relative to the folder of this file")
    elif secret and mode & (stat.S_IRWXG | stat.S_IRWXO):
        hint = f"chmod 600 {found}, and consider whether somebody has read it"
        faults.add(Code.VALUE, path, f"others than its owner may read `{found}`", hint)
    return found
