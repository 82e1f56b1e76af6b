"""The graphs of a small union: what is certain, what may be, what a plan answers for, who owns what."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest

from policies.about import Fact, SiteFact
from policies.edges.shape import Edge, GraphFragment, Union
from policies.facts.fabric import SwitchPortFact
from policies.facts.kinds import PlanFacts, ServerFact
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.graph.model import CAUSES_SHOWN_ALONE, Model, Resolved, owners
from tests.builders.pod64 import bare_metal_pod64
from tests.policies.joining import small
from tests.policies.test_exact_plan_facts import planned
from tests.policies.workspace import full_site

SITE = SiteFacts(small())
X, Y = SiteFact("x"), SiteFact("y")


def facts_with(**fields: object) -> PlanFacts:
    """Facts of acme's plan with other fields."""
    found = plan_facts(planned())
    return PlanFacts(**{name: getattr(found, name) for name in PlanFacts.__dataclass_fields__} | fields)


def edge(a: str, b: str, *missing: Fact, rule: str = "E1", broken: tuple[Fact, ...] = ()) -> Edge:
    """An edge that is known unless it rests on facts."""
    return Edge(a, b, rule, missing=missing, broken=broken)


def share(owner: str, *edges: Edge, **labels: str) -> GraphFragment:
    """A share of these edges, with these labels: `a="acme op"`."""
    return GraphFragment(owner, edges, {node: frozenset(names.split()) for node, names in labels.items()}, ())


def model(*edges: Edge, own: Iterable[str] = ("a",), others: Iterable[GraphFragment] = (), **fields: Any) -> Model:
    """acme's, which mentions the nodes `own`; the site itself has no edge and no label."""
    labels = {node: frozenset({"acme"}) for node in own}
    resolved = Resolved(edges, {})
    plan = fields.pop("plan", facts_with())
    return Model(SITE, plan, GraphFragment("acme", (), labels, ()), tuple(others), resolved=resolved, **fields)


def drawn(graph: nx.Graph[str]) -> tuple[set[str], dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]]:
    """Its nodes, and of each edge row, missing and broken facts."""
    edges = {
        "-".join(sorted((a, b))): (found["rule"], tuple(map(str, found["missing"])), tuple(map(str, found["broken"])))
        for a, b, found in graph.edges(data=True)
    }
    return set(graph), edges


def test_what_is_certain_and_what_may_be() -> None:
    """What no known edge and no doubtful one joins with the plan is in none of its graphs."""
    found = model(
        edge("a", "b"), edge("b", "c", X, rule="E5"), edge("c", "d", broken=(Y,)), edge("y", "z"), edge("z", "w", X)
    )
    assert drawn(found.must) == ({"a", "b"}, {"a-b": ("E1", (), ())})
    whole = {"a-b": ("E1", (), ()), "b-c": ("E5", ("x",), ()), "c-d": ("E1", (), ("y",))}
    assert drawn(found.may) == ({"a", "b", "c", "d"}, whole)
    assert found.unknown == ((X,),)
    assert [drawn(graph) for graph in found.doubtful] == [drawn(found.may)]


def test_the_operators_plan_answers_for_all() -> None:
    found = model(edge("a", "b"), edge("y", "z"), edge("b", "y", X), plan=facts_with(is_tenant=False))
    assert set(found.must) == set(found.may) == {"a", "b", "y", "z"}
    assert found.components(found.must) == [{"a", "b"}, {"y", "z"}]
    assert model(edge("a", "b"), edge("y", "z")).components(found.must) == [{"a", "b"}]


def test_each_group_of_unstated_facts_shows_alone_and_then_all() -> None:
    found = model(edge("a", "c", Y), edge("a", "b", X), edge("b", "d", X, Y), edge("p", "q", SiteFact("z")))
    assert [list(map(str, group)) for group in found.unknown] == [["x"], ["x", "y"], ["y"], ["z"]]
    nodes = [set(graph) for graph in found.doubtful]
    assert nodes == [{"a", "b"}, {"a"}, {"a", "c"}, {"a"}, {"a", "b", "c", "d"}]


@pytest.mark.parametrize(("groups", "graphs"), [(0, 0), (1, 1), (2, 3), (32, 33), (33, 1)])
def test_with_many_groups_all_are_searched_at_once(groups: int, graphs: int) -> None:
    assert CAUSES_SHOWN_ALONE == 32
    found = model(*(edge("a", f"n{number}", SiteFact(f"f{number:02}")) for number in range(groups)))
    assert len(found.doubtful) == graphs
    assert found.may is (found.must if not groups else found.may)
    assert (found.may is found.must) is (groups == 0)


def test_a_known_edge_stays_beside_an_unknown_one() -> None:
    """Of several between two nodes the first of the unknown, or the known one with what it lacks."""
    found = model(
        edge("a", "b", X, rule="E5"), edge("b", "a", Y, rule="E9"), edge("a", "c", X), edge("c", "a", broken=(Y,))
    )
    assert drawn(found.may)[1] == {"a-b": ("E5", ("x",), ()), "a-c": ("E1", (), ("y",))}


def test_what_guards_keep_away_is_in_no_graph() -> None:
    held = Edge("a", "b", "E9", held=(X,), guards=(X,))
    other = share("globex", Edge("a", "c", "E9", held=(Y,)), edge("a", "d"))
    found = model(held, edge("a", "e"), others=(other,))
    assert found.held == (other.edges[0], held)
    assert found.edges == (other.edges[1], edge("a", "e"))
    assert set(found.may) == {"a", "d", "e"}


def test_others_come_in_the_order_of_their_names() -> None:
    found = model(others=(share("globex"), share("carol")))
    assert [item.owner for item in found.others] == ["carol", "globex"]
    assert [item.owner for item in found.union.shares] == ["acme", "carol", "globex"]


def test_what_was_mentioned_before_is_answered_for() -> None:
    assert set(model(edge("y", "z"), before=("z", "nowhere")).must) == {"a", "y", "z"}
    assert set(model(edge("y", "z")).must) == {"a"}


def test_vlans_that_somebody_else_uses() -> None:
    plain, more = model(own=("L:S:7",)), model(own=("L:S:7",), vlans=(9, 8))
    assert (plain.union.vlans, more.union.vlans) == ((7,), (7, 8, 9))


def test_the_table_of_edges_is_asked_where_nobody_did() -> None:
    own = GraphFragment("acme", (), {"cap:acme": frozenset({"acme"})}, ())
    found = Model(SiteFacts(full_site()), facts_with(), own)
    resolved = Resolved.of(Union(SiteFacts(full_site()), (own,)))
    assert (found.edges, found.held) == (
        tuple(item for item in resolved.edges if not item.held), tuple(item for item in resolved.edges if item.held),
    )  # fmt: skip
    assert found.label("dev:SN-ipum-01/gw") == {"op"}
    assert found.label("nowhere") == frozenset()


# Owners.


def test_who_owns_what() -> None:
    """What is lent is its borrower's alone; all else has the site's label beside any other."""
    lent, gateway = "dev:SN-ipum-01/rnic", "dev:SN-ipum-01/gw"
    facts = SiteFacts(full_site())
    assert {lent} <= facts.lendable
    reference, kept = "ref:site%3ANetwork%2Fn", "ref:kept"
    shares = (
        share(
            "acme",
            edge("a", reference),
            Edge("a", kept, "E9", held=(X,)),
            **{"a": "acme", lent: "acme", gateway: "acme"},
        ),
        share("globex", a="globex"),
    )
    site = dict.fromkeys((lent, gateway, "dev:SN-ipum-02/rnic"), frozenset({"op"}))
    found = owners(facts, shares, Resolved((edge("ref:other", "b"),), site))
    assert found == {
        "a": {"acme", "globex"}, lent: {"acme"}, gateway: {"acme", "op"}, "dev:SN-ipum-02/rnic": {"op"},
        reference: {"foreign"}, "ref:other": {"foreign"},
    }  # fmt: skip


# Components and wires.


def test_components_with_two_owners() -> None:
    found = model(
        edge("a", "b"), edge("c", "d"), edge("e", "f"), own=("a", "c", "e"),
        others=(share("globex", b="globex", f="acme"), share("carol", c="carol")),
    )  # fmt: skip
    assert found.components(found.must) == [{"a", "b"}, {"c", "d"}, {"e", "f"}]
    assert found.mixed(found.must) == [{"a", "b"}, {"c", "d"}]
    assert found.components(found.must) is found.components(found.must)
    assert model().mixed(model().must) == []


def test_wire_segments() -> None:
    wires = [f"L:S:{number}" for number in range(1, 6)]
    edges = [edge(a, b, rule=rule) for (a, b), rule in zip(pairwise(wires), ("E1", "E2", "E5", "E4"), strict=True)]
    found = model(
        *edges,
        edge(wires[1], "V:c:vxlan:5", rule="E3"),
        edge(wires[0], "dev:x", rule="E6"),
        edge("dev:x", "L:S:9", rule="E9"),
        own=(wires[0],),
    )
    segments = [{*wires[:3], "V:c:vxlan:5"}, {*wires[3:]}, {"L:S:9"}]
    assert set(found.must) == {*wires, "V:c:vxlan:5", "dev:x", "L:S:9"}
    assert found.wires(found.must) == segments
    assert found.wires(found.must) is found.wires(found.must)
    assert found.wire_of(found.must, [wires[4], "nowhere"]) == segments[1:2]
    assert found.wire_of(found.must, [wires[4], wires[0]]) == segments[:2]
    assert found.wire_of(found.must, ["dev:x"]) == []


# vPODs.


def server(name: str, vpod: str | None, **fields: object) -> ServerFact:
    """A server on `poplar-1` with one port."""
    known = {"host": "poplar-1", "ports": (f"{name}-port",), "is_controller": False}
    return ServerFact(name=name, labels=frozenset({"acme"}), vpod=vpod, **(known | fields))  # type: ignore[arg-type]


def switch_port(device: str, interface: str, vpod: str | None) -> SwitchPortFact:
    """A VLAN for this device."""
    values: dict[str, object] = dict.fromkeys(SwitchPortFact.__dataclass_fields__)
    return SwitchPortFact(**(values | {"device": device, "interface": interface, "vpod": vpod}))  # type: ignore[arg-type]


def test_what_belongs_to_which_vpod() -> None:
    plan = facts_with(
        servers=(
            server("srv", "train"), server("lone", None), server("ctl", "train", is_controller=True),
            server("host", "serve", is_bare_metal=True, ports=()),
        ),
        switch_ports=(
            switch_port("ipum-01", "rnic", "train"), switch_port("ipum-02", "mgmt", "train"),
            switch_port("ipum-03", "rnic", None), switch_port("poplar-1", "ens161f0", "train"),
        ),
    )  # fmt: skip
    found = Model(SiteFacts(bare_metal_pod64()), plan, GraphFragment("acme", (), {}, ()), resolved=Resolved((), {}))
    assert found.vpod_of == {
        "dev:acme:srv": "train", "port:acme:srv-port": "train", "dev:acme:host": "serve",
        "dev:SN-poplar-1/ens161f0": "serve", "dev:SN-poplar-1/ens161f1": "serve", "dev:SN-poplar-1/eno1": "serve",
        "dev:SN-ipum-01/rnic": "train",
    }  # fmt: skip
