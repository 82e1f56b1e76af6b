"""Facts of a site as the oracle reads them: what is cabled where, what holds, which VLAN ids there are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from interlock.model.site.guards import SHARING_GUARDS
from interlock.model.site.inventory import Host, Sharing, Site
from interlock.resources import Network, SwitchPort

from .frames import UNKNOWN, Setting, setting_of
from .world import World

#: A port in the table of which nobody says anything.
SPARE = "port"
#: Sharing that is no device: gateways meet the one, and plans bring the other as servers.
BROUGHT = ("external-network", "vipu-controller")
PortId = tuple[str, int]


class Plug(NamedTuple):
    """A device that is cabled to a switch port."""

    device: str
    interface: str
    switch: str
    port: int


class Declared(NamedTuple):
    """What the site file shares on purpose: whether all that it rests on holds, and who may meet it."""

    held: bool | None
    audience: tuple[str, ...]


def all_hold(values: list[bool | None]) -> bool | None:
    """Whether all hold: no if one does not, unknown if one is unknown."""
    if any(value is False for value in values):
        return False
    return True if values and all(values) else None


def listed(host: Host) -> set[str]:
    """The interfaces of a host that its guests' networks are on."""
    return {name for names in host.interfaces.values() for name in names}


class Facts:
    """One world, read."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.site: Site = world.site
        self.guards = {item.id: item.guards for item in world.site.assumptions}

    def holds(self, assumption: str, *guards: str) -> bool | None:
        """Whether these guards of an assumption hold."""
        stated = self.guards.get(assumption, {})
        return all_hold([stated.get(guard) for guard in guards])

    def shared(self, kind: str) -> tuple[Sharing | None, bool | None]:
        """The declaration of a kind, and whether all that it rests on holds."""
        found = next((item for item in self.site.sharing if item.kind == kind), None)
        return found, (all_hold(list(found.guards.values())) if found else None)

    @cached_property
    def _declarations(self) -> dict[str, list[Sharing]]:
        found: dict[str, list[Sharing]] = {}
        for item in self.site.sharing:
            if item.kind not in BROUGHT:
                found.setdefault(item.node.lower(), []).append(item)
        return found

    def declared(self, node: str) -> Declared | None:
        """The declaration of a device, a switch, `<switch>/<VRF>` or the GUID of a port."""
        found = self._declarations.get(node.lower(), ())
        guards = [item.guards.get(guard) for item in found for guard in SHARING_GUARDS[item.kind]]
        audience = tuple(name for item in found for name in item.audience)
        return Declared(all_hold(guards), audience) if found else None

    def is_terminal(self, plug: Plug) -> bool:
        """A declared device meets each wire by itself; not a BMC, what is lent out, or the uplink of a hypervisor."""
        host = self.site.host.get(plug.device)
        lent = plug.device in self.site.machine or (host is not None and self.is_whole(host))
        if lent or (host is not None and plug.interface in (host.bmc, *listed(host))):
            return False
        return self.declared(plug.device) is not None

    @cached_property
    def planned(self) -> dict[PortId, list[tuple[str, int]]]:
        """(owner, VLAN) of every plan that sets a switch port."""
        found: dict[PortId, list[tuple[str, int]]] = {}
        for stack in self.world.stacks:
            for _, port in stack.all(SwitchPort):
                found.setdefault((port.switch, port.port), []).append((stack.owner, port.vlan))
        return found

    @cached_property
    def settings(self) -> dict[PortId, list[Setting]]:
        """Every way in which a switch port is or will be configured."""
        found: dict[PortId, list[Setting]] = {}
        for switch in self.site.switches:
            for port in switch.ports:
                found[switch.name, port.port] = [setting_of(port, sorted(self.networks_at(switch.name)))]
        for at, orders in self.planned.items():
            known = found.setdefault(at, [self._without_a_line(at[0])])
            role = known[0].role
            known += [Setting("access", untagged=vlan, role=role) for _, vlan in orders]
        for members in self.bundles:
            live = [at for at in members if found.get(at, [UNKNOWN])[0].mode != "disabled"]
            whole = [setting for at in live for setting in found.get(at, [UNKNOWN])]
            found |= {at: list(dict.fromkeys(whole)) for at in live}
        return found

    def networks_at(self, switch: str) -> set[int]:
        """The VLANs of networks on the physical networks of a switch, of plans and of what nobody saw to be let go."""
        physical = {item.name for item in self.site.physical_networks if switch in item.switches}
        networks = [network for stack in self.world.stacks for _, network in stack.all(Network)]
        found = {item.segmentation_id for item in networks if item.physical_network in physical and _has_vlan(item)}
        released = [entry.value for _, entry in self.world.given_up() if entry.claim.endswith("_vlan")]
        found |= {int(value.rpartition(":")[2]) for value in released if value.rpartition(":")[0] in physical}
        return {vlan for vlan in found if vlan}

    @cached_property
    def filled(self) -> dict[PortId, list[str]]:
        """Cabled ports onto which a driver puts VLANs -> the physical networks whose networks' they are."""
        cabled = {at for pair in self.ends[0] for at in pair} | {(plug.switch, plug.port) for plug in self.ends[1]}
        found: dict[PortId, list[str]] = {}
        for at in cabled:
            members = next((group for group in self.bundles if at in group), {at})
            switches = {name for name, number in members if self._is_filled(name, number)}
            if any(setting.filled for setting in self.of_port(*at)):
                found[at] = [item.name for item in self.site.physical_networks if switches & set(item.switches)]
        return found

    def _is_filled(self, switch: str, number: int) -> bool:
        record = self.site.switch[switch].by_port.get(number)
        return record is not None and setting_of(record, ()).filled

    @cached_property
    def bundles(self) -> list[set[PortId]]:
        """Switch ports by which a frame may leave alike: members of one LAG, and what they are cabled to."""
        found: list[set[PortId]] = []
        for lag in self.site.lags:
            near = {self._port(lag.device, name) for name in lag.interfaces}
            ends = [(cable.a, cable.b) for cable in self.site.cables]
            far = {
                self._port(b.device, b.interface)
                for pair in ends
                for a, b in (pair, pair[::-1])
                if a.device == lag.device and a.interface in lag.interfaces
            }
            for ports in (near, far):
                group = {at for at in ports if at is not None}
                met = [other for other in found if other & group]
                found = [other for other in found if not other & group] + ([group.union(*met)] if group else [])
        return found

    def of_port(self, switch: str, port: int) -> list[Setting]:
        """The settings of a port; without a record disabled where all ports are listed, and else unknown."""
        return self.settings.get((switch, port), [self._without_a_line(switch)])

    def _without_a_line(self, switch: str) -> Setting:
        return Setting("disabled") if self.more("switch_ports", switch) is False else UNKNOWN

    @cached_property
    def _complete(self) -> frozenset[tuple[str, str]]:
        return frozenset((item.table, device) for item in self.site.complete for device in item.devices)

    def more(self, table: str, device: str) -> bool | None:
        """Whether there is more of a device than its table lists: nobody knows, unless the table is complete."""
        if (table, device) in self.world.unlisted:
            return True
        return False if (table, device) in self._complete else None

    @cached_property
    def spare_ports(self) -> list[PortId]:
        """Ports without a cable of which nobody says that they are empty."""
        cabled = {at for pair in self.ends[0] for at in pair} | {(plug.switch, plug.port) for plug in self.ends[1]}
        empty = {(switch.name, port.port) for switch in self.site.switches for port in switch.ports if port.empty}
        return [
            (switch.name, number)
            for switch in self.site.switches
            for number in range(1, sum(count for _, count in switch.port_groups) + 1)
            if (switch.name, number) not in cabled | empty
        ]

    def doubtful_plugs(self, host: Host) -> list[str]:
        """Cabled interfaces of a host one of which may lead to its BMC: nobody states which does."""
        plugs = [interface for device, interface in self.behind if device == host.name]
        return [] if host.bmc is not None else [plug for plug in plugs if plug not in listed(host)]

    @cached_property
    def ends(self) -> tuple[list[tuple[PortId, PortId]], list[Plug]]:
        """Cables between switches, and devices on switches."""
        between: list[tuple[PortId, PortId]] = []
        plugs: list[Plug] = []
        for cable in self.site.cables:
            if cable.kind != "ethernet":
                continue
            a, b = self._port(cable.a.device, cable.a.interface), self._port(cable.b.device, cable.b.interface)
            if a and b:
                between.append((a, b))
            elif a:
                plugs.append(Plug(cable.b.device, cable.b.interface, *a))
            elif b:
                plugs.append(Plug(cable.a.device, cable.a.interface, *b))
        return between, plugs

    def _port(self, device: str, interface: str) -> PortId | None:
        return (device, int(interface)) if device in self.site.switch and interface.isdigit() else None

    @cached_property
    def behind(self) -> dict[tuple[str, str], PortId]:
        """(device, interface) -> the switch port it is cabled to."""
        return {(plug.device, plug.interface): (plug.switch, plug.port) for plug in self.ends[1]}

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """VLAN ids that make a difference: each that is named, and one of each stretch that nothing named divides."""
        named = {*self._ids_of_plans(), *self._ids_of_switches()}
        cuts = {1, *named, *(item + 1 for item in named), *self._bounds_of_lists()}
        return tuple(sorted(item for item in cuts if 0 < item < 4095))

    def _ids_of_plans(self) -> Iterator[int]:
        for stack in self.world.stacks:
            yield from (item.segmentation_id or 0 for _, item in stack.all(Network) if item.network_type == "vlan")
            yield from (item.vlan for _, item in stack.all(SwitchPort))
        for _, entry in self.world.given_up():
            if entry.claim.endswith("_vlan"):
                yield int(entry.value.rpartition(":")[2])

    def _ids_of_switches(self) -> Iterator[int]:
        for settings in self.settings.values():
            for item in settings:
                yield item.untagged or 0
                for pair in item.translations:
                    yield from pair
        for switch in self.site.switches:
            yield from switch.routed_vlans or ()
            yield from (vlan for vrf in switch.vrfs for vlan in vrf.vlans)
            yield from (vtep.vlan for vtep in switch.vteps)

    def _bounds_of_lists(self) -> Iterator[int]:
        for settings in self.settings.values():
            for item in settings:
                for first, last in item.tagged or ():
                    yield first
                    yield last + 1

    def is_whole(self, host: Host) -> bool:
        """The host is given out whole."""
        return host.provisioning == "bare-metal" or host.name in self.whole_hosts

    def is_passed_on(self, host: Host) -> bool:
        """A GPU node on which Nova runs servers: whoever has one there has its GPUs and compute adapters."""
        return host.name in self.site.gpu_node and not self.is_whole(host)

    @cached_property
    def whole_hosts(self) -> frozenset[str]:
        """Hosts on which a plan puts a bare-metal server."""
        return frozenset(
            item.resource.node  # type: ignore[attr-defined]
            for stack in self.world.stacks
            for item in stack.by_kind.get("BareMetalServer", ())
        )

    def interfaces(self, host: str, physical_network: str | None) -> tuple[str, ...]:
        """Interfaces of a host on a physical network."""
        known = self.site.host.get(host)
        return known.interfaces.get(physical_network or "", ()) if known else ()


def _has_vlan(network: Network) -> bool:
    return network.network_type == "vlan" and network.segmentation_id is not None
