"""Worked examples about GPU clusters: whose the InfiniBand ports of a node are, and clusters of one tenant. Letters are
variants.
"""

from __future__ import annotations

from interlock.model.site.inventory import InfinibandSubnet
from interlock.planning.plan import Component
from interlock.resources import (
    BareMetalServer,
    Network,
    NvlinkPartition,
    PartitionKey,
    PartitionMember,
    Share,
    ShareAccess,
    SwitchPort,
)

from .drafting import Draft
from .sayings import A, Example, G, leaf
from .world import OP

#: Ports of nodes: of two of acme's, one of globex's, and one that nobody has.
ACMES, OTHER, GLOBEXS, IDLE = (f"{number:016x}" for number in (0xA1, 0xA2, 0xB1, 0xC1))
#: A port of a storage appliance.
FILER = f"{0xF1:016x}"


def _fabric() -> Draft:
    """A leaf, an InfiniBand subnet and two tenants without anything."""
    draft = leaf()
    draft.infiniband = [InfinibandSubnet(name="ib", prefix="fe80000000000001")]
    draft.tenant(A)
    draft.tenant(G)
    return draft


def _cluster(draft: Draft, owner: str, name: str, vlan: int, node: str | None, *guids: str, key: int = 0) -> None:
    """A cluster of one node with one InfiniBand port, `node`. `guids` are in its partition; with no key it has none."""
    part = f"{owner}-{name}"
    draft.components[owner].append(Component(name=part, type="GpuCluster", parent=owner))
    network = Network(
        name=f"{part}-cluster", project=draft.project(owner), network_type="vlan", physical_network="data-1",
        segmentation_id=vlan,
    )  # fmt: skip
    draft.add(owner, network.name, network, component=part)
    host = f"node-{part}"
    port = draft.gpu_node(host, "leaf-1", node)
    order = SwitchPort(switch="leaf-1", port=port, device=host, interface="e0", vlan=vlan)
    draft.add(owner, f"{part}-switch-port", order, component=part)
    whole = BareMetalServer(
        name=f"{part}-node", project=draft.project(owner), node=host, image="site:Image/poplar", ports=()
    )
    draft.add(owner, whole.name, whole, component=part)
    if key:
        members = tuple(PartitionMember(guid=guid, membership="full") for guid in guids)
        draft.add(owner, f"{part}-key", PartitionKey(infiniband="ib", key=key, members=members), component=part)


def a_cluster_each() -> Draft:
    """Nodes, VLANs and keys of their own."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, key=0x0010)
    _cluster(draft, G, "train", 1102, GLOBEXS, GLOBEXS, key=0x0011)
    return draft


def port_of_anothers_node() -> Draft:
    """globex has the node without InfiniBand: no key of its own names the port."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, GLOBEXS, key=0x0010)
    _cluster(draft, G, "train", 1102, GLOBEXS)
    return draft


def port_of_an_idle_node() -> Draft:
    """Nobody has the node, so it is the operator's."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, IDLE, key=0x0010)
    draft.gpu_node("node-idle", "leaf-1", IDLE)
    return draft


def key_of_two_clusters() -> Draft:
    """Both are acme's."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, key=0x0010)
    _cluster(draft, A, "serve", 1103, OTHER, OTHER, key=0x0010)
    return draft


def clusters_that_may_meet() -> Draft:
    """The same, and acme's request says `separate: no`."""
    draft = key_of_two_clusters()
    draft.one_owner.add(A)
    return draft


def vlan_of_two_clusters() -> Draft:
    """Keys of their own, and one VLAN in band."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, key=0x0010)
    _cluster(draft, A, "serve", 1101, OTHER, OTHER, key=0x0012)
    return draft


def share_of_two_clusters(routes: bool | None = False) -> Draft:
    """Both mount one share, each at an address of its own of an appliance that does not route between these."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, key=0x0010)
    _cluster(draft, A, "serve", 1103, OTHER, OTHER, key=0x0012)
    return _share(draft, routes, f"{A}-train-cluster", f"{A}-serve-cluster")


def share_of_vpod_and_cluster(routes: bool | None = False) -> Draft:
    """The same of a vPOD and a cluster."""
    draft = _fabric()
    draft.vlan(A, f"{A}-a-storage", "data-1", 1102)
    _cluster(draft, A, "train", 1101, ACMES, ACMES, key=0x0010)
    return _share(draft, routes, f"{A}-a-storage", f"{A}-train-cluster")


def share_of_vpod_and_cluster_that_may_meet() -> Draft:
    """Whether the appliance routes from one address to another nobody states."""
    return share_of_vpod_and_cluster(routes=None)


def share_of_vpod_and_cluster_that_meet() -> Draft:
    """It does."""
    return share_of_vpod_and_cluster(routes=True)


def _share(draft: Draft, routes: bool | None, *networks: str) -> Draft:
    share = Share(name="data", project=draft.project(A), size_gib=1, share_type="site:ShareType/nfs")
    draft.add(A, f"{A}-data", share)
    for number, network in enumerate(networks):
        access = ShareAccess(
            project=draft.project(A), share=f"{A}-data", network=network,
            prefix=f"10.60.{number}.0/24", vip=f"10.60.{number}.2",
        )  # fmt: skip
        draft.add(A, f"{A}-data-access-{number}", access)
    draft.assumptions["A11"] = {"storage_rules_enforced": True, "bucket_rules_enforced": True}
    draft.sharing["appliance"]["no_routing_between_vips"] = None if routes is None else not routes
    return draft


def share_of_two_clusters_that_may_meet() -> Draft:
    """Whether the appliance routes from one address to another nobody states."""
    return share_of_two_clusters(routes=None)


def share_of_two_clusters_that_meet() -> Draft:
    """It does."""
    return share_of_two_clusters(routes=True)


def gpus_of_anothers_node() -> Draft:
    """acme has the node whole; a fabric manager was told that all its GPUs are globex's."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, key=0x0010)
    _gpus(draft, G, f"node-{A}-train")
    return draft


def gpus_of_ones_own_node() -> Draft:
    """The same, and they are acme's."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, key=0x0010)
    _gpus(draft, A, f"node-{A}-train")
    return draft


def _gpus(draft: Draft, owner: str, node: str) -> None:
    gpus = tuple(map(str, range(1, 9)))
    draft.add(owner, f"{owner}-gpus", NvlinkPartition(name="all", domain=node, partition=0, gpus=gpus))


def port_that_nobody_states() -> Draft:
    """acme's key has a GUID that no port of the site has, and a port of globex's node has none that is stated."""
    draft = _fabric()
    _cluster(draft, A, "train", 1101, ACMES, ACMES, IDLE, key=0x0010)
    _cluster(draft, G, "train", 1102, None)
    return draft


def _clients(draft: Draft, *, own: bool, how: str = "limited") -> Draft:
    """Two nodes that hear an appliance, by a key each or by the operator's. `how`: what acme's node is in its key."""
    filer = PartitionMember(guid=FILER, membership="full")
    servers = () if own else (FILER,)
    if not own:
        every = PartitionKey(infiniband="ib", key=0x0100, members=(filer,), index0=False, shared=True, servers=servers)
        draft.add(OP, "storage-key", every)
    for number, (owner, node) in enumerate(((A, ACMES), (G, GLOBEXS))):
        _cluster(draft, owner, "train", 1101 + number, node)
        client = PartitionMember.model_validate({"guid": node, "membership": how if owner == A else "limited"})
        part = PartitionKey(
            infiniband="ib", key=0x0020 + number if own else 0x0100, members=(filer, client) if own else (client,),
            index0=False, shared=not own, servers=servers,
        )  # fmt: skip
        draft.add(owner, f"{owner}-storage-key", part, component=f"{owner}-train")
    return draft


def _with_filer(**guards: bool | None) -> Draft:
    draft = _fabric()
    draft.declare(FILER, "object-store", **guards)
    return draft


def storage_by_own_keys() -> Draft:
    """The appliance is declared, and full in both keys."""
    return _clients(_with_filer(), own=True)


def storage_by_one_key() -> Draft:
    """It is full in the operator's key, which both tenants fill."""
    return _clients(_with_filer(), own=False)


def storage_that_nobody_declares() -> Draft:
    """In a key of each, and what passes through it nobody answers for."""
    return _clients(_fabric(), own=True)


def shared_storage_that_nobody_declares() -> Draft:
    """The same in one key."""
    return _clients(_fabric(), own=False)


def storage_that_may_forward() -> Draft:
    """One of its guards is not stated."""
    return _clients(_with_filer(no_routing_between_vips=None), own=True)


def client_that_is_full() -> Draft:
    """acme's node is full in acme's key, so what is in that key is one, and the appliance is in it."""
    return _clients(_with_filer(), own=True, how="full")


_MEET = ("ISO-02", "TOP-06")
_APART = ("ISO-02", "ISO-30", "TOP-06")
EXAMPLES = (
    Example("66a", "P", a_cluster_each, rules=(*_APART, "ISO-20", "ISO-29")),
    Example("66b", "V", port_of_anothers_node, rules=_APART),
    Example("66c", "V", port_of_an_idle_node, rules=_APART),
    Example("66d", "V", key_of_two_clusters, rules=_APART),
    Example("66e", "P", clusters_that_may_meet, rules=_APART),
    Example("66f", "V", vlan_of_two_clusters, rules=_APART),
    Example("66g", "N", port_that_nobody_states, rules=(*_APART, "ISO-29")),
    Example("66h", "P", share_of_two_clusters, rules=(*_APART, "AUTH-01")),
    Example("66i", "N", share_of_two_clusters_that_may_meet, rules=_APART),
    Example("66j", "V", share_of_two_clusters_that_meet, rules=_APART),
    Example("66k", "V", gpus_of_anothers_node, rules=("ISO-02", "ISO-22")),
    Example("66l", "P", gpus_of_ones_own_node, rules=("ISO-02", "ISO-22", "TOP-06")),
    Example("66w", "P", share_of_vpod_and_cluster, rules=(*_APART, "AUTH-01")),
    Example("66x", "N", share_of_vpod_and_cluster_that_may_meet, rules=_APART),
    Example("66y", "V", share_of_vpod_and_cluster_that_meet, rules=_APART),
    Example("67a", "P", storage_by_own_keys, rules=_MEET),
    Example("67b", "P", storage_by_one_key, rules=_MEET),
    Example("67c", "V", storage_that_nobody_declares, rules=_MEET),
    Example("67d", "V", shared_storage_that_nobody_declares, rules=_MEET),
    Example("67e", "N", storage_that_may_forward, rules=_MEET),
    Example("67f", "V", client_that_is_full, rules=_MEET),
)
