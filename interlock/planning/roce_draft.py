"""The claims of a GPU cluster's RoCE network while they are collected: a VLAN of one leaf group, and its subnet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from interlock.model.lock.record import ClusterAllocation
from interlock.model.site.leaf_groups import ethernet_rails, rails_on
from interlock.model.tenant.request import Cluster
from interlock.vocabulary import CLAIMS_OF, NetworkRole, Vlan

from .addresses import most_railed_nodes
from .allocation_state import AllocationState
from .cluster_numbers import number_nodes
from .errors import AllocationError, NeedsMove, PlanningError
from .identifiers import choose_subnet, choose_vlan, free_vlans, no_vlan

_ROCE = CLAIMS_OF[NetworkRole.ROCE]
#: What another VLAN of its RoCE network costs.
ITS_ROCE_NETWORK = "its RoCE network, and with that the ports of its nodes there"


@dataclass
class RoceDraft:
    """First `keep`, then `complete` once it is known which nodes the cluster has; of a cluster without RoCE nothing."""

    allocated: AllocationState
    cluster: Cluster
    before: ClusterAllocation | None
    #: Takes a claim (field, value) that the cluster did not have before.
    take: Callable[[str, str], None]
    network: str | None = None
    vlan: int | None = None
    subnet: str | None = None

    @property
    def is_asked(self) -> bool:
        """True if the cluster is to have a RoCE network."""
        return self.cluster.fabric == "roce"

    @property
    def network_before(self) -> str | None:
        """The leaf group that it is on."""
        return self.before.roce_network if self.before is not None else None

    def keep(self) -> None:
        """Claim what the previous lock holds: addresses stay, whatever else changes."""
        if self.before is not None and self.is_asked:
            self.subnet = self.before.roce_subnet

    def keep_released(self) -> None:
        """What a cluster without nodes keeps: all of it."""
        before = self.before
        if before is not None:
            self.network, self.vlan, self.subnet = before.roce_network, before.roce_vlan, before.roce_subnet

    def reaches(self, nodes: Iterable[str]) -> bool:
        """True if these nodes have all their rails on the leaf group that it is on, or none is asked for."""
        if not self.is_asked:
            return True
        site, network = self.allocated.site, self.network_before
        known = [site.gpu_node[name] for name in nodes if name in site.gpu_node]
        return network is not None and all(rails_on(site, node, network) for node in known)

    def check_stays(self, nodes: Iterable[str]) -> None:
        """Raises NeedsMove of a cluster whose nodes are cabled to another leaf group by now."""
        if self.network_before is None or self.reaches(nodes):
            return
        name = self.cluster.name
        what = (
            f"cluster {name} has its RoCE network on {self.network_before}, and not all rails of its nodes are stated "
            "there, each with MAC address and cable"
        )
        raise NeedsMove(name, what, "", ITS_ROCE_NETWORK)

    def lacks_vlan(self, leaf_group: str | None) -> AllocationError | None:
        """What it lacks on a leaf group."""
        if (
            leaf_group is None
            or leaf_group == self.network_before
            or free_vlans(self.allocated, _ROCE.vlan, leaf_group)
        ):
            return None
        return no_vlan(self.allocated, _ROCE.vlan, leaf_group)

    def complete(self, leaf_group: str | None, nodes: Sequence[str]) -> None:
        """Claim whatever is still missing, for these nodes. `leaf_group`: where they are; None: where it was."""
        if not self.is_asked:
            return
        self.network = leaf_group or self.network_before
        if self.network is None:
            raise RuntimeError(f"cluster {self.cluster.name} has no leaf group")
        stays = self.before is not None and self.before.roce_network == self.network
        self.vlan = self.before.roce_vlan if stays and self.before else None
        if self.vlan is None:
            self.vlan = choose_vlan(self.allocated, _ROCE.vlan, self.network)
        self.take(_ROCE.vlan, str(Vlan(self.network, self.vlan)))
        if self.subnet is None:
            self.subnet = choose_subnet(self.allocated, _ROCE.subnet)
        # A node that stays keeps its number, and with it its place in the subnet, whoever left below it.
        before = self.before.numbered if self.before is not None else {}
        count = max(number_nodes(before, nodes, len(nodes)), default=-1) + 1
        if count > self.most_nodes():
            raise self._no_addresses(self.subnet, len(nodes), count)
        self.take(_ROCE.subnet, self.subnet)

    def most_nodes(self) -> int:
        """Nodes that its subnet has addresses for."""
        if self.subnet is None:
            raise RuntimeError(f"cluster {self.cluster.name} has no RoCE subnet")
        return most_railed_nodes(IPv4Network(self.subnet).prefixlen, ethernet_rails(self.cluster.node_type))

    def fields(self) -> dict[str, Any]:
        """The claims as a lock records them; none where there is no RoCE network."""
        return {_ROCE.network: self.network, _ROCE.vlan: self.vlan, _ROCE.subnet: self.subnet}

    def _no_addresses(self, subnet: str, nodes: int, count: int) -> PlanningError:
        """`count`: what its nodes need addresses for, more than their number where one with a low number left."""
        most, rails = self.most_nodes(), ethernet_rails(self.cluster.node_type)
        places = "1 node" if most == 1 else f"{most} nodes"
        needed = f"not {count}" if nodes == count else f"and one of its nodes is number {count - 1}, from 0"
        what = f"cluster {self.cluster.name}: its RoCE subnet {subnet} has addresses for {places} of {rails} rails"
        hints = [f"ask for {most} at most, or for another cluster beside it"] if most and nodes == count else []
        if self.before is None or self.before.roce_subnet is None:
            wide = next(length for length in range(32, 0, -1) if most_railed_nodes(length, rails) >= count)
            hints.append(f"let the site's pool `roce` cut larger subnets, /{wide} for so many")
        hint = "; or ".join(hints or ["ask for another cluster"])
        return PlanningError(f"{what}, {needed}", hint, ("clusters", self.cluster.name, "nodes"))
