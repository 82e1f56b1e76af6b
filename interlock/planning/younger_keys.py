"""Keys of requests that hashes leave out: what came later, at its default, and what no plan rests on."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from interlock.model.tenant.partitions import Partition
from interlock.model.tenant.request import (
    Access,
    BucketRequest,
    Cluster,
    Pins,
    ShareRequest,
    SlurmOptions,
    Tenant,
    VolumeRequest,
    Volumes,
    VPod,
)
from interlock.resources import Frozen

#: Keys of requests that came after the first locks. At its default, which says what a request of before meant, each
#: is left out of hashes, so that these locks stay as they are.
YOUNGER: Mapping[type[BaseModel], frozenset[str]] = {
    Volumes: frozenset({"encrypted"}),
    VolumeRequest: frozenset({"encrypted"}),
    ShareRequest: frozenset({"mount", "clusters"}),
    VPod: frozenset({"s3_keys"}),
    BucketRequest: frozenset({"lifecycle", "cors", "object_lock", "encryption", "public_access_block"}),
    Access: frozenset({"ca", "accounts", "public"}),
    Tenant: frozenset({"clusters", "order", "released"}),
    Cluster: frozenset({"heads", "kind", "slurm", "s3_keys", "state", "without", "roll"}),
    Pins: frozenset({"heads"}),
    Partition: frozenset({"replaceable"}),
    SlurmOptions: frozenset({"munge_key"}),
}

#: Keys of requests that no plan rests on: who gets certificates makes no lock old.
UNPLANNED_OF_REQUESTS: tuple[tuple[type[Frozen], frozenset[str]], ...] = ((Access, frozenset({"people"})),)
