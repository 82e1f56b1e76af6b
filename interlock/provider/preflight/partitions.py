"""Does each planned partition's UFM answer, is it the one of that subnet, and are keys and GUIDs as planned?"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.fabrics import asking
from interlock.provider.partition_ownership import (
    NOT_OURS,
    SERVERS_FIRST,
    memberships,
    not_adoptable,
    prefixes_claimed,
    unheard,
)
from interlock.resources import Admission, PartitionKey
from interlock.ufm.answers import is_prefix
from interlock.vocabulary.pair_ids import PartitionId

from .faults import Fault, of_failure, planned

_CODE = "infiniband"


def fabric_managers(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """UFMs that do not answer or take no login, and any that manages another subnet than the site file states."""
    claimed: dict[str, set[str]] = {}
    for _, spec in planned(admission, PartitionKey):
        claimed.setdefault(spec.infiniband, set()).update(prefixes_claimed(admission.claims, spec.key))
    for infiniband, prefixes in claimed.items():
        try:
            present = cloud.fabrics.prefix(infiniband)
        except Failure as failure:
            yield of_failure(_CODE, failure)
            continue
        # Several subnets may claim the same key: of each, one of its prefixes is this one's.
        stated = {prefix for prefix in prefixes if is_prefix(prefix)}
        if stated and present not in stated:
            yield Fault(
                _CODE,
                f"the UFM of {infiniband} in fabrics.yaml manages the subnet {present}, and the site file states "
                f"{' and '.join(sorted(stated))}",
                "correct `url` in fabrics.yaml, or `prefix` of this subnet in the site file",
            )


def free_partitions(cloud: Cloud, admission: Admission) -> Iterator[Fault]:
    """Keys that somebody else uses at UFM, and GUIDs that the subnet manager has not discovered."""
    for name, spec in planned(admission, PartitionKey):
        try:
            held = cloud.held_before()
            with asking():
                client = cloud.fabrics.of(spec.infiniband)
                partition, ports = client.partition(spec.key), client.ports()
        except Failure:
            continue  # told by `fabric_managers`, or by the claims
        where = f"PartitionKey {name}: P_Key {PartitionId.of(spec.infiniband, spec.key).key} of {spec.infiniband}"
        if partition is not None and (why := not_adoptable(partition, spec, held)):
            yield Fault(_CODE, f"{where} is there already: {why}", NOT_OURS)
        if why := unheard(partition, spec):
            yield Fault(_CODE, f"{where}: {why}", SERVERS_FIRST)
        if unknown := sorted(memberships(spec).keys() - ports):
            yield Fault(
                _CODE,
                f"{where}: the subnet manager has discovered no port {', '.join(unknown)}",
                "see that node, HCA and cable are up, or correct the GUIDs in the site file",
            )
