"""Planned objects that no list shows: the audit asks for each of them alone."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.provider.actuators.quotas import QUOTA_PATHS
from interlock.resources import Admitted

#: Kinds that are asked for one by one -> why.
ONE_BY_ONE = {
    "Bucket": "no list shows the buckets of all accounts",
    "Quota": "each service tells the limits of one project at a time",
    "ShareQuota": "Manila tells the limits of one project at a time",
}
#: Requests that each of them takes: of limits, whether there is the project, and one for each service.
REQUESTS = {"Bucket": 1, "Quota": 1 + len(QUOTA_PATHS), "ShareQuota": 2}
#: Questions at once.
AT_ONCE = 4


@dataclass(frozen=True)
class Asked:
    """One of them, the stack that has it, and the project in which it lies; empty: that is not there."""

    stack: str
    planned: Admitted
    project: str
