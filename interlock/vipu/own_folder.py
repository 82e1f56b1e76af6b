"""An empty folder for each command, which is gone when the command has ended.

`vipu-admin` writes the access key of a user whom it makes into the folder in which it runs. So that folder is in
memory where the machine has such a place, and a shell beside the command takes it away when that ends, whatever became
of us meanwhile. Where the shell was killed as well, the next command takes away what is left.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

#: A file system in memory, which Linux has by default.
MEMORY = Path("/dev/shm")
PREFIX = "interlock-vipu-"
#: Minutes after which a folder is nobody's: no command is waited for that long.
LEFT_AFTER = 60

_ENDS = "c=$?; exit $c"
#: What a shell does however it ends. The folder is its own name, `$0`, or `$d`.
_REMOVES = "trap 'cd /; rm -rf \"{folder}\"' EXIT; trap 'exit 129' HUP INT TERM"


@contextlib.contextmanager
def own_folder(base: Path | None = None) -> Iterator[str]:
    """A folder on this machine; those that killed runs left beside it are gone then, too."""
    place = base or (MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir()))
    _sweep(place)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True) as folder:
        yield folder


def in_folder(folder: str, words: Sequence[str]) -> tuple[str, ...]:
    """A command that takes away its folder when it has ended. No shell reads its words."""
    removes = _REMOVES.format(folder="$0")
    return ("/bin/sh", "-c", f'{removes}; "$@"; {_ENDS}', folder, *words)


def line_in_folder(words: Sequence[str]) -> str:
    """The same for the shell of another machine, which makes the folder as well. Every word is quoted."""
    sweeps = (
        f'find "$b" -maxdepth 1 -type d -name "{PREFIX}*" -user "$(id -u)" -mmin +{LEFT_AFTER} '
        "-exec rm -rf {} + 2>/dev/null"
    )
    return (
        f'umask 077; b={MEMORY}; [ -w "$b" ] || b="${{TMPDIR:-/tmp}}"; {sweeps}; '
        f'd=$(mktemp -d "$b/{PREFIX}XXXXXXXX") && cd "$d" && '
        f"{{ {_REMOVES.format(folder='$d')}; {shlex.join(words)}; {_ENDS}; }}"
    )


def _sweep(place: Path) -> None:
    """Takes away our own folders that no command can be in any more."""
    before = time.time() - 60 * LEFT_AFTER
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            seen = folder.lstat()
            if stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and seen.st_mtime < before:
                shutil.rmtree(folder, ignore_errors=True)
