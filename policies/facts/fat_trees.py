"""InfiniBand subnets of a site as their cables make them: which switch has how many links to which other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from interlock.model.site.gpu import FabricSwitch, FabricTier, GpuHost, HcaPort, HcaUse
from interlock.model.site.inventory import Cable, Endpoint, Site

#: Tier -> the one that its links upwards lead to.
ABOVE: dict[FabricTier, FabricTier] = {"leaf": "spine", "spine": "core"}


@dataclass(frozen=True)
class FabricTree:
    """The switches of one InfiniBand subnet, and the links between them and down to what hangs on them."""

    name: str
    switches: tuple[FabricSwitch, ...]
    #: (lower switch, upper switch) -> the number of cables between them.
    links: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Switch -> cables to nodes and appliances.
    hanging: Counter[str] = field(default_factory=Counter)
    #: Cables between two of its switches that are no neighbours in the tree.
    astray: list[Cable] = field(default_factory=list)

    def of_tier(self, tier: FabricTier) -> tuple[FabricSwitch, ...]:
        """Its switches of one tier."""
        return tuple(switch for switch in self.switches if switch.tier == tier)

    @cached_property
    def up(self) -> Counter[str]:
        """Switch -> cables to switches above it."""
        found = Counter[str]()
        for (lower, _), count in self.links.items():
            found[lower] += count
        return found

    @cached_property
    def down(self) -> Counter[str]:
        """Switch -> cables to whatever is below it."""
        found = Counter(self.hanging)
        for (_, upper), count in self.links.items():
            found[upper] += count
        return found

    @cached_property
    def reached(self) -> dict[str, frozenset[str]]:
        """Switch -> the switches above it that it has a cable to."""
        found: dict[str, set[str]] = {}
        for lower, upper in self.links:
            found.setdefault(lower, set()).add(upper)
        return {lower: frozenset(uppers) for lower, uppers in found.items()}


@dataclass(frozen=True)
class HcaEnd:
    """An InfiniBand port of a GPU node, and what its cable leads to; None: no cable is stated."""

    node: GpuHost
    port: HcaPort
    far: Endpoint | None

    @property
    def plug(self) -> Endpoint:
        """The port as cables name it."""
        return Endpoint(device=self.node.name, interface=self.port.name)


class InfinibandCabling:
    """The InfiniBand cables of a site, by subnet. Each table is made when it is first asked for."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.switch: dict[str, FabricSwitch] = {item.name: item for item in site.fabric_switches}

    @cached_property
    def cables(self) -> tuple[Cable, ...]:
        """All of the kind `infiniband`."""
        return tuple(cable for cable in self._site.cables if cable.kind == "infiniband")

    @cached_property
    def trees(self) -> dict[str, FabricTree]:
        """Subnet -> its switches and links; of subnets without a switch nothing is known."""
        of_subnet: dict[str, list[FabricSwitch]] = {}
        for item in self._site.fabric_switches:
            of_subnet.setdefault(item.infiniband, []).append(item)
        found = {name: FabricTree(name, tuple(switches)) for name, switches in of_subnet.items()}
        for cable in self.cables:
            a, b = self.switch.get(cable.a.device), self.switch.get(cable.b.device)
            if a is not None and b is not None:
                if a.infiniband == b.infiniband:
                    _add_link(found[a.infiniband], a, b, cable)
            elif (switch := a or b) is not None:
                found[switch.infiniband].hanging[switch.name] += 1
        return found

    @cached_property
    def ports(self) -> tuple[HcaEnd, ...]:
        """Every InfiniBand port of a GPU node, with the far end of its cable."""
        return tuple(self._ports())

    def _ports(self) -> Iterator[HcaEnd]:
        for node in self._site.gpu_nodes:
            for port in node.ports:
                yield HcaEnd(node, port, self._site.far_end(node.name, port.name))

    @cached_property
    def uses(self) -> dict[str, frozenset[HcaUse]]:
        """Subnet -> what the ports on it are for."""
        found: dict[str, set[HcaUse]] = {}
        for end in self.ports:
            found.setdefault(end.port.infiniband, set()).add(end.port.use)
        return {name: frozenset(uses) for name, uses in found.items()}


def _add_link(tree: FabricTree, a: FabricSwitch, b: FabricSwitch, cable: Cable) -> None:
    for lower, upper in ((a, b), (b, a)):
        if ABOVE.get(lower.tier) == upper.tier:
            tree.links[lower.name, upper.name] += 1
            return
    tree.astray.append(cable)
