"""Site -> look-ups that the edge rules use: bridges, cables and port modes by canonical identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise

from interlock.model.site.completeness import Table
from interlock.model.site.inventory import Cable, Endpoint, Host, Machine, Sharing, Site, Switch
from interlock.model.site.physical import MACHINE_PARTS
from interlock.planning import site_objects
from interlock.vocabulary import ExistingObject, Reference, RoutingInstance
from policies.about import Fact, SiteFact

from . import identities as ids
from .fat_trees import InfinibandCabling
from .guards import GuardState, assumption, denied, lacking
from .hall import Hall
from .logical_ports import LogicalPorts, one_mode
from .passed_on import infiniband_ports, passed_on
from .plugs import parts_at
from .port_modes import PortMode, SwitchEnd, configured_vlans, recorded_mode

#: Node of a BMC whose interface nobody stated.
_SOME_BMC = "unstated-bmc"
#: Sharing whose nodes are no devices: gateways meet the one, and plans bring the other as servers.
PLANNED_SHARING = frozenset({"external-network", "vipu-controller"})


class SiteFacts:
    """A site as the proof reads it. An absent row says that there is nothing only where its table is complete."""

    def __init__(self, site: Site, now: datetime | None = None) -> None:
        moment = now or datetime.now(UTC)
        self.moment = moment
        self.site = site.as_of(moment)
        #: Guard that rests on evidence -> why it is not known at this moment; and of those denied, who said so.
        self.lacking: Mapping[str, tuple[str, ...]] = lacking(self.site, moment)
        self.denied: Mapping[str, tuple[str, ...]] = denied(self.site, moment)
        self._configured: dict[SwitchEnd, PortMode] = {}
        self._held: dict[tuple[str, str | None, str | None], GuardState] = {}

    @classmethod
    def of(cls, site: Site | SiteFacts) -> SiteFacts:
        """The facts of a site; whoever asks about several plans makes them once."""
        return site if isinstance(site, SiteFacts) else cls(site)

    def assumption(self, name: str, *, only: str | None = None, without: str | None = None) -> GuardState:
        """Whether an assumption is held; `only` and `without` select one of its guards or all but one."""
        key = (name, only, without)
        if key not in self._held:
            self._held[key] = assumption(self.site, name, only=only, without=without)
        return self._held[key]

    def undeclared(self, table: Table, device: str) -> tuple[Fact, ...]:
        """The declaration without which a table may lack records of a device; nothing where somebody gave it."""
        return () if self.site.is_complete(table, device) else (SiteFact(f"complete.{table}.{device}"),)

    def has(self, reference: str) -> bool:
        """True if a reference `site:<kind>/<name>` names an object of the operator's stack, made or found there."""
        return reference in self._objects

    @cached_property
    def _objects(self) -> frozenset[str]:
        found = map(ExistingObject.parse, site_objects(self.site))
        return frozenset(Reference.site(item.kind, item.name) for item in found)

    @cached_property
    def switches_of(self) -> dict[str, tuple[Switch, ...]]:
        """Physical network -> the switches it reaches."""
        return {
            item.name: tuple(self.site.switch[name] for name in item.switches if name in self.site.switch)
            for item in self.site.physical_networks
        }

    @cached_property
    def host_of_bridge(self) -> dict[str, tuple[Host, str]]:
        """Host bridge -> (host, interface). One interface under two physical networks is one bridge.

        A bare-metal host has none: nothing of the operator's stands between its root and the switch port.
        """
        return {
            ids.host_bridge(host.serial, interface): (host, interface)
            for host in self.site.hosts
            if host.provisioning == "hypervisor"
            for interfaces in host.interfaces.values()
            for interface in interfaces
        }

    @cached_property
    def switch_of_bridge(self) -> dict[str, Switch]:
        """Switch bridge -> switch."""
        return {ids.switch_bridge(switch.serial): switch for switch in self.site.switches}

    def bridges(self, host: str | None, physical_network: str | None) -> tuple[str, ...]:
        """The host's bridges on a physical network: each leg of a bond is one, and all carry the VLAN."""
        found = None if host is None else self.site.host.get(host)
        if found is None or physical_network is None or found.provisioning == "bare-metal":
            return ()
        return tuple(ids.host_bridge(found.serial, name) for name in found.interfaces.get(physical_network, ()))

    def bridges_of(self, host: str) -> tuple[str, ...]:
        """All bridges of a host."""
        return tuple(bridge for bridge, (found, _) in self.host_of_bridge.items() if found.name == host)

    @cached_property
    def ends_of(self) -> dict[str, tuple[tuple[str, SwitchEnd], ...]]:
        """Host -> (interface, switch port) of each of its cables that leads to a switch."""
        found: dict[str, tuple[tuple[str, SwitchEnd], ...]] = {}
        for end, port in self.device_ends:
            if end.device in self.site.host:
                found[end.device] = (*found.get(end.device, ()), (end.interface, port))
        return found

    def is_bare_metal(self, host: str) -> bool:
        """True if the site gives the host out whole."""
        return host in self.site.host and self.site.host[host].provisioning == "bare-metal"

    def is_whole(self, host: str) -> bool:
        """True if one owner has all of the host at a time: by Ironic, or by the one server on a GPU node."""
        return host in self.site.host and self.site.host[host].is_whole

    def lent_parts(self, host: str) -> tuple[str, ...]:
        """What whoever has a whole host has of it: its interfaces, or what is passed on below a hypervisor."""
        passed = passed_on(self.site, host) if self.is_whole(host) else ()
        return self.interfaces(host) if self.is_bare_metal(host) else passed

    def interfaces(self, host: str) -> tuple[str, ...]:
        """The nodes of a host's own cabled interfaces, InfiniBand last; none of its BMC, or that may lead there."""
        others = {self.site.host[host].bmc, *self.doubtful_plugs(host)} if host in self.site.host else set()
        names = (name for name, _ in self.ends_of.get(host, ()) if name not in others)
        return (*(ids.part(self.site.host[host].serial, name) for name in names), *self.infiniband_ports(host))

    def infiniband_ports(self, host: str) -> tuple[str, ...]:
        """The nodes of a GPU node's ports on InfiniBand subnets, as far as their GUIDs are stated."""
        return infiniband_ports(self.site, host) if host in self.site.host else ()

    def doubtful_plugs(self, host: str) -> tuple[str, ...]:
        """Cabled interfaces that may be the host's own or lead to its BMC, since nobody stated which one does."""
        found = self.site.host.get(host)
        if found is None or found.bmc is not None:
            return ()
        own = {name for listed in found.interfaces.values() for name in listed}
        return tuple(name for name, _ in self.ends_of.get(host, ()) if name not in own)

    def bmc(self, host: str) -> str:
        """The node of a host's BMC: it is there, with or without a cable."""
        found = self.site.host[host]
        return ids.part(found.serial, found.bmc or _SOME_BMC)

    def bare_metal_ends(self, host: str | None, physical_network: str | None) -> tuple[SwitchEnd, ...]:
        """The switch ports behind a bare-metal host's interfaces on a physical network."""
        if host is None or physical_network is None or not self.is_bare_metal(host):
            return ()
        listed = self.site.host[host].interfaces.get(physical_network, ())
        switches = {switch.name for switch in self.switches_of.get(physical_network, ())}
        ends = self.ends_of.get(host, ())
        return tuple(end for name, end in ends if (name in listed if listed else end.switch in switches))

    @cached_property
    def lendable(self) -> frozenset[str]:
        """What carries its borrower's label alone: RNICs of machines, whole hosts without their BMC, passed devices."""
        rnics = (ids.part(machine.serial, "rnic") for machine in self.site.machines)
        return frozenset((*rnics, *(node for host in self.site.hosts for node in self.lent_parts(host.name))))

    def segments(self, physical_network: str | None, vlan: int) -> tuple[str, ...]:
        """A VLAN on every switch that the physical network reaches."""
        switches = self.switches_of.get(physical_network or "", ())
        return tuple(ids.vlan_segment(ids.switch_bridge(item.serial), vlan) for item in switches)

    @cached_property
    def vlans(self) -> frozenset[int]:
        """The VLAN ids that the site file itself puts to use on a switch."""
        return configured_vlans(self.site.switches)

    @cached_property
    def stretches(self) -> tuple[tuple[int, int], ...]:
        """(first, last) VLAN id of each stretch that some port's list has and no port's list divides."""
        switches = self.site.switches
        ends = {SwitchEnd(switch.name, port.port) for switch in switches for port in switch.ports}
        modes = [self.configured(end) for end in ends]
        lists = {pair for mode in modes for pair in (((1, 4094),) if mode.tagged is None else mode.tagged)}
        cuts = sorted({cut for low, high in lists for cut in (low, high + 1)})
        between = ((low, after - 1) for low, after in pairwise(cuts))
        # No list begins or ends within one of these: it has all ids of it or none.
        return tuple((first, last) for first, last in between if any(low <= first <= high for low, high in lists))

    @cached_property
    def management_parts(self) -> frozenset[str]:
        """Gateways and BMCs of all machines."""
        return frozenset(ids.part(machine.serial, name) for machine in self.site.machines for name in ("gw", "bmc"))

    @cached_property
    def machine_of_rnic(self) -> dict[str, str]:
        """RNIC -> the name of its machine."""
        return {ids.part(machine.serial, "rnic"): machine.name for machine in self.site.machines}

    def held_with(self, machine: Machine) -> tuple[str, ...]:
        """What whoever has a machine has alone: the machine, and the address that its RNIC sends from, if stated.

        Gateway and BMC stay the operator's, and so do their addresses.
        """
        stated = machine.macs.get("rnic")
        found = ids.machine_identity(machine.serial)
        return (found,) if stated is None else (found, ids.mac_identity(stated))

    @cached_property
    def hall(self) -> Hall:
        """What stands where, and which cables carry no frames."""
        return Hall(self.site)

    @cached_property
    def infiniband(self) -> InfinibandCabling:
        """Which InfiniBand switches and ports its cables join."""
        return InfinibandCabling(self.site)

    @cached_property
    def ethernet(self) -> tuple[Cable, ...]:
        """Cables that carry frames."""
        return tuple(cable for cable in self.site.cables if cable.kind == "ethernet")

    def switch_end(self, end: Endpoint) -> SwitchEnd | None:
        """The end as a switch port, if it is one."""
        return SwitchEnd.at(end.device, end.interface) if end.device in self.site.switch else None

    @cached_property
    def device_ends(self) -> tuple[tuple[Endpoint, SwitchEnd], ...]:
        """(device end, switch port) of every ethernet cable between a switch and something that is none."""
        return tuple(self._device_ends())

    def _device_ends(self) -> Iterator[tuple[Endpoint, SwitchEnd]]:
        for cable in self.ethernet:
            for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
                end = self.switch_end(far)
                if end is not None and near.device not in self.site.switch:
                    yield near, end

    @cached_property
    def _plugs(self) -> tuple[tuple[Endpoint, SwitchEnd, bool], ...]:
        """The device ends that lie under no host bridge, and whether the device is declared as shared."""
        bridged = set(self.uplink.values())
        return tuple((end, port, bool(self.shared_at(end))) for end, port in self.device_ends if port not in bridged)

    @cached_property
    def ordinary_ends(self) -> tuple[tuple[Endpoint, SwitchEnd], ...]:
        """Those of the device ends with something behind them that may send any frame: no host bridge, not declared."""
        return tuple((end, port) for end, port, declared in self._plugs if not declared)

    @cached_property
    def declared_ends(self) -> tuple[tuple[Endpoint, SwitchEnd], ...]:
        """Those of the device ends with a device behind them that is declared as shared."""
        return tuple((end, port) for end, port, declared in self._plugs if declared)

    @cached_property
    def switch_links(self) -> tuple[tuple[SwitchEnd, SwitchEnd], ...]:
        """Cables between two switches."""
        pairs = ((self.switch_end(cable.a), self.switch_end(cable.b)) for cable in self.ethernet)
        return tuple((a, b) for a, b in pairs if a is not None and b is not None)

    @cached_property
    def links_of(self) -> dict[str, dict[SwitchEnd, tuple[tuple[SwitchEnd, SwitchEnd], ...]]]:
        """Bridge of a switch -> its ports with a cable to another switch -> these cables."""
        found: dict[str, dict[SwitchEnd, tuple[tuple[SwitchEnd, SwitchEnd], ...]]] = {}
        for link in self.switch_links:
            for end in link:
                there = found.setdefault(ids.switch_bridge(self.site.switch[end.switch].serial), {})
                there[end] = (*there.get(end, ()), link)
        return found

    @cached_property
    def kernel_at(self) -> dict[str, SwitchEnd]:
        """Interface of a host that its kernel is on, too -> the switch port behind it.

        All of them but one that a flat external network has for itself.
        """
        external, found = self.site.external, dict[str, SwitchEnd]()
        for bridge, end in self.uplink.items():
            host, interface = self.host_of_bridge[bridge]
            if external.vlan or interface not in host.interfaces.get(external.physical_network, ()):
                found[ids.part(host.serial, interface)] = end
        return found

    @cached_property
    def uplink(self) -> dict[str, SwitchEnd]:
        """Host bridge -> the switch port behind it."""
        ends = {(end.device, end.interface): far for end, far in self.device_ends}
        found = {bridge: ends.get((host.name, interface)) for bridge, (host, interface) in self.host_of_bridge.items()}
        return {bridge: end for bridge, end in found.items() if end is not None}

    def configured(self, end: SwitchEnd) -> PortMode:
        """How the site file configures a switch port, with all others of its bundle; unknown if one has no record."""
        if end not in self._configured:
            self._configured[end] = one_mode([self.recorded(member) for member in self.logical.members(end)])
        return self._configured[end]

    @cached_property
    def logical(self) -> LogicalPorts:
        """Which switch ports are one."""
        return LogicalPorts(self.site)

    def recorded(self, end: SwitchEnd) -> PortMode:
        """What the site file says of this very port."""
        return recorded_mode(self.site, end)

    @cached_property
    def shared_switches(self) -> tuple[Switch, ...]:
        """Switches that are declared, or a routing instance of which is."""
        declared = {RoutingInstance.parse(name).switch for name in self.shared}
        return tuple(switch for switch in self.site.switches if switch.name in declared)

    @cached_property
    def shared(self) -> dict[str, tuple[Sharing, ...]]:
        """Device, switch, `<switch>/<VRF>` or GUID -> its declarations. External networks and controllers are none."""
        found: dict[str, tuple[Sharing, ...]] = {}
        for item in self.site.sharing:
            if item.kind not in PLANNED_SHARING:
                found[item.node] = (*found.get(item.node, ()), item)
        return found

    @cached_property
    def shared_ports(self) -> dict[str, tuple[Sharing, ...]]:
        """InfiniBand port, as a node -> its declarations, however each of them writes the GUID."""
        found: dict[str, tuple[Sharing, ...]] = {}
        for name, declared in self.shared.items():
            if ids.is_guid(name):
                port = ids.infiniband_port(name)
                found[port] = (*found.get(port, ()), *declared)
        return found

    def shared_at(self, end: Endpoint) -> tuple[Sharing, ...]:
        """The declarations of the device at a cable's end: never of a machine, a BMC or what is lent out."""
        host = self.site.host.get(end.device)
        lent = end.device in self.site.machine or self.is_bare_metal(end.device)
        is_bmc = host is not None and end.interface == host.bmc
        return () if lent or is_bmc else self.shared.get(end.device, ())

    def serial(self, device: str) -> str:
        """The serial of a device; without one, its name."""
        return self.site.host[device].serial if device in self.site.host else device

    def devices_behind(self, end: Endpoint) -> tuple[str, ...]:
        """The network devices that are at a cable's end, or may be there (`plug_doubt`)."""
        machine = self.site.machine.get(end.device)
        if machine is not None:
            return tuple(ids.part(machine.serial, name) for name in parts_at(self.site, end) or MACHINE_PARTS)
        return (ids.part(self.serial(end.device), end.interface),)
