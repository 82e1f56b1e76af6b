"""`python -m infra.checker FILE`: 0 if a certificate is sound, 1 if it is not, 2 if it is none."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from .checking import complaints, today
from .derived_edges import told
from .reading import Malformed, printable, read


def main(words: list[str]) -> int:
    """Check one file: 0 sound, 1 not, 2 no certificate."""
    if len(words) != 1:
        print("name one file: python -m infra.checker FILE", file=sys.stderr)
        return 2
    try:
        found = read(Path(words[0]).read_bytes())
        said = list(complaints(found, day=today()))
    except (Malformed, OSError) as error:
        print(printable(f"{words[0]}: {getattr(error, 'strerror', None) or error}"), file=sys.stderr)
        return 2
    print("\n".join(said) or f"sound; {printable(told(found['statement']))}")
    return 1 if said else 0


if __name__ == "__main__":
    gc.disable()  # a certificate has no cycles, and each collection walks through all of it that is read so far
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
