"""Who holds a claim of a lock: a vPOD of a tenant, which has it or gave it up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claimant:
    """A vPOD that holds something nobody else may have. `released`: it gave it up, and that is not settled yet."""

    tenant: str
    vpod: str
    released: bool = False

    def __str__(self) -> str:
        """In words; names hold no slash."""
        return f"{self.tenant}/{self.vpod}" + (" (released, not settled yet)" if self.released else "")
