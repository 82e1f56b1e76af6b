"""Edges that switches, cables and hosts make, whatever any plan says, with those that guards keep away."""

from __future__ import annotations

from functools import cached_property

from . import names
from .ground import OPERATOR, OUTSIDE, STRANGERS, Ground, Json
from .inventory import Inventory
from .ports import End

#: What an overlay may be encapsulated in.
_ENCAPSULATIONS = ("vxlan", "geneve")


class Wires:
    """The site's part. The plans are read already: which VLANs matter follows from them as well."""

    def __init__(self, inventory: Inventory, ground: Ground) -> None:
        self.inventory = inventory
        self.ground = ground
        self.ports = inventory.ports

    def derive(self) -> None:
        """All of it."""
        for a, b in self.inventory.links:
            if not (self.ports.port(a).known and self.ports.port(b).known):
                # An end that the site does not configure may join all VLANs of both.
                every = [*self.inventory.everywhere(a[0]), *self.inventory.everywhere(b[0])]
                self.ground.join("E2", self._port(a), every)
            self._link(a, b)
            self._link(b, a)
        self._open_ports()
        self._external()
        self._uplinks()
        self._devices()
        self._whole_hosts()
        for name, switch in self.inventory.switches.items():
            self._routing(name, switch)
        self._overlays()
        self._machines()
        self._labels()

    def _link(self, a: End, b: End) -> None:
        """One direction of a cable between two switches."""
        join, near, far = self.ground.join, self.ports.port(a), self.ports.port(b)
        for tag in self.inventory.vlans:
            for vlan in near.inside(tag):
                join("E1", self._met(a, vlan), [self._met(b, other) for other in far.inside(tag)])
        natives = [self._met(b, vlan) for vlan in far.untagged]
        for native in near.untagged:
            join("E2", self._met(a, native), natives)
        if near.routed:
            self._at_routed(a, b, natives)

    def _met(self, end: End, vlan: int) -> str:
        return self.inventory.met_by(end, vlan)

    def _port(self, end: End) -> str:
        return names.switch_port(self.inventory.serial[end[0]], end[1])

    def _at_routed(self, a: End, b: End, natives: list[str]) -> None:
        """What sends untagged frames at the other end of its cable meets a port with an address."""
        self.ground.join("E10", self._port(a), [self._port(b)] if self.ports.port(b).routed else natives)

    def _open_ports(self) -> None:
        """Virtual functions and hosts that nothing holds to a VLAN, and ports of which nobody states where they are."""
        premises = self.ground.premises
        for port, bridges in premises.open_ports.items():
            for bridge in bridges:
                every = (0, *self.inventory.vlans)
                self.ground.join("E5", port, [self.inventory.at_host(bridge, vlan) for vlan in every])
        for port, host, network in premises.unplaced:
            own = [end[0] for _, end in self.inventory.ends_of.get(host, ())]
            for switch in {*self.inventory.switches_of(network), *own}:
                self.ground.join("E7", port, self.inventory.everywhere(switch))

    def _external(self) -> None:
        external = self.inventory.site["external"]
        network, vlan = external["physical_network"], external["vlan"]
        bridges = [bridge for host in self.inventory.hosts for bridge in self.inventory.bridges(host, network)]
        self.ground.join("E12", self.inventory.hub, [self.inventory.at_host(bridge, vlan or 0) for bridge in bridges])
        self.ground.join("E12", self.inventory.hub, self.inventory.segments(network, vlan) if vlan else [])

    def _uplinks(self) -> None:
        """What a port on a host's bridge sends with a tag, or with none, goes on to the switch."""
        used: dict[str, set[int]] = {}
        for node in self.ground.nodes():
            if (number := names.vlan_number(node)) is not None:
                used.setdefault(names.vlan_bridge(node), set()).add(number)
        for bridge, end in self.inventory.uplinks.items():
            for vlan in used.get(names.vlan_bridge(self.inventory.at_host(bridge, 0)), ()):
                self.ground.join("E4", self.inventory.at_host(bridge, vlan), self._above(end, vlan))
            self._kernel(bridge, end)

    def _above(self, end: End, vlan: int) -> list[str]:
        port = self.ports.port(end)
        found = [] if port.known else self.inventory.everywhere(end[0])
        if vlan == 0:
            found += [self._met(end, native) for native in port.untagged]
            return [*found, self._port(end)] if port.routed else found
        return found + [self._met(end, inner) for inner in port.inside(vlan)]

    def _kernel(self, bridge: tuple[str, str], end: End) -> None:
        """A host's kernel hears what its port sends untagged, but where a flat external network has the interface."""
        external, port = self.inventory.site["external"], self.ports.port(end)
        if not external["vlan"] and bridge in self.inventory.bridges(bridge[0], external["physical_network"]):
            return
        node = names.part(self.inventory.serial[bridge[0]], bridge[1])
        self.ground.join("E4", node, [self._met(end, native) for native in port.untagged])
        self.ground.join("E4", node, [] if port.known else self.inventory.everywhere(end[0]))

    def _devices(self) -> None:
        """Whatever else is cabled to a switch sends any frame that its port takes."""
        bridged = {*self.inventory.uplinks.values()}
        for plug, end in self.inventory.behind.items():
            if end in bridged or self.inventory.shared_at(plug):
                continue
            port = self._port(end)
            self.ground.join("E9", port, self.inventory.parts(*plug))
            self.ground.join("E5", port, [] if self.ports.port(end).known else self.inventory.everywhere(end[0]))
            self.ground.join("E5", port, [self._met(end, vlan) for vlan in self.inventory.carried(end)])

    def _whole_hosts(self) -> None:
        """Whoever runs a host that is given out whole forwards between its interfaces, and may reach its BMC."""
        in_band, inventory = self.ground.assumed("A13"), self.inventory
        for host in filter(inventory.is_whole, inventory.hosts):
            first, bmc = inventory.interfaces(host)[:1], inventory.bmc(host)
            doubtful = [names.part(inventory.serial[host], plug) for plug in inventory.doubtful(host)]
            for node in first:
                self.ground.join("E9", node, [*inventory.interfaces(host)[1:], *doubtful])
            self.ground.join("E9", bmc, doubtful)
            for node in inventory.interfaces(host):
                self.ground.join_unless(in_band, "E14", node, [bmc])
        for host in inventory.hosts:
            if not inventory.is_whole(host):
                for node in inventory.lent(host)[:1]:
                    self.ground.join("E9", node, inventory.lent(host)[1:])
        for server, host in self.ground.premises.whole:
            if host in inventory.hosts:
                plugs = [names.part(inventory.serial[host], plug) for plug in inventory.doubtful(host)]
                self.ground.join("E9", server, plugs)
                self.ground.join_unless(in_band, "E14", server, [inventory.bmc(host)])

    def _routing(self, name: str, switch: Json) -> None:
        """Routing instances that are not declared, and the addresses of one that does not route."""
        inventory, serial = self.inventory, switch["serial"]
        for known_as, node, vlans in instances(inventory, switch):
            if known_as not in inventory.shared:
                self.ground.join("E10", node, [inventory.segment(name, vlan) for vlan in vlans])
        for end in self.ports.records:
            if end[0] == name and end in self._cabled_ports and self.ports.port(end).routed:
                is_routing = switch["ip_routing"] is not False
                self.ground.join("E10", names.instance(serial), [self._port(end)] if is_routing else [])
        self.ground.labels[names.instance(serial)].add(OPERATOR)
        for item in switch["vrfs"]:
            self.ground.labels[names.instance(serial, item["name"])].add(OPERATOR)
        for item in switch["vteps"]:
            kinds = (item["encapsulation"],) if item["encapsulation"] else _ENCAPSULATIONS
            overlays = [names.overlay(item["underlay"], kind, item["vni"]) for kind in kinds]
            self.ground.join("E3", inventory.segment(name, item["vlan"]), overlays)

    @cached_property
    def _cabled_ports(self) -> set[End]:
        return {*self.inventory.behind.values()}.union(*self.inventory.links)

    def _overlays(self) -> None:
        """Neutron's overlays are one with what else runs over their underlay."""
        cloud = self.inventory.site["cloud"]
        own = names.overlay(cloud, "vxlan", 0).rpartition("0")[0]
        used = {node.removeprefix(own) for node in self.ground.nodes() if node.startswith(own)}
        for underlay in self.inventory.site["underlays"]:
            if underlay["neutron"] is not False and underlay["name"] != cloud:
                for number in map(int, used):
                    other = names.overlay(underlay["name"], "vxlan", number)
                    self.ground.join("E3", names.overlay(cloud, "vxlan", number), [other])

    def _machines(self) -> None:
        for name in self.inventory.machines:
            serial = self.inventory.serial[name]
            rnic, gateway, bmc = (names.part(serial, part) for part in ("rnic", "gw", "bmc"))
            self.ground.join_unless(self.ground.assumed("A3"), "E15", gateway, [rnic, bmc])
        for item in self.inventory.site["cables"]:
            ends = [item[end]["device"] for end in "ab"]
            if item["kind"] != "ethernet" and {*ends} <= self.inventory.machines.keys():
                a, b = (names.part(self.inventory.serial[name], "rnic") for name in ends)
                self.ground.join_unless(self.ground.assumed("A4"), "E16", a, [b])

    def _labels(self) -> None:
        """The operator's devices, but for what is lent: that is its borrower's; strangers, and the world outside."""
        inventory, labels = self.inventory, self.ground.labels
        for device, interface in inventory.behind:
            if inventory.is_whole(device) and interface in inventory.doubtful(device):
                continue
            for node in inventory.parts(device, interface):
                self._operators(node)
        for name in inventory.machines:
            for part in ("rnic", "gw", "bmc"):
                self._operators(names.part(inventory.serial[name], part))
        for host in inventory.hosts:
            labels[names.named("dev", inventory.serial[host])].add(OPERATOR)
            labels[inventory.bmc(host)].add(OPERATOR)
            for port in inventory.infiniband_ports(host):
                self._operators(port)
            for part in [] if inventory.is_whole(host) else inventory.lent(host):
                self._operators(part)
        cloud = inventory.site["cloud"]
        for kind, named in (("cap", OPERATOR), ("cloud", cloud), ("shares", cloud)):
            labels[names.named(kind, named)].add(OPERATOR)
        labels[inventory.strangers].add(STRANGERS)
        labels[inventory.hub].add(OUTSIDE)

    def _operators(self, node: str) -> None:
        if node in self.inventory.lendable:
            self.ground.lent.add(node)
        else:
            self.ground.labels[node].add(OPERATOR)


def instances(inventory: Inventory, switch: Json) -> list[tuple[str, str, list[int]]]:
    """(name, node, VLANs) of each routing instance of a switch that routes, or may."""
    found, stated = [], switch["routed_vlans"]
    if switch["ip_routing"] is not False and stated != []:
        vlans = inventory.vlans if stated is None else stated
        found.append((switch["name"], names.instance(switch["serial"]), vlans))
    for item in switch["vrfs"]:
        known_as = names.declared_as(switch["name"], item["name"])
        found.append((known_as, names.instance(switch["serial"], item["name"]), item["vlans"]))
    return found
