"""A plan put together from facts on a small site, and its share: rows of the table, labels, premises."""

from __future__ import annotations

from typing import Any

from interlock.model.site.inventory import InfinibandSubnet, Machine, PhysicalNetwork, Site
from policies.edges.plan import PLAN_EDGES, PlanOnSite
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import GraphFragment
from policies.facts import identities as ids
from policies.facts.kinds import NetworkFact, PlanFacts, PortFact, ServerFact
from policies.facts.site import SiteFacts
from tests.builders.pod64 import cable
from tests.policies.joining import access, declared, host, small, switch, vlan

A100 = vlan("a", 100)
MAC = "02:00:00:00:00:01"
P = "port:acme:p"
GUID, SHARED_GUID = "0000000000000001", "00000000000000FF"

MACHINE = {ids.machine_identity("SN-m"), ids.mac_identity(MAC)}


def site(**fields: Any) -> Site:
    """Hypervisor h with two legs, whole host w with two of its own and a BMC, machine m; the first switch only."""
    whole = host("w", provisioning="bare-metal", interfaces={"fabric": ("e0",), "other": ("e1",)})
    links = ("h:e0", "a:1"), ("h:e1", "a:2"), ("w:e0", "a:3"), ("w:e1", "b:1"), ("w:bmc", "a:4"), ("m:rnic", "a:5")
    plain: dict[str, Any] = {
        "hosts": (host(), whole),
        "machines": (Machine(name="m", serial="SN-m", logical_rack="r", position=1, macs={"rnic": MAC}),),
        "cables": tuple(cable(a, b) for a, b in links),
        "physical_networks": (
            PhysicalNetwork(name="fabric", switches=("a",)), PhysicalNetwork(name="other", switches=("b",)),
        ),
        "infiniband": (InfinibandSubnet(name="ib", prefix="fe80000000000000"),),
        "sharing": declared(SHARED_GUID),
    }  # fmt: skip
    ports = (access(number, 100) for number in (1, 2, 3, 4, 5))
    return small(switch("a", *ports), switch("b", access(1, 200)), **(plain | fields))


def plan(*, owner: str = "acme", is_tenant: bool = True, **items: Any) -> PlanFacts:
    """A plan of these facts and no others."""
    kinds = ("networks", "subnets", "ports", "servers", "routers", "switch_ports", "vpods")
    return PlanFacts(owner=owner, is_tenant=is_tenant, **(dict.fromkeys(kinds, ()) | items))


def network(name: str = "net", **fields: Any) -> NetworkFact:
    """A VLAN of acme's; `fields` replace facts."""
    known: dict[str, Any] = {
        "name": name, "owner": "acme", "role": None, "vpod": None, "kind": "vlan", "physical_network": "fabric",
        "segment": 100, "external": False, "shared": False, "port_security": True,
    }  # fmt: skip
    return NetworkFact(**(known | fields))


def port(name: str = "p", **fields: Any) -> PortFact:
    """A port of acme's on it, of server `s` on host h."""
    known: dict[str, Any] = {
        "name": name, "owner": "acme", "network": "net", "subnet": "sub", "address": "10.0.0.1",
        "vnic_type": "normal", "port_security": True, "server": "s", "host": "h",
    }  # fmt: skip
    return PortFact(**(known | fields))


def server(name: str = "s", *ports: str, **fields: Any) -> ServerFact:
    """A server of acme's on host h, with these ports."""
    known: dict[str, Any] = {
        "name": name, "labels": frozenset({"acme"}), "host": "h", "vpod": None, "ports": ports, "is_controller": False,
    }  # fmt: skip
    return ServerFact(**(known | fields))


def controller(*ports: str) -> ServerFact:
    """One of the operator's, which is split."""
    return server("c", *ports, labels=frozenset({"op"}), is_controller=True)


def edges(title: str, facts: PlanFacts, on: Site | None = None) -> list[tuple[str, str, str]]:
    """(end, end, row) of each edge of one row, in order. Raises ValueError if no row, or several, have these words."""
    (rule,) = (rule for rule in PLAN_EDGES if title in rule.title)
    found = rule.edges(PlanOnSite(SiteFacts(on or site()), facts))
    return sorted((edge.a, edge.b, edge.rule) for edge in found)


def share(facts: PlanFacts, on: Site | None = None) -> GraphFragment:
    """The share of this plan."""
    return plan_fragment(SiteFacts(on or site()), facts)


def premises(facts: PlanFacts, relation: str, on: Site | None = None) -> list[tuple[str, ...]]:
    """The tuples of one relation."""
    return [item.tuple for item in share(facts, on).premises if item.relation == relation]


def leg(number: int, interface: str = "e0") -> str:
    """A VLAN inside host h."""
    return f"L:SN-h/{interface}:{number}"
