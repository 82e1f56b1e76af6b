"""Whether the edges of a site and some shares join two nodes: known, perhaps, or not; without any rule or graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import (
    Assumption,
    Cable,
    Host,
    PhysicalNetwork,
    Sharing,
    Site,
    Switch,
    SwitchPortConfig,
)
from interlock.model.site.offers import SharingKind
from interlock.model.site.physical import Device
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import Edge, GraphFragment, Union
from policies.edges.union import UNION_EDGES
from policies.facts.kinds import PlanFacts
from policies.facts.site import SiteFacts
from tests.builders.pod64 import cable, cables, management_switch, tor
from tests.policies.workspace import assumptions, full_site, sharing

YES, PERHAPS, NO = True, None, False


def switch(name: str, *ports: SwitchPortConfig, **facts: object) -> Switch:
    """A switch that routes nothing unless `facts` say so."""
    fields: dict[str, object] = {
        "name": name, "serial": f"SN-{name}", "model": "arista-7060x", "role": "tor", "port_groups": ((100, 32),),
        "ports": ports, "routed_vlans": (), "ip_routing": False,
    }  # fmt: skip
    return Switch.model_validate(fields | facts)


def port(number: int, **facts: object) -> SwitchPortConfig:
    """A switch port, a trunk unless `mode` says otherwise; a trunk without `tagged` carries no tag."""
    return SwitchPortConfig.model_validate({"port": number, "mode": "trunk"} | facts)


def tagged(number: int, *vlans: int, **facts: object) -> SwitchPortConfig:
    """A trunk with these tags."""
    return port(number, **{"tagged": tuple((vlan, vlan) for vlan in vlans)} | facts)


def access(number: int, vlan: int, **facts: object) -> SwitchPortConfig:
    """An access port."""
    return port(number, mode="access", untagged=vlan, **facts)


def site_with(
    *switches: Switch, links: Iterable[tuple[str, str]] = (), devices: Iterable[str] = (), **fields: object
) -> Site:
    """The small POD64 with more switches, cables (`device:interface`) and devices."""
    more: list[Cable] = [cable(a, b) for a, b in links]
    return full_site(
        **{
            "switches": (tor(), management_switch(), *switches),
            "cables": (*cables(), *more),
            "devices": tuple(Device(name=name, role="appliance") for name in devices),
        }
        | fields
    )


def host(name: str = "h", **fields: object) -> Host:
    """A Poplar host with two legs in physical network `fabric` and a BMC at `bmc`."""
    known = {"name": name, "serial": f"SN-{name}", "role": "poplar", "bmc": "bmc"}
    return Host.model_validate(known | {"interfaces": {"fabric": ("e0", "e1")}} | fields)


def small(*switches: Switch, links: tuple[tuple[str, str], ...] = (), **fields: object) -> Site:
    """Only these switches and cables, and one physical network that reaches all of them."""
    names = tuple(item.name for item in switches)
    plain: dict[str, object] = {
        "machines": (), "hosts": (), "switches": switches,
        "cables": tuple(cable(a, b) for a, b in links),
        "physical_networks": (PhysicalNetwork(name="fabric", switches=names),),
    }  # fmt: skip
    return full_site(**(plain | fields))


def declared(node: str, kind: SharingKind = "monitoring", *audience: str, **guards: bool | None) -> tuple[Sharing, ...]:
    """The usual declarations and one more, for everybody or this audience, its guards held but for `guards`."""
    held: dict[str, bool | None] = dict.fromkeys(SHARING_GUARDS[kind], True)
    whom = audience or ("*",)
    item = Sharing(name="extra", kind=kind, node=node, rule="SEC-02", audience=whom, guards=held | guards)
    return (*sharing(), item)


def without(name: str) -> tuple[Assumption, ...]:
    """All assumptions but one."""
    assert name in ASSUMPTION_GUARDS
    return tuple(item for item in assumptions() if item.id != name)


def marked(*nodes: str, owner: str = "acme") -> GraphFragment:
    """A share that labels these nodes and nothing else."""
    return GraphFragment(owner, (), {node: frozenset({owner}) for node in nodes}, ())


def vlan(switch_name: str, number: int) -> str:
    """The node of a VLAN."""
    return f"L:SN-{switch_name}:{number}"


def edges(site: Site, shares: Sequence[GraphFragment] = (), plans: Sequence[PlanFacts] = ()) -> list[Edge]:
    """Every edge that is not kept away by a guard."""
    facts = SiteFacts(site)
    whole = [*shares, *(plan_fragment(facts, plan) for plan in plans)]
    union = Union(facts, whole)
    found = [edge for share in whole for edge in share.edges]
    found += [edge for rule in UNION_EDGES for edge in rule.edges(union)]
    return [edge for edge in found if not edge.held]


Row = set[tuple[str, str, tuple[str, ...]]]
"""Both ends of each edge, and the facts without which nobody knows whether it is there."""


def row(title: str, site: Site, *shares: GraphFragment) -> Row:
    """Every edge of one row of the table, by the row's words. Raises ValueError if no row, or several, have them."""
    (rule,) = (rule for rule in UNION_EDGES if title in rule.title)
    union = Union(SiteFacts(site), shares)
    return {(edge.a, edge.b, tuple(map(str, edge.missing))) for edge in rule.edges(union)}


def joined(site: Site, a: str, b: str, *shares: GraphFragment) -> bool | None:
    """YES by known edges, PERHAPS by edges that rest on unstated facts, else NO."""
    return way(edges(site, shares), a, b)


def way(found: Sequence[Edge], a: str, b: str) -> bool | None:
    """The same for edges at hand."""
    if b in _reached([edge for edge in found if not edge.missing], a):
        return YES
    return PERHAPS if b in _reached(found, a) else NO


def missing(site: Site, *shares: GraphFragment) -> set[str]:
    """Every fact that some edge lacks."""
    return {str(fact) for edge in edges(site, shares) for fact in edge.missing}


def _reached(found: Iterable[Edge], start: str) -> set[str]:
    near: defaultdict[str, set[str]] = defaultdict(set)
    for edge in found:
        near[edge.a].add(edge.b)
        near[edge.b].add(edge.a)
    return _closed(near, start)


def _closed(near: Mapping[str, set[str]], start: str) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        fresh = near.get(waiting.pop(), set()) - reached
        reached |= fresh
        waiting += fresh
    return reached
