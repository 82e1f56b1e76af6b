"""An S3 bucket of a tenant."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from interlock.resources import Bucket

from .base import PlannedComponent


class TenantBucket(PlannedComponent):
    """A bucket. Outputs: `bucket`, the name by which S3 knows it."""

    TYPE: ClassVar[str] = "Bucket"

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return cast(Bucket, self.spec(self.name)).name

    def outputs(self) -> dict[str, Any]:
        """The name."""
        return {"bucket": self.bucket}
