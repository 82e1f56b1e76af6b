"""Compares the links that a subnet manager has discovered with the site's cables of kind `infiniband`.

Pure: no file, no network, no clock. A cable between ports that are as stated gives nothing; each other one gives one
finding, and so does each port of a host that no node of the site has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from interlock.model.site.inventory import Endpoint, Site

from .discovered import DiscoveredFabric, FabricLink, LinkEnd
from .findings import CableFinding, CableFindingKind
from .identified import IdentifiedFabric

_NO_LINK = "no link at either end"


def has_cables(site: Site, infiniband: str) -> bool:
    """True if the site states ports or switches on a subnet, so that there is something to compare."""
    ports = (port.infiniband for node in site.gpu_nodes for port in node.ports)
    return infiniband in {*ports, *(switch.infiniband for switch in site.fabric_switches)}


def fabric_cable_findings(site: Site, infiniband: str, fabric: DiscoveredFabric) -> tuple[CableFinding, ...]:
    """All that is not as stated on one subnet, and all that could not be compared; by the order of the cables."""
    known = IdentifiedFabric(site, infiniband, fabric)
    found = [*_switches(known), *_cables(known), *_without_link(known), *_unstated(known)]
    told = {guid for finding in found for guid in finding.guids}
    return (*found, *(finding for finding in _strangers(known) if not told.intersection(finding.guids)))


def _switches(known: IdentifiedFabric) -> Iterator[CableFinding]:
    """Switches that the subnet lacks, or has several of: of their cables nothing is said."""
    for switch in known.site.fabric_switches:
        guids = known.switches.get(switch.name, ("elsewhere",))
        if len(guids) == 1:
            continue
        by = f"with the GUID {switch.guid}" if switch.guid else "without a GUID, so it is known by its name"
        says = f"several of that name: {', '.join(guids)}" if guids else "no such switch"
        kind = CableFindingKind.NOT_FOUND if switch.guid else CableFindingKind.UNKNOWN
        yield CableFinding(kind, known.infiniband, f"switch {switch.name}", f"the site has it {by}", says)


def _cables(known: IdentifiedFabric) -> Iterator[CableFinding]:
    """Stated cables that lead elsewhere."""
    for a, b in known.cables:
        at_a, at_b = known.peer(a), known.peer(b)
        if not _can_be_said(known, a, b) or (at_a is None and at_b is None):
            continue
        if at_a is not None and (known.endpoint(at_a) == b or known.is_device(at_a, b)):
            continue
        if at_a is not None and known.is_strange(at_a):
            yield _at_a_stranger(known, a, b, at_a)
            continue
        yield _of_cable(known, CableFindingKind.OTHER_PEER, a, b, _both(known, a, b))


def _at_a_stranger(known: IdentifiedFabric, a: Endpoint, b: Endpoint, at_a: LinkEnd) -> CableFinding:
    """A port of a host that no node has, at the switch port where `b` should be."""
    port, there = known.ports.get(b), known.words(at_a)
    if port is None:
        return _of_cable(known, CableFindingKind.STRANGER, a, b, f"{a} with {there}", at_a.guid)
    if port.guid is None:
        stated = f"the site states no GUID of {b}"
        says = f"{there} at {a}, where it is cabled"
        return CableFinding(
            CableFindingKind.UNKNOWN, known.infiniband, f"node {b}", stated, says, (b.device,), (at_a.guid,)
        )
    if port.guid in known.fabric.hosts:
        return _of_cable(known, CableFindingKind.OTHER_PEER, a, b, _both(known, a, b), at_a.guid)
    stated = f"the site has GUID {port.guid} for it"
    says = f"no port {port.guid}, and {there} at {a}, where it is cabled"
    guids = (port.guid, at_a.guid)
    return CableFinding(CableFindingKind.REPLACED, known.infiniband, f"node {b}", stated, says, (b.device,), guids)


def _without_link(known: IdentifiedFabric) -> Iterator[CableFinding]:
    """Cables and ports without a link; of a node of which no port has one, the node alone."""
    down = defaultdict[str, list[CableFinding]](list)
    for a, b in known.cables:
        if not _can_be_said(known, a, b) or known.peer(a) is not None or known.peer(b) is not None:
            continue
        down[b.device if b in known.ports else ""].append(_of_cable(known, CableFindingKind.NOT_FOUND, a, b, _NO_LINK))
    for end, port in known.ports.items():
        if end not in known.cabled and port.guid is not None and port.guid not in known.fabric.hosts:
            stated = f"the site has GUID {port.guid} for it"
            down[end.device].append(
                CableFinding(
                    CableFindingKind.NOT_FOUND, known.infiniband, f"node {end}", stated, "no such port", (end.device,),
                    (port.guid,),
                )
            )  # fmt: skip
    present = {known.port_of[guid].device for guid in known.fabric.hosts if guid in known.port_of}
    for node, findings in down.items():
        if not node or node in present or len(findings) < sum(end.device == node for end in known.ports):
            yield from findings
            continue
        stated = f"the site has {len(findings)} ports of it"
        yield CableFinding(CableFindingKind.ABSENT, known.infiniband, f"node {node}", stated, "none of them", (node,))


def _unstated(known: IdentifiedFabric) -> Iterator[CableFinding]:
    """Links at neither end of which a cable is stated. What a strange host has is told of that host."""
    for link in known.fabric.links:
        ends = tuple(known.endpoint(end) for end in (link.a, link.b))
        if any(end in known.cabled for end in ends if end is not None):
            continue
        if any(known.is_strange(end) for end in (link.a, link.b)) or _of_unknown_switch(known, link):
            continue
        where = f"link {known.words(link.a)} to {known.words(link.b)}"
        nodes = tuple(end.device for end in ends if end in known.ports and end is not None)
        yield CableFinding(
            CableFindingKind.NOT_STATED, known.infiniband, where, "the site has no cable there", "a link", nodes
        )


def _strangers(known: IdentifiedFabric) -> Iterator[CableFinding]:
    """Ports of hosts that no node has, and that are not where the site has another host cabled."""
    for guid, name in sorted(known.fabric.hosts.items()):
        end = known.ends_of_hosts.get(guid)
        peer = None if end is None else known.peers[end]
        at = None if peer is None else known.endpoint(peer)
        if guid in known.port_of or (end is not None and known.may_be_device(end, at)):
            continue
        where = f"GUID {guid} ({name or 'a host without a name'})"
        says = "it without a link" if peer is None else f"it at {known.words(peer)}"
        stated = "no node of the site has it"
        yield CableFinding(CableFindingKind.STRANGER, known.infiniband, where, stated, says, guids=(guid,))


def _can_be_said(known: IdentifiedFabric, a: Endpoint, b: Endpoint) -> bool:
    """False for a cable of a switch that nobody can tell in the subnet."""
    return all(len(known.switches[end.device]) == 1 for end in (a, b) if end.device in known.switches)


def _of_unknown_switch(known: IdentifiedFabric, link: FabricLink) -> bool:
    """True for a link of a switch that may be one of the site's, of which none was recognised."""
    strange = any(end.guid in known.fabric.switches and end.guid not in known.switch_of for end in (link.a, link.b))
    return strange and len(known.switch_of) < len(known.switches)


def _both(known: IdentifiedFabric, a: Endpoint, b: Endpoint) -> str:
    """What is at both ends of a stated cable."""
    at_a, at_b = known.peer(a), known.peer(b)
    far = f", and {b} with {known.words(at_b)}" if b in known.ports or b.device in known.switches else ""
    return f"{a} with {known.words(at_a)}{far}"


def _of_cable(
    known: IdentifiedFabric, kind: CableFindingKind, a: Endpoint, b: Endpoint, says: str, *guids: str
) -> CableFinding:
    nodes = (b.device,) if b in known.ports else ()
    where, stated = f"cable {a} to {b}", "the site has it"
    return CableFinding(kind, known.infiniband, where, stated, says, nodes, guids)
