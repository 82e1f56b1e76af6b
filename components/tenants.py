"""A tenant's project: members, quota, ssh key, router; its vPODs, GPU clusters and data lie below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pulumi

from .base import PlannedComponent
from .clusters import GpuCluster
from .data import TenantBucket, TenantShare, TenantVolume
from .vpods import VirtualPod


class TenantProject(PlannedComponent):
    """Everything of one tenant. Outputs: `project_id`, `vpods`, `clusters`, `volumes`, `shares`, `buckets`."""

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
    def clusters(self) -> list[GpuCluster]:
        """The tenant's GPU clusters, in the order of the request."""
        return [item for item in self.below if isinstance(item, GpuCluster)]

    @property
    def volumes(self) -> list[TenantVolume]:
        """The tenant's volumes beside those of servers, in the order of the request."""
        return [item for item in self.below if isinstance(item, TenantVolume)]

    @property
    def shares(self) -> list[TenantShare]:
        """The tenant's shares, in the order of the request."""
        return [item for item in self.below if isinstance(item, TenantShare)]

    @property
    def buckets(self) -> list[TenantBucket]:
        """The tenant's buckets, in the order of the request."""
        return [item for item in self.below if isinstance(item, TenantBucket)]

    def outputs(self) -> dict[str, Any]:
        """What a tenant needs to know to begin."""
        parts: dict[str, Sequence[PlannedComponent]] = {
            "vpods": self.vpods,
            "clusters": self.clusters,
            "volumes": self.volumes,
            "shares": self.shares,
            "buckets": self.buckets,
        }
        shown = {key: {item.name: item.outputs() for item in items} for key, items in parts.items()}
        return {"project_id": self.project_id, **shown}
