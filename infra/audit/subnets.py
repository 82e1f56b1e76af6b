"""Compares the InfiniBand subnets of a site with what their subnet managers have discovered, and with all plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from infra.program.gate import Gate
from interlock.model.site.inventory import Endpoint, InfinibandSubnet, Site
from interlock.planning import Plan
from interlock.provider.audit.subnets import (
    REQUESTS_OF_SUBNET,
    ReadSubnet,
    SubnetTerritory,
    foreign_partitions,
    read_subnets,
)
from interlock.provider.fabrics import Fabrics
from interlock.resources import PartitionKey
from interlock.ufm.answers import KEY_BITS, guid_of
from interlock.ufm.cabling import fabric_cable_findings, has_cables
from interlock.ufm.findings import CableFindingKind

from .comparison import Audit

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
    stacks = _stacks_of_nodes(site, (stack.plan for stack in found.stacks if stack.is_applied))
    foreign = [
        one for item in subnets_read for one in foreign_partitions(item, _territory(site, item.infiniband, plans))
    ]
    cables = [
        replace(finding, stacks=tuple(sorted({name for node in finding.nodes for name in stacks.get(node, ())})))
        for item in subnets_read
        if not item.unread
        for finding in fabric_cable_findings(site, item.infiniband, item.fabric)
    ]
    silent = {f"InfiniBand {item.infiniband}": item.unread for item in subnets_read if item.unread}
    unknown = {one.where: str(one) for one in cables if one.found is CableFindingKind.UNKNOWN}
    return replace(
        found,
        cables=tuple(one for one in cables if one.found is not CableFindingKind.UNKNOWN),
        unmanaged=(*found.unmanaged, *foreign),
        unread={**found.unread, **silent, **unknown},
        requests=found.requests + REQUESTS_OF_SUBNET * len(subnets),
    )


def _stacks_of_nodes(site: Site, plans: Iterable[Plan]) -> Mapping[str, set[str]]:
    """Node -> stacks that have a port of it in a partition."""
    nodes = {port.guid: node.name for node in site.gpu_nodes for port in node.ports if port.guid is not None}
    found = defaultdict[str, set[str]](set)
    for plan in plans:
        for item in plan.resources:
            for member in item.resource.members if isinstance(item.resource, PartitionKey) else ():
                found[nodes.get(guid_of(member.guid), "")].add(plan.stack)
    return found


def _territory(site: Site, infiniband: str, plans: Iterable[Plan]) -> SubnetTerritory:
    planned = {
        spec.key & KEY_BITS
        for plan in plans
        for spec in (item.resource for item in plan.resources)
        if isinstance(spec, PartitionKey) and spec.infiniband == infiniband
    }
    ports = {
        port.guid: str(Endpoint(device=node.name, interface=port.name))
        for node in site.gpu_nodes
        for port in node.ports
        if port.infiniband == infiniband and port.guid is not None
    }
    pool = [item for item in site.pools.partition_keys if item.infiniband == infiniband]
    return SubnetTerritory(infiniband, ports, planned, tuple(one for item in pool for one in item.keys))
