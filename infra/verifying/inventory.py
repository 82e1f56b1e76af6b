"""The site's part: what cables, switch ports and hosts join, whatever any plan says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from .ground import Ground, assumed, escaped, identity, plug
from .services import join_talking

Json = dict[str, Any]
End = tuple[str, int]

#: Declared by kind, and looked for in plans: all other declarations name a device.
_PLANNED = ("external-network", "vipu-controller")
#: What a port in another mode does is not derived here.
_MODES = ("access", "trunk")


class Inventory:
    """A site in full form, with the access VLANs that plans ask for: switch and port -> VLANs."""

    def __init__(self, site: Json, asked: dict[End, set[int]], vlans: set[int], overlays: set[int]) -> None:
        self.site = site
        self.asked = asked
        self.overlays = overlays
        self.serial: dict[str, str] = {
            item["name"]: item["serial"] for kind in ("machines", "hosts", "switches") for item in site[kind]
        }
        self.machines = {item["name"] for item in site["machines"]}
        self.switches = {item["name"]: item for item in site["switches"]}
        self.hosts = {item["name"]: item for item in site["hosts"]}
        self._ports = {(item["name"], port["port"]): port for item in site["switches"] for port in item["ports"]}
        stated = {port["untagged"] for port in self._ports.values()} - {None}
        self._switches_of = {item["name"]: item["switches"] for item in site["physical_networks"]}
        #: The VLAN ids that somebody puts to use: all others go the ways of one of them, or nobody's.
        self.vlans = vlans | stated | {vlan for found in asked.values() for vlan in found}

    def segments(self, network: str | None, vlan: int) -> list[str]:
        """A VLAN on every switch of a physical network."""
        return [self.segment(name, vlan) for name in self._switches_of.get(network, ())]

    def segment(self, switch: str, vlan: int) -> str:
        """A VLAN of one switch."""
        return identity("L", escaped(self.serial[switch]), str(vlan))

    def bridges(self, host: str | None, network: str | None) -> list[tuple[str, str]]:
        """(host, interface) of a hypervisor on a physical network; each leg of a bond is one."""
        found = self.hosts.get(host or "")
        if found is None or found["provisioning"] != "hypervisor":
            return []
        return [(found["name"], interface) for interface in found["interfaces"].get(network, ())]

    def at_host(self, bridge: tuple[str, str], vlan: int) -> str:
        """A VLAN in the bridge of one interface of a host."""
        return identity("L", plug(self.serial[bridge[0]], bridge[1]), str(vlan))

    @cached_property
    def _cables(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        ethernet = (item for item in self.site["cables"] if item["kind"] == "ethernet")
        return [tuple((item[end]["device"], item[end]["interface"]) for end in "ab") for item in ethernet]  # type: ignore[misc]

    def _end(self, plug_of: tuple[str, str]) -> End | None:
        """A plug as a switch port."""
        device, interface = plug_of
        return (device, int(interface)) if device in self.switches and interface.isdecimal() else None

    @cached_property
    def behind(self) -> dict[tuple[str, str], End]:
        """(device, interface) -> the switch port that its cable leads to."""
        found = {}
        for cable in self._cables:
            for near, far in (cable, cable[::-1]):
                end = self._end(far)
                if end is not None and near[0] not in self.switches:
                    found[near] = end
        return found

    def untagged(self, end: End) -> set[int]:
        """The VLANs that a port sends without a tag: as the site says, and as any plan asks for."""
        record = self._ports.get(end)
        is_native = record is not None and record["mode"] in _MODES and record["untagged"] is not None
        is_tagged = record is not None and record["mode"] == "trunk" and record["tag_native"]
        stated = {record["untagged"]} if record is not None and is_native and not is_tagged else set()
        return stated | self.asked.get(end, set())

    def tagged(self, end: End, among: set[int]) -> set[int]:
        """Those of some VLANs that a port takes with their tag."""
        record = self._ports.get(end)
        if record is None or record["mode"] != "trunk":
            return set()
        ranges = [(1, 4094)] if record["tagged"] is None else record["tagged"]
        native = {record["untagged"]} & among if record["tag_native"] else set()
        return native | {vlan for vlan in among if any(low <= vlan <= high for low, high in ranges)}

    def is_plain(self, end: End) -> bool:
        """False for ports whose VLANs go by tables that are not here."""
        record = self._ports.get(end)
        return record is None or not (record["translations"] or record["private_vlan"])

    def derive(self, ground: Ground) -> None:
        """All of it, into a ground that has the guards and the plans already."""
        self._links(ground)
        self._uplinks(ground)
        self._devices(ground)
        self._routing(ground)
        self._talking(ground)
        self._machines(ground)
        self._external(ground)
        self._unread(ground)

    def state_guards(self, ground: Ground) -> None:
        """What the site says of its guards."""
        for item in self.site["assumptions"]:
            ground.guards |= {f"assumptions.{item['id']}.{name}": value for name, value in item["guards"].items()}
        for item in self.site["sharing"]:
            ground.guards |= {f"sharing.{item['name']}.guards.{name}": value for name, value in item["guards"].items()}
        ground.guards["external.address_scope"] = self.site["external"]["address_scope"] is not None

    def _links(self, ground: Ground) -> None:
        """Cables between two switches: what both take tagged, and native to native whatever the numbers are."""
        for near, far in self._cables:
            a, b = self._end(near), self._end(far)
            if a is None or b is None or not (self.is_plain(a) and self.is_plain(b)):
                continue
            for vlan in self.tagged(a, self.vlans) & self.tagged(b, self.vlans):
                ground.join("E1", self.segment(a[0], vlan), [self.segment(b[0], vlan)])
            for left in self.untagged(a):
                ground.join("E2", self.segment(a[0], left), [self.segment(b[0], vlan) for vlan in self.untagged(b)])

    @cached_property
    def uplinks(self) -> dict[tuple[str, str], End]:
        """(hypervisor, interface of a physical network) -> the switch port behind it."""
        listed = (
            (host["name"], interface)
            for host in self.site["hosts"]
            if host["provisioning"] == "hypervisor"
            for interfaces in host["interfaces"].values()
            for interface in interfaces
        )
        return {bridge: self.behind[bridge] for bridge in listed if bridge in self.behind}

    def _uplinks(self, ground: Ground) -> None:
        """What a port on a host's bridge sends with a tag, or with none, goes on to the switch."""
        used: defaultdict[str, set[int]] = defaultdict(set)
        for where, _, number in (
            end.rpartition(":") for pair in ground.certain for end in pair if end.startswith("L:")
        ):
            used[where].add(int(number))
        for bridge, end in self.uplinks.items():
            here = used[self.at_host(bridge, 0).rpartition(":")[0]] if self.is_plain(end) else set()
            for vlan in self.tagged(end, here) - self.untagged(end):
                ground.join("E4", self.at_host(bridge, vlan), [self.segment(end[0], vlan)])
            if 0 in here:
                natives = (self.segment(end[0], vlan) for vlan in self.untagged(end))
                ground.join("E4", self.at_host(bridge, 0), natives)

    def _devices(self, ground: Ground) -> None:
        """Whatever else is cabled to a switch sends any frame that its port takes."""
        bridged = set(self.uplinks.values())
        declared = {item["node"] for item in self.site["sharing"] if item["kind"] not in _PLANNED}
        for (device, interface), end in self.behind.items():
            nodes = self.parts(device, interface)
            # Whose a host is that is given out whole, its server and its switch ports say, which are not read here.
            if device not in self.hosts or self.hosts[device]["provisioning"] == "hypervisor":
                ground.lent.update(nodes)
            if end in bridged:
                continue
            if device in declared:
                ground.unread["a declared device on a switch port"] += 1
            elif self.is_plain(end):
                port = identity("port", plug(self.serial[end[0]], str(end[1])))
                ground.join("E9", port, nodes)
                vlans = sorted(self.untagged(end) | self.tagged(end, self.vlans))
                ground.join("E5", port, [self.segment(end[0], vlan) for vlan in vlans])

    @cached_property
    def talking(self) -> dict[str, list[str]]:
        """Switch -> its ports with a device behind them that is lent out."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for (device, interface), end in self.behind.items():
            host = self.hosts.get(device)
            whole = host is not None and host["provisioning"] == "bare-metal" and interface != host["bmc"]
            if (device in self.machines and interface.startswith("rnic")) or whole:
                found[end[0]].append(identity("port", plug(self.serial[end[0]], str(end[1]))))
        return dict(found)

    def parts(self, device: str, interface: str) -> list[str]:
        """The nodes at one plug: a machine's management port carries gateway and BMC."""
        names = [interface]
        if device in self.machines:
            names = ["rnic"] if interface.startswith("rnic") else ["gw", "bmc"]
        serial = self.serial[device] if device in self.machines or device in self.hosts else device
        return [identity("dev", plug(serial, name)) for name in names]

    def _talking(self, ground: Ground) -> None:
        for name, ports in self.talking.items():
            join_talking(ground, self.serial[name], ports)

    def _routing(self, ground: Ground) -> None:
        """Routing instances of switches, and VLANs that a switch maps to overlays."""
        declared = {item["node"] for item in self.site["sharing"]}
        for name, switch in self.switches.items():
            node = identity("R", escaped(switch["serial"]))
            instances = [(name, node, switch["routed_vlans"] or () if switch["ip_routing"] else ())]
            others = [(item["name"], item["vlans"]) for item in switch["vrfs"]]
            instances += [(f"{name}/{vrf}", f"{node}/{escaped(vrf)}", vlans) for vrf, vlans in others]
            for known_as, instance, vlans in instances:
                if known_as in declared:
                    ground.unread["a declared routing instance of a switch"] += 1
                    continue
                ground.join("E10", instance, [self.segment(name, vlan) for vlan in vlans])
                ground.labels[instance].add("op")
            for item in switch["vteps"]:
                if item["encapsulation"]:
                    overlay = identity("V", escaped(item["underlay"]), item["encapsulation"], str(item["vni"]))
                    ground.join("E3", self.segment(name, item["vlan"]), [overlay])
        for underlay in self.site["underlays"]:
            if underlay["neutron"] and underlay["name"] != self.site["cloud"]:
                for number in self.overlays:
                    other = identity("V", escaped(underlay["name"]), "vxlan", str(number))
                    ground.join("E3", self.overlay(number), [other])

    def overlay(self, number: int) -> str:
        """A network of Neutron's that is no VLAN."""
        return identity("V", escaped(self.site["cloud"]), "vxlan", str(number))

    def _machines(self, ground: Ground) -> None:
        for name in sorted(self.machines):
            rnic, gateway, bmc = (identity("dev", plug(self.serial[name], part)) for part in ("rnic", "gw", "bmc"))
            ground.join_unless(assumed("A3"), "E15", gateway, [rnic, bmc])
            ground.lent |= {rnic, gateway, bmc}
        for item in self.site["cables"]:
            ends = [item[end]["device"] for end in "ab"]
            if item["kind"] != "ethernet" and set(ends) <= self.machines:
                a, b = (identity("dev", plug(self.serial[name], "rnic")) for name in ends)
                ground.join_unless(assumed("A4"), "E16", a, [b])

    def _external(self, ground: Ground) -> None:
        external = self.site["external"]
        network, vlan, hub = external["physical_network"], external["vlan"], identity("X", escaped(external["name"]))
        bridges = [bridge for host in self.hosts for bridge in self.bridges(host, network)]
        ground.join("E12", hub, [self.at_host(bridge, vlan or 0) for bridge in bridges])
        ground.join("E12", hub, self.segments(network, vlan) if vlan else [])
        ground.labels[hub].add("world")

    def _unread(self, ground: Ground) -> None:
        for words in self._beyond():
            ground.unread[words] += 1

    def _beyond(self) -> Iterator[str]:
        for end, record in self._ports.items():
            if not self.is_plain(end):
                yield "a switch port with translations or a private VLAN"
            elif record["mode"] not in (*_MODES, "disabled"):
                yield f"a switch port in mode {record['mode']}"
        for host in self.site["hosts"]:
            if host["provisioning"] != "hypervisor":
                yield "a host that is given out whole"
        yield from ("an InfiniBand subnet" for _ in self.site["infiniband"])


def asked_of(plans: dict[str, Json]) -> dict[End, set[int]]:
    """Switch and port -> the access VLANs that plans ask for."""
    found: defaultdict[End, set[int]] = defaultdict(set)
    for plan in plans.values():
        for item in plan["resources"]:
            if item["kind"] == "SwitchPort":
                found[item["spec"]["switch"], item["spec"]["port"]].add(item["spec"]["vlan"])
    return found
