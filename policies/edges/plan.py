"""A plan's own edges: those whose premises all lie in the plan and the site's inventory; `plan_share` has the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.vocabulary.references import EXTERNAL_REFERENCE as EXTERNAL_REFERENCE
from policies.facts import identities as ids
from policies.facts.fabric import PartitionKeyFact
from policies.facts.kinds import NetworkFact, PlanFacts, PortFact, ServerFact
from policies.facts.site import SiteFacts

from .shape import Edge, EdgeRule

EVERY_VLAN_IDS = (0, 4095)


@dataclass(frozen=True)
class PlanOnSite:
    """A plan's facts and the site they are about."""

    site: SiteFacts
    plan: PlanFacts

    def port(self, name: str) -> str:
        """The node of a port of this plan."""
        return ids.neutron_port(self.plan.owner, name)

    def server(self, name: str) -> str:
        """The node of a server of this plan."""
        return ids.server(self.plan.owner, name)

    def router(self, name: str) -> str:
        """The node of a router of this plan."""
        return ids.router(self.plan.owner, name)

    def wires(self, network: NetworkFact) -> tuple[str, ...]:
        """What a network claims: its VLAN on every switch of its physical network, or its overlay."""
        if network.kind == "vxlan":
            return (ids.overlay(self.site.site.cloud, network.segment or 0),)
        if network.kind == "vlan" and network.segment is not None:
            return self.site.segments(network.physical_network, network.segment)
        return ()

    def rnic(self, machine: str) -> str:
        """The RNIC of a machine; a machine that the site does not list is a node of its own."""
        found = self.site.site.machine.get(machine)
        return ids.part(found.serial, "rnic") if found is not None else ids.unresolved(machine)

    def key(self, item: PartitionKeyFact) -> tuple[str, str]:
        """The node of a P_Key and of the whole InfiniBand subnet; an unknown subnet goes by its name."""
        prefixes = {subnet.name: subnet.prefix for subnet in self.site.site.infiniband}
        prefix = prefixes.get(item.infiniband, item.infiniband)
        return ids.partition_key(prefix, item.key), ids.fabric(prefix)

    def own_ports(self, item: PartitionKeyFact) -> tuple[str, ...]:
        """Members that are the tenant's: no declared terminals, and nobody whom the operator lets into its own key."""
        ports = (ids.infiniband_port(guid) for guid, _ in item.members) if self.plan.is_tenant else ()
        return tuple(port for port in ports if port not in self.site.shared_ports)

    def attached_ports(self) -> Iterator[tuple[PortFact, NetworkFact]]:
        """Ports on networks of this plan."""
        for port in self.plan.ports:
            network = self.plan.network.get(port.network)
            if network is not None:
                yield port, network

    def plug_points(self, network: NetworkFact) -> tuple[str, ...]:
        """Where a right to plug into a network leads: what it claims; of a flat one, its wire at every host."""
        if network.kind != "flat":
            return self.wires(network)
        hosts = (host.name for host in self.site.site.hosts)
        bridges = (bridge for host in hosts for bridge in self.site.bridges(host, network.physical_network))
        return tuple(ids.vlan_segment(bridge, 0) for bridge in bridges)

    def wires_at_host(self, port: PortFact, network: NetworkFact) -> tuple[str, ...]:
        """Where a port on a network is plugged in: its VLAN on the bridges of its host, or the overlay."""
        if network.kind == "vxlan":
            return self.wires(network)
        vlan = 0 if network.kind == "flat" else (network.segment or 0)
        return tuple(
            ids.vlan_segment(bridge, vlan) for bridge in self.site.bridges(port.host, network.physical_network)
        )

    def hub(self, network: NetworkFact) -> str:
        """The external network that a network of this plan is: the site's, or one that no file of the site tells of."""
        site = self.site.site.external
        is_sites = (network.physical_network, network.segment) == (site.physical_network, site.vlan)
        return ids.external_hub(site.name if is_sites else f"{self.plan.owner}/{network.name}")

    def attachment(self, name: str) -> str:
        """The node of a port that this plan refers to, its own or one that no file describes."""
        return self.port(name) if name in self.plan.port else ids.unresolved(name)

    def passed_on(self, server: ServerFact) -> tuple[str, ...]:
        """What a server has of the host that it takes whole: of a virtual one the devices of its GPU node."""
        return self.site.lent_parts(server.host) if self.takes_host(server) else ()

    def takes_host(self, server: ServerFact) -> bool:
        """True for a server that is a host, and for any virtual one on a GPU node."""
        return server.is_bare_metal or (self.site.is_whole(server.host) and not self.site.is_bare_metal(server.host))

    def is_terminal(self, server: ServerFact) -> bool:
        """True if the server may count as a declared controller: the operator's alone."""
        return server.is_controller and server.labels == {ids.OPERATOR}


def reaches_every_vlan(port: PortFact, network: NetworkFact) -> bool:
    """E5 rather than E6: a whole interface; a VF with the spoof check off, without a VLAN, or with VLAN 0 or 4095."""
    if port.vnic_type == "baremetal":
        return True
    if port.vnic_type != "direct":
        return False
    checked = port.port_security and network.port_security
    return not checked or network.kind == "flat" or network.segment in EVERY_VLAN_IDS


def _virtual_functions(facts: PlanOnSite) -> Iterator[Edge]:
    for port, network in facts.attached_ports():
        if port.vnic_type == "direct" and network.segment != EVERY_VLAN_IDS[-1]:
            rule = "E5" if reaches_every_vlan(port, network) else "E6"
            yield from (Edge(facts.port(port.name), wire, rule) for wire in facts.wires_at_host(port, network))


def _ordinary_nics(facts: PlanOnSite) -> Iterator[Edge]:
    for port, network in facts.attached_ports():
        if port.vnic_type == "normal":
            yield from (Edge(facts.port(port.name), wire, "E7") for wire in facts.wires_at_host(port, network))


def _spare_ports(facts: PlanOnSite) -> Iterator[Edge]:
    """A port that no server has yet may be plugged in on any switch of its network.

    It joins nothing there, so it matters only where the network's own label does not say the same.
    """
    for port, network in facts.attached_ports():
        if port.server is None and (port.owner != network.owner or network.kind == "flat"):
            yield from (Edge(facts.port(port.name), wire, "E7") for wire in facts.plug_points(network))


def _devices(facts: PlanOnSite) -> Iterator[Edge]:
    for server in facts.plan.servers:
        if not facts.is_terminal(server):
            node = facts.server(server.name)
            yield from (Edge(node, facts.attachment(port), "E9") for port in server.ports)


def _trunks(facts: PlanOnSite) -> Iterator[Edge]:
    """Whoever has the parent port has its sub-ports; those of a terminal are split like its other ports."""
    split = {port for server in facts.plan.servers if facts.is_terminal(server) for port in server.ports}
    for trunk in facts.plan.trunks:
        if trunk.port not in split:
            parent = facts.attachment(trunk.port)
            yield from (Edge(parent, facts.attachment(port), "E8") for port, _ in trunk.sub_ports)
        # No switch port resource says so: the switch takes the tags of a whole host's trunk.
        for port, network in facts.attached_ports():
            if port.vnic_type == "baremetal" and port.name in {name for name, _ in trunk.sub_ports}:
                yield from (Edge(facts.port(port.name), wire, "E8") for wire in facts.wires(network))


def _bare_metal(facts: PlanOnSite) -> Iterator[Edge]:
    """A whole host is every interface of it that is cabled, whatever its ports say."""
    for server in facts.plan.servers:
        host = facts.site.site.host.get(server.host)
        if not server.is_bare_metal:
            continue
        node = facts.server(server.name)
        if host is None:
            yield Edge(node, ids.unresolved(server.host), "E5")
        elif host.provisioning == "hypervisor":
            yield Edge(node, ids.hypervisor(host.serial), "E5")
        yield from (Edge(node, interface, "E5") for interface in facts.site.interfaces(server.host))


def _passed_on(facts: PlanOnSite) -> Iterator[Edge]:
    """The server on a GPU node has physical functions of its adapters, and its GPUs, whatever its flavour says."""
    for server in facts.plan.servers:
        if not server.is_bare_metal:
            node = facts.server(server.name)
            yield from (Edge(node, part, "E5") for part in facts.passed_on(server))


def _bare_metal_ports(facts: PlanOnSite) -> Iterator[Edge]:
    for port, network in facts.attached_ports():
        if port.vnic_type == "baremetal":
            for end in facts.site.bare_metal_ends(port.host, network.physical_network):
                serial = facts.site.site.switch[end.switch].serial
                yield Edge(facts.port(port.name), ids.switch_port(serial, end.port), "E5")


def _volumes(facts: PlanOnSite) -> Iterator[Edge]:
    servers, volumes = facts.plan.server, {item.name for item in facts.plan.volumes}
    for item in facts.plan.attachments:
        a = facts.server(item.server) if item.server in servers else ids.unresolved(item.server)
        known = item.volume in volumes
        yield Edge(a, ids.volume(facts.plan.owner, item.volume) if known else ids.unresolved(item.volume), "E9")


def _allocations(facts: PlanOnSite) -> Iterator[Edge]:
    for item in facts.plan.allocations:
        node = ids.allocation(item.owner, item.name)
        yield from (Edge(facts.rnic(machine), node, "E16") for machine in item.machines)


def _share_addresses(facts: PlanOnSite) -> Iterator[Edge]:
    for item in facts.plan.accesses:
        address = ids.share_address(facts.site.site.cloud, item.vip)
        network = facts.plan.network.get(item.network)
        wires = facts.wires(network) if network is not None else (ids.unresolved(item.network),)
        yield from (Edge(address, wire, "E7") for wire in wires)


def _gpus(facts: PlanOnSite) -> Iterator[Edge]:
    for item in facts.plan.nvlinks:
        node = ids.nvlink_partition(item.domain, item.partition)
        yield from (Edge(ids.gpu(item.domain, gpu), node, "E17") for gpu in item.gpus)


def _nodes_of_gpus(facts: PlanOnSite) -> Iterator[Edge]:
    """Whoever has a node whole drives all GPUs in it, whatever group of them is somebody else's."""
    for item in facts.plan.nvlinks:
        node, domain = ids.nvlink_partition(item.domain, item.partition), item.domain
        if domain in facts.site.site.gpu_node:
            yield from (Edge(part, node, "E17") for part in facts.site.lent_parts(domain))


def _routers(facts: PlanOnSite) -> Iterator[Edge]:
    for router in facts.plan.routers:
        for name in router.subnets:
            yield from (Edge(facts.router(router.name), wire, "E10") for wire in _behind_subnet(facts, name))
    for stray, name in facts.plan.stray_interfaces:
        yield from (Edge(ids.unresolved(stray), wire, "E10") for wire in _behind_subnet(facts, name))


def _behind_subnet(facts: PlanOnSite, name: str) -> tuple[str, ...]:
    """The segments under a subnet of this plan; an object that no file describes is a node of its own."""
    subnet = facts.plan.subnet.get(name)
    network = facts.plan.network.get(subnet.network) if subnet is not None else None
    if network is not None and network.external:
        return (facts.hub(network),)
    return facts.wires(network) if network is not None else (ids.unresolved(name),)


def _external_ports(facts: PlanOnSite) -> Iterator[Edge]:
    hub = ids.external_hub(facts.site.site.external.name)
    for port in facts.plan.ports:
        network = facts.plan.network.get(port.network)
        if port.network == EXTERNAL_REFERENCE:
            yield Edge(facts.port(port.name), hub, "E12")
        elif network is None:
            yield Edge(facts.port(port.name), ids.unresolved(port.network), "E7")
        elif network.external:
            yield Edge(facts.port(port.name), facts.hub(network), "E12")


def _external_wires(facts: PlanOnSite) -> Iterator[Edge]:
    for network in facts.plan.networks:
        if network.external:
            yield from (Edge(facts.hub(network), wire, "E12") for wire in facts.plug_points(network))


def _capabilities(facts: PlanOnSite) -> Iterator[Edge]:
    for network in facts.plan.networks:
        if network.owner == facts.plan.owner and facts.plan.is_tenant:
            points = (facts.hub(network),) if network.external else facts.plug_points(network)
            yield from (Edge(ids.capability(network.owner), point, "E13") for point in points)


#: The rows that a plan can be asked for alone. Those that need another owner's facts: `union_edges`.
PLAN_EDGES: tuple[EdgeRule[PlanOnSite], ...] = (
    EdgeRule("E5", "a bare-metal server is on every interface of its host", _bare_metal),
    EdgeRule("E5", "a server on a GPU node has the devices that are passed on to it", _passed_on),
    EdgeRule("E5", "a bare-metal port is on the switch ports behind its host's interfaces", _bare_metal_ports),
    EdgeRule("E6", "a virtual function with a VLAN set by the host reaches that VLAN only", _virtual_functions),
    EdgeRule("E7", "an ordinary vNIC reaches its network's segment on its host", _ordinary_nics),
    EdgeRule("E7", "a port without a server, on somebody else's network, is on every switch of it", _spare_ports),
    EdgeRule("E8", "who has the parent port of a trunk has its sub-ports", _trunks),
    EdgeRule("E9", "a server forwards between its ports, unless it is a declared terminal", _devices),
    EdgeRule("E7", "the storage appliance has an address on the network of each grant", _share_addresses),
    EdgeRule("E9", "a server reads and writes the volumes attached to it", _volumes),
    EdgeRule("E10", "a router joins the segments of all its interfaces", _routers),
    EdgeRule("E12", "a port on an external network reaches its hub", _external_ports),
    EdgeRule("E12", "the wire of an external network of the plan's own", _external_wires),
    EdgeRule("E13", "a project may plug into its own networks", _capabilities),
    EdgeRule("E16", "a V-IPU allocation joins its machines", _allocations),
    EdgeRule("E17", "an NVLink partition joins its GPUs", _gpus),
    EdgeRule("E17", "an NVLink partition joins the GPU node that is its domain", _nodes_of_gpus),
)
