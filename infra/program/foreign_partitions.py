"""Partitions that no plan of the site has and in which ports of a plan are: whoever else is in them meets the tenant.

The provider knows one plan at a time; which keys the others have is in their locks and in the operator's plan.
"""

from __future__ import annotations

from infra.program.gate import Gate
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure
from interlock.provider.fabrics import asking
from interlock.provider.partition_ownership import in_words, memberships
from interlock.provider.preflight.faults import Fault, planned
from interlock.resources import Admission, PartitionKey
from interlock.ufm.answers import DEFAULT_KEY, KEY_BITS
from interlock.vocabulary import nodes
from interlock.vocabulary.pair_ids import PartitionId


def of_foreign_partitions(gate: Gate, admission: Admission, cloud: Cloud) -> list[Fault]:
    """One for each; a UFM that does not tell is told by the provider's own look."""
    ports: dict[str, set[str]] = {}
    for _, spec in planned(admission, PartitionKey):
        ports.setdefault(spec.infiniband, set()).update(memberships(spec))
    found = []
    for infiniband, guids in sorted(ports.items()):
        try:
            with asking():
                partitions = cloud.fabrics.of(infiniband).partitions()
        except Failure:
            continue
        known = _keys(gate, infiniband)
        for key, partition in sorted(partitions.items()):
            inside = [member for member in partition.members if member.guid in guids]
            if inside and key != DEFAULT_KEY and key not in known:
                found.append(
                    Fault(
                        "infiniband",
                        f"no plan has P_Key {PartitionId.of(infiniband, key).key} of {infiniband}, and ports of this "
                        f"plan are in it: {in_words(inside)}",
                        "take them out at UFM, and find out who put them in: whoever else is in it meets this tenant",
                    )
                )
    return found


def _keys(gate: Gate, infiniband: str) -> set[int]:
    """Keys on one subnet that locks hold, what they released included, and those of the operator's plan."""
    prefixes = {subnet.prefix for subnet in gate.workspace.site.infiniband if subnet.name == infiniband}
    held = (nodes.parse(text) for lock in gate.workspace.locks.values() for text in lock.footprint.exclusive)
    keys = {node.key & KEY_BITS for node in held if isinstance(node, nodes.PartitionKeyNode) if node.prefix in prefixes}
    for item in gate.plan(None).resources:
        if isinstance(item.resource, PartitionKey) and item.resource.infiniband == infiniband:
            keys.add(item.resource.key & KEY_BITS)
    return keys
