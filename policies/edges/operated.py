"""What the operator runs for all tenants, and what stays in a device: apart only while A16 to A24 are held.

No record of a site or plan shows them. Each row says where an assumption applies, as the pairs of nodes that are joined
unless it is held; where there is no such pair, nothing rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from interlock.resources import Flavor
from interlock.vocabulary import Reference, Scheme
from interlock.vocabulary.nodes import FormerHolderNode, HeldHost, OperatedNode, OverlayNode, parse, switch_vlan
from interlock.vocabulary.references import EXTERNAL_REFERENCE
from policies.about import Fact, SiteFact, in_order
from policies.facts import identities as ids
from policies.facts.guards import GuardState
from policies.facts.plugs import plug_doubt

from .shape import Edge, EdgeRule, Relation, Union

#: What belongs to somebody, what it is joined with unless the assumption is held, and the facts without which nobody
#: knows whether it would be.
Joined = tuple[str, str, tuple[Fact, ...]]

#: The wire under overlays, and their endpoints.
UNDERLAY = "underlay"
#: What devices ask a switch for.
_PROTOCOLS = "vlan-protocols"

#: Assumptions of which the second node is a switch, or what a former holder left: they have labels of their own.
_OF_DEVICES = ("A22", "A23")


@dataclass(frozen=True)
class Operated:
    """An assumption about what is in no plan: what it keeps apart, in words, and where."""

    assumption: str
    #: What is true while it is held.
    claim: str
    #: What is met where it is not.
    service: str
    hint: str
    ends: Callable[[Union], Iterator[Joined]]

    def held(self, union: Union) -> GuardState:
        """Whether the site states it."""
        return union.site.assumption(self.assumption)

    @property
    def row(self) -> EdgeRule[Union]:
        """As a row of the table of edges."""
        return EdgeRule(self.assumption, f"{self.service}: met unless {self.assumption} is held", self.edges)

    def edges(self, union: Union) -> Iterator[Edge]:
        """An edge for each pair."""
        held = self.held(union)
        for a, b, doubts in self.ends(union):
            kept = held.guards if held.value else ()
            yield Edge(a, b, self.assumption, () if kept else (*held.missing, *doubts), held.broken, kept, held.guards)


def _of_cloud(union: Union, service: str) -> str:
    return ids.operated(union.site.site.cloud, service)


def _load_balancers(union: Union) -> Iterator[Joined]:
    """Whoever may call the cloud may ask for one, on a network of its own."""
    yield from ((node, _of_cloud(union, "load-balancers"), ()) for (node,) in union.facts(Relation.CAPABILITY))


def _overlays(union: Union) -> Iterator[Joined]:
    """Nothing in an overlay's packets says who sent them: whoever sends to an endpoint is on every overlay of it."""
    for node in sorted(union.nodes):
        if isinstance(overlay := parse(node), OverlayNode):
            yield node, ids.operated(overlay.underlay, UNDERLAY), ()
    for switch in union.site.site.switches:
        bridge = ids.switch_bridge(switch.serial)
        for item in switch.vteps:
            yield ids.vlan_segment(bridge, item.vlan), ids.operated(item.underlay, UNDERLAY), ()


def _network_nodes(union: Union) -> Iterator[Joined]:
    """Whoever has a network turns DHCP on, and asks for metadata there."""
    for segment, _, _, _, state in union.facts(Relation.CLAIM):
        if state == "held":
            yield segment, _of_cloud(union, "network-nodes"), ()


def _guests(service: str) -> Callable[[Union], Iterator[Joined]]:
    def ends(union: Union) -> Iterator[Joined]:
        yield from ((server, _of_cloud(union, service), ()) for server, _, _ in union.facts(Relation.GUEST))

    return ends


def _upstream(union: Union) -> Iterator[Joined]:
    """A router sends its tenant's packets out, wherever they are addressed to."""
    for router, reference, _, _ in union.facts(Relation.GATEWAY):
        if reference == EXTERNAL_REFERENCE:
            yield router, _of_cloud(union, "behind-external"), ()


def _talking_switches(union: Union) -> Iterator[Joined]:
    """A lent device that the switch listens to sets its own VLANs: then it is on each of the switch.

    Guests are heard only where nothing of the host's stands between: the host tags whatever else they send.
    """
    talking = tuple(dict.fromkeys(_talking(union)))
    yield from ((node, ids.operated(serial, _PROTOCOLS), missing) for node, serial, missing in talking)
    certain = {serial for _, serial, missing in talking if not missing}
    facts = {
        serial: in_order(fact for _, other, found in talking if other == serial for fact in found)
        for serial in {serial for _, serial, _ in talking} - certain
    }
    doubts = dict.fromkeys(certain, ()) | facts
    switches = {ids.switch_bridge(serial): serial for serial in doubts}
    nodes = set(union.nodes)
    if union.site.assumption("A22").value is not True:
        nodes |= {ids.vlan_segment(bridge, vlan) for bridge in switches for vlan in union.vlans}
    for node in sorted(nodes):
        if (vlan := switch_vlan(node)) is not None and vlan.bridge in switches:
            serial = switches[vlan.bridge]
            yield node, ids.operated(serial, _PROTOCOLS), doubts[serial]


def _talking(union: Union) -> Iterator[Joined]:
    """What sends frames of its own making to a switch, and the serial of the switch."""
    site = union.site
    for end, port in site.ordinary_ends:
        serial = site.site.switch[port.switch].serial
        if site.lendable.intersection(site.devices_behind(end)):
            yield ids.switch_port(serial, port.port), serial, plug_doubt(site.site, end)
        elif site.is_bare_metal(end.device) and end.interface in site.doubtful_plugs(end.device):
            yield ids.switch_port(serial, port.port), serial, (SiteFact(f"hosts.{end.device}.bmc"),)
    for node, bridge in union.facts(Relation.EVERY_VLAN):
        if bridge in site.uplink:
            yield node, site.site.switch[site.uplink[bridge].switch].serial, ()
    for server, host in union.facts(Relation.METAL):
        own = {*site.interfaces(host)} if host in site.site.host else set()
        for plug, at in site.ends_of.get(host, ()):
            if ids.part(site.serial(host), plug) in own:
                yield server, site.site.switch[at.switch].serial, ()
    yield from _handed_out(union)


def _handed_out(union: Union) -> Iterator[Joined]:
    """The same of guests with a function of their host."""
    site = union.site
    for server, host, reference in union.facts(Relation.PASSTHROUGH):
        flavor = site.site.flavor.get(Reference.name_in(reference, Scheme.SITE, Flavor.KIND) or "")
        if flavor is not None and flavor.devices != "other":
            doubt = () if flavor.devices else (SiteFact(f"flavors.{flavor.name}.devices"),)
            yield from ((server, site.site.switch[at.switch].serial, doubt) for _, at in site.ends_of.get(host, ()))


def _firmware(union: Union) -> Iterator[Joined]:
    """No wipe of disks reaches what a tenant with root wrote into BIOS, BMC and adapters."""
    for former, device in union.facts(Relation.SETTLED):
        if is_of_host(former):
            yield device, former, ()


def _managed(union: Union) -> Iterator[Joined]:
    """Whoever powers, cleans and watches devices is on the network of each BMC, whose board its holder has.

    That a holder cannot get into the BMC is A3 and A13; here one who did so all the same gets no further.
    """
    site = union.site
    lent = [ids.part(machine.serial, "rnic") for machine in site.site.machines]
    lent += [node for host in site.site.hosts if site.is_bare_metal(host.name) for node in site.interfaces(host.name)]
    lent += [server for server, name in union.facts(Relation.METAL) if name in site.site.host]
    yield from ((node, _of_cloud(union, "bmc-access"), ()) for node in lent if node in union.nodes)


def is_asked_by_devices(node: str) -> bool:
    """True for the VLANs of a switch that devices ask for: met by all of it unless A22 is held."""
    found = parse(node)
    return isinstance(found, OperatedNode) and found.service == _PROTOCOLS


def is_of_host(former: str) -> bool:
    """True for what a former holder of a whole host may have left."""
    node = parse(former)
    return isinstance(node, FormerHolderNode) and isinstance(parse(node.identity), HeldHost)


OPERATED: tuple[Operated, ...] = (
    Operated(
        "A16", "load balancers and the network that manages them are kept off tenants", "load balancers of the cloud",
        "give load balancers a management network that no tenant reaches, one appliance for each, and state A16; it "
        "is true as well where the cloud has none",
        _load_balancers,
    ),
    Operated(
        "A17", "no tenant reaches the wire under overlays and their endpoints", "the wire under the overlays",
        "keep the underlay in a VLAN or VRF of the operator's, drop its port elsewhere, and state A17", _overlays,
    ),
    Operated(
        "A18", "network nodes keep DHCP, metadata and routers of tenants apart", "network nodes of the cloud",
        "run each in a namespace of its own, sign metadata requests with a secret, and state A18", _network_nodes,
    ),
    Operated(
        "A19", "live migration and console proxies are closed to tenants", "migration and consoles of hypervisors",
        "encrypt migration on a network of the operator's, bind consoles to it, ask for tokens, and state A19",
        _guests("migration-and-consoles"),
    ),
    Operated(
        "A20", "a guest reaches no storage behind its hypervisor but its own", "storage behind the hypervisors",
        "keep the storage network of hypervisors off tenants, one export for each volume, and state A20",
        _guests("back-end-storage"),
    ),
    Operated(
        "A21", "no network of the operator's is reached by way of the external one", "networks behind the external one",
        "drop what comes from tenants' addresses towards the operator's networks, and state A21", _upstream,
    ),
    Operated(
        "A22", "switches take no VLANs from devices that are lent out", "VLANs that a device asks its switch for",
        "turn DTP, VTP, MVRP and their like off at ports of lent devices, and state A22", _talking_switches,
    ),
    Operated(
        "A23", "the firmware of a whole host is restored before somebody else has it", "firmware of a former holder",
        "verify or write again all firmware of a host between two tenants, and state A23", _firmware,
    ),
    Operated(
        "A24", "the operator's way to BMCs leads from none of them to another", "the operator's way to BMCs",
        "let BMCs only answer what the conductor opens, let it forward nothing, and state A24", _managed,
    ),
)  # fmt: skip

OPERATED_EDGES: tuple[EdgeRule[Union], ...] = tuple(item.row for item in OPERATED)


def operated_nodes(union: Union) -> Iterator[str]:
    """What of it is the operator's own: everything but switches and what former holders left."""
    for item in OPERATED:
        if item.assumption not in _OF_DEVICES:
            yield from dict.fromkeys(met for _, met, _ in item.ends(union))
