"""Which cloud it is, whatever `clouds.yaml` calls it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CloudFingerprint:
    """The id of the identity service in the cloud's own catalogue; states record it under `cloud_id`."""

    identity_service: str

    @classmethod
    def parse(cls, text: str) -> CloudFingerprint:
        """From what a state records. Raises ValueError if that is nothing."""
        if not text:
            raise ValueError("an empty text is the fingerprint of no cloud")
        return cls(text)

    @classmethod
    def recorded(cls, text: str | None) -> CloudFingerprint | None:
        """The same; None for an object whose state records no cloud."""
        return cls.parse(text) if text else None

    def __str__(self) -> str:
        return self.identity_service
