"""Site -> look-ups that the edge rules use: bridges, cables and port modes by canonical identity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from interlock.model.site import Cable, Endpoint, Host, Site, Switch

from . import identities as ids
from .facts import PortMode, SwitchEnd


class SiteFacts:
    """A site as the proof reads it. Tables of cables and physical networks are complete: no row, no cable."""

    def __init__(self, site: Site) -> None:
        self.site = site

    @cached_property
    def switches_of(self) -> dict[str, tuple[Switch, ...]]:
        """Physical network -> the switches it reaches."""
        return {
            item.name: tuple(self.site.switch[name] for name in item.switches if name in self.site.switch)
            for item in self.site.physical_networks
        }

    @cached_property
    def host_of_bridge(self) -> dict[str, tuple[Host, str]]:
        """Host bridge -> (host, interface). One interface under two physical networks is one bridge."""
        return {
            ids.host_bridge(host.serial, interface): (host, interface)
            for host in self.site.hosts
            for interfaces in host.interfaces.values()
            for interface in interfaces
        }

    @cached_property
    def switch_of_bridge(self) -> dict[str, Switch]:
        """Switch bridge -> switch."""
        return {ids.switch_bridge(switch.serial): switch for switch in self.site.switches}

    def bridges(self, host: str | None, physical_network: str | None) -> tuple[str, ...]:
        """The host's bridges on a physical network: each leg of a bond is one, and all carry the VLAN."""
        found = self.site.host.get(host or "")
        if found is None or physical_network is None:
            return ()
        return tuple(ids.host_bridge(found.serial, name) for name in found.interfaces.get(physical_network, ()))

    def segments(self, physical_network: str | None, vlan: int) -> tuple[str, ...]:
        """A VLAN on every switch that the physical network reaches."""
        switches = self.switches_of.get(physical_network or "", ())
        return tuple(ids.vlan_segment(ids.switch_bridge(item.serial), vlan) for item in switches)

    @cached_property
    def ethernet(self) -> tuple[Cable, ...]:
        """Cables that carry frames."""
        return tuple(cable for cable in self.site.cables if cable.kind == "ethernet")

    def switch_end(self, end: Endpoint) -> SwitchEnd | None:
        """The end as a switch port, if it is one. An interface that is no number has no record: port 0."""
        if end.device not in self.site.switch:
            return None
        return SwitchEnd(end.device, int(end.interface) if end.interface.isdecimal() else 0)

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
    def switch_links(self) -> tuple[tuple[SwitchEnd, SwitchEnd], ...]:
        """Cables between two switches."""
        pairs = ((self.switch_end(cable.a), self.switch_end(cable.b)) for cable in self.ethernet)
        return tuple((a, b) for a, b in pairs if a is not None and b is not None)

    @cached_property
    def uplink(self) -> dict[str, SwitchEnd]:
        """Host bridge -> the switch port behind it."""
        ends = {(end.device, end.interface): far for end, far in self.device_ends}
        found = {bridge: ends.get((host.name, interface)) for bridge, (host, interface) in self.host_of_bridge.items()}
        return {bridge: end for bridge, end in found.items() if end is not None}

    def configured(self, end: SwitchEnd) -> PortMode:
        """How the site file configures a switch port; unknown if it has no record of it."""
        record = self.site.switch[end.switch].by_port.get(end.port)
        if record is None:
            return PortMode(known=False)
        if record.mode in ("disabled", "routed"):
            return PortMode(known=True)
        untagged = frozenset() if record.untagged is None else frozenset({record.untagged})
        return PortMode(known=True, untagged=untagged, tagged=record.tagged if record.mode == "trunk" else ())

    def devices_behind(self, end: Endpoint) -> tuple[str, ...]:
        """The network devices at a cable's end: a machine's management port carries gateway and BMC."""
        machine = self.site.machine.get(end.device)
        if machine is not None:
            parts = ("rnic",) if end.interface.startswith("rnic") else ("gw", "bmc")
            return tuple(ids.part(machine.serial, name) for name in parts)
        host = self.site.host.get(end.device)
        return (ids.part(host.serial if host is not None else end.device, end.interface),)
