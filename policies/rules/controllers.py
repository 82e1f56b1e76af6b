"""V-IPU controllers: ISO-06 none forwards between its networks, ISO-07 those of two tenants do not meet behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.vocabulary.nodes import NeutronPortNode, ReferenceNode, SwitchPortNode, parse
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import Path, shortest
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer, absence

if TYPE_CHECKING:
    from policies.graph.search import Graph

# ISO-06


def _no_way_through(model: Model, names: Names) -> RuleAnswer:
    controllers = _controllers(model)
    return absence(model, len(controllers), lambda graph: _ways_through(model, names, graph, controllers))


def _controllers(model: Model) -> list[str]:
    """The plan's controllers: where the operator's run, and what an allocation names as one, whoever's it is."""
    named = {item.controller for item in model.plan.allocations}
    found = (item.name for item in model.plan.servers if item.is_controller or item.name in named)
    return sorted(ids.server(model.plan.owner, name) for name in found)


def _ways_through(model: Model, names: Names, graph: Graph, controllers: list[str]) -> Iterator[Cause]:
    for node in controllers:
        path = _way_through(model, graph, node) if node in graph else None
        if path is not None:
            yield _hop_cause(names, graph, node, path)


def _way_through(model: Model, graph: Graph, node: str) -> Path | None:
    """In by a port that the tenant reaches, out by another, to somebody else."""
    ports = [
        item
        for item in sorted(graph[node])
        if isinstance(parse(item), NeutronPortNode | SwitchPortNode | ReferenceNode)
    ]
    apart = {item for item in graph if item != node}
    own = model.plan.owner
    for entry in ports:
        inside = shortest(graph, [entry], lambda item: own in model.label(item), within=apart)
        if inside is None:
            continue
        for way_out in ports:
            outside = shortest(graph, [way_out], lambda item: bool(model.label(item) - {own}), within=apart)
            if outside is not None and way_out != entry:
                return (*reversed(inside), node, *outside)
    return None


def _hop_cause(names: Names, graph: Graph, node: str, path: Path) -> Cause:
    return Cause(
        key=node,
        message=f"{names.of(node)} is a way from {names.of(path[0])} to {names.of(path[-1])}",
        witness=names.path(graph, path),
        path=path,
        hint="run it in the operator's project with the guards of vipu-controller held: no login, no forwarding",
        missing=missing_on(graph, path),
        specificity=87,
    )


# ISO-07


def _apart_behind(model: Model, names: Names) -> RuleAnswer:
    met = {node: tenant for _, node, kind, tenant in model.union.facts(Relation.COPY) if kind == "vipu-controller"}
    count = sum(tenant == model.plan.owner or not model.plan.is_tenant for tenant in met.values())
    if count == 0:
        return RuleAnswer(0)
    return absence(model, count, lambda graph: _joined_behind(model, names, graph, met))


def _joined_behind(model: Model, names: Names, graph: Graph, met: dict[str, str]) -> Iterator[Cause]:
    """Where owners meet as well, ISO-02 and its views answer: the network behind is then the least of it."""
    for component in model.components(graph):
        ports = sorted(met.keys() & component)
        owners = sorted({met[node] for node in ports})
        if len(owners) < 2:
            continue
        labels = {label for node in component for label in model.label(node)}
        if labels <= {ids.OPERATOR}:
            first = model.plan.owner if model.plan.owner in owners else owners[0]
            theirs = {node for node in ports if met[node] != first}
            path = shortest(graph, [node for node in ports if node not in theirs], theirs.__contains__)
            if path is not None:
                yield _joined_cause(names, graph, path, met)


def _joined_cause(names: Names, graph: Graph, path: Path, met: dict[str, str]) -> Cause:
    owners = sorted({met[node] for node in path if node in met})
    # Where something else than a segment joins them, what that is says more.
    one_segment = all(ids.is_wire(node) for node in path[1:-1])
    return Cause(
        key=frozenset(owners),
        message=f"the controllers of {' and '.join(owners)} reach each other by the network behind them",
        witness=names.path(graph, path),
        path=path,
        hint="give each vPOD a management VLAN of its own, or a private VLAN with the controllers isolated",
        missing=missing_on(graph, path),
        specificity=66 if one_segment else 50,
    )


ISO_06 = Rule(
    id="ISO-06",
    title="no tenant's traffic passes through its controller",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="the controller stands on the tenant's control network and on the operator's management network",
    source="reference design, network §8.1.4; docs/design/semantics.md §5, terminals",
    needs=("controllers", "everything that joins", "guards of vipu-controller"),
    ask=_no_way_through,
    of=Of.TENANT,
)
ISO_07 = Rule(
    id="ISO-07",
    title="controllers of two tenants are not connected on the operator's side",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="a rule of its own, which no tenant's path breaks: one controller taken over could attack the next. The "
    "reference design lets controllers share a network, so this can be waived",
    source="reference design, network §8: control instances on machine management; docs/design/semantics.md §11, "
    "example 19",
    needs=("controllers", "management networks", "A7"),
    ask=_apart_behind,
)
