"""Who is on a wire segment: hand-made graphs, so that each kind of edge and neighbour stands alone.

L:SN-a:7 ─E1─ L:SN-b:7   one segment in two switches; what hangs on it by another row is plugged in
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import pytest

from policies.edges.shape import GraphFragment, Relation, premise
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.footprints.applied import APPLIED
from policies.graph.model import Model
from policies.rules.attachments import SegmentClaim, at_odds, attached, claimants, claims, neighbourhood
from tests.policies.test_rules_sec import clean
from tests.policies.workspace import full_site

if TYPE_CHECKING:
    from policies.graph.search import Graph

HERE, THERE = "L:SN-a:7", "L:SN-b:7"
WIRE = {HERE, THERE}
PLUG, PORT = "port:SN-a/1", "port:acme:p"
SERVER, DEVICE = "dev:acme:s", "dev:SN-x/eth0"


def graph(*edges: tuple[str, str, str]) -> Graph:
    """Nodes joined by edges of these rows of the table."""
    found: Graph = nx.Graph()
    found.add_edge(HERE, THERE, rule="E1")
    for a, b, rule in edges:
        found.add_edge(a, b, rule=rule)
    return found


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([], []),
        ([(HERE, PORT, "E5")], [PORT]),
        # On both ends of the segment, and told once.
        ([(HERE, PORT, "E5"), (THERE, PORT, "E5")], [PORT]),
        ([(HERE, DEVICE, "E5"), (THERE, PORT, "E5")], [DEVICE, PORT]),
        # A second edge between nodes of the segment plugs nothing in.
        ([(HERE, THERE, "E7")], []),
        # Behind a port of a switch are the devices there; of a VLAN besides it there is nothing to be seen.
        ([(HERE, PLUG, "E5"), (PLUG, DEVICE, "E6")], [DEVICE]),
        ([(HERE, PLUG, "E5"), (PLUG, DEVICE, "E6"), (PLUG, "L:SN-a:8", "E5")], [DEVICE]),
        # What the partition of an applied footprint joins is not plugged in there.
        ([(HERE, PLUG, "E5"), (PLUG, DEVICE, APPLIED)], []),
        ([(HERE, DEVICE, APPLIED)], []),
        # Nor what only an assumption that is not held would join.
        *(([(HERE, DEVICE, rule)], []) for rule in ("A1", "A2", "A10", "A16", "A22")),
    ],
)
def test_what_is_plugged_in(edges: list[tuple[str, str, str]], expected: list[str]) -> None:
    assert list(attached(graph(*edges), WIRE)) == expected


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([], set()),
        # The port of a network, and the server that holds it; what is plugged in there besides is not near.
        ([(HERE, PORT, "E5"), (PORT, SERVER, "E6"), (SERVER, "port:acme:other", "E6")], {PORT, SERVER}),
        ([(HERE, PLUG, "E5"), (PLUG, DEVICE, "E6")], {PLUG, DEVICE}),
        # Behind a device that is on the wire itself is not near it.
        ([(HERE, DEVICE, "E5"), (DEVICE, SERVER, "E8")], {DEVICE}),
        # Nor a device with which the wire itself is joined by an assumption that is not held.
        ([(HERE, DEVICE, "A1")], set()),
        ([(HERE, DEVICE, APPLIED)], set()),
    ],
)
def test_what_is_near(edges: list[tuple[str, str, str]], expected: set[str]) -> None:
    assert neighbourhood(graph(*edges), WIRE) == WIRE | expected


# Claims: (owner of the plan, network, whose it is, state).


def model(*stated: tuple[str, str, frozenset[str], str]) -> Model:
    """acme's plan beside others that claim the first half of the segment or, if it is the operator's, the second."""
    nodes = {owner: THERE if owner == "op" else HERE for owner, *_ in stated}
    shares = {
        owner: GraphFragment(
            owner,
            (),
            {nodes[owner]: labels},
            (premise(Relation.CLAIM, nodes[owner], owner, network, "VLAN 7 on fabric", state),),
        )
        for owner, network, labels, state in stated
    }
    own = shares.pop("acme", GraphFragment("acme", (), {}, ()))
    return Model(SiteFacts(full_site()), plan_facts(clean()[0].plan), own, tuple(shares.values()))


def claim(owner: str, network: str, state: str = "held") -> SegmentClaim:
    return SegmentClaim(THERE if owner == "op" else HERE, owner, network, "VLAN 7 on fabric", state)


ACME = ("acme", "data", frozenset({"acme"}), "held")
#: A management VLAN in the plan of a tenant is the operator's.
MANAGED = ("acme", "management", frozenset({"op"}), "held")
GLOBEX = ("globex", "data", frozenset({"globex"}), "held")
OPERATORS = ("op", "mgmt", frozenset({"op"}), "held")
RELEASED = ("globex", "g", frozenset({"globex"}), "released")


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ((ACME,), None),
        ((ACME, GLOBEX), (claim("acme", "data"), claim("globex", "data"))),
        ((GLOBEX, ("initech", "a", frozenset({"initech"}), "held")), (claim("globex", "data"), claim("initech", "a"))),
        # Two claims of one owner: the operator's network in a tenant's plan, and one of its own.
        ((MANAGED, OPERATORS), None),
        # One of the two has a part in both.
        ((("acme", "m", frozenset({"acme", "op"}), "held"), OPERATORS), (claim("acme", "m"), claim("op", "mgmt"))),
        (
            (("acme", "m", frozenset({"acme", "op"}), "held"), ("op", "mgmt", frozenset({"acme", "op"}), "held")),
            (claim("acme", "m"), claim("op", "mgmt")),
        ),
        ((RELEASED, ACME), (claim("acme", "data"), claim("globex", "g", "released"))),
    ],
)  # fmt: skip
def test_two_claims_on_one_wire(
    stated: tuple[tuple[str, str, frozenset[str], str], ...], expected: tuple[SegmentClaim, SegmentClaim] | None
) -> None:
    """The plan's own is told first."""
    assert at_odds(model(*stated), WIRE) == expected


def test_a_claim_in_words() -> None:
    assert str(claim("acme", "data")) == "acme's network data claims VLAN 7 on fabric"
    released = "acme's network data claims VLAN 7 on fabric (released, not seen to be let go)"
    assert str(claim("acme", "data", "released")) == released


def test_a_network_claims_a_segment_once() -> None:
    item = premise(Relation.CLAIM, HERE, "acme", "data", "VLAN 7 on fabric", "held")
    again = premise(Relation.CLAIM, THERE, "acme", "data", "VLAN 7 on fabric", "held")
    own = GraphFragment("acme", (), {}, (item, again))
    found = Model(SiteFacts(full_site()), plan_facts(clean()[0].plan), own)
    assert len(claims(found, WIRE)) == 1
    assert len(claims(found, {"L:SN-c:7"})) == 0


def test_whose_a_claimed_network_is() -> None:
    """Who claims a segment of which nobody else says whose it is."""
    assert claimants(model(MANAGED), claim("acme", "management")) == {"op"}
    assert claimants(model(GLOBEX), claim("globex", "data")) == {"globex"}
    unlabelled = GraphFragment("acme", (), {}, ())
    found = Model(SiteFacts(full_site()), plan_facts(clean()[0].plan), unlabelled)
    assert claimants(found, claim("acme", "data")) == {"acme"}
