"""Tenants apart: ISO-01 on one segment, ISO-02 anywhere, ISO-05 away from the management of machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.vocabulary.nodes import ServerNode, VlanNode, is_capability, parse
from policies.facts import identities as ids
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import Path, extended, meeting, shortest
from policies.proof import Severity

from .attachments import attached, claims, neighbourhood
from .rule import Cause, Polarity, Rule, RuleAnswer, absence

if TYPE_CHECKING:
    from policies.graph.search import Graph

_APART = "give one of the two another segment, or take the attachment away, and run `interlock lock` again"


def _one_owner_per_segment(model: Model, names: Names) -> RuleAnswer:
    looked_at = [wire for wire in model.wires(model.must) if model.touched(wire)]
    return absence(model, len(looked_at), lambda graph: _shared_segments(model, names, graph))


def _shared_segments(model: Model, names: Names, graph: Graph) -> Iterator[Cause]:
    # All that is on a wire is in one component, so only those with two owners need a look.
    mixed = {node for component in model.mixed(graph) for node in component}
    for wire in model.wires(graph):
        if mixed.isdisjoint(wire):
            continue
        on_wire = {*wire, *attached(graph, wire)}
        owners = {label for node in on_wire for label in model.label(node)}
        if len(owners) > 1 and model.touched(on_wire):
            yield _segment_cause(model, names, graph, wire, owners)


def _segment_cause(model: Model, names: Names, graph: Graph, wire: set[str], owners: set[str]) -> Cause:
    around = neighbourhood(graph, wire)
    path = meeting(graph.subgraph(around), model.labels, around, model.plan.owner) or (min(wire),)
    full = extended(graph, model.labels, path, model.plan.owner)
    switches = [node for node in sorted(wire) if not _is_of_host(node)] or sorted(wire)
    held = tuple(str(claim) for claim in claims(model, wire) if claim.owner in owners)
    return Cause(
        key=(min(wire), frozenset(owners)),
        message=f"one segment, {names.of(switches[0])}, has the owners {' and '.join(sorted(owners))}",
        witness=names.path(graph, full) + held,
        path=full,
        hint=_APART,
        missing=missing_on(graph, full),
        specificity=60,
    )


def _is_of_host(node: str) -> bool:
    vlan = parse(node)
    return isinstance(vlan, VlanNode) and vlan.is_of_host


def _nobody_meets(model: Model, names: Names) -> RuleAnswer:
    looked_at = [item for item in model.components(model.must) if any(model.label(node) for node in item)]
    return absence(model, len(looked_at), lambda graph: _joined_components(model, names, graph))


def _joined_components(model: Model, names: Names, graph: Graph) -> Iterator[Cause]:
    for component in model.mixed(graph):
        path = meeting(graph, model.labels, component, model.plan.owner)
        if path is not None:
            yield _component_cause(model, names, graph, path)


def _component_cause(model: Model, names: Names, graph: Graph, path: Path) -> Cause:
    full = extended(graph, model.labels, path, model.plan.owner)
    owners = sorted(model.label(path[0]) | model.label(path[-1]))
    return Cause(
        key=frozenset(owners),
        message=f"{' and '.join(owners)} are joined: what one sends can reach the other",
        witness=names.path(graph, full),
        path=full,
        hint="cut the path at any of its steps, or state and hold the guard that removes it",
        missing=missing_on(graph, full),
        specificity=10,
    )


def _servers_off_management(model: Model, names: Names) -> RuleAnswer:
    servers = _tenant_servers(model)
    return absence(model, len(servers), lambda graph: _ways_to_management(model, names, graph, servers))


def _tenant_servers(model: Model) -> list[str]:
    """Servers that a tenant controls; the operator's own plan answers for those of every tenant."""
    shares = (model.own,) if model.plan.is_tenant else model.others
    named = {node for share in shares for node in share.nodes if isinstance(parse(node), ServerNode)}
    return sorted(node for node in named if model.label(node) - ids.RESERVED_LABELS)


def _ways_to_management(model: Model, names: Names, graph: Graph, servers: list[str]) -> Iterator[Cause]:
    targets = model.site.management_parts
    hardware = {node for node in graph if not is_capability(node)}
    path = shortest(graph, servers, lambda node: node in targets, within=hardware)
    path = path or shortest(graph, servers, lambda node: node in targets)
    if path is None:
        return
    yield Cause(
        key="management",
        message=f"{names.of(path[0])} can reach the {names.of(path[-1])}",
        witness=names.path(graph, path),
        path=path,
        hint="management parts of machines belong on a management VLAN that no tenant's server has a way to",
        missing=missing_on(graph, path),
        specificity=90,
    )


ISO_01 = Rule(
    id="ISO-01",
    title="no segment is claimed or used by two owners",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="on the data and storage networks the VLAN is the only thing that separates tenants",
    source="Graphcore OpenStack reference design, network §8.1: full isolation between vPODs",
    needs=("claims", "cables", "switch ports", "attachments"),
    ask=_one_owner_per_segment,
)
ISO_02 = Rule(
    id="ISO-02",
    title="no connected component has two owners",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="Sep: whatever a tenant sends stays among its own devices and declared sharing",
    source="docs/design/semantics.md §6, Sep; reference design, network §8.1",
    needs=("everything that joins", "guards", "assumptions"),
    ask=_nobody_meets,
)
ISO_05 = Rule(
    id="ISO-05",
    title="no tenant's server reaches a machine's gateway or BMC",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="who reaches BMC and gateway owns the machine, and whoever gets it next",
    source="reference design, network §8.1.4: BMC and gateway ports unreachable from Poplar hosts",
    needs=("everything that joins", "A3", "guards of vipu-controller"),
    ask=_servers_off_management,
)
