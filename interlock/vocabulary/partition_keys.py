"""P_Keys as claims have them: 15 bits on one InfiniBand subnet."""

from __future__ import annotations

import re
from typing import NamedTuple

_TEXT = re.compile(r"([a-z0-9]+(?:[.-][a-z0-9]+)*):(0x[0-9a-f]{4})")
#: 15 bits: the sixteenth says whether a member is a full one.
_LAST = 0x7FFF


class SubnetKey(NamedTuple):
    """A P_Key on an InfiniBand subnet of the site. Keys are local to it: elsewhere it is another partition."""

    infiniband: str
    key: int

    @classmethod
    def parse(cls, text: str) -> SubnetKey:
        """From `<InfiniBand subnet>:0x0001`. Raises ValueError if it is anything else."""
        found = _TEXT.fullmatch(text)
        if found is None or int(found[2], 16) > _LAST:
            raise ValueError(f"{text!r} is no P_Key of an InfiniBand subnet: <subnet>:0x0001")
        return cls(found[1], int(found[2], 16))

    def __str__(self) -> str:
        return f"{self.infiniband}:{self.key:#06x}"
