"""What would fail later, asked of the cloud beforehand, read-only, and told all at once.

It runs before every apply, also when nothing is to do: what exists already as ours is counted as ours.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.resources import Admission

from .capacity import hosts, quotas, virtual_functions
from .faults import Fault, of_failure
from .presence import credential, image_files, referred
from .segments import free_segments

#: Every look, in the order in which faults are told. Each is a function (cloud, admission) -> faults.
LOOKS = (credential, referred, image_files, hosts, virtual_functions, free_segments, quotas)


def preflight(admission: Admission, cloud: Cloud | None = None) -> list[Fault]:
    """Everything that stands in the way of the apply; empty if nothing does. Never raises `Failure`."""
    cloud = cloud or Cloud(admission.cloud)
    try:
        # Logging in first: without it each look would report the same.
        _ = cloud.login
    except Failure as failure:
        return [of_failure("cloud", failure)]
    with ThreadPoolExecutor(len(LOOKS)) as pool:
        results = [pool.submit(_look, index, cloud, admission) for index in range(len(LOOKS))]
    return [fault for result in results for fault in result.result()]


def _look(index: int, cloud: Cloud, admission: Admission) -> list[Fault]:
    try:
        return list(LOOKS[index](cloud, admission))
    except Failure as failure:
        return [of_failure(LOOKS[index].__name__, failure)]


__all__ = ["Fault", "preflight"]
