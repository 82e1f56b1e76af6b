"""What may not be deleted only to be recreated: partitions of V-IPU, since that ends what runs on them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from interlock.resources import Admission, Admitted, VipuAllocation, VipuObject, VipuPartition, VipuUser
from interlock.vocabulary.pair_ids import VipuId

from .actuators import Observed, Phase, Target
from .clouds import Cloud
from .errors import refused
from .vipu import asking

_ALLOW = (
    "say `replaceable: true` for it in the request, then run `pulumi up` again; or take the partition out of the "
    "request, apply that, and ask for it anew"
)


def check_replaced(
    cloud: Cloud, admission: Admission, created: Container[str], target: Target[Any], seen: Observed
) -> None:
    """Raises `Failure` if a replacement ends what no request lets it end. `created`: what is made, or made again.

    Partitions go before what they stand on, so nothing of the vPOD was touched yet. Nothing runs on a broken one.
    """
    spec = target.spec
    if isinstance(spec, VipuPartition) and seen.phase is not Phase.BROKEN:
        planned = admission.by_name.get((VipuPartition.KIND, target.name))
        if planned is None or not planned.spec["replaceable"]:
            what = f"{VipuPartition.KIND} {target.name} would be recreated, which ends what runs on it"
            raise refused(what, _ALLOW)
    if isinstance(spec, VipuAllocation):
        _check_users(cloud, admission, spec, target.name, VipuId.parse(seen.id))
    if isinstance(spec, VipuUser):
        # A user goes before its allocation: refused only there, nobody would be left to remove a partition.
        for item in _allocations_of(admission, target.name):
            if item.name in created:
                ident = VipuId(VipuId.parse(seen.id).server, "allocation", item.spec["name"])
                _check_users(cloud, admission, spec, item.name, ident)


def _allocations_of(admission: Admission, user: str) -> Iterator[Admitted]:
    """Those that a user is planned to have."""
    planned = admission.by_name.get((VipuUser.KIND, user))
    for name in planned.spec["allocations"] if planned is not None else ():
        if (found := admission.by_name.get((VipuAllocation.KIND, name))) is not None:
            yield found


def _check_users(cloud: Cloud, admission: Admission, at: VipuObject, allocation: str, ident: VipuId) -> None:
    """Of partitions that users made nobody can say that they may end, unless all planned ones may."""
    planned = [
        item.spec["replaceable"]
        for item in admission.resources
        if item.kind == VipuPartition.KIND and item.spec["allocation"] == allocation
    ]
    if planned and all(planned):
        return
    with asking():
        found = cloud.controllers.of(ident.server, at.controller, at.address).partitions_in(ident.name)
    if left := sorted(item.id for item in found):
        what = f"{VipuAllocation.KIND} {allocation} would be recreated, with partitions that users made: "
        # Whose a partition was that a request has no more nobody can say here: only states of other objects could.
        hint = "have them removed, also one that the request had until now, then run `pulumi up` again"
        raise refused(f"{what}{', '.join(left)}", hint)
