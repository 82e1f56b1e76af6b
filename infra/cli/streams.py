"""stdout and stderr as they are found: closed, full, or of an encoding that lacks our characters."""

from __future__ import annotations

import errno
import io
import logging
import os
import sys
from typing import Any, TextIO

#: What writing ends in where there is no room left, or the device failed.
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class ForgivingStderr(io.TextIOBase):
    """stderr, which nobody has to be able to write to: what cannot be written is left out, and the exit code counts."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write; a closed pipe still raises."""
        try:
            return self._stream.write(text)
        except OSError as error:
            if not is_unwritable(error):
                raise
            return len(text)

    def flush(self) -> None:
        """Flush; a closed pipe still raises."""
        try:
            self._stream.flush()
        except OSError as error:
            if not is_unwritable(error):
                raise

    def isatty(self) -> bool:
        """As of the stream itself."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """As of the stream itself."""
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def prepare() -> None:
    """Make both writable whatever comes.

    Where a caller closed one of them, as `>&-` does, what we say goes nowhere. A character that cannot be encoded is
    written as `?`.
    """
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if not isinstance(sys.stderr, ForgivingStderr):
        sys.stderr = ForgivingStderr(sys.stderr)
    # What libraries log is for `--debug`: without a handler Python would print their warnings beside our own message.
    logging.getLogger().addHandler(logging.NullHandler())


def is_unwritable(error: OSError) -> bool:
    """True if a stream has no room for what is written to it. An error about a file names the file."""
    return error.filename is None and error.errno in _UNWRITABLE


def leave() -> None:
    """Let both go nowhere: Python flushes them once more at its end, and would complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
