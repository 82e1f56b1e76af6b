"""GPU clusters and the storage appliance on InfiniBand: TOP-27 every storage port hears it, and hears nobody else.

That clients are limited where others are is ISO-21's, and whose ports may be there ISO-29's; here it is that none is
left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.gpu import HcaPort
from interlock.model.site.storage_fabric import StorageFabric
from policies.about import Fact, SiteFact, components, devices, resources
from policies.facts import identities as ids
from policies.facts.fabric import ClusterFact, PartitionKeyFact
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts


def storage_of(model: Model, subnet: str) -> StorageFabric | None:
    """How clusters reach an appliance on a subnet; None where they have no partition for that."""
    found = model.site.site.infiniband_subnet.get(subnet)
    return found.storage if found is not None else None


def storage_ports(model: Model, host: str) -> tuple[HcaPort, ...]:
    """The storage ports that whoever has a node has on subnets with an appliance, by rail: those of a hypervisor stay
    the operator's."""
    stated = model.site.site.host.get(host)
    is_passed_on = stated is not None and stated.provisioning == "hypervisor"
    node = None if is_passed_on else model.site.site.gpu_node.get(host)
    ports = node.ports_for("storage") if node is not None else ()
    return tuple(port for port in ports if storage_of(model, port.infiniband) is not None)


# TOP-27


def _all_reach_it(model: Model, _: Names) -> RuleAnswer:
    ports = [
        (cluster, host, port)
        for cluster in model.plan.clusters
        for host in cluster.hosts
        for port in storage_ports(model, host)
    ]
    causes = [cause for cluster, host, port in ports for cause in _left_out(model, cluster, host, port)]
    return by_facts(len(ports), [*causes, *_deaf(model)])


def _left_out(model: Model, cluster: ClusterFact, host: str, port: HcaPort) -> Iterator[Cause]:
    """A storage port that is in no partition of its cluster, or full there."""
    keys = [key for key in model.plan.keys if key.vpod == cluster.name and key.infiniband == port.infiniband]
    guid = (port.guid or "").lower()
    found = {how for key in keys for member, how in key.members if member.lower() == guid}
    missing: tuple[Fact, ...] = ()
    if port.guid is None:
        missing = (SiteFact(f"gpu_nodes.{host}.ports.{port.name}.guid"),)
    if found != {"limited"}:
        how = "a full member of" if "full" in found else "not in"
        what = f"{port.name} of {host} is {how} its partition for storage on {port.infiniband}"
        yield _cause(cluster.name, host, keys, what, missing)


def _deaf(model: Model) -> Iterator[Cause]:
    """Partitions in which clients hear no appliance: it is not all in a key of the cluster's own, or the key is not the
    one that all share."""
    names = {cluster.name for cluster in model.plan.clusters}
    for key in model.plan.keys:
        storage = storage_of(model, key.infiniband)
        if storage is None or key.vpod is None or key.vpod not in names:
            continue
        full = {member.lower() for member, how in key.members if how == "full"}
        bits = key.key & ids.KEY_BITS
        if storage.access == "per-tenant" and (left := sorted(set(storage.appliance) - full)):
            yield _cause(key.vpod, None, [key], f"the appliance's port {left[0]} is no full member of {key.name}", ())
        elif storage.access == "shared" and (bits != storage.key or not key.shared):
            what = f"{key.name} has P_Key {bits:#06x}, and the appliance is in {storage.key or 0:#06x} of the operator"
            yield _cause(key.vpod, None, [key], what, ())
        elif storage.access == "shared" and {guid.lower() for guid in key.servers} != set(storage.appliance):
            yield _cause(key.vpod, None, [key], f"{key.name} lets others than the appliance be full members", ())


def _cause(cluster: str, host: str | None, keys: list[PartitionKeyFact], what: str, missing: tuple[Fact, ...]) -> Cause:
    return Cause(
        key=(cluster, what),
        message=f"cluster {cluster}: {what}",
        witness=(f"cluster {cluster}", *(f"{key.name}: {len(key.members)} members" for key in keys)),
        hint="make every storage port of its nodes a limited member of a partition in which the appliance is full",
        missing=missing,
        specificity=87,
        about=(
            *resources(*(key.name for key in keys)), *components(cluster), *devices(*([] if host is None else [host])),
        ),
    )  # fmt: skip


TOP_27 = Rule(
    id="TOP-27",
    title="every storage port of a GPU cluster's nodes is a limited member of a partition with the appliance",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="limited members hear full ones alone: a port that is left out mounts nothing, and where no appliance is full "
    "nobody hears anybody",
    source="NVIDIA MLNX-OS 3.12, subnet manager, partitions: limited and full members",
    needs=("partition keys", "GPU nodes", "their GUIDs", "nodes of clusters", "infiniband.storage"),
    ask=_all_reach_it,
    of=Of.TENANT,
)
