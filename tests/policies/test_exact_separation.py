"""ISO-01, ISO-02, ISO-05: who is told to meet whom, by which way; and how any rule about absence puts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from policies.about import SaidFact, SiteFact
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts import identities as ids
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.rules.rule import Cause, absence, unique
from tests.policies.exact_answers import (
    answer,
    drawn,
    host_vlan,
    identified,
    only,
    plan_of,
    rnic,
    share,
    switch_vlan,
)
from tests.policies.workspace import NA, N, P, V, full_site

if TYPE_CHECKING:
    from policies.graph.search import Graph

SITE = SiteFacts(full_site())
A, B, C = (switch_vlan("tor-1", number) for number in (1000, 1001, 1002))
HOST = host_vlan("poplar-1", "ens161f0", 1000)
MINE, THEIRS = ids.server("acme", "mine"), ids.server("globex", "theirs")


def plugged(owner: str, server: str, *wires: str) -> GraphFragment:
    return share(owner, [Edge(server, wire, "E7") for wire in wires], {server: owner})


# ISO-01.


def test_two_owners_on_one_segment() -> None:
    """It goes by its name at a switch, though that at the host would come first."""
    assert HOST < A
    premises = [
        premise(Relation.CLAIM, A, owner, f"{owner}-net", "VLAN 1000 on fabric100g", "held")
        for owner in ("globex", "initech")
    ]
    joined = share("globex", [Edge(HOST, A, "E1"), Edge(THEIRS, A, "E7")], {THEIRS: "globex"}, premises)
    model = drawn(SITE, plan_of(), plugged("acme", MINE, HOST), joined)
    result = answer("ISO-01", model)
    found = only(result)
    assert found.message == "one segment, tor-1 VLAN 1000, has the owners acme and globex"
    assert found.path == (MINE, HOST, A, THEIRS)
    # A claim of whoever has nothing there is no part of it.
    assert found.witness == (
        "mine [acme]", "poplar-1 ens161f0 VLAN 1000", "tor-1 VLAN 1000", "theirs [globex]",
        "globex's network globex-net claims VLAN 1000 on fabric100g",
    )  # fmt: skip
    assert (found.verdict, found.specificity, result.count) == (V, 60, 1)
    assert found.id == identified("ISO-01", model, HOST, frozenset({"acme", "globex"}))


def test_a_segment_inside_a_host_goes_by_its_name_there() -> None:
    model = drawn(SITE, plan_of(), plugged("acme", MINE, HOST), plugged("globex", THEIRS, HOST))
    assert only(answer("ISO-01", model)).message.startswith("one segment, poplar-1 ens161f0 VLAN 1000, has")


def test_each_segment_is_looked_at() -> None:
    """One owner's comes first, that of two after it."""
    own = share("acme", [Edge(MINE, A, "E7"), Edge(rnic(1), B, "E6")], {MINE: "acme", rnic(1): "acme"})
    model = drawn(SITE, plan_of(), own, plugged("globex", THEIRS, B))
    assert only(answer("ISO-01", model)).path == (rnic(1), B, THEIRS)
    assert answer("ISO-01", model).count == 2


@pytest.mark.parametrize(("wires", "told"), [((A,), []), ((A, C), [C])])
def test_segments_that_the_plan_does_not_touch(wires: tuple[str, ...], told: list[str]) -> None:
    """acme's server is joined with the two by a router; where they meet is for them to tell, here for ISO-02."""
    router = ids.router("initech", "r")
    way = [Edge(router, A, "E10"), Edge(router, C, "E10")]
    model = drawn(
        SITE, plan_of(), plugged("acme", MINE, *wires), share("initech", way),
        plugged("globex", THEIRS, C), plugged("initech", rnic(1), C),
    )  # fmt: skip
    assert [item.path[1] for item in answer("ISO-01", model).findings] == told
    assert only(answer("ISO-02", model)).path[0] == MINE


def test_what_a_segment_itself_is_labelled() -> None:
    """Nothing is plugged in: two plans own the VLAN."""
    model = drawn(SITE, plan_of(), share("acme", [Edge(A, B, "E1")], {A: "acme"}), share("globex", [], {B: "globex"}))
    assert only(answer("ISO-01", model)).path == (A, B)


# ISO-02.


def test_two_owners_in_one_component() -> None:
    router = ids.router("globex", "r")
    model = drawn(
        SITE, plan_of(), plugged("acme", MINE, A),
        share("globex", [Edge(router, A, "E10"), Edge(router, B, "E10"), Edge(THEIRS, B, "E7")], {THEIRS: "globex"}),
    )  # fmt: skip
    result = answer("ISO-02", model)
    found = only(result)
    assert found.message == "acme and globex are joined: what one sends can reach the other"
    assert found.path == (MINE, A, router, B, THEIRS)
    assert (found.verdict, found.specificity, result.count) == (V, 10, 1)
    assert found.id == identified("ISO-02", model, frozenset({"acme", "globex"}))


def test_components_without_an_owner_are_not_counted() -> None:
    apart = share("acme", [Edge(MINE, A, "E7"), Edge(B, C, "E1")], {MINE: "acme"})
    assert answer("ISO-02", drawn(SITE, plan_of(), apart)).count == 1


# ISO-05.

GATEWAY, BMC = ids.part("SN-ipum-01", "gw"), ids.part("SN-ipum-02", "bmc")
CAPABILITY = ids.capability("acme")
HARDWARE = (Edge(MINE, A, "E7"), Edge(A, B, "E1"), Edge(B, GATEWAY, "E6"))
BY_RIGHT = (Edge(MINE, CAPABILITY, "E13"), Edge(CAPABILITY, BMC, "E13"))


@pytest.mark.parametrize(
    ("edges", "path", "words"),
    [
        (HARDWARE, (MINE, A, B, GATEWAY), "mine can reach the gateway of ipum-01"),
        (BY_RIGHT, (MINE, CAPABILITY, BMC), "mine can reach the BMC of ipum-02"),
        # A way that is there says more than one that somebody may make, be it longer.
        ((*HARDWARE, *BY_RIGHT), (MINE, A, B, GATEWAY), "mine can reach the gateway of ipum-01"),
        (HARDWARE[:2], None, ""),
    ],
)
def test_a_way_to_the_management_of_machines(edges: tuple[Edge, ...], path: tuple[str, ...] | None, words: str) -> None:
    labels = {MINE: "acme", GATEWAY: "op", BMC: "op"}
    result = answer("ISO-05", drawn(SITE, plan_of(), share("acme", edges, labels)))
    assert result.count == 1
    if path is None:
        assert result.verdict is P
        return
    found = only(result)
    assert (found.path, found.message) == (path, words)
    assert (found.verdict, found.specificity) == (V, 90)


def test_the_operators_servers_are_there_to_manage() -> None:
    """A controller in a tenant's plan is the operator's; if its tenant has it too, it is asked about."""
    labels = {MINE: "op", GATEWAY: "op"}
    model = drawn(SITE, plan_of(), share("acme", HARDWARE, labels))
    assert answer("ISO-05", model).verdict is NA
    both = share("acme", HARDWARE, labels | {MINE: "acme, op"})
    assert answer("ISO-05", drawn(SITE, plan_of(), both)).verdict is V


@pytest.mark.parametrize(("owner", "count"), [("acme", 0), ("op", 1)])
def test_whose_servers_a_plan_answers_for(owner: str, count: int) -> None:
    """A tenant's for its own, the operator's for those of every tenant."""
    others = share("globex", [Edge(THEIRS, B, "E7"), Edge(B, GATEWAY, "E6")], {THEIRS: "globex"})
    own = share(owner, [Edge(rnic(1), B, "E6")], {rnic(1): owner})
    result = answer("ISO-05", drawn(SITE, plan_of(owner), own, others))
    assert (result.count, len(result.findings)) == (count, count)


# Any rule about absence.


class Known(Model):
    """A model of which only its graphs are asked."""

    def __init__(self, must: Graph, *doubtful: Graph) -> None:
        self.__dict__ |= {"must": must, "doubtful": doubtful}


def graph(name: str) -> Graph:
    found: Graph = nx.Graph(name=name)
    return found


X, Y = SiteFact("x"), SaidFact("y")
CAUSE = Cause(key="k", message="m", witness=("w",), hint="h")


@pytest.mark.parametrize(
    ("certain", "doubtful", "violated", "unknown"),
    [
        ((), (), 0, ()),
        ((CAUSE,), ((CAUSE,),), 1, ()),
        # What is there for certain is not told again as what may be.
        ((CAUSE,), ((replace(CAUSE, missing=(X,)),),), 1, ()),
        ((replace(CAUSE, key="other"),), ((replace(CAUSE, missing=(X,)),),), 1, ((X,),)),
        # Another witness that rests on no unstated fact is none of doubt.
        ((), ((CAUSE,),), 0, ()),
        # One conflict with two ways is one cause, with the facts of both, each once.
        ((), ((replace(CAUSE, missing=(Y,)),), (replace(CAUSE, missing=(X, Y)),)), 0, ((X, Y),)),
        ((), ((replace(CAUSE, missing=(Y,)), replace(CAUSE, key="other", missing=(X,))),), 0, ((Y,), (X,))),
        ((CAUSE, replace(CAUSE, message="again")), (), 1, ()),
    ],
)
def test_what_is_certain_and_what_may_be(
    certain: tuple[Cause, ...],
    doubtful: tuple[tuple[Cause, ...], ...],
    violated: int,
    unknown: tuple[tuple[object, ...], ...],
) -> None:
    graphs = [graph(str(place)) for place in range(len(doubtful))]
    there = dict(zip(graphs, doubtful, strict=True))
    must = graph("must")
    result = absence(Known(must, *graphs), 3, (there | {must: certain}).__getitem__)
    assert (result.count, len(result.violated)) == (3, violated)
    assert tuple(item.missing for item in result.unknown) == unknown
    assert all(item.message == "m" for item in result.violated)


def test_each_cause_once() -> None:
    def some() -> Iterator[Cause]:
        yield CAUSE
        yield replace(CAUSE, message="another witness of it")
        yield replace(CAUSE, key="other")

    assert list(unique(some())) == [CAUSE, replace(CAUSE, key="other")]


def test_a_cause_speaks_last_unless_it_says_more() -> None:
    """No rule that explains something narrowly gives way to one that does not say how narrowly it does."""
    assert CAUSE.specificity == 0
    assert all(item.specificity > CAUSE.specificity for item in answer("ISO-01", two_of_one_wire()).findings)


def two_of_one_wire() -> Model:
    return drawn(SITE, plan_of(), plugged("acme", MINE, A), plugged("globex", THEIRS, A))


def test_ids_are_short_and_stay() -> None:
    """16 digits; the same whatever the order in which a set tells its members; of each stack its own."""
    model = drawn(SITE, plan_of(), share("acme"))
    names = [f"owner-{number}" for number in range(20)]
    found = {identified("ISO-02", model, frozenset(order)) for order in (names, names[::-1])}
    assert [len(item) for item in found] == [len("ISO-02-") + 16]
    other = drawn(SITE, plan_of("globex"), share("globex"))
    assert identified("ISO-02", other, frozenset(names)) not in found


def test_a_doubtful_way_is_not_provable() -> None:
    facts = (SiteFact("switches.tor-1.ports.9"),)
    doubt = share("globex", [Edge(THEIRS, A, "E7", missing=facts)], {THEIRS: "globex"})
    for rule in ("ISO-01", "ISO-02"):
        found = only(answer(rule, drawn(SITE, plan_of(), plugged("acme", MINE, A), doubt)))
        assert (found.verdict, found.missing) == (N, ("switches.tor-1.ports.9",))
        assert found.witness[-1] == "? theirs [globex]"
