"""What is in no plan and everybody is on: services of the operator's, protocols of switches, firmware (A16 to A24)."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.resources import Network, Router, Server

from .hardware import part_of, whole_of
from .readings import Facts
from .segments import NO_VLAN, Segments
from .servers import Servers, ports_of
from .switches import Switches
from .terrain import Place, Terrain
from .world import OP

#: Assumption -> its guards, and the place of the operator's that is met where it does not hold.
SERVICES = {
    "A16": (("load_balancers_apart",), "load balancers"),
    "A17": (("underlay_closed",), "wire under overlays"),
    "A18": (("namespaces_apart", "metadata_signed"), "network nodes"),
    "A19": (("migration_closed", "consoles_closed"), "migration and consoles"),
    "A20": (("volumes_apart",), "storage of hypervisors"),
    "A21": (("upstream_filtered",), "behind the external network"),
    "A24": (("bmc_answers_only", "conductor_forwards_nothing"), "way to BMCs"),
}


class Operated:
    """Puts it into the terrain, where it is not known to be kept apart."""

    def __init__(
        self, facts: Facts, terrain: Terrain, switches: Switches, segments: Segments, servers: Servers
    ) -> None:
        self.facts, self.terrain, self.switches = facts, terrain, switches
        self.segments, self.servers = segments, servers

    def walk(self) -> None:
        """All hops and marks."""
        for assumption, (guards, service) in SERVICES.items():
            held = self.facts.holds(assumption, *guards)
            if held is not True:
                self.terrain.mark((service,), OP)
                for place in self._using(assumption):
                    self.terrain.unless(held, place, (service,), assumption)
        held = self.facts.holds("A22", "vlan_protocols_off")
        if held is not True:
            for place, switch, certain in {*self._talkers()}:
                for vlan in self.facts.ids:
                    if held is False and certain:
                        self.terrain.hop(place, self.switches.bridge(switch, vlan), "A22")
                    else:
                        self.terrain.hop(place, self.switches.bridge(switch, vlan), "A22", certain=False)

    def _using(self, assumption: str) -> Iterator[Place]:
        """What of tenants hangs on a service."""
        world = self.facts.world
        match assumption:
            case "A16":
                yield from (("may plug in", tenant) for tenant in world.plans)
            case "A17":
                yield from self._mapped()
            case "A18":
                yield from self._networks("vlan", "vxlan")
            case "A21":
                for stack in world.stacks:
                    for name, router in stack.all(Router):
                        if router.external_network == "site:Network/external":
                            yield "router", stack.owner, name
            case "A24":
                yield from (part_of(machine, "rnic") for machine in self.facts.site.machines)
                yield from (whole_of(host) for host in self.facts.site.hosts if self.facts.is_whole(host))
            case _:
                for stack in world.stacks:
                    yield from (("server", stack.owner, name) for name, _ in stack.all(Server))

    def _networks(self, *kinds: str) -> Iterator[Place]:
        for stack in self.facts.world.stacks:
            for name, network in stack.all(Network):
                segment = self.segments.known[stack.owner, name]
                if network.network_type in kinds:
                    yield from segment.places

    def _mapped(self) -> Iterator[Place]:
        """Neutron's own overlays, and VLANs that switches map to any."""
        yield from self._networks("vxlan")
        for _, entry in self.facts.world.given_up():
            if entry.claim == "control_vni":
                yield "tunnel", "neutron", "vxlan", int(entry.value)
        for switch in self.facts.site.switches:
            yield from (self.switches.bridge(switch.name, item.vlan) for item in switch.vteps)

    def _talkers(self) -> Iterator[tuple[Place, str, bool]]:
        """Lent devices on switch ports, and guests that no hypervisor's tag stands before: (place, switch, certain)."""
        site = self.facts.site
        for (device, interface), (switch, _) in self.facts.behind.items():
            if device in site.machine and interface.startswith("rnic"):
                yield part_of(site.machine[device], "rnic"), switch, True
            host = site.host.get(device)
            if host is not None and self.facts.is_whole(host) and interface != host.bmc:
                yield whole_of(host), switch, interface not in self.facts.doubtful_plugs(host)
        for stack in self.facts.world.stacks:
            for name, server in stack.all(Server):
                if (("server", stack.owner, name), server.host) in self.servers.handed_out:
                    certain = site.flavor[server.flavor.removeprefix("site:Flavor/")].devices == "network"
                    ends = (at for (device, _), at in self.facts.behind.items() if device == server.host)
                    yield from ((("server", stack.owner, name), at[0], certain) for at in ends)
        yield from self._loose()

    def _loose(self) -> Iterator[tuple[Place, str, bool]]:
        """Virtual functions that nothing holds to one VLAN."""
        for stack in self.facts.world.stacks:
            for name, server in stack.all(Server):
                for _, port, _ in ports_of(stack, server.ports):
                    segment = self.segments.find(stack, port.network)
                    free = segment.kind == "flat" or segment.vlan in NO_VLAN or not port.port_security
                    for interface in self.facts.interfaces(server.host, segment.physical_network):
                        at = self.facts.behind.get((server.host, interface))
                        if port.vnic_type == "direct" and free and at is not None:
                            yield ("server", stack.owner, name), at[0], True
