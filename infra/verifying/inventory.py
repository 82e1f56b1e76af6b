"""What a site in full form lists, by name: switches, hosts, machines, cables, declarations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property

from . import names
from .ground import Ground, Json
from .ports import End, Ports, end_of

#: Declared by kind, and looked for in plans: all other declarations name a device.
PLANNED_SHARING = ("external-network", "vipu-controller")
WHOLE = "bare-metal"
#: A BMC whose interface nobody stated.
_SOME_BMC = "unstated-bmc"
#: Role of hosts of which one owner has all GPUs, also below a hypervisor.
_GPU = "gpu"
#: (device, interface).
Plug = tuple[str, str]


class Inventory:
    """A site in full form, with the access VLANs that plans ask for."""

    def __init__(self, site: Json, ports: Ports) -> None:
        self.site = site
        self.ports = ports
        self.serial: dict[str, str] = {
            item["name"]: item["serial"] for kind in ("machines", "hosts", "switches") for item in site[kind]
        }
        self.machines = {item["name"]: item for item in site["machines"]}
        self.switches = {item["name"]: item for item in site["switches"]}
        self.hosts = {item["name"]: item for item in site["hosts"]}
        #: GPU node -> its InfiniBand ports.
        self.gpu_nodes: dict[str, list[Json]] = {item["name"]: item["ports"] for item in site["gpu_nodes"]}
        self.flavors = {item["name"]: item for item in site["flavors"]}
        self._switches_of = {item["name"]: item["switches"] for item in site["physical_networks"]}
        #: The VLAN ids that nodes are made of; all, once the plans are read.
        self.vlans: list[int] = []
        #: Controller -> what `interlock controllers --record` wrote of it; and when all of this is looked at.
        self.controllers: Mapping[str, Json] = {}
        self.moment = datetime.now(UTC)
        self.strangers = names.named("foreign", site["cloud"])
        self.hub = names.named("X", site["external"]["name"])

    def state_guards(self, ground: Ground, seen: Mapping[str, bool | None]) -> None:
        """What the site says of its guards; `seen`: what those are that rest on evidence, of whatever age."""
        for item in self.site["assumptions"]:
            head = f"assumptions.{item['id']}"
            stated = item["guards"] | {name: seen.get(f"{head}.{name}") for name in item["evidence"]}
            ground.guards |= {f"{head}.{name}": value for name, value in stated.items()}
        for item in self.site["sharing"]:
            ground.guards |= {f"sharing.{item['name']}.guards.{name}": value for name, value in item["guards"].items()}
        ground.guards["external.address_scope"] = self.site["external"]["address_scope"] is not None

    def number_vlans(self, ground: Ground) -> None:
        """Those that somebody names, and of the others the first of each stretch that no list divides."""
        found = {vlan for vlans in self.ports.asked.values() for vlan in vlans}
        found |= {number for node in ground.nodes() if (number := names.vlan_number(node)) is not None}
        found |= self._configured()
        rest = (next((vlan for vlan in range(low, high + 1) if vlan not in found), 0) for low, high in self.stretches)
        self.vlans = sorted(found | {vlan for vlan in rest if vlan})

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """Runs of VLAN ids that go the same ways."""
        return self.ports.stretches

    def _configured(self) -> set[int]:
        found = {port["untagged"] for port in self.ports.records.values()} - {None}
        found |= {vlan for port in self.ports.records.values() for pair in port["translations"] for vlan in pair}
        for switch in self.switches.values():
            found |= {*(switch["routed_vlans"] or ())} | {item["vlan"] for item in switch["vteps"]}
            found |= {vlan for item in switch["vrfs"] for vlan in item["vlans"]}
        return found

    @cached_property
    def ipu_links(self) -> dict[str, list[str]]:
        """Machine -> the machines that an IPU-Link leads to."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for cable in (item for item in self.site["cables"] if item["kind"] == "ipu-link"):
            a, b = cable["a"]["device"], cable["b"]["device"]
            found[a].append(b)
            found[b].append(a)
        return found

    @cached_property
    def gateway_links(self) -> list[tuple[str, str]]:
        """What GW-Link cables join: machines, and switches for them."""
        cables = (item for item in self.site["cables"] if item["kind"] == "gw-link")
        return [(item["a"]["device"], item["b"]["device"]) for item in cables]

    def is_open(self, table: str, device: str) -> bool:
        """True if a table may lack records of a device."""
        return (table, device) not in self.ports.complete

    def switches_of(self, network: str | None) -> list[str]:
        """The switches that a physical network reaches."""
        return [name for name in self._switches_of.get(network, ()) if name in self.switches]

    def networks_at(self, segment: str) -> list[str]:
        """The physical networks that reach the switch of a VLAN."""
        bridge = names.vlan_bridge(segment)
        return [
            network
            for network in self._switches_of
            if any(names.vlan_bridge(self.segment(name, 0)) == bridge for name in self.switches_of(network))
        ]

    def is_network(self, name: str) -> bool:
        """True for a physical network of the site."""
        return name in self._switches_of

    def segments(self, network: str | None, vlan: int) -> list[str]:
        """A VLAN on every switch of a physical network."""
        return [self.segment(name, vlan) for name in self.switches_of(network)]

    def segment(self, switch: str, vlan: int) -> str:
        """A VLAN of one switch."""
        return names.vlan_of_switch(self.serial[switch], vlan)

    def met_by(self, end: End, vlan: int) -> str:
        """A VLAN as one switch port meets it: in a private VLAN, the port's group of it."""
        role = self.ports.port(end).private
        group = names.group_of("isolated", end[1], role) if role is not None else ""
        return names.vlan_of_switch(self.serial[end[0]], vlan, group)

    def everywhere(self, switch: str) -> list[str]:
        """All VLANs of a switch."""
        return [self.segment(switch, vlan) for vlan in self.vlans]

    def carried(self, end: End) -> list[int]:
        """The VLANs that a device behind a port reaches."""
        return self.ports.port(end).carried(self.vlans)

    def is_whole(self, host: str | None) -> bool:
        """True if a host is given out whole."""
        return host in self.hosts and self.hosts[host]["provisioning"] == WHOLE

    def is_lent(self, host: str | None) -> bool:
        """True if one owner has all of a host at a time: also a GPU node, of which one server has all devices."""
        return self.is_whole(host) or (host in self.hosts and self.hosts[host]["role"] == _GPU)

    def lent(self, host: str) -> list[str]:
        """What whoever has such a host has of it: of a GPU node below a hypervisor its GPUs and compute ports."""
        if self.is_whole(host) or not self.is_lent(host):
            return self.interfaces(host) if self.is_whole(host) else []
        compute = (port for port in self.gpu_nodes.get(host, ()) if port["use"] == "compute")
        ports = [names.guid(port["guid"]) for port in compute if port["guid"] is not None]
        return [names.part(self.serial[host], "gpus"), *ports]

    def bridges(self, host: str | None, network: str | None) -> list[Plug]:
        """(host, interface) of a hypervisor on a physical network; each leg of a bond is one."""
        if host is None or host not in self.hosts or self.is_whole(host):
            return []
        return [(host, interface) for interface in self.hosts[host]["interfaces"].get(network, ())]

    def bridges_of(self, host: str) -> list[Plug]:
        """All of a hypervisor."""
        return [bridge for network in self.hosts[host]["interfaces"] for bridge in self.bridges(host, network)]

    def at_host(self, bridge: Plug, vlan: int) -> str:
        """A VLAN in the bridge of one interface of a host."""
        return names.vlan_of_host(self.serial[bridge[0]], bridge[1], vlan)

    @cached_property
    def _cables(self) -> list[tuple[Plug, Plug]]:
        ethernet = (item for item in self.site["cables"] if item["kind"] == "ethernet")
        ends = ((item["a"], item["b"]) for item in ethernet)
        return [((a["device"], a["interface"]), (b["device"], b["interface"])) for a, b in ends]

    @cached_property
    def cabled(self) -> set[Plug]:
        """Every plug with a cable of any kind."""
        return {(item[end]["device"], item[end]["interface"]) for item in self.site["cables"] for end in "ab"}

    @cached_property
    def behind(self) -> dict[Plug, End]:
        """(device, interface) -> the switch port that its cable leads to."""
        both = ((near, far) for cable in self._cables for near, far in (cable, cable[::-1]))
        return {near: end_of(far) for near, far in both if far[0] in self.switches and near[0] not in self.switches}

    @cached_property
    def links(self) -> list[tuple[End, End]]:
        """Cables between two switches."""
        return [(end_of(a), end_of(b)) for a, b in self._cables if a[0] in self.switches and b[0] in self.switches]

    @cached_property
    def uplinks(self) -> dict[Plug, End]:
        """(hypervisor, interface of a physical network) -> the switch port behind it."""
        bridges = (bridge for host in self.hosts if not self.is_whole(host) for bridge in self.bridges_of(host))
        return {bridge: self.behind[bridge] for bridge in bridges if bridge in self.behind}

    @cached_property
    def ends_of(self) -> dict[str, list[tuple[str, End]]]:
        """Device -> (interface, switch port) of its cables to switches, in the order of the file."""
        found: defaultdict[str, list[tuple[str, End]]] = defaultdict(list)
        for (device, interface), end in self.behind.items():
            found[device].append((interface, end))
        return found

    def doubtful(self, host: str) -> list[str]:
        """Cabled interfaces of a host that may be its own or its BMC's, since nobody stated which one is."""
        if host not in self.hosts or self.hosts[host]["bmc"] is not None:
            return []
        own = {name for listed in self.hosts[host]["interfaces"].values() for name in listed}
        return [name for name, _ in self.ends_of[host] if name not in own]

    def interfaces(self, host: str) -> list[str]:
        """The nodes of a host's own cabled interfaces, and of its InfiniBand ports."""
        if host not in self.hosts:
            return []
        others = {self.hosts[host]["bmc"], *self.doubtful(host)}
        cabled = [names.part(self.serial[host], name) for name, _ in self.ends_of[host] if name not in others]
        return cabled + self.infiniband_ports(host)

    def infiniband_ports(self, host: str) -> list[str]:
        """The nodes of a GPU node's ports whose GUID is stated."""
        return [names.guid(port["guid"]) for port in self.gpu_nodes.get(host, ()) if port["guid"] is not None]

    @cached_property
    def lendable(self) -> set[str]:
        """What carries its borrower's label alone, as long as there is one."""
        rnics = {names.part(item["serial"], "rnic") for item in self.machines.values()}
        return rnics.union(*(self.lent(host) for host in self.hosts))

    def bmc(self, host: str) -> str:
        """A host's BMC is there with or without a cable."""
        return names.part(self.serial[host], self.hosts[host]["bmc"] or _SOME_BMC)

    def parts(self, device: str, interface: str) -> list[str]:
        """The nodes at one plug: a machine's management port carries gateway and BMC."""
        if device in self.machines:
            found = ["rnic"] if interface.startswith("rnic") else ["gw", "bmc"]
            return [names.part(self.serial[device], name) for name in found]
        return [names.part(self.known_as(device), interface)]

    def known_as(self, device: str) -> str:
        """The serial of a host; any other device goes by its name."""
        return self.serial[device] if device in self.hosts else device

    @cached_property
    def shared(self) -> dict[str, list[Json]]:
        """Device, switch, routing instance or GUID -> the declarations of it."""
        found: defaultdict[str, list[Json]] = defaultdict(list)
        for item in self.site["sharing"]:
            if item["kind"] not in PLANNED_SHARING:
                found[item["node"]].append(item)
        return dict(found)

    def declarations(self, kind: str) -> list[Json]:
        """Those of one kind that name no InfiniBand port."""
        return [item for item in self.site["sharing"] if item["kind"] == kind and not names.is_guid(item["node"])]

    def shared_at(self, plug: Plug) -> list[Json]:
        """The declarations of the device at a plug: never of a machine, of what is lent out, or of a BMC."""
        device, interface = plug
        if device in self.machines or self.is_whole(device):
            return []
        if device in self.hosts and self.hosts[device]["bmc"] == interface:
            return []
        return self.shared.get(device, [])
