"""Planned objects that no list shows: the audit asks for each of them alone."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.provider.actuators.quotas import QUOTA_PATHS
from interlock.resources import Admitted

#: Kinds that are asked for one by one -> why.
ONE_BY_ONE = {
    "Bucket": "no list shows the buckets of all accounts",
    "PartitionKey": "no service of the cloud has it: UFM tells of one key at a time",
    "Quota": "each service tells the limits of one project at a time",
    "ShareQuota": "Manila tells the limits of one project at a time",
}
#: Requests that each of them takes: of limits, whether there is the project, and one for each service.
#: For a partition, besides itself, the ports that its subnet has, and which subnet it is.
REQUESTS = {"Bucket": 1, "PartitionKey": 3, "Quota": 1 + len(QUOTA_PATHS), "ShareQuota": 2}
#: Questions at once.
AT_ONCE = 4


@dataclass(frozen=True)
class Asked:
    """One of them, the stack that has it, and its project; empty: that is not there, or it has none."""

    stack: str
    planned: Admitted
    project: str
