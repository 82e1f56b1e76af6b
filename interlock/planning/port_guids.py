"""InfiniBand ports of a tenant's nodes whose GUID in the site is another than when the lock was written.

The subnet manager knows a port by its GUID alone. An adapter that was replaced has another one, and the old one is in
the partition until the next `pulumi up`, which takes it out before it puts the new one in.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Endpoint, Site
from interlock.vocabulary import nodes


@dataclass(frozen=True)
class ChangedPorts:
    """Ports of one cluster with a new GUID, and the GUIDs that it loses without losing a node."""

    cluster: str
    #: (port, GUID) by node and port.
    ports: tuple[tuple[str, str], ...]
    gone: tuple[str, ...]

    def __str__(self) -> str:
        now = ", ".join(f"{port} has GUID {guid}" for port, guid in self.ports)
        was = ", ".join(self.gone)
        return f"{now}; `pulumi up` takes {was} out of its partition before"


def changed_ports(site: Site, old: Lock | None, new: Lock) -> tuple[ChangedPorts, ...]:
    """Of each cluster that keeps nodes, those of their ports that have another GUID by now."""
    if old is None:
        return ()
    found, held = [], _guids(old)
    prefixes = {subnet.name: subnet.prefix for subnet in site.infiniband}
    for name, cluster in sorted(new.allocation.clusters.items()):
        before = old.allocation.clusters.get(name)
        if before is None:
            continue
        kept = [site.gpu_node[host] for host in cluster.hosts if host in before.hosts and host in site.gpu_node]
        ports = tuple(
            (str(Endpoint(device=node.name, interface=port.name)), port.guid)
            for node in kept
            for port in node.ports
            if port.guid is not None and port.guid not in held and port.infiniband in cluster.partition_keys
        )
        keys = {(prefixes.get(subnet, ""), key) for subnet, key in before.partition_keys.items()}
        # What a node that is given up has, goes with its node.
        stated = {port.guid for host in before.hosts if host in site.gpu_node for port in site.gpu_node[host].ports}
        gone = tuple(sorted({guid for guid, key in held.items() if key in keys} - _guids(new).keys() - stated))
        if ports and gone:
            found.append(ChangedPorts(name, ports, gone))
    return tuple(found)


def _guids(lock: Lock) -> dict[str, tuple[str, int]]:
    """GUID -> prefix and key of the partition that a lock has it in."""
    found = {}
    for premise in lock.footprint.premises:
        key, port = (nodes.parse(text) for text in premise.tuple[:2]) if premise.relation == "key" else (None, None)
        if isinstance(key, nodes.PartitionKeyNode) and isinstance(port, nodes.InfinibandPortNode):
            found[port.guid] = (key.prefix, key.key)
    return found
