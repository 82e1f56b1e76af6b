"""SHA-256 digests, as plans, locks, claims and certificates write them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_TEXT = re.compile(r"sha256:(?P<hex>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Digest:
    """`sha256:` and 64 hexadecimal digits."""

    hex: str

    @classmethod
    def of(cls, data: bytes) -> Digest:
        """The digest of these bytes."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def named(cls, text: str) -> Digest | None:
        """From a text that is a digest; None for every other text."""
        found = _TEXT.fullmatch(text)
        return None if found is None else cls(found["hex"])

    @classmethod
    def parse(cls, text: str) -> Digest:
        """From the text of a digest. Raises ValueError if it is none."""
        found = cls.named(text)
        if found is None:
            raise ValueError(f"{text!r} is no digest: sha256:<64 hexadecimal digits>")
        return found

    def __str__(self) -> str:
        return f"sha256:{self.hex}"
