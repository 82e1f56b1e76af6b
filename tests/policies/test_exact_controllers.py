"""ISO-06 and ISO-07 on hand-made graphs: what counts as a way through a controller, and as a network behind two.

dev:acme:s ─ port:acme:a ─ [controller] ─ port:acme:b ─ L:SN-mgmt-1:110 ─ whoever is there
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from policies import Verdict
from policies.about import SaidFact
from policies.edges.shape import Edge, GraphFragment, Relation, premise
from policies.facts import identities as ids
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.proof import RuleResult
from policies.rules.controllers import ISO_06, ISO_07
from tests.policies.one_rule import Said, by_hand, said
from tests.policies.test_rules_sec import CONTROLLER, clean, site_plan
from tests.policies.workspace import NA, N, P, V, full_site

SITE = full_site()
NODE = ids.server("acme", CONTROLLER)
#: Where acme meets its controller, and where its other leg is.
FRONT, BACK = "port:acme:a", "port:acme:b"
INSIDE, BEHIND = "L:SN-mgmt-1:210", "L:SN-mgmt-1:110"
OURS, OPERATORS, THEIRS = "dev:acme:s", "dev:op:o", "dev:globex:s"
ELSEWHERE = ids.unresolved("cloud:Port/x")
LABELS = {OURS: "acme", OPERATORS: "op", THEIRS: "globex"}


@cache
def facts() -> PlanFacts:
    return plan_facts(clean()[0].plan)


def share(
    *pairs: tuple[str, str], unknown: tuple[str, str] | None = None, more: Sequence[object] = ()
) -> GraphFragment:
    """Edges between these nodes, one of them perhaps; whose a node is stands above."""
    edges = [Edge(a, b, "E6", (SaidFact("a cable"),) if (a, b) == unknown else ()) for a, b in pairs]
    nodes = {end for pair in pairs for end in pair}
    labels = {node: frozenset({label}) for node, label in LABELS.items() if node in nodes}
    return GraphFragment("acme", tuple(edges), labels, tuple(more))  # type: ignore[arg-type]


# ISO-06.

LEGS = ((NODE, FRONT), (NODE, BACK))


def through(*pairs: tuple[str, str], unknown: tuple[str, str] | None = None) -> RuleResult:
    return by_hand(ISO_06, SITE, facts(), share(*pairs, unknown=unknown))


@pytest.mark.parametrize(
    ("pairs", "is_way"),
    [
        ((*LEGS, (FRONT, OURS), (BACK, OPERATORS)), True),
        ((*LEGS, (FRONT, OURS), (BACK, THEIRS)), True),
        # By whichever port the tenant comes in.
        ((*LEGS, (BACK, OURS), (FRONT, OPERATORS)), True),
        ((*LEGS, (FRONT, OURS), (BACK, BEHIND), (BEHIND, OPERATORS)), True),
        # Nobody else behind it, or nobody in front of it.
        ((*LEGS, (FRONT, OURS), (BACK, BEHIND)), False),
        ((*LEGS, (FRONT, OURS), (BACK, "dev:acme:t")), False),
        ((*LEGS, (FRONT, INSIDE), (BACK, OPERATORS)), False),
        # In and out by one port: they meet without it, and other rules say so.
        ((*LEGS, (FRONT, INSIDE), (INSIDE, OURS), (INSIDE, OPERATORS)), False),
        (((NODE, FRONT), (FRONT, INSIDE), (INSIDE, OURS), (INSIDE, OPERATORS)), False),
        # A port of a switch, or one that no file describes, is a leg as well.
        (((NODE, FRONT), (NODE, "port:SN-mgmt-1/7"), (FRONT, OURS), ("port:SN-mgmt-1/7", OPERATORS)), True),
        (((NODE, FRONT), (NODE, ELSEWHERE), (FRONT, OURS), (ELSEWHERE, OPERATORS)), True),
        # What it holds or runs on is no leg.
        (((NODE, FRONT), (NODE, "I:acme:allocation"), (FRONT, OURS), ("I:acme:allocation", OPERATORS)), False),
        (((NODE, "cpu:SN-infra-1"), (NODE, BACK), ("cpu:SN-infra-1", OURS), (BACK, OPERATORS)), False),
        # A controller that is on no wire at all.
        (((FRONT, OURS), (BACK, OPERATORS)), False),
    ],
)
def test_ways_through_a_controller(pairs: tuple[tuple[str, str], ...], is_way: bool) -> None:
    found = through(*pairs)
    assert (found.verdict, found.count) == (V if is_way else P, 1)


def test_a_way_is_shown_from_end_to_end() -> None:
    (found,) = said(through(*LEGS, (FRONT, OURS), (BACK, BEHIND), (BEHIND, OPERATORS)))
    assert found == Said(
        V,
        f"{CONTROLLER} is a way from s to o",
        ("s [acme]", "its port a", CONTROLLER, "its port b", "mgmt-1 VLAN 110", "o [op]"),
        (),
        87,
    )


def test_a_way_that_may_be_there() -> None:
    (found,) = said(through(*LEGS, (FRONT, OURS), (BACK, OPERATORS), unknown=(BACK, OPERATORS)))
    assert (found.verdict, found.missing, found.witness[-1]) == (N, ("a cable",), "? o [op]")


def test_what_an_allocation_names_is_a_controller() -> None:
    """Also where it is a server of the tenant's own; one that is neither is none."""
    named = tuple(replace(item, controller="acme-train-poplar-0") for item in facts().allocations)
    node = ids.server("acme", "acme-train-poplar-0")
    own = share((node, FRONT), (node, BACK), (FRONT, OURS), (BACK, OPERATORS))
    assert [
        (found.verdict, found.count)
        for found in (by_hand(ISO_06, SITE, plan, own) for plan in (facts(), replace(facts(), allocations=named)))
    ] == [(P, 1), (V, 2)]


# ISO-07: (whose controller, its port behind) as plans and locks state it.


def met(*ports: tuple[str, str], kind: str = "vipu-controller") -> list[object]:
    return [premise(Relation.COPY, ids.server(owner, "c"), port, kind, owner) for owner, port in ports]


OF_ACME, OF_GLOBEX, OF_INITECH = ((name, f"port:{name}:c") for name in ("acme", "globex", "initech"))
BOTH = (OF_ACME, OF_GLOBEX)
A, G, I = (port for _, port in (OF_ACME, OF_GLOBEX, OF_INITECH))  # noqa: E741
ROUTER = "R:op:r"


def behind(
    ports: tuple[tuple[str, str], ...],
    *pairs: tuple[str, str],
    kind: str = "vipu-controller",
    plan: PlanFacts | None = None,
    unknown: tuple[str, str] | None = None,
) -> RuleResult:
    own = share(*pairs, unknown=unknown, more=met(*ports, kind=kind))
    return by_hand(ISO_07, SITE, plan or facts(), own)


@pytest.mark.parametrize(
    ("ports", "pairs", "expected"),
    [
        (BOTH, ((A, BEHIND), (BEHIND, G)), (("acme", "globex"), 66)),
        # What joins them is more than a segment: told after what it is.
        (BOTH, ((A, ROUTER), (ROUTER, BEHIND), (BEHIND, G)), (("acme", "globex"), 50)),
        (BOTH, ((A, BEHIND), (BEHIND, ROUTER), (ROUTER, G)), (("acme", "globex"), 50)),
        # The plan's own tenant first, whatever its name, and without it the first by name.
        ((OF_INITECH, OF_ACME), ((A, BEHIND), (BEHIND, I)), (("acme", "initech"), 66)),
        # Where more meet, those on the way are named.
        ((*BOTH, OF_INITECH), ((A, BEHIND), (BEHIND, G), (G, INSIDE), (INSIDE, I)), (("acme", "globex"), 66)),
        # Where owners meet as well, other rules say more.
        (BOTH, ((A, BEHIND), (BEHIND, G), (BEHIND, OURS)), None),
        (BOTH, ((A, BEHIND), (BEHIND, G), (BEHIND, OPERATORS)), (("acme", "globex"), 66)),
        # Two controllers of one tenant, or two networks.
        ((OF_ACME, ("acme", "port:acme:d")), ((A, BEHIND), (BEHIND, "port:acme:d")), None),
        (BOTH, ((A, BEHIND), (G, INSIDE)), None),
    ],
)
def test_the_network_behind_controllers(
    ports: tuple[tuple[str, str], ...], pairs: tuple[tuple[str, str], ...], expected: tuple[tuple[str, str], int] | None
) -> None:
    found = behind(ports, *pairs)
    if expected is None:
        assert said(found) == []
        return
    (one, other), order = expected
    (item,) = said(found)
    message = f"the controllers of {one} and {other} reach each other by the network behind them"
    assert (item.verdict, item.message, item.order) == (V, message, order)
    assert [item.witness[0], item.witness[-1]] == ["port c", "port c"]


def test_the_first_by_name_where_the_plans_own_is_not_there() -> None:
    """The way is shown from there."""
    found = behind((OF_GLOBEX, OF_INITECH, OF_ACME), (I, BEHIND), (BEHIND, G), (BEHIND, "dev:acme:x"))
    (item,) = found.findings
    assert (item.path[0], item.path[-1]) == (G, I)


def test_a_network_behind_that_may_be_there() -> None:
    (item,) = said(behind(BOTH, (A, BEHIND), (BEHIND, G), unknown=(BEHIND, G)))
    assert (item.verdict, item.missing, item.witness) == (N, ("a cable",), ("port c", "mgmt-1 VLAN 110", "? port c"))


@pytest.mark.parametrize(
    ("ports", "kind", "count", "verdict"),
    [
        (BOTH, "vipu-controller", 1, V),
        ((OF_ACME, ("acme", "port:acme:d"), OF_GLOBEX), "vipu-controller", 2, V),
        # Addresses of the storage appliance are met by all, too, and are no controllers.
        (BOTH, "storage-appliance", 0, NA),
        # Two others' controllers: their own plans say so.
        ((OF_GLOBEX, OF_INITECH), "vipu-controller", 0, NA),
        ((OF_ACME,), "vipu-controller", 1, P),
    ],
)
def test_whose_controllers_are_counted(
    ports: tuple[tuple[str, str], ...], kind: str, count: int, verdict: Verdict
) -> None:
    wires = tuple((BEHIND, port) for _, port in ports)
    found = behind(ports, *wires, kind=kind)
    assert (found.count, found.verdict) == (count, verdict)


def test_the_operators_plan_answers_for_all() -> None:
    plan = plan_facts(site_plan())
    found = behind((OF_GLOBEX, OF_INITECH), (BEHIND, G), (BEHIND, I), plan=plan)
    assert (found.count, found.verdict) == (2, V)
