"""GPU clusters: ISO-29 a partition has ports of its own nodes alone, ISO-30 clusters of one tenant are apart, TOP-26 no
compute port is left out.

That keys and ports have one owner each is ISO-20's, whoever has them; here it is which port of its owner's belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.model.site.gpu import HcaPort
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.nodes import PartitionKeyNode, RouterNode, is_capability, parse
from policies.about import Fact, SiteFact, components, devices, resources
from policies.edges.plan import PlanOnSite
from policies.facts import identities as ids
from policies.facts.fabric import ClusterFact, PartitionKeyFact
from policies.footprints.applied import APPLIED
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import Path, connected, shortest
from policies.proof import Severity

from .attachments import neighbourhood
from .media import data_wires, media_of, sub_owners
from .roce_rails import railed_nodes, rails_left_out
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, absence, by_facts
from .storage_fabrics import nodes_of, storage_of, storage_ports

if TYPE_CHECKING:
    from policies.graph.search import Graph


#: What the networks of clusters are for.
NETWORKS = (NetworkRole.CLUSTER, NetworkRole.ROCE)


def _compute_keys(model: Model, cluster: ClusterFact) -> list[PartitionKeyFact]:
    """Its partitions but for those of storage."""
    return [key for key in model.plan.keys if key.vpod == cluster.name and storage_of(model, key.infiniband) is None]


def _compute_ports(model: Model, host: str) -> tuple[HcaPort, ...]:
    """The compute ports of a node, by rail; none of a host that the site does not list as a GPU node."""
    node = model.site.site.gpu_node.get(host)
    return node.ports_for("compute") if node is not None else ()


# ISO-29


def _ports_of_its_nodes(model: Model, names: Names) -> RuleAnswer:
    clusters = {cluster.name: cluster for cluster in model.plan.clusters}
    ports = (port for node in model.site.site.gpu_nodes for port in node.ports)
    known = {port.guid.lower() for port in ports if port.guid is not None}
    count, causes = 0, list[Cause]()
    for key in model.plan.keys:
        cluster = clusters.get(key.vpod or "")
        count += len(key.members) if cluster is not None else 0
        causes += _foreign_ports(model, names, key, cluster, known)
    return by_facts(count, causes)


def _foreign_ports(
    model: Model, names: Names, key: PartitionKeyFact, cluster: ClusterFact | None, known: set[str]
) -> Iterator[Cause]:
    """Members that are no port of the cluster's for this; of a key outside of clusters those that may be a node's.

    `known`: the GUIDs of all ports of the site's nodes.
    """
    own = {
        port.guid.lower()
        for host in (nodes_of(model, cluster) if cluster is not None else ())
        for port in (*_compute_ports(model, host), *storage_ports(model, host))
        if port.guid is not None and port.infiniband == key.infiniband
    }
    storage = storage_of(model, key.infiniband)
    if storage is not None and not key.shared:
        own |= {*storage.appliance}
    for guid, _ in key.members:
        missing = () if guid.lower() in known else _unstated(model, key.infiniband)
        if guid.lower() not in own and (cluster is not None or missing):
            yield _foreign_cause(model, names, key, guid, cluster, missing)


def _unstated(model: Model, subnet: str) -> tuple[Fact, ...]:
    """Ports on a subnet of which nobody states the GUID: any GUID that no node has may be theirs."""
    return tuple(
        SiteFact(f"gpu_nodes.{node.name}.ports.{port.name}.guid")
        for node in model.site.site.gpu_nodes
        for port in node.ports
        if port.guid is None and port.infiniband == subnet
    )


def _foreign_cause(
    model: Model, names: Names, key: PartitionKeyFact, guid: str, cluster: ClusterFact | None, missing: tuple[Fact, ...]
) -> Cause:
    where = _place_of(model, guid)
    port = names.of(ids.infiniband_port(guid))
    whose = f"cluster {cluster.name}" if cluster is not None else model.plan.owner
    if cluster is None:
        why = "may be a port of any GPU node whose GUIDs are not stated"
    else:
        why = f"is {where}" if where is not None else "is no port that the site lists"
    return Cause(
        key=(key.name, guid.lower()),
        message=f"{port} in the partition of {whose} on {key.infiniband} {why}",
        witness=(f"{key.name}, P_Key {key.key & ids.KEY_BITS:#06x} on {key.infiniband}", port, where or "no such port"),
        hint="put ports of the cluster's own nodes there alone, for storage the appliance's too, and state each GUID "
        "of the site's nodes",
        missing=missing,
        specificity=95,
        about=resources(key.name),
    )


def _place_of(model: Model, guid: str) -> str | None:
    """Where the site has a port, in words."""
    found = (
        f"{port.name} of {node.name}, a {port.use} port on {port.infiniband}"
        for node in model.site.site.gpu_nodes
        for port in node.ports
        if port.guid is not None and port.guid.lower() == guid.lower()
    )
    return next(found, None)


# TOP-26


def _no_port_left_out(model: Model, _: Names) -> RuleAnswer:
    clusters = [(cluster, keys) for cluster in model.plan.clusters if (keys := _compute_keys(model, cluster))]
    pairs = [(cluster, keys, host) for cluster, keys in clusters for host in nodes_of(model, cluster)]
    railed = railed_nodes(model)
    causes = [cause for cluster, keys, host in pairs for cause in _left_out(model, cluster, keys, host)]
    causes += [cause for item in railed for cause in rails_left_out(model, item)]
    return by_facts(len(pairs) + len(railed), causes)


def _left_out(model: Model, cluster: ClusterFact, keys: list[PartitionKeyFact], host: str) -> Iterator[Cause]:
    """The compute ports of one node that are in no partition on their subnet, limited, or not at index 0."""
    ports = _compute_ports(model, host)
    if not ports:
        yield _left_cause(cluster, keys, host, f"node {host} has no compute port that the site lists", ())
    for port in ports:
        missing: tuple[Fact, ...] = ()
        here = [key for key in keys if key.infiniband == port.infiniband]
        if port.guid is None:
            missing = (SiteFact(f"gpu_nodes.{host}.ports.{port.name}.guid"),)
        guid = (port.guid or "").lower()
        found = {how: key.index0 for key in here for member, how in key.members if member.lower() == guid}
        if not found.get("full"):
            named = f"{port.name} of {host}" + (f" ({port.guid})" if port.guid is not None else "")
            what = f"{named} is {_membership(found)} its partition on {port.infiniband}"
            yield _left_cause(cluster, here or keys, host, what, missing)


def _membership(found: dict[str, bool]) -> str:
    """`found`: membership -> whether it is at index 0."""
    if "full" in found:
        return "not at index 0 in"
    return "a limited member of" if found else "not in"


def _left_cause(
    cluster: ClusterFact, keys: list[PartitionKeyFact], host: str, what: str, missing: tuple[Fact, ...]
) -> Cause:
    return Cause(
        key=(cluster.name, what),
        message=f"cluster {cluster.name}: {what}",
        witness=(f"cluster {cluster.name}", *(f"{key.name}: {len(key.members)} members" for key in keys)),
        hint="make every compute port of its nodes a full member: NCCL waits forever for a port that hears nobody",
        missing=missing,
        specificity=88,
        about=(*resources(*(key.name for key in keys)), *components(cluster.name), *devices(host)),
    )


# ISO-30


def _kept_apart(model: Model, names: Names) -> RuleAnswer:
    plan = model.plan
    if len(plan.vpods) + len(plan.clusters) < 2 or not plan.separates_vpods:
        return RuleAnswer(0)
    return absence(model, len(plan.clusters), lambda graph: _joined(model, names, graph))


def _joined(model: Model, names: Names, graph: Graph) -> Iterator[Cause]:
    """Sep with clusters as owners, over their in-band and RoCE wires, their partitions and the media of vPODs.

    Two vPODs are ISO-03's. The tenant's own router is left out, as it is behind control networks.
    """
    import networkx as nx

    clusters = {cluster.name for cluster in model.plan.clusters}
    if not clusters:
        return
    wires = {wire: name for name in sorted(clusters) for wire in data_wires(model, name, *NETWORKS)}
    owner = sub_owners(model) | wires
    media = media_of(model, graph) | _cluster_media(model, graph, list(wires))
    part = nx.subgraph_view(graph.subgraph(media), filter_edge=lambda a, b: graph.edges[a, b]["rule"] != APPLIED)
    for component in connected(part):
        found = sorted({owner[node] for node in component if node in owner})
        if len(found) > 1 and not clusters.isdisjoint(found):
            path = _between(part, component, owner, min(clusters.intersection(found)))
            if path is not None:
                yield _joined_cause(names, part, path, found)


def _cluster_media(model: Model, graph: Graph, wires: list[str]) -> set[str]:
    facts = PlanOnSite(model.site, model.plan)
    keys = {node for key in model.plan.keys for node in facts.key(key) if node in graph}
    members = {item for node in keys if isinstance(parse(node), PartitionKeyNode) for item in graph[node]}
    around = {node for wire in model.wire_of(graph, wires) for node in neighbourhood(graph, wire)}
    nodes = {facts.server(server.name) for server in model.plan.servers if server.vpod is not None}
    known = {node for node in around if not (is_capability(node) or isinstance(parse(node), RouterNode))}
    return known | keys | members | {node for node in nodes if node in graph}


def _between(graph: Graph, component: set[str], owner: dict[str, str], first: str) -> Path | None:
    """From what one cluster has to what another, or a vPOD, has."""
    sources = [node for node in component if owner.get(node) == first]
    return shortest(graph, sources, lambda node: owner.get(node, first) != first)


def _joined_cause(names: Names, graph: Graph, path: Path, found: list[str]) -> Cause:
    return Cause(
        key=("clusters", tuple(found)),
        message=f"{' and '.join(found)} are joined, and one tenant's clusters are kept apart",
        witness=names.path(graph, path),
        path=path,
        hint="give each cluster nodes, an in-band VLAN, RoCE VLANs and P_Keys of its own, or say `separate: no`",
        missing=missing_on(graph, path),
        specificity=73,
    )


ISO_29 = Rule(
    id="ISO-29",
    title="a GPU cluster's partitions have ports of its own nodes alone, and for storage the appliance's",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="whoever is in a partition hears it: a port of a node that somebody else gets next, or of a storage adapter, "
    "would be in the cluster's fabric",
    source="NVIDIA UFM Enterprise REST API, P_Keys: members by GUID; docs/design/semantics.md §4, E19",
    needs=("partition keys", "GPU nodes", "their GUIDs", "nodes of clusters"),
    ask=_ports_of_its_nodes,
    of=Of.TENANT,
)
ISO_30 = Rule(
    id="ISO-30",
    title="GPU clusters of one tenant are kept apart from each other and from its vPODs",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a tenant's clusters are owners like its vPODs, unless it says `separate: no`: one P_Key or one VLAN for two, "
    "in band or of RoCE, would join them",
    source="docs/design/semantics.md §3, sub-owner",
    needs=("nodes of clusters", "in-band networks", "RoCE networks", "partition keys", "A6"),
    ask=_kept_apart,
    of=Of.TENANT,
)
TOP_26 = Rule(
    id="TOP-26",
    title="every compute port of a GPU cluster's nodes is a full member of its partition, or in its RoCE network",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="NCCL takes one port for each GPU: with one that is left out, or limited, a job waits forever, and nobody says "
    "why",
    source="NCCL, environment variables: NCCL_IB_PKEY; NVIDIA UFM Enterprise, partitioning: membership",
    needs=("partition keys", "GPU nodes", "their GUIDs", "nodes of clusters", "RoCE networks", "switch ports"),
    ask=_no_port_left_out,
    of=Of.TENANT,
)
