"""The claims of one GPU cluster while they are collected; what is set is taken for everybody else at once.

Nodes that a cluster has it keeps: growing adds to them, shrinking gives up those that the request names, then the last.
Others it gets only where a move was asked for, where pins say so, or in the place of one that it is not to have. One
that is released keeps its network and P_Keys, and remembers its nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Network

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.gpu import GpuHost
from interlock.model.tenant.request import Cluster, Pins
from interlock.vocabulary import CLAIMS_OF, Claimant, NetworkRole, SubnetKey, Vlan

from .addresses import MOST_HEADS, head_address, most_nodes
from .allocation_state import AllocationState
from .claims import PARTITION_KEYS, Claim, claimed_values
from .cluster_errors import ALL_NODES, ITS_NETWORK, free_nodes, no_addresses, no_guid, no_key, no_nodes, no_such_nodes
from .cluster_numbers import number_nodes, written_numbers
from .cluster_pins import check_pins, pinned_apart
from .errors import AllocationError, NeedsMove, PlanningError
from .head_hosts import HeadWish, take_heads
from .identifiers import choose_storage_vip, choose_subnet, choose_vlan, free_vlans, no_vlan
from .node_choice import choose_nodes, spread
from .node_groups import NodeGroup, keyed_subnets, networks_of, node_groups, spots_of
from .roce_draft import RoceDraft

_NETWORK = CLAIMS_OF[NetworkRole.CLUSTER]
#: How good a place is: units, racks, nodes that are free there besides, and which of the site's groups it is.
_Rank = tuple[int, int, int, int]


@dataclass
class ClusterDraft:
    """One cluster: first `keep`, for all clusters and vPODs of a tenant, then `complete`."""

    allocated: AllocationState
    tenant: str
    cluster: Cluster
    pins: Pins
    before: ClusterAllocation | None
    may_move: bool
    #: True if the cluster mounts a share.
    has_share: bool = False
    nodes: tuple[str, ...] = ()
    network: str = ""
    vlan: int | None = None
    subnet: str | None = None
    keys: dict[str, int] = field(default_factory=dict)
    vip: str | None = None
    heads: tuple[str, ...] = ()
    #: Where its nodes were found to have their rails; None: where they had them.
    leaf_group: str | None = None

    def keep(self) -> None:
        """Claim what is not up to us: nodes that are pinned, and what the previous lock holds."""
        if self.before is not None:
            self.subnet = self.before.cluster_subnet
        self._roce.keep()
        if self.is_released:
            return
        if self.pins.hosts is not None:
            check_pins(self.allocated, self.cluster, self.pins, self.before)
            self._take_nodes(self.pins.hosts)
        elif self.before is not None and self.before.former:
            self._take_nodes(self._former_again(self.before.former))
        elif self.before is not None and self._stays:
            wanted = [node for node in self.before.hosts if node not in self.cluster.without]
            self._take_nodes(wanted[: self.cluster.nodes])

    def complete(self) -> None:
        """Claim whatever is still missing."""
        if self.is_released:
            self._complete_released()
            return
        missing = self.cluster.nodes - len(self.nodes)
        if missing > 0 or not (self._reaches(self.network_before) and self._roce.reaches(self.nodes)):
            self._check_network()
            self._place(missing)
        else:
            self.network = self.network_before or ""
        self._complete_ids()
        wish = HeadWish(self.holder, self.cluster, self.pins.heads, self.before, self.network, self.may_move)
        self.heads = take_heads(self.allocated, wish)

    def finished(self) -> ClusterAllocation:
        """The claims as a lock records them."""
        if self.vlan is None or self.subnet is None:
            raise RuntimeError(f"{self.holder} is not complete")
        most = most_nodes(IPv4Network(self.subnet).prefixlen)
        if self.nodes and self._roce.subnet is not None:
            most = min(most, self._roce.most_nodes())
        numbered = number_nodes(self.before.numbered if self.before else {}, self.nodes, most)
        return ClusterAllocation(
            hosts=tuple(numbered.values()),
            numbers=written_numbers(tuple(numbered)),
            cluster_network=self.network,
            cluster_vlan=self.vlan,
            cluster_subnet=self.subnet,
            **self._roce.fields(),
            partition_keys=dict(sorted(self.keys.items())),
            storage_vip=self.vip,
            heads=self.heads,
            head_flavor=self.cluster.heads.flavor if self.heads and self.cluster.heads is not None else "",
            former=self._to_remember,
        )

    @property
    def asked(self) -> tuple[str, str]:
        """Section and name of the cluster in its request."""
        return "clusters", self.cluster.name

    @property
    def is_released(self) -> bool:
        """True if it is to have no nodes for now."""
        return self.cluster.state == "released"

    @property
    def holder(self) -> Claimant:
        """Who holds its claims."""
        return Claimant(self.tenant, self.cluster.name)

    @property
    def network_before(self) -> str | None:
        """The physical network that it is on."""
        return self.before.cluster_network if self.before else None

    @cached_property
    def _held(self) -> frozenset[tuple[str, str]]:
        """What the previous lock holds: it is taken already."""
        return frozenset(claimed_values(self.before)) if self.before else frozenset()

    @cached_property
    def _groups(self) -> tuple[NodeGroup, ...]:
        return node_groups(self.allocated.site, self.cluster)

    @cached_property
    def _roce(self) -> RoceDraft:
        return RoceDraft(self.allocated, self.cluster, self.before, self._take)

    @property
    def _to_remember(self) -> tuple[str, ...]:
        if self.before is None or not self.is_released:
            return ()
        return self.before.hosts or self.before.former

    def _former_again(self, former: tuple[str, ...]) -> tuple[str, ...]:
        """The nodes that it had before it was released, if it can have so many of them again; else none of them."""
        wanted = [node for node in former if node not in self.cluster.without][: self.cluster.nodes]
        free = {
            name
            for group in self._around(tuple(wanted))
            for name in free_nodes(self.allocated, group, self.cluster.without)
        }
        return tuple(wanted) if set(wanted) <= free else ()

    def _complete_released(self) -> None:
        """What it keeps without nodes: network, subnet and P_Keys, so that it comes back as it was."""
        before, name = self.before, self.cluster.name
        if before is None:
            what = f"cluster {name} is to be released, and it has nothing yet"
            raise PlanningError(what, "take it out of the request, or say `state: present`", (*self.asked, "state"))
        self.network, self.vlan, self.subnet = before.cluster_network, before.cluster_vlan, before.cluster_subnet
        self.keys = dict(before.partition_keys)
        self._roce.keep_released()
        self.vip = before.storage_vip if self.has_share else None

    @property
    def _stays(self) -> bool:
        """False if its nodes are not what it asks for, so that it gets others. Raises NeedsMove if it must not."""
        known = [self._known[name] for name in (self.before.hosts if self.before else ()) if name in self._known]
        other = next((found for node in known if (found := self._unlike(node)) is not None), None)
        if other is None:
            return True
        if not self.may_move:
            key, what, instead = other
            raise NeedsMove(self.cluster.name, what, instead, ALL_NODES, (*self.asked, key))
        return False

    def _unlike(self, node: GpuHost) -> tuple[str, str, str] | None:
        """Which key asks, for what, and what a node is instead; None of one that is as asked for."""
        cluster, host = self.cluster, self.allocated.site.host.get(node.name)
        if node.node_type != cluster.node_type:
            what = f"cluster {cluster.name} asks for {cluster.node_type} nodes and has others"
            return "type", what, f"{node.name} is a {node.node_type}"
        if host is not None and host.provisioning != cluster.provisioning:
            what = f"cluster {cluster.name} asks for nodes of the kind {cluster.kind} and has others"
            return "kind", what, f"{node.name} is given out as {host.provisioning}"
        return None

    @property
    def _known(self) -> dict[str, GpuHost]:
        return self.allocated.site.gpu_node

    def _reaches(self, network: str | None) -> bool:
        """True if all nodes have an interface on a network; what the site does not list is the gate's to judge."""
        hosts = [self.allocated.site.host[name] for name in self.nodes if name in self.allocated.site.host]
        return network is not None and all(network in networks_of(self.allocated.site, host) for host in hosts)

    def _check_network(self) -> None:
        """A cluster whose nodes are cabled elsewhere by now gets another network only if a move was asked for."""
        stays = self.before is None or self.may_move or self.pins.hosts is not None or not self.nodes
        if stays or self._reaches(self.network_before):
            if not stays:
                self._roce.check_stays(self.nodes)
            return
        what = f"cluster {self.cluster.name} is on {self.network_before}, and not all its nodes have an interface there"
        raise NeedsMove(self.cluster.name, what, "", ITS_NETWORK)

    def _place(self, missing: int) -> None:
        """The nodes that are missing, and the network that all are on: beside what it has, or all of them elsewhere."""
        found = self._best(missing, self.nodes)
        if found is None and self.nodes and self.pins.hosts is None:
            if not self.may_move:
                groups = self._around(self.nodes) or self._groups
                error = no_nodes(self.allocated, self.cluster, groups, self.nodes)
                closest = error.closest if isinstance(error, AllocationError) else error.what
                cannot = f"grow to {self.cluster.nodes} nodes" if missing > 0 else f"have `{self.cluster.fabric}`"
                key = "nodes" if missing > 0 else "fabric"
                what = f"cluster {self.cluster.name} cannot {cannot} where it is"
                raise NeedsMove(self.cluster.name, what, closest, ALL_NODES, (*self.asked, key))
            # Its own nodes stay in reach: what is left of it in the new place is no other node.
            self.nodes = ()
            found = self._best(self.cluster.nodes, ())
        if found is None:
            raise self._refusal()
        group, names = found
        self.network, self.leaf_group = group.network, group.leaf_group
        self._take_nodes(names)

    def _best(self, missing: int, kept: tuple[str, ...]) -> tuple[NodeGroup, tuple[str, ...]] | None:
        """The group with the best place, and the nodes that are added there."""
        site, best, found = self.allocated.site, None, None
        held = spots_of(site, kept)
        mine = set((self.before.hosts or self.before.former) if self.before else ()) - set(kept)
        for number, group in enumerate(self._around(kept)):
            free = {*free_nodes(self.allocated, group, self.cluster.without), *self._own_again(group, mine)}
            chosen = choose_nodes((spot for spot in group.spots if spot.name in free), missing, held)
            if chosen is None or self._lacks_ids(group) is not None:
                continue
            rank: _Rank = (*spread((*held, *chosen)), len(free), number)
            if best is None or rank < best:
                best, found = rank, (group, tuple(spot.name for spot in chosen))
        return found

    def _own_again(self, group: NodeGroup, mine: set[str]) -> Iterable[str]:
        """Its own nodes, where all are chosen anew: those in service, and nobody else's."""
        for spot in group.spots:
            claims = self.allocated.hosts.servers.get(spot.name, [])
            only_mine = all(claim.holder == self.holder for claim in claims)
            in_service = self.allocated.site.host[spot.name].in_service and spot.name not in self.cluster.without
            if spot.name in mine and not self.nodes and only_mine and in_service:
                yield spot.name

    def _around(self, kept: tuple[str, ...]) -> tuple[NodeGroup, ...]:
        """The groups that all these nodes are in, the networks that the cluster is on first."""
        known = {name for name in kept if name in self._known}
        groups = [group for group in self._groups if known <= {spot.name for spot in group.spots}]
        was = (self.network_before, self._roce.network_before)
        return tuple(sorted(groups, key=lambda group: (group.network != was[0], group.leaf_group != was[1])))

    def _lacks_ids(self, group: NodeGroup) -> AllocationError | None:
        """What the cluster lacks in a group besides nodes."""
        if group.network != self.network_before and not free_vlans(self.allocated, _NETWORK.vlan, group.network):
            return no_vlan(self.allocated, _NETWORK.vlan, group.network)
        for subnet in group.subnets:
            if subnet not in self._keys_before and self._lowest_key(subnet) is None:
                return no_key(self.allocated, self.cluster.name, subnet)
        return self._roce.lacks_vlan(group.leaf_group)

    def _refusal(self) -> PlanningError:
        """Why there is no place."""
        if not any(node.node_type == self.cluster.node_type for node in self._known.values()):
            return no_such_nodes(self.allocated.site, self.cluster)
        for group in self._around(self.nodes):
            lacking = self._lacks_ids(group)
            free = free_nodes(self.allocated, group, self.cluster.without)
            if len(free) >= self.cluster.nodes - len(self.nodes) and lacking:
                return lacking
        if self.pins.hosts is not None:
            return pinned_apart(self.cluster)
        own = self.nodes or (self.before.hosts if self.before else ())
        return no_nodes(self.allocated, self.cluster, self._groups, own)

    @property
    def _keys_before(self) -> dict[str, int]:
        return self.before.partition_keys if self.before else {}

    def _lowest_key(self, subnet: str) -> int | None:
        pool = self.allocated.partition_keys.get(subnet)
        return pool.lowest() if pool else None

    def _complete_ids(self) -> None:
        before = self.before
        if before is not None and before.cluster_network == self.network:
            self.vlan = before.cluster_vlan
        else:
            self.vlan = choose_vlan(self.allocated, _NETWORK.vlan, self.network)
        self._take(_NETWORK.vlan, str(Vlan(self.network, self.vlan)))
        if self.subnet is None:
            self.subnet = choose_subnet(self.allocated, _NETWORK.subnet)
        if len(self.nodes) > most_nodes(IPv4Network(self.subnet).prefixlen):
            raise no_addresses(self.cluster, self.subnet, is_new=before is None)
        self._take(_NETWORK.subnet, self.subnet)
        self._roce.complete(self.leaf_group, self.nodes)
        for subnet in self._subnets():
            key = self._keys_before.get(subnet) or self._lowest_key(subnet)
            if key is None:
                raise no_key(self.allocated, self.cluster.name, subnet)
            self.keys[subnet] = key
            self._take(PARTITION_KEYS, str(SubnetKey(subnet, key)))
        if self.has_share:
            self.vip = (self.before.storage_vip if self.before else None) or self._new_vip(self.subnet)
            self._take("storage_vip", self.vip)

    def _new_vip(self, subnet: str) -> str:
        # Whether it has heads today or not: an address that a head may have is no appliance's.
        heads = [head_address(subnet, index) for index in range(MOST_HEADS)]
        return choose_storage_vip(self.allocated, f"cluster {self.cluster.name}", subnet, heads)

    def _subnets(self) -> list[str]:
        """InfiniBand subnets on which it has a P_Key of its own."""
        found = set[str]()
        for node in (self._known[name] for name in self.nodes if name in self._known):
            subnets = keyed_subnets(self.allocated.site, node, self.cluster)
            if subnets is None:
                raise no_guid(self.cluster, node)
            found.update(subnets)
        return sorted(found)

    def _take_nodes(self, names: Iterable[str]) -> None:
        for name in names:
            self.nodes = (*self.nodes, name)
            self._take("hosts", name)

    def _take(self, claim: str, value: str) -> None:
        """Take a claim that the cluster did not have before."""
        if (claim, value) not in self._held:
            self.allocated.add(Claim(claim, value, self.holder))
