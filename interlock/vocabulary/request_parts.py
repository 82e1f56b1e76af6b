"""Parts of a request: the vPODs, volumes, shares and buckets of a tenant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestPart:
    """A part of a tenant's request, by the name that it has there; plans call its component `<tenant>-<name>`."""

    tenant: str
    name: str

    @classmethod
    def parse(cls, tenant: str, text: str) -> RequestPart:
        """From the name of its component. Raises ValueError for one that is no part of this tenant."""
        head = f"{tenant}-"
        if not text.startswith(head) or text == head:
            raise ValueError(f"{text!r} is no part of {tenant}")
        return cls(tenant, text.removeprefix(head))

    def below(self, text: str, between: str = "-") -> str:
        """The own name of something below it, `<tenant>-<name><between><own>`; `text` itself if it is none of it."""
        return text.removeprefix(f"{self}{between}")

    def __str__(self) -> str:
        return f"{self.tenant}-{self.name}"
