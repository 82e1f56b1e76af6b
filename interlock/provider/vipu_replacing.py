"""What may not be deleted only to be recreated: partitions of V-IPU, since that ends what runs on them."""

from __future__ import annotations

from typing import Any

from interlock.resources import Admission, VipuAllocation, VipuPartition
from interlock.vocabulary.pair_ids import VipuId

from .actuators import Observed, Phase, Target
from .clouds import Cloud
from .errors import refused
from .vipu import asking

_ALLOW = (
    "say `replaceable: true` for it in the request, then run `pulumi up` again; or take the partition out of the "
    "request, apply that, and ask for it anew"
)


def check_replaced(cloud: Cloud, admission: Admission, target: Target[Any], seen: Observed) -> None:
    """Raises `Failure` if a replacement ends what no request lets it end.

    Partitions go before what they stand on, so nothing of the vPOD was touched yet. Nothing runs on a broken one.
    """
    if isinstance(target.spec, VipuPartition) and seen.phase is not Phase.BROKEN:
        planned = admission.by_name.get((VipuPartition.KIND, target.name))
        if planned is None or not planned.spec["replaceable"]:
            what = f"{VipuPartition.KIND} {target.name} would be recreated, which ends what runs on it"
            raise refused(what, _ALLOW)
    if isinstance(target.spec, VipuAllocation):
        _check_users(cloud, admission, target, VipuId.parse(seen.id))


def _check_users(cloud: Cloud, admission: Admission, target: Target[VipuAllocation], ident: VipuId) -> None:
    """Of partitions that users made nobody can say that they may end, unless all planned ones may."""
    planned = [
        item.spec["replaceable"]
        for item in admission.resources
        if item.kind == VipuPartition.KIND and item.spec["allocation"] == target.name
    ]
    if planned and all(planned):
        return
    spec = target.spec
    with asking():
        partitions = cloud.controllers.of(ident.server, spec.controller, spec.address).partitions().values()
    if left := sorted(item.id for item in partitions if item.allocation == ident.name):
        what = f"{spec.KIND} {target.name} would be recreated, with partitions that users made: "
        hint = "have these users remove them, then run `pulumi up` again"
        raise refused(f"{what}{', '.join(left)}", hint)
