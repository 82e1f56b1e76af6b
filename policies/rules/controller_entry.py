"""L3-09: the operator comes to each controller from a bastion, by a way that no Poplar server is part of.

Asked where the site declares a bastion. Filters take no edge away, here as elsewhere: what is let in is SEC-02's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.model.site.inventory import Sharing
from interlock.vocabulary.nodes import (
    DeviceNode,
    ExternalNetworkNode,
    NeutronPortNode,
    OverlayNode,
    RouterNode,
    ServerNode,
    SwitchPortNode,
    SwitchRouterNode,
    VlanNode,
    parse,
)
from policies.about import Fact, SaidFact, resources
from policies.edges.terminals import copies
from policies.facts import identities as ids
from policies.facts.kinds import ServerFact
from policies.graph.model import Model
from policies.graph.naming import Names, missing_on
from policies.graph.search import Path, shortest
from policies.proof import Severity

from .rule import Cause, Of, Polarity, Rule, RuleAnswer

if TYPE_CHECKING:
    from policies.graph.search import Graph

#: Segments, external networks and ports: what anybody's packets pass.
_PASSIVE = (VlanNode, OverlayNode, ExternalNetworkNode, NeutronPortNode, SwitchPortNode)


def _independent_way(model: Model, names: Names) -> RuleAnswer:
    bastions = tuple(item for item in model.site.site.sharing if item.kind == "bastion")
    controllers = [item for item in model.plan.servers if item.is_controller] if bastions else []
    entries = sorted(
        {copy.node for copy in copies(model.union) if any(item.kind == "bastion" for item in copy.declared)}
    )
    causes = [cause for item in controllers for cause in _without_way(model, names, item, entries, bastions)]
    violated, unknown = ([cause for cause in causes if bool(cause.missing) is open_] for open_ in (False, True))
    return RuleAnswer(len(controllers), tuple(violated), tuple(unknown))


def _without_way(
    model: Model, names: Names, controller: ServerFact, entries: list[str], bastions: tuple[Sharing, ...]
) -> Iterator[Cause]:
    """Presence: a way of known edges is one; one that may be there leaves it open."""
    if _way(model, model.must, controller, entries) is not None:
        return
    if not entries:
        missing = tuple(SaidFact(f"cables of {item.node}") for item in bastions)
        yield _cause(controller, tuple(item.node for item in bastions), missing)
        return
    perhaps = _way(model, model.may, controller, entries)
    if perhaps is None:
        yield _cause(controller, tuple(dict.fromkeys(map(names.of, entries))), ())
    else:
        yield _cause(controller, names.path(model.may, perhaps), missing_on(model.may, perhaps))


def _way(model: Model, graph: Graph, controller: ServerFact, entries: list[str]) -> Path | None:
    ports = {ids.neutron_port(model.plan.owner, port) for port in controller.ports}
    passable = {node for node in graph if not _is_in_the_way(model, node)}
    return shortest(graph, entries, ports.__contains__, within=passable)


def _is_in_the_way(model: Model, node: str) -> bool:
    """Poplar servers and their hosts, and whatever else tenants have: a way through these is theirs to cut.

    Rights and strangers are ways that may be laid, which is none that is there.
    """
    item = parse(node)
    if not isinstance(item, ServerNode | DeviceNode | RouterNode | SwitchRouterNode):
        return not isinstance(item, _PASSIVE)
    serial = item.serial if isinstance(item, DeviceNode) else None
    poplar = any(serial == host.serial for host in model.site.site.hosts if host.role == "poplar")
    return poplar or bool(model.label(node) - {ids.OPERATOR})


def _cause(controller: ServerFact, way: tuple[str, ...], missing: tuple[Fact, ...]) -> Cause:
    known = "is not known" if missing else "is false"
    return Cause(
        key=controller.name,
        message=f"that a bastion reaches controller {controller.name} by a way without Poplar servers {known}",
        witness=(*way[:8], f"controller {controller.name}"),
        hint="put the bastion on the management network of each vPOD, and state its cable and the VLANs of its port",
        missing=missing,
        specificity=38,
        about=resources(controller.name),
    )


L3_09 = Rule(
    id="L3-09",
    title="each controller can be reached from a bastion by a path without any Poplar server",
    severity=Severity.ERROR,
    polarity=Polarity.PRESENCE,
    why="who can come to a controller only through the servers that it serves is shut out together with them",
    source="reference design, control plane: ssh to control instances",
    needs=("controllers", "declared bastions", "everything that joins"),
    ask=_independent_way,
    of=Of.TENANT,
)
