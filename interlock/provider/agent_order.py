"""The order of a cluster's agents as a controller lists them: when it says that cables lead otherwise than planned.

`create cluster` takes agents in the order of their cables. In which order a controller lists them afterwards no public
source says. So an order that any list may have by itself, that of the ids, says nothing: a refresh, an audit and an
adoption take such a list for a set, and all three ask here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBERS = re.compile(r"([0-9]+)")


def other_order(there: Sequence[str], wanted: Sequence[str]) -> bool:
    """True if the same agents are listed in an order which is neither the wanted one nor that of their ids."""
    listed = [*there]
    if listed == [*wanted] or sorted(listed) != sorted(wanted):
        return False
    return listed not in (sorted(listed), sorted(listed, key=_by_numbers))


def _by_numbers(ident: str) -> list[tuple[int, str]]:
    """`ag10` after `ag2`."""
    return [(int(part), "") if _NUMBERS.fullmatch(part) else (0, part) for part in _NUMBERS.split(ident)]
