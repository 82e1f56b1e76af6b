"""TOP-26 of RoCE: every Ethernet compute port of a cluster's nodes is in the cluster's RoCE network."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.vocabulary import NetworkRole
from policies.about import Fact, SiteFact, components, devices, resources
from policies.facts.fabric import ClusterFact
from policies.facts.kinds import NetworkFact
from policies.graph.model import Model

from .rule import Cause
from .storage_fabrics import nodes_of

#: A cluster, one of its RoCE networks, and a node of it.
Railed = tuple[ClusterFact, NetworkFact, str]


def railed_nodes(model: Model) -> list[Railed]:
    """Each node of a cluster with a RoCE network, which is to have all of its rails there."""
    return [
        (cluster, network, host)
        for cluster in model.plan.clusters
        for network in model.plan.role(cluster.name, NetworkRole.ROCE)
        for host in nodes_of(model, cluster)
    ]


def rails_left_out(model: Model, railed: Railed) -> Iterator[Cause]:
    """The interfaces of one node on the network's leaf group whose switch port is not in its VLAN, and a node with less
    ports of Neutron's there than rails: what is attached by none is in the VLAN of nobody once the node is deployed."""
    _, network, host = railed
    known = model.site.site.host.get(host)
    rails = known.interfaces.get(network.physical_network or "", ()) if known is not None else ()
    if not rails:
        missing = (SiteFact(f"hosts.{host}.interfaces.{network.physical_network}"),)
        yield _cause(railed, f"node {host} has no rail on {network.physical_network} that the site lists", missing)
    behind = {
        port.interface
        for port in model.plan.switch_ports
        if port.device == host and port.network == network.name and port.vlan == network.segment
    }
    for rail in rails:
        if rail not in behind:
            yield _cause(railed, f"the switch port of {rail} of {host} is not in its RoCE network {network.name}", ())
    attached = sum(
        model.plan.port[name].network == network.name
        for server in model.plan.servers
        if server.host == host
        for name in server.ports
        if name in model.plan.port
    )
    if attached < len(rails):
        what = f"the server on {host} has {attached} ports on its RoCE network {network.name}, and {len(rails)} rails"
        yield _cause(railed, what, ())


def _cause(railed: Railed, what: str, missing: tuple[Fact, ...]) -> Cause:
    cluster, network, host = railed
    return Cause(
        key=(cluster.name, what),
        message=f"cluster {cluster.name}: {what}",
        witness=(f"cluster {cluster.name}", f"{network.name}: {network.segment_name}", f"node {host}"),
        hint="put the switch port of every rail of its nodes into the network, and attach a port to each: NCCL waits "
        "forever for a rail that hears nobody",
        missing=missing,
        specificity=88,
        about=(*resources(network.name), *components(cluster.name), *devices(host)),
    )
