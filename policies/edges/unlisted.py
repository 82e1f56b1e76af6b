"""What no record tells of may be there, unless its table is declared complete (docs/design/semantics.md §8, E20).

All of it is one node, that of strangers: a cable, a VRF or an interface that nobody listed may lead anywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from interlock.model.site.inventory import Endpoint, Switch
from interlock.resources import Flavor
from interlock.vocabulary import Reference, Scheme
from interlock.vocabulary.nodes import VlanNode, parse
from policies.about import Fact, SiteFact, in_order
from policies.facts import identities as ids
from policies.facts.port_modes import PortMode, SwitchEnd

from .shape import Edge, Relation, Union
from .unlisted_in_cloud import unlisted_networks

Missing = tuple[Fact, ...]

#: Row of the table of edges.
UNLISTED = "E20"

#: Roles of devices that have one attachment by what they are.
_ONE_ATTACHMENT = ("pdu", "switch-management")


def unlisted_switches(union: Union) -> Iterator[Edge]:
    """Cables, VRFs, VTEPs and ways to the external network that a switch may have besides; ports without a cable."""
    strangers = ids.foreigners(union.site.site.cloud)
    hub = ids.external_hub(union.site.site.external.name)
    for switch in union.site.site.switches:
        ports = _spare_ports(union, switch)
        tables = [*union.site.undeclared("cables", switch.name), *union.site.undeclared("routing", switch.name)]
        outside = union.site.undeclared("external_attachments", switch.name)
        for segment, vlan in _segments(union, switch):
            missing = in_order([*tables, *ports.get(vlan, ())])
            yield from [Edge(segment, strangers, UNLISTED, missing)] if missing else []
            yield from [Edge(segment, hub, UNLISTED, outside)] if outside else []


def _segments(union: Union, switch: Switch) -> Iterator[tuple[str, int]]:
    bridge = ids.switch_bridge(switch.serial)
    for vlan in union.vlans:
        yield ids.vlan_segment(bridge, vlan), vlan
        yield from ((group, vlan) for group in union.private_groups.get((switch.name, vlan), ()))


def _spare_ports(union: Union, switch: Switch) -> dict[int, set[Fact]]:
    """VLAN -> the ports that carry it, or may, and have no cable: something nobody listed is plugged in there.

    Also where all cables are said to be listed: then the two statements contradict each other.
    """
    found: defaultdict[int, set[Fact]] = defaultdict(set)
    count = sum(number for _, number in switch.port_groups)
    for end in (SwitchEnd(switch.name, port) for port in range(1, count + 1)):
        record = switch.by_port.get(end.port)
        if (switch.name, str(end.port)) in union.site.site.cable_at or (record is not None and record.empty):
            continue
        mode = union.mode_of(end)
        fact = SiteFact(f"switches.{switch.name}.ports.{end.port}")
        for vlan in _carried(union, mode):
            found[vlan].add(fact)
    return dict(found)


def _carried(union: Union, mode: PortMode) -> tuple[int, ...]:
    return union.carried_by(mode) if mode.known else union.vlans


def unlisted_hosts(union: Union) -> Iterator[Edge]:
    """Interfaces that a host may have besides: on a hypervisor its guests' VLANs leave by them."""
    strangers = ids.foreigners(union.site.site.cloud)
    bridges = union.site.host_of_bridge
    for node in sorted(union.nodes):
        if isinstance(vlan := parse(node), VlanNode) and vlan.bridge in bridges:
            missing = union.site.undeclared("attachments", bridges[vlan.bridge][0].name)
            yield from [Edge(node, strangers, UNLISTED, missing)] if missing else []
    for host in (item.name for item in union.site.site.whole_hosts):
        missing = union.site.undeclared("attachments", host)
        nodes = (*union.site.interfaces(host), union.site.bmc(host)) if missing else ()
        yield from (Edge(node, strangers, UNLISTED, missing) for node in nodes)
    for server, host in union.facts(Relation.METAL):
        missing = union.site.undeclared("attachments", host)
        yield from [Edge(server, strangers, UNLISTED, missing)] if missing else []


def perhaps_uplink(union: Union, end: Endpoint) -> Missing:
    """Of a hypervisor's plug in no list: the declaration without which it may be its guests' as well as its own."""
    host = union.site.site.host.get(end.device)
    if host is None or host.provisioning != "hypervisor" or end.interface == host.bmc:
        return ()
    return union.site.undeclared("attachments", end.device)


def passed_through(union: Union) -> Iterator[Edge]:
    """A network function that a flavour hands out sees every VLAN of its port; which function it is, nobody states."""
    site, strangers = union.site.site, ids.foreigners(union.site.site.cloud)
    for server, host, reference in union.facts(Relation.PASSTHROUGH):
        flavor = site.flavor.get(Reference.name_in(reference, Scheme.SITE, Flavor.KIND) or "")
        if flavor is None or flavor.devices == "other":
            continue
        missing = () if flavor.devices else (SiteFact(f"flavors.{flavor.name}.devices"),)
        for _, end in union.site.ends_of.get(host, ()):
            mode = union.mode[end]
            if networks := unlisted_networks(union, mode):
                yield Edge(server, strangers, UNLISTED, (*missing, *networks))
            doubt = missing if mode.known else (*missing, SiteFact(f"switches.{end.switch}.ports.{end.port}"))
            for vlan in union.carried(end) if mode.known else union.vlans:
                yield Edge(server, union.segment(end, vlan), "E5", doubt)
        if more := union.site.undeclared("attachments", host):
            yield Edge(server, strangers, UNLISTED, (*missing, *more))


def unlisted_attachments(union: Union) -> Iterator[Edge]:
    """A machine, and any device that is not declared as shared, may be attached where no cable is listed."""
    site, strangers = union.site.site, ids.foreigners(union.site.site.cloud)
    for machine in site.machines:
        missing = union.site.undeclared("attachments", machine.name)
        nodes = (ids.part(machine.serial, name) for name in ("rnic", "gw", "bmc")) if missing else ()
        yield from (Edge(node, strangers, UNLISTED, missing) for node in nodes)
    roles = {device.name: device.role for device in site.devices}
    for end, _ in union.site.ordinary_ends:
        if roles.get(end.device, _ONE_ATTACHMENT[0]) not in _ONE_ATTACHMENT:
            missing = union.site.undeclared("attachments", end.device)
            behind = union.site.devices_behind(end) if missing else ()
            yield from (Edge(node, strangers, UNLISTED, missing) for node in behind)
