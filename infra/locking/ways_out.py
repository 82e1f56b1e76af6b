"""What a tenant can do about a vPOD that a failed machine leaves in pieces (TOP-28), and what each way costs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.planning.resizes import Resize, listed


@dataclass(frozen=True)
class WayOut:
    """One way. `resize`: what it does to resources; None: nothing, or it is not to be had, as `why_not` says."""

    vpod: str
    #: `replace`, `shrink` or `move`.
    way: str
    #: What the vPOD has then.
    machines: tuple[str, ...]
    how: str
    resize: Resize | None = None
    why_not: str = ""

    def lines(self) -> Iterator[str]:
        """The way, then what it does, line by line."""
        if self.why_not:
            yield f"{self.way}: not now: {self.why_not}"
            return
        yield f"{self.way}: {self.how}"
        if self.way == "replace":
            yield f"  {listed(self.machines)} stay, and the new unit is tested first (LIF-13)"
        elif self.resize is not None:
            yield f"  {self.resize.head()}"
        if self.resize is not None:
            yield from (f"  {line}" for line in self.resize.lines())
