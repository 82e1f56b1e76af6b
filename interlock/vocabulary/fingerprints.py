"""Which cloud it is, whatever `clouds.yaml` calls it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CloudFingerprint:
    """`<identity service>/<region>`: the id of the identity service in the cloud's own catalogue, and the region.

    States record it under `cloud_id`. `region` is empty where a state was written before regions were recorded, and on
    a cloud whose catalogue names none.
    """

    identity_service: str
    region: str = ""

    @classmethod
    def parse(cls, text: str) -> CloudFingerprint:
        """From what a state records. Raises ValueError if that is nothing."""
        # The id is Keystone's own and holds no slash; the name of a region may be any text.
        identity_service, _, region = text.partition("/")
        if not identity_service:
            raise ValueError(f"{text!r} is the fingerprint of no cloud")
        return cls(identity_service, region)

    @classmethod
    def recorded(cls, text: str | None) -> CloudFingerprint | None:
        """The same; None for an object whose state records no cloud."""
        return cls.parse(text) if text else None

    def may_be(self, present: CloudFingerprint) -> bool:
        """True if what was recorded so can lie on the cloud at hand: the same service, the same region or none."""
        return self.identity_service == present.identity_service and self.region in ("", present.region)

    def __str__(self) -> str:
        return f"{self.identity_service}/{self.region}" if self.region else self.identity_service

    @property
    def words(self) -> str:
        """As people are told of it."""
        where = f"region {self.region}" if self.region else "no region recorded"
        return f"{self.identity_service} ({where})"


@dataclass(frozen=True, slots=True)
class SiteInRegion:
    """`<site>@<region>`: the part of a store of claims for a site in a region that was not the first to claim there."""

    site: str
    region: str

    def __str__(self) -> str:
        return f"{self.site}@{self.region}"
