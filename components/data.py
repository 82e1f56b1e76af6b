"""A tenant's data beside its servers: volumes of their own, shares, S3 buckets."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import pulumi

from interlock.resources import Bucket, ShareAccess

from .base import PlannedComponent


class TenantVolume(PlannedComponent):
    """A volume that belongs to no server. Outputs: `volume_id`."""

    TYPE: ClassVar[str] = "Volume"

    @property
    def volume_id(self) -> pulumi.Output[str]:
        """Cinder's id of the volume."""
        return self.objects[self.name].id

    def outputs(self) -> dict[str, Any]:
        """The id."""
        return {"volume_id": self.volume_id}


class TenantShare(PlannedComponent):
    """A file share. Outputs: `share_id`, `export_path`, `mounts`."""

    TYPE: ClassVar[str] = "Share"

    @property
    def share_id(self) -> pulumi.Output[str]:
        """Manila's id of the share."""
        return self.objects[self.name].id

    @property
    def export_path(self) -> pulumi.Output[str]:
        """The path under which the appliance exports it, at each of its addresses."""
        return self.objects[self.name].computed("export_path")

    @property
    def mounts(self) -> dict[str, str]:
        """Storage network -> the appliance's address there, from which the share is mounted."""
        planned = (item.resource for item in self.declaration.proof.plan.of(self.name))
        return {item.network: item.vip for item in planned if isinstance(item, ShareAccess)}

    def outputs(self) -> dict[str, Any]:
        """Id, path and addresses."""
        return {"share_id": self.share_id, "export_path": self.export_path, "mounts": self.mounts}


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
