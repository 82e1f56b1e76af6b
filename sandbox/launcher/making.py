"""Nothing half-made: build under a temporary name, then rename."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def making(target: Path) -> Iterator[Path]:
    """A fresh folder that becomes `target` when the block ends well and disappears when it does not."""
    temporary = target.with_name(target.name + ".new")
    discard(temporary)
    temporary.mkdir(parents=True)
    try:
        yield temporary
    except BaseException:
        discard(temporary)
        raise
    discard(target)
    temporary.rename(target)


def discard(folder: Path) -> None:
    """Remove a folder so that an interruption leaves no part of it under its own name."""
    doomed = folder.with_name(folder.name + ".old")
    shutil.rmtree(doomed, ignore_errors=True)
    if folder.exists():
        folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)
