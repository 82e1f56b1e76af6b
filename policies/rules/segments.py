"""Segment ids: ISO-08 one VLAN per VF, ISO-11 one claimant per wire, ISO-12 legal ids from the right pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.vocabulary import NetworkRole
from policies.about import Reason, resources
from policies.edges.plan import reaches_every_vlan
from policies.facts import identities as ids
from policies.facts.kinds import NetworkFact, PortFact
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import shortest
from policies.proof import Severity

from .attachments import SegmentClaim, at_odds, claims
from .rule import Cause, Polarity, Rule, RuleAnswer, absence
from .unstated_roles import unstated_roles

if TYPE_CHECKING:
    from policies.graph.search import Graph

LEGAL_VLANS = range(2, 4095)

_KEPT = "a lock keeps the ids that it has"
_PIN = f"pin an id from the pool of its kind in the site file and lock again: {_KEPT}"
#: Of networks whose ids no request pins.
_IN_THE_POOL = "let the pool of its kind in the site file hold the id, or ask for another cluster in place of this one"
_UNPINNED = frozenset({NetworkRole.CLUSTER, NetworkRole.ROCE})


def _one_vlan_per_function(model: Model, _: Names) -> RuleAnswer:
    direct = [port for port in model.plan.ports if port.vnic_type == "direct"]
    parents = {trunk.port: trunk.name for trunk in model.plan.trunks}
    causes = (_function_cause(port, model.plan.network.get(port.network), parents.get(port.name)) for port in direct)
    return RuleAnswer(len(direct), violated=tuple(cause for cause in causes if cause is not None))


def _function_cause(port: PortFact, network: NetworkFact | None, trunk: str | None) -> Cause | None:
    if trunk is None and network is not None and network.kind == "vlan" and not reaches_every_vlan(port, network):
        return None
    on = f"network {port.network}" + (f", {network.segment_name}" if network is not None else "")
    unchecked = network is not None and not (port.port_security and network.port_security)
    why = "its spoof check is off (port_security false)" if unchecked else f"{on} gives it no VLAN of its own"
    why = f"it is the parent of {trunk}, whose sub-ports bring more" if trunk is not None else why
    return Cause(
        key=port.name,
        message=f"the virtual function of port {port.name} is not held to one VLAN: {why}",
        witness=(
            f"port {port.name} of {port.server or 'no server'}",
            on,
            "every VLAN of the switch port behind it",
        ),
        hint="a direct port needs a VLAN network with an id of its own and port_security true on both",
        specificity=100,
        about=resources(port.name, trunk or (None if unchecked else port.network), port.server, port.network),
    )


def _one_claimant_per_wire(model: Model, names: Names) -> RuleAnswer:
    count = sum(bool(claims(model, wire)) for wire in model.wires(model.must) if model.touched(wire))
    return absence(model, count, lambda graph: _double_claims(model, names, graph))


def _double_claims(model: Model, names: Names, graph: Graph) -> Iterator[Cause]:
    for wire in model.wires(graph):
        pair = at_odds(model, wire)
        if pair is not None and model.touched(wire):
            yield _claim_cause(model, names, graph, wire, *pair)


def _claim_cause(
    model: Model, names: Names, graph: Graph, wire: set[str], mine: SegmentClaim, other: SegmentClaim
) -> Cause:
    path = shortest(graph, [mine.node], lambda node: node in _nodes_of(model, wire, other), within=wire) or (mine.node,)
    # Two tenants on one id of one physical network: ISO-01 says it more plainly.
    hidden = mine.owner == other.owner or mine.words != other.words
    return Cause(
        key=frozenset({(mine.owner, mine.network), (other.owner, other.network)}),
        message=f"{mine.words} of {mine.owner} and {other.words} of {other.owner} are one wire",
        witness=(str(mine), *names.path(graph, path), str(other)),
        path=path,
        hint="names of physical networks do not separate: take an id that nobody has on this wire",
        missing=missing_on(graph, path),
        specificity=65 if hidden else 55,
    )


def _nodes_of(model: Model, wire: set[str], claim: SegmentClaim) -> set[str]:
    return {
        item.node for node in wire for item in claims(model, {node})
        if (item.owner, item.network) == (claim.owner, claim.network)
    }  # fmt: skip


def _legal_ids(model: Model, _: Names) -> RuleAnswer:
    networks = [item for item in model.plan.networks if not (item.external and item.kind == "flat")]
    wrong = [(network, _wrong_id(model, network)) for network in networks]
    causes = tuple(_id_cause(network, why) for network, why in wrong if why is not None)
    unsure = (network for network, why in wrong if why is None and model.plan.lacks_role(network))
    return RuleAnswer(len(networks), causes, tuple(unstated_roles(unsure, "from which pool its id has to be", 97)))


def _wrong_id(model: Model, network: NetworkFact) -> Reason | None:
    """What is wrong with a network's id; None if nothing is."""
    if network.kind == "flat":
        return Reason("a flat network has no id of its own")
    if network.segment is None:
        return Reason("it states no id, so the cloud would choose one")
    if (why := _wrong_role(model, network)) or network.kind == "vxlan":
        return why or _wrong_vni(model, network, network.segment)
    if network.segment not in LEGAL_VLANS:
        return Reason(f"VLAN {network.segment} is not in 2-4094")
    if network.segment in model.site.site.pools.reserved_vlans:
        return Reason(f"VLAN {network.segment} is reserved")
    return _wrong_pool(model, network, network.segment)


def _wrong_role(model: Model, network: NetworkFact) -> Reason | None:
    """A role that the network cannot have; what it is for decides the pool, so a wrong one would choose another."""
    if network.role is None or network.vpod is None:
        return None
    twins = [item.name for item in model.plan.role(network.vpod, network.role) if item.name != network.name]
    if twins:
        words = f"it is said to be the {network.role} network of {network.vpod}, and so is {twins[0]}"
        return Reason(words, resources(twins[0]))
    if network.kind == "vxlan" and network.role is not NetworkRole.CONTROL:
        return Reason(f"a {network.role} network is a VLAN, and this is an overlay")
    return None


def _wrong_vni(model: Model, network: NetworkFact, vni: int) -> Reason | None:
    pool = model.site.site.pools.control
    if network.role is None or any(low <= vni <= high for low, high in pool):
        return None
    return Reason(f"VNI {vni} is not in the control pool {_spans(pool)}")


def _wrong_pool(model: Model, network: NetworkFact, vlan: int) -> Reason | None:
    pool = model.site.site.pools.vlans_of.get(network.role) if network.role is not None else None
    if pool is None:
        known = network.physical_network in model.site.switches_of
        return None if known else Reason(f"the site has no physical network {network.physical_network}")
    if network.physical_network not in pool.physical_networks:
        known_as = ", ".join(pool.physical_networks)
        return Reason(f"{network.role} networks lie on {known_as}, not on {network.physical_network}")
    if not any(low <= vlan <= high for low, high in pool.vlans):
        return Reason(f"VLAN {vlan} is not in the {network.role} pool {_spans(pool.vlans)}")
    return None


def _spans(ranges: tuple[tuple[int, int], ...]) -> str:
    return ", ".join(f"{low}-{high}" for low, high in ranges)


def _id_cause(network: NetworkFact, why: Reason) -> Cause:
    owner = "the operator" if network.owner == ids.OPERATOR else network.owner
    return Cause(
        key=network.name,
        message=f"network {network.name} ({network.segment_name}): {why}",
        witness=(f"network {network.name} of {owner}", network.segment_name, str(why)),
        hint=f"{_IN_THE_POOL}: {_KEPT}" if network.role in _UNPINNED else _PIN,
        specificity=97,
        about=(*resources(network.name), *why.about),
    )


ISO_08 = Rule(
    id="ISO-08",
    title="every virtual function is restricted to one VLAN",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="a function without a VLAN, or with its spoof check off, sees every VLAN of its host's switch port",
    source="docs/design/semantics.md §4, E5 and E6; Neutron admin guide, SR-IOV",
    needs=("direct ports", "networks"),
    ask=_one_vlan_per_function,
)
ISO_11 = Rule(
    id="ISO-11",
    title="one segment is claimed by one owner, whatever its names",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="a segment is what switches and cables make of it: two names for one VLAN are one segment",
    source="docs/design/semantics.md §2, wire segment",
    needs=("claims", "physical networks", "cables", "switch ports"),
    ask=_one_claimant_per_wire,
)
ISO_12 = Rule(
    id="ISO-12",
    title="segment ids are legal, from the right pool and not reserved",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="an id outside the delegated pools may be in use by somebody that no file describes",
    source="IEEE 802.1Q; Neutron admin guide, network segment ranges",
    needs=("networks", "their roles", "pools"),
    ask=_legal_ids,
)
