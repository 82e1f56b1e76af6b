"""ISO-03: the ipu-data segment of a vPOD carries its RNICs and Poplar data ports, all and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.vocabulary import NetworkRole
from interlock.vocabulary.nodes import NeutronPortNode, is_capability, is_device, parse
from policies.about import Fact, components, in_order, resources
from policies.edges.terminals import copies
from policies.facts import identities as ids
from policies.facts.kinds import NetworkFact, VPodFact
from policies.footprints.applied import APPLIED
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import Path, connected, extended, shortest
from policies.proof import Severity

from .attachments import attached, claims, neighbourhood
from .media import data_wires, media_of, sub_owners
from .rule import Cause, Polarity, Rule, RuleAnswer, absence
from .unstated_roles import of_role

if TYPE_CHECKING:
    from policies.graph.search import Graph


def _exactly_its_own(model: Model, names: Names) -> RuleAnswer:
    count = len(model.plan.vpods)
    strangers = absence(model, count, lambda graph: _strangers(model, names, graph))
    together = absence(model, count, lambda graph: _vpods_joined(model, names, graph))
    absent, unsure = _not_on_segment(model, names)
    return RuleAnswer(
        count,
        violated=strangers.violated + together.violated + absent,
        unknown=(*strangers.unknown, *together.unknown, *unsure, *of_role(model.plan, NetworkRole.IPU_DATA, 75)),
    )


def _members(model: Model, vpod: VPodFact) -> dict[str, str]:
    """Node -> name of everything that belongs on the vPOD's ipu-data segment."""
    own, found = model.plan.owner, {}
    for name in vpod.machines:
        machine = model.site.site.machine.get(name)
        found[ids.part(machine.serial if machine else name, "rnic")] = f"RNIC of {name}"
    for network in model.plan.role(vpod.name, NetworkRole.IPU_DATA):
        for port in model.plan.ports_on(network.name):
            server = model.plan.server.get(port.server or "")
            if server is not None and server.vpod == vpod.name and not server.is_controller:
                found[ids.neutron_port(own, port.name)] = f"port {port.name}"
    return found


def _whole_hosts(model: Model, vpod: VPodFact) -> Iterator[str]:
    """What a bare-metal server of the vPOD is at all its interfaces: root on it answers there for any port of it."""
    for server in model.plan.servers:
        if server.is_bare_metal and server.vpod == vpod.name:
            yield from model.site.interfaces(server.host)
            yield from (ids.neutron_port(model.plan.owner, port) for port in server.ports)


def _plugged_in(graph: Graph, wire: set[str], hubs: dict[str, str]) -> Iterator[str]:
    """What is on the segment. The copy of a declared device joins nobody to it; while a guard fails, or a tenant
    outside the audience meets the copy, it is the device itself."""
    for node in attached(graph, wire):
        if node not in hubs:
            yield node
        elif graph.has_edge(node, hubs[node]):
            yield hubs[node]


def _strangers(model: Model, names: Names, graph: Graph) -> Iterator[Cause]:
    hubs = {copy.node: copy.hub for copy in copies(model.union)}
    for vpod in model.plan.vpods:
        welcome = {*_members(model, vpod), *_whole_hosts(model, vpod), ids.capability(model.plan.owner)}
        # vPODs that need not be kept apart may use each other's segments.
        welcome |= set() if model.plan.separates_vpods else model.vpod_of.keys()
        # What the tenant itself had there and is about to take away: a vPOD that shrinks is still the one vPOD.
        welcome |= {node for node in model.own.former if model.label(node) == {model.plan.owner}}
        for wire in model.wire_of(graph, data_wires(model, vpod.name, NetworkRole.IPU_DATA)):
            strangers = [node for node in _plugged_in(graph, wire, hubs) if node not in welcome]
            # A split copy has no owner; where an owner is on the wire too, that says more.
            owned = [node for node in strangers if model.label(node)]
            for node in owned or strangers:
                yield _stranger_cause(model, names, graph, vpod, wire, node)


def _stranger_cause(model: Model, names: Names, graph: Graph, vpod: VPodFact, wire: set[str], node: str) -> Cause:
    path = _way_to(model, graph, vpod, wire, node)
    owners = model.label(node)
    # A second claim on the segment explains the stranger better than the stranger itself does.
    claimed = any(claim.owner in owners and claim.owner != model.plan.owner for claim in claims(model, wire))
    return Cause(
        key=(vpod.name, owners or node, node if owners == {model.plan.owner} else ""),
        message=f"the ipu-data segment of vPOD {vpod.name} also carries {names.of(node)}",
        witness=names.path(graph, path),
        path=path,
        hint=f"only the RNICs of {vpod.name}'s machines and its Poplar data ports belong on this VLAN",
        missing=missing_on(graph, path),
        specificity=40 if claimed else 75,
    )


def _way_to(model: Model, graph: Graph, vpod: VPodFact, wire: set[str], node: str) -> Path:
    around = neighbourhood(graph, wire) | {node}
    own = [item for item in around if is_device(item) and model.vpod_of.get(item) == vpod.name]
    path = shortest(graph, [item for item in own if item != node], lambda item: item == node, within=around)
    path = path or shortest(graph, wire, lambda item: item == node, within=around) or (node,)
    return extended(graph, model.labels, path, model.plan.owner)


def _vpods_joined(model: Model, names: Names, graph: Graph) -> Iterator[Cause]:
    """Sep with vPODs as owners, over the data and storage media and the devices on them, unless they may share."""
    import networkx as nx

    if len(model.plan.vpods) < 2 or not model.plan.separates_vpods:
        return
    owner = sub_owners(model)
    media = media_of(model, graph)
    part = nx.subgraph_view(graph.subgraph(media), filter_edge=lambda a, b: graph.edges[a, b]["rule"] != APPLIED)
    for component in connected(part):
        path = _between(part, component, owner)
        if path is not None:
            yield _joined_cause(names, part, path, sorted({owner[node] for node in component if node in owner}))


def _between(graph: Graph, component: set[str], owner: dict[str, str]) -> Path | None:
    """From what the first vPOD by name has to what another has; None where there is one at most."""
    first = min((owner[node] for node in component if node in owner), default=None)
    sources = [node for node in component if owner.get(node) == first]
    return shortest(graph, sources, lambda node: owner.get(node, first) != first)


def _joined_cause(names: Names, graph: Graph, path: Path, found: list[str]) -> Cause:
    return Cause(
        key=("vpods", tuple(found)),
        message=f"the vPODs {' and '.join(found)} are joined on data or storage media",
        witness=names.path(graph, path),
        path=path,
        hint="vPODs are kept apart like tenants: no server, machine or segment may be on the media of two",
        missing=missing_on(graph, path),
        specificity=74,
    )


def _not_on_segment(model: Model, names: Names) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
    """(violated, not provable): members that are certainly not on the segment, and that may not be."""
    absent, unsure = [], []
    for vpod in model.plan.vpods:
        networks = model.plan.role(vpod.name, NetworkRole.IPU_DATA)
        lost = [node for node in _lost(model, model.may, vpod) if not _may_be_elsewhere(model, node)]
        doubtful = _lost(model, model.must, vpod)
        if not networks and model.plan.without_role(vpod.name):
            continue  # One of these may be it; `of_role` says so.
        if lost or not networks:
            absent.append(_lost_cause(model, names, vpod, networks, lost, ()))
        elif doubtful:
            unsure.append(_lost_cause(model, names, vpod, networks, doubtful, _facts_to(model, vpod, doubtful)))
    return tuple(absent), tuple(unsure)


def _may_be_elsewhere(model: Model, node: str) -> bool:
    """True for a device that may have cables which nobody listed: one of them may lead to the segment.

    Those of a virtual function are its adapter's.
    """
    elsewhere = ids.foreigners(model.site.site.cloud)
    near = {node, *filter(ids.is_wire, model.may[node])} if node in model.may else set[str]()
    return any(model.may.has_edge(item, elsewhere) and not model.must.has_edge(item, elsewhere) for item in near)


def _facts_to(model: Model, vpod: VPodFact, doubtful: list[str]) -> tuple[Fact, ...]:
    """The unstated facts on the ways from these members to the vPOD's segment."""
    segment = set(data_wires(model, vpod.name, NetworkRole.IPU_DATA))
    hardware = {node for node in model.may if not is_capability(node)}
    ways = (shortest(model.may, [node], segment.__contains__, within=hardware) for node in doubtful)
    return in_order(fact for way in ways if way is not None for fact in missing_on(model.may, way))


def _lost(model: Model, graph: Graph, vpod: VPodFact) -> list[str]:
    """The members that the vPOD's segment does not carry; the segment is where most of them are."""
    wires = model.wire_of(graph, data_wires(model, vpod.name, NetworkRole.IPU_DATA))
    members = set(_members(model, vpod))
    carried = [members & set(attached(graph, wire)) for wire in wires]
    return sorted(members - max(carried, key=len, default=set()))


def _lost_cause(
    model: Model,
    names: Names,
    vpod: VPodFact,
    networks: tuple[NetworkFact, ...],
    lost: list[str],
    facts: tuple[Fact, ...],
) -> Cause:
    members = _members(model, vpod)
    segment = ", ".join(network.segment_name for network in networks) or "none planned"
    listed = ", ".join(members.get(node, node) for node in lost) or "anything"
    ports = (port.name for port in map(parse, lost) if isinstance(port, NeutronPortNode))
    return Cause(
        key=("lost", vpod.name),
        message=f"the ipu-data segment of vPOD {vpod.name} ({segment}) does not carry {listed}",
        witness=tuple(step for node in lost for step in _where(model, names, node)),
        hint="put the switch port on the vPOD's VLAN, or let the trunk of the host's switch ports carry it",
        missing=facts,
        specificity=75,
        about=(*components(vpod.name), *resources(*ports)),
    )


def _where(model: Model, names: Names, node: str) -> Iterator[str]:
    segments = [wire for wire in model.wires(model.may) if node in set(attached(model.may, wire))]
    if segments:
        yield f"{names.of(node)} – {names.of(min(segments[0], key=lambda item: ('/' in item, item)))}"
    else:
        yield f"{names.of(node)} – on no segment"


ISO_03 = Rule(
    id="ISO-03",
    title="an ipu-data segment carries exactly one vPOD's RNICs and Poplar data ports",
    severity=Severity.BLOCK,
    polarity=Polarity.BOTH,
    why="RDMA runs unfiltered at full rate: whoever is on the VLAN can write into memory",
    source="reference design, v-pods §4.1 and network §8.1.1",
    needs=("switch ports", "cables", "attachments", "declared sharing", "A4"),
    ask=_exactly_its_own,
)
