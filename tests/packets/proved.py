"""Who meets on the wires of a site by the prover's graphs, tenant by tenant, as plugs of `applied`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.model.load import Workspace, load_workspace
from interlock.planning.site_plan import plan_site
from interlock.planning.tenant_plan import plan_tenant
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.judging import model_of, operators_part

from .applied import Field, Plug

if TYPE_CHECKING:
    from policies.graph.model import Model
    from policies.graph.search import Graph

Wires = frozenset[frozenset[Plug]]


def proved(field: Field, stacks: Path, site: str) -> tuple[Wires, Wires]:
    """Wires of all tenants: for certain, and if all that nobody stated is as bad as it can be."""
    space = load_workspace(stacks, site)
    assert space.site_lock is not None
    facts = SiteFacts(space.site)
    own = operators_part(facts, plan_site(space.site, space.site_lock))
    must, may = set[frozenset[Plug]](), set[frozenset[Plug]]()
    for tenant, wish in space.tenants.items():
        plan = plan_tenant(space.site, space.site_lock, wish, space.locks[tenant])
        others = [lock for name, lock in space.locks.items() if name != tenant]
        model = model_of(facts, plan, [*others, own])
        must |= {*_wires(field, space, facts, model, model.must)}
        may |= {*_wires(field, space, facts, model, model.may)}
    return frozenset(must), frozenset(may)


def _wires(field: Field, space: Workspace, facts: SiteFacts, model: Model, graph: Graph) -> Iterator[frozenset[Plug]]:
    switches = space.site.switch
    ports = {
        ids.switch_port(switches[port.switch].serial, port.port): Plug(f"{end.device}-{end.interface}")
        for end, port in facts.ordinary_ends
    }
    tagged = dict(_tagged(field, space))
    for wire in model.wires(graph):
        plugs = {plug for node, plug in ports.items() if node in graph and wire & {*graph[node]}}
        plugs |= {plug for node, plug in tagged.items() if node in wire}
        if plugs:
            yield frozenset(plugs)


def _tagged(field: Field, space: Workspace) -> Iterator[tuple[str, Plug]]:
    """What a hypervisor's interface is in a VLAN, as a node and as a plug."""
    for name, carried in field.trunks.items():
        host, _, interface = name.rpartition("-")
        bridge = ids.host_bridge(space.site.host[host].serial, interface)
        yield from ((ids.vlan_segment(bridge, vlan), Plug(name, vlan)) for vlan in carried)
