"""Files that are written at once or not at all: whoever reads one finds the old text or the new one, never a part."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

#: Of a file that was not there before.
MODE = 0o644


def write_at_once(file: Path, text: str) -> None:
    """Put the text in the place of a file. A crash leaves the old one, and no file lies half-written beside it."""
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(MODE)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
