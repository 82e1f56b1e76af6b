"""A tenant's project: members, quota, ssh key, router; its vPODs and buckets lie below it."""

from __future__ import annotations

from typing import Any, ClassVar

import pulumi

from .base import PlannedComponent
from .buckets import TenantBucket
from .vpods import VirtualPod


class TenantProject(PlannedComponent):
    """Everything of one tenant. Outputs: `project_id`, `vpods`, `buckets`."""

    TYPE: ClassVar[str] = "TenantProject"

    @property
    def project_id(self) -> pulumi.Output[str]:
        """The Keystone id of the project."""
        return self.own("project").id

    @property
    def vpods(self) -> list[VirtualPod]:
        """The tenant's vPODs, in the order of the request."""
        return [item for item in self.below if isinstance(item, VirtualPod)]

    @property
    def buckets(self) -> list[TenantBucket]:
        """The tenant's buckets, in the order of the request."""
        return [item for item in self.below if isinstance(item, TenantBucket)]

    def outputs(self) -> dict[str, Any]:
        """What a tenant needs to know to begin."""
        return {
            "project_id": self.project_id,
            "vpods": {pod.name: pod.outputs() for pod in self.vpods},
            "buckets": {bucket.name: bucket.outputs() for bucket in self.buckets},
        }
