"""Under which path a share is exported, as a server's metadata say it: one member for each share."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Names of members of a server's metadata that say it; the share's plan name follows.
PREFIX = "interlock-share-"
#: What may stand there: nothing that ends a field of fstab, adds an option to a mount, or leads upwards.
_PLAIN = re.compile(r"(/(?!\.{1,2}(/|\Z))[A-Za-z0-9_.+=@~-]+)+")
#: Nova's limit of a value.
LONGEST = 255


def share_key(name: str) -> str:
    """The member's name."""
    return PREFIX + name


def told_paths(metadata: Mapping[str, str]) -> dict[str, str]:
    """Plan name of a share -> the path that is said of it."""
    return {key.removeprefix(PREFIX): value for key, value in metadata.items() if key.startswith(PREFIX)}


def why_not_told(path: str) -> str:
    """Why no server can be told of a path; empty if it can."""
    if not path:
        return "Manila names no path for it yet"
    if len(path) > LONGEST:
        return f"its path has {len(path)} characters, and Nova takes {LONGEST} in metadata"
    return "" if _PLAIN.fullmatch(path) else f"its path {path!r} has what no line of fstab can hold safely"
