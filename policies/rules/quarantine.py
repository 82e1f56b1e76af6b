"""ISO-16: what two owners released does not meet in a quarantine that is an ordinary segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.vocabulary.nodes import switch_vlan
from policies.edges.shape import Relation
from policies.facts import identities as ids
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import Path, shortest
from policies.proof import Severity

from .attachments import attached, claims, neighbourhood
from .rule import Cause, Polarity, Rule, RuleAnswer, absence

if TYPE_CHECKING:
    from policies.graph.search import Graph


def _released_apart(model: Model, names: Names) -> RuleAnswer:
    released = _released(model)
    return absence(model, len(released), lambda graph: _together(model, names, graph, released))


def _released(model: Model) -> dict[str, str]:
    """Network device -> who released it; it still runs that tenant's code. Only those that the plan may meet."""
    residue = model.union.facts(Relation.RESIDUE)
    if not residue:
        return {}
    site = model.site.site
    machines = {ids.machine_identity(item.serial): (ids.part(item.serial, "rnic"),) for item in site.machines}
    hosts = {ids.host_identity(item.serial): model.site.interfaces(item.name) for item in site.hosts}
    nodes = machines | hosts
    return {node: owner for identity, owner, _ in residue for node in nodes.get(identity, ()) if node in model.may}


def _together(model: Model, names: Names, graph: Graph, released: dict[str, str]) -> Iterator[Cause]:
    for wire in model.wires(graph) if released else ():
        if claims(model, wire) or not model.touched(wire):
            continue  # somebody's network, so no quarantine: ISO-01 and ISO-03 answer for it
        on_wire = list(attached(graph, wire))
        here = [node for node in on_wire if node in released]
        strangers = {node for node in on_wire for mine in here if model.label(node) - model.label(mine)}
        if strangers:
            yield _cause(model, names, graph, wire, _way(graph, wire, here, strangers, model))


def _way(graph: Graph, wire: set[str], here: list[str], strangers: set[str], model: Model) -> Path:
    """From what was released to a stranger on the segment, the former holders' machines before anything else."""
    around = neighbourhood(graph, wire)
    for start in here:
        others = {node for node in strangers if model.label(node) != model.label(start)}
        tenants = {node for node in others if model.label(node) - ids.RESERVED_LABELS}
        targets = tenants or others
        way = shortest(graph, [start], targets.__contains__, within=around) if targets else None
        if way is not None:
            return way
    return (here[0],)


def _cause(model: Model, names: Names, graph: Graph, wire: set[str], path: Path) -> Cause:
    owners = {*model.label(path[0]), *model.label(path[-1])}
    segment = names.of(min(wire, key=lambda node: (switch_vlan(node) is None, node)))
    return Cause(
        key=(min(wire), frozenset(owners)),
        message=f"{segment} is no quarantine: {names.of(path[0])}, released, meets {names.of(path[-1])} there",
        witness=names.path(graph, path),
        path=path,
        hint="disable the ports of what was released, or make them isolated ports of a private VLAN",
        missing=missing_on(graph, path),
        specificity=88,
    )


ISO_16 = Rule(
    id="ISO-16",
    title="released machines meet no other owner in quarantine",
    severity=Severity.ERROR,
    polarity=Polarity.ABSENCE,
    why="until its power cycle a machine runs its former holder's code, and a plain VLAN joins all on it",
    source="docs/design/semantics.md §3 and §9; Neutron generic-switch driver: ngs_port_default_vlan",
    needs=("locks of all tenants with what is released", "switch ports", "cables"),
    ask=_released_apart,
)
