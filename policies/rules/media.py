"""The media of a tenant's vPODs, over which Sep runs a second time: data and storage networks, and what is on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.vocabulary import NetworkRole
from interlock.vocabulary.nodes import FabricNode, is_capability, parse
from policies.edges.operated import is_asked_by_devices
from policies.edges.plan import PlanOnSite
from policies.facts import identities as ids
from policies.graph.model import Model

from .attachments import neighbourhood

if TYPE_CHECKING:
    from policies.graph.search import Graph

MEDIA = (NetworkRole.IPU_DATA, NetworkRole.STORAGE)


def data_wires(model: Model, part: str, *roles: NetworkRole) -> list[str]:
    """What networks of one vPOD or cluster with these roles claim."""
    facts = PlanOnSite(model.site, model.plan)
    return [wire for role in roles for network in model.plan.role(part, role) for wire in facts.wires(network)]


def sub_owners(model: Model) -> dict[str, str]:
    """Node -> vPOD, of all that vPODs have on media; what clusters have besides networks is in it, too."""
    wires = {wire: vpod.name for vpod in model.plan.vpods for wire in data_wires(model, vpod.name, *MEDIA)}
    return model.vpod_of | wires


def media_of(model: Model, graph: Graph) -> set[str]:
    """The nodes of the media of all vPODs of the plan, and what is on them, the storage appliance among it."""
    anchors = [wire for vpod in model.plan.vpods for wire in data_wires(model, vpod.name, *MEDIA)]
    anchors += _wires_at_hosts(model)
    around = {node for wire in model.wire_of(graph, anchors) for node in neighbourhood(graph, wire)}
    fabrics = {node for node in graph if isinstance(parse(node), FabricNode) or is_asked_by_devices(node)}
    return {node for node in (*around, *fabrics, *_appliance(model, graph)) if not is_capability(node)}


def _appliance(model: Model, graph: Graph) -> Iterator[str]:
    """The appliance of the plan's own grants: what joins two of its addresses joins the networks that they are on."""
    service = ids.share_service(model.site.site.cloud)
    if model.plan.accesses and service in graph:
        yield service


def _wires_at_hosts(model: Model) -> list[str]:
    """Functions of one adapter meet inside it, also where its switch port does not carry their VLAN."""
    facts = PlanOnSite(model.site, model.plan)
    ports = [(port, network) for port, network in facts.attached_ports() if network.role in MEDIA]
    return [wire for port, network in ports for wire in facts.wires_at_host(port, network)]
