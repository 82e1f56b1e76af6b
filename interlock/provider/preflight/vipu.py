"""Does `vipu.yaml` say how each controller is reached that a plan tells anything?"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.resources import Admission
from interlock.resources.vipu import VipuObject

from .faults import Fault, everything, of_failure


def controllers(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Controllers that nobody knows a way to. Whether one answers is seen later: its server may not be made yet."""
    named = dict.fromkeys(
        resource.controller
        for _, resource in everything(admission)
        if isinstance(resource, VipuObject) and resource.is_declared
    )
    for name in named:
        try:
            cloud.controllers.entry(name)
        except Failure as failure:
            yield of_failure("vipu", failure)
