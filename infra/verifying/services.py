"""Rows A16 to A22 and A24: what the operator runs for everybody, and switches that take VLANs from devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import names, references
from .ground import OPERATOR, Ground
from .inventory import Inventory
from .unlisted import hands_out_devices

#: What devices ask a switch for is nobody's: the row joins those that ask.
_OF_DEVICES = ("A22",)


class Services:
    """What plans have on each of them. `named`: the nodes that plans name."""

    def __init__(self, inventory: Inventory, ground: Ground, named: set[str]) -> None:
        self.inventory = inventory
        self.ground = ground
        self.named = named

    def derive(self) -> None:
        """All of it; the plans are read, and VLANs numbered."""
        premises, cloud = self.ground.premises, self.inventory.site["cloud"]
        guests = [server for server, _, _ in premises.guests]
        gateways = [router for router, reference, _, _ in premises.gateways if reference == references.EXTERNAL]
        for row, service, nodes in (
            ("A16", "load-balancers", premises.capabilities), ("A18", "network-nodes", premises.claims),
            ("A19", "migration-and-consoles", guests), ("A20", "back-end-storage", guests),
            ("A21", "behind-external", gateways), ("A24", "bmc-access", self._managed()),
        ):  # fmt: skip
            self._join(row, nodes, cloud, service)
        self._overlays()
        for name, nodes in self._talking().items():
            self._join("A22", nodes, self.inventory.serial[name], "vlan-protocols")

    def _join(self, row: str, nodes: Iterable[str], place: str, service: str) -> None:
        met, guards = names.named("ops", place, service), self.ground.assumed(row)
        for node in nodes:
            self.ground.join_unless(guards, row, node, [met])
            if row not in _OF_DEVICES:
                self.ground.labels[met].add(OPERATOR)

    def _managed(self) -> Iterator[str]:
        """What tenants run on the board of a BMC, as far as plans name it."""
        inventory = self.inventory
        yield from ({names.part(inventory.serial[name], "rnic") for name in inventory.machines} & self.named)
        for host in filter(inventory.is_whole, inventory.hosts):
            yield from ({*inventory.interfaces(host)} & self.named)
        yield from (server for server, host in self.ground.premises.whole if host in inventory.hosts)

    def _overlays(self) -> None:
        """Whoever sends to an endpoint is on every overlay that runs over the same wire."""
        for node in self.named:
            if (underlay := names.underlay_of(node)) is not None:
                met = names.identity("ops", underlay, "underlay")
                self.ground.join_unless(self.ground.assumed("A17"), "A17", node, [met])
                self.ground.labels[met].add(OPERATOR)
        for name, switch in self.inventory.switches.items():
            for item in switch["vteps"]:
                self._join("A17", [self.inventory.segment(name, item["vlan"])], item["underlay"], "underlay")

    def _talking(self) -> dict[str, set[str]]:
        """Switch -> what sends it frames of its own making, and the VLANs that this may ask for."""
        found: dict[str, set[str]] = {}
        for switch, node in self._speakers():
            found.setdefault(switch, set()).add(node)
        bridges = {names.vlan_bridge(self.inventory.segment(name, 0)): name for name in found}
        for node in self.named:
            name = bridges.get(names.vlan_bridge(node)) if names.vlan_number(node) is not None else None
            if name is not None:
                found[name].add(node)
        if not self.ground.holds("A22"):
            for name in found:
                found[name] |= {*self.inventory.everywhere(name)}
        return found

    def _speakers(self) -> Iterator[tuple[str, str]]:
        inventory, bridged = self.inventory, {*self.inventory.uplinks.values()}
        for plug, end in inventory.behind.items():
            device, interface = plug
            is_lent = not inventory.lendable.isdisjoint(inventory.parts(*plug))
            is_lent |= inventory.is_whole(device) and interface in inventory.doubtful(device)
            if is_lent and end not in bridged and not inventory.shared_at(plug):
                yield end[0], names.switch_port(inventory.serial[end[0]], end[1])
        for node, bridges in self.ground.premises.open_ports.items():
            ends = (inventory.uplinks[bridge] for bridge in bridges if bridge in inventory.uplinks)
            yield from ((end[0], node) for end in ends)
        for server, host in self.ground.premises.whole:
            own = {*inventory.interfaces(host)}
            for plug_name, end in inventory.ends_of.get(host, ()):
                if names.part(inventory.serial[host], plug_name) in own:
                    yield end[0], server
        for server, host, flavor in self.ground.premises.guests:
            if hands_out_devices(inventory, flavor):
                yield from ((end[0], server) for _, end in inventory.ends_of.get(host, ()))
