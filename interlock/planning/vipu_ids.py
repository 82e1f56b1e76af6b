"""Ids at V-IPU, of objects whose plan names may be too long for one.

No public source says how long an id may be (V-IPU Administrator Guide, Clusters, asks for a unique one). So none is
longer than a label of a host name (RFC 1035, section 2.3.4), which the sandbox's simulator takes for the limit, too.
Where the plan name is not longer, it is the id.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from interlock.model.text.source import Step

from .errors import PlanningError
from .scope import VPodScope

LONGEST_ID = 63
#: Hexadecimal digits that stand for what is left out.
_DIGITS = 6


def vipu_id(scope: VPodScope, noun: str, name: str) -> str:
    """`<tenant>-<vpod>-<noun>-<name>`; of a long name a digest of it, and its end, by which people tell machines apart.

    It depends on the four words alone, so that it is the same in each plan.
    """
    whole, before = scope.name(noun, name), scope.name(noun, "")
    if len(whole) <= LONGEST_ID:
        return whole
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
    room = LONGEST_ID - len(before) - len(digest) - 1
    # An id does not end otherwise than the name, and has no two marks in a row.
    return f"{before}{digest}-{name[len(name) - room :].lstrip('-._')}"


def check_ids(named: Iterable[tuple[str, str]], path: tuple[Step, ...]) -> None:
    """Raises `PlanningError` if two names have one id. `named`: name and id, of one kind at one controller."""
    named = list(named)
    for ident, count in Counter(ident for _, ident in named).items():
        if count > 1:
            names = " and ".join(name for name, one in named if one == ident)
            message = f"{names} would both be {ident} at V-IPU, where an id has {LONGEST_ID} characters at most"
            raise PlanningError(message, "shorten one of these names, or that of the vPOD", path)
