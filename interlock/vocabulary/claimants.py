"""Who holds a claim of a lock, and what the claims of a stack are called."""

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


@dataclass(frozen=True, slots=True)
class ClaimsId:
    """The id of a stack's claims, as the engine's state has it: `<stack>@<version of the footprint>`."""

    stack: str
    version: str

    @classmethod
    def parse(cls, text: str) -> ClaimsId:
        """From the id in a state; the version is empty if it has none."""
        stack, _, version = text.partition("@")
        return cls(stack, version)

    def __str__(self) -> str:
        return f"{self.stack}@{self.version}"
