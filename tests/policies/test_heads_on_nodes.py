"""A head on the hypervisor of a GPU node, by a pin that the planner takes as given: refused, whoever has the node.

su02-n03 and su02-n04 are hypervisors, and so is head-1. acme has bare-metal nodes of unit 1 and a head.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from infra.verifying.answers import found_in
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.model.site.inventory import Site
from tests.builders.completeness import declared_complete
from tests.builders.gpu_heads import head_claims, headed, site_with_heads
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import gpu_tenant
from tests.builders.virtual_nodes import VIRTUAL, virtual_site, virtual_tenant
from tests.policies.workspace import Made, V, assumptions, judged, sharing, verdicts, with_footprint


@cache
def site() -> Site:
    base = site_with_heads(1)
    return declared_complete(virtual_site(base=base, sharing=sharing(), assumptions=assumptions()))


def acme(head: str) -> Made:
    request, given = gpu_tenant("acme", headed()), head_claims(1, (1, 1), (1, 2), heads=(head,))
    return with_footprint(site(), clusters_planned(request, [given], site()), clusters_locked(request, given))


@cache
def globex() -> Made:
    """It has su02-n03."""
    request, given = virtual_tenant("globex"), claims(2, (2, 3))
    return with_footprint(site(), clusters_planned(request, [given], site()), clusters_locked(request, given))


def second(made: Made) -> set[str]:
    """Rules that find something by the second derivation."""
    known, documents = json.loads(site().model_dump_json()), [json.loads(json.dumps(made.plan.canonical()))]
    ports = Ports(known, asked_of(documents), claimed_of(documents, []))
    return set(found_in(PlanOfStack(Inventory(known, ports), documents[0])))


def test_on_a_hypervisor_for_heads() -> None:
    assert judged(site(), acme("head-1").plan, globex()).findings == ()
    assert second(acme("head-1")) == set()


@pytest.mark.parametrize(("node", "more"), [(VIRTUAL[0], {"ISO-02", "TOP-06"}), (VIRTUAL[1], set[str]())])
def test_on_a_node(node: str, more: set[str]) -> None:
    """Of somebody else, and of nobody: its flavour does not hand out the node whole, and it would have it."""
    made = acme(node)
    found = verdicts(judged(site(), made.plan, globex()))
    assert {rule for rule in ("LIF-03", "ISO-02", "TOP-06") if found[rule] == V} == {"LIF-03", *more}
    assert "LIF-03" in second(made)
