"""Compares the InfiniBand subnets of a site with what their subnet managers have discovered, and with all plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from infra.program.gate import Gate
from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Endpoint, InfinibandSubnet, Site
from interlock.planning import Plan
from interlock.provider.audit.subnets import (
    REQUESTS_OF_SUBNET,
    ReadSubnet,
    SubnetTerritory,
    foreign_partitions,
    read_subnets,
)
from interlock.provider.audit.unmanaged import UnmanagedResource
from interlock.provider.fabrics import Fabrics
from interlock.resources import PartitionKey
from interlock.ufm.answers import KEY_BITS, guid_of
from interlock.ufm.cabling import fabric_cable_findings, has_cables
from interlock.ufm.findings import CableFindingKind
from interlock.vocabulary.pair_ids import PartitionId

from .comparison import Audit, StackAudit

#: What reads subnets: `read_subnets`, or what a test puts in its place.
ReadSubnets = Callable[[Fabrics, Iterable[InfinibandSubnet]], tuple[ReadSubnet, ...]]


def with_subnets(
    found: Audit,
    gate: Gate,
    fabrics: Fabrics,
    say: Callable[[str], None] = lambda _: None,
    read: ReadSubnets = read_subnets,
) -> Audit:
    """The audit with cables, and partitions that no plan has, of each subnet with ports or switches on the site."""
    site = gate.workspace.site
    subnets = [subnet for subnet in site.infiniband if has_cables(site, subnet.name)]
    if not subnets:
        return found
    say("InfiniBand")
    subnets_read = read(fabrics, subnets)
    plans = [stack.plan for stack in found.stacks]
    ports = _stacks_of_ports(stack.plan for stack in found.stacks if stack.is_applied)
    foreign = [
        _Foreign(one, item.partitions[PartitionId.parse(one.id).number].guids)
        for item in subnets_read
        for one in foreign_partitions(item, territory_of(site, item.infiniband, plans, gate.workspace.locks.values()))
    ]
    cables = [
        replace(finding, stacks=_stacks_of_nodes(site, finding.nodes, ports))
        for item in subnets_read
        if not item.unread
        for finding in fabric_cable_findings(site, item.infiniband, item.fabric)
    ]
    silent = {f"InfiniBand {item.infiniband}": item.unread for item in subnets_read if item.unread}
    unknown = {one.where: str(one) for one in cables if one.found is CableFindingKind.UNKNOWN}
    return replace(
        found,
        stacks=tuple(_with_foreign(stack, foreign, ports) for stack in found.stacks),
        cables=tuple(one for one in cables if one.found is not CableFindingKind.UNKNOWN),
        unmanaged=(*found.unmanaged, *(one.partition for one in foreign)),
        unread={**found.unread, **silent, **unknown},
        requests=found.requests + REQUESTS_OF_SUBNET * len(subnets),
    )


@dataclass(frozen=True)
class _Foreign:
    partition: UnmanagedResource
    guids: frozenset[str]


def _with_foreign(stack: StackAudit, foreign: Iterable[_Foreign], ports: Mapping[str, set[str]]) -> StackAudit:
    """The stack with the foreign partitions that ports of it are in: no plan can hold them."""
    name = stack.plan.stack
    met = tuple(one.partition for one in foreign if any(name in ports.get(guid, ()) for guid in one.guids))
    live = stack.live
    if met and live is not None:
        live = replace(live, not_expressible=(*live.not_expressible, *map(str, met)))
    return replace(stack, unmanaged=(*stack.unmanaged, *met), live=live)


def _stacks_of_ports(plans: Iterable[Plan]) -> Mapping[str, set[str]]:
    """GUID -> stacks that have it in a partition."""
    found = defaultdict[str, set[str]](set)
    for plan in plans:
        for item in plan.resources:
            for member in item.resource.members if isinstance(item.resource, PartitionKey) else ():
                found[guid_of(member.guid)].add(plan.stack)
    return found


def _stacks_of_nodes(site: Site, nodes: Iterable[str], ports: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Stacks that have a port of one of these nodes in a partition, in order."""
    guids = (port.guid for node in nodes for port in site.gpu_node[node].ports if port.guid is not None)
    return tuple(sorted({stack for guid in guids for stack in ports.get(guid, ())}))


def territory_of(site: Site, infiniband: str, plans: Iterable[Plan], locks: Iterable[Lock] = ()) -> SubnetTerritory:
    """What of one subnet is the site's own, by all its plans. `locks`: nodes that they gave up are perhaps in still."""
    specs = [
        found
        for plan in plans
        for item in plan.resources
        if isinstance(found := item.resource, PartitionKey) and found.infiniband == infiniband
    ]
    leaving = {entry.value for lock in locks for entry in lock.released if entry.claim == "hosts"}
    left = {
        guid_of(port.guid)
        for node in site.gpu_nodes
        if node.name in leaving
        for port in node.ports
        if port.guid is not None
    }
    shared: dict[int, frozenset[str]] = {}
    for spec in specs:
        if spec.shared:
            members = {guid_of(guid) for guid in (*(member.guid for member in spec.members), *spec.servers)}
            shared[spec.key & KEY_BITS] = shared.get(spec.key & KEY_BITS, frozenset(left)) | members
    ports = {
        port.guid: str(Endpoint(device=node.name, interface=port.name))
        for node in site.gpu_nodes
        for port in node.ports
        if port.infiniband == infiniband and port.guid is not None
    }
    pool = [item for item in site.pools.partition_keys if item.infiniband == infiniband]
    ranges = tuple(one for item in pool for one in item.keys)
    return SubnetTerritory(infiniband, ports, {spec.key & KEY_BITS for spec in specs}, ranges, shared)
