"""VLAN ids and their lists, as EOS writes and reads them: `10,20-29`, `ALL`, `NONE`."""

import re
from collections.abc import Iterable
from itertools import pairwise

DEFAULT = 1
EVERY = tuple(range(1, 4095))

_ITEM = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


def listed(ids: Iterable[int]) -> str:
    """`(10, 20, 21)` as `10,20-21`; nothing for no id."""
    known = sorted(set(ids))
    if not known:
        return ""
    gaps = [(before, after) for before, after in pairwise(known) if after != before + 1]
    firsts = [known[0], *(after for _, after in gaps)]
    lasts = [*(before for before, _ in gaps), known[-1]]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(firsts, lasts, strict=True))


def parsed(text: str) -> tuple[int, ...] | None:
    """`10,20-21` as `(10, 20, 21)`; None for what is no list of ids from 1 to 4094."""
    ids: set[int] = set()
    for item in text.split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= EVERY[-1]:
            return None
        ids.update(range(first, last + 1))
    return tuple(sorted(ids))


def default_name(vlan: int) -> str:
    """What EOS calls a VLAN that nobody named."""
    return "default" if vlan == DEFAULT else f"VLAN{vlan:04}"
