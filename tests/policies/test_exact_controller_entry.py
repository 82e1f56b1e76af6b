"""L3-09: what may lie on the way from a bastion to a controller, one step at a time.

bastion:eth0 ── mgmt-1:45, VLAN 300 ── (what is asked about) ── mgmt-1 VLAN 110 ── the controller's port
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from interlock.model.site.inventory import Device, Site
from policies.about import SaidFact
from policies.edges.plan_fragment import plan_fragment
from policies.edges.shape import Edge, GraphFragment
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.proof import RuleResult
from policies.rules.controller_entry import L3_09
from tests.builders.pod64 import cable
from tests.policies.joining import declared
from tests.policies.one_rule import Said, by_hand, said
from tests.policies.test_rules_controller_entry import CONTROLLER, clean, site_with, trunk
from tests.policies.workspace import NA, N, P, V, changed, full_site

AT_BASTION, AT_CONTROLLER = "L:SN-mgmt-1:300", "L:SN-mgmt-1:110"
HEAD = f"that a bastion reaches controller {CONTROLLER} by a way without Poplar servers is"


@cache
def apart() -> Site:
    """The bastion is in a VLAN of its own."""
    return site_with(trunk(45, (300, 300)))


@cache
def facts() -> PlanFacts:
    return plan_facts(clean()[0].plan)


def asked(site: Site, *pairs: tuple[str, str], label: str | None = None, doubtful: bool = False) -> RuleResult:
    """With these edges of the operator's besides: what lies between is `label`'s, and the last edge is unknown."""
    found = [Edge(a, b, "E5") for a, b in pairs]
    if doubtful:
        found[-1] = Edge(*pairs[-1], "E5", (SaidFact("a cable"),))
    labels = {pairs[0][1]: frozenset({label})} if label else {}
    own = plan_fragment(SiteFacts(site), facts())
    return by_hand(L3_09, site, facts(), own, [GraphFragment("op", tuple(found), labels, ())])


@pytest.mark.parametrize(
    ("between", "label", "is_way"),
    [
        # Segments, external networks and ports, whoever's they are.
        ("V:sandbox:vxlan:7000", None, True),
        ("X:external", None, True),
        ("port:op:p", "op", True),
        ("port:SN-mgmt-1/44", None, True),
        # Routers, hosts and servers of the operator's.
        ("R:op:r", "op", True),
        ("R:SN-mgmt-1", "op", True),
        ("dev:SN-infra-1", "op", True),
        ("dev:op:jump", "op", True),
        # The same of a tenant's: it may cut the way.
        ("R:globex:r", "globex", False),
        ("dev:acme:acme-train-poplar-0", "acme", False),
        ("dev:globex:s", "globex", False),
        # Poplar hosts, as a whole or by one interface.
        ("dev:SN-poplar-1", "op", False),
        ("dev:SN-poplar-1/eno1", "op", False),
        # Rights and strangers: ways that may be laid.
        ("cap:globex", None, False),
        ("cap:acme", "acme", False),
        ("foreign:sandbox", None, False),
    ],
)
def test_what_may_lie_on_the_way(between: str, label: str | None, is_way: bool) -> None:
    found = asked(apart(), (AT_BASTION, between), (between, AT_CONTROLLER), label=label)
    assert (found.verdict, found.count) == (P if is_way else V, 1)
    if not is_way:
        witness = ("bastion eth0 as VLAN 300 meets it", f"controller {CONTROLLER}")
        assert said(found) == [Said(V, f"{HEAD} false", witness, (), 38)]


def test_a_long_way_that_may_be_there_is_shown_by_its_beginning() -> None:
    """Eight steps; what is missing at its end is named nevertheless."""
    chain = [AT_BASTION, *(f"L:SN-mgmt-1:{number}" for number in range(301, 310)), AT_CONTROLLER]
    steps = ("bastion eth0 as VLAN 300 meets it", *(f"mgmt-1 VLAN {number}" for number in range(300, 307)))
    found = asked(apart(), *pairwise(chain), doubtful=True)
    assert said(found) == [Said(N, f"{HEAD} not known", (*steps, f"controller {CONTROLLER}"), ("a cable",), 38)]
    assert asked(apart(), *pairwise(chain)).verdict is P


def test_another_declared_device_is_no_bastion() -> None:
    """One that watches the controllers' VLAN lets the operator in nowhere."""
    site = site_with(trunk(45, (300, 300)), trunk(46, (110, 199)))
    watched = changed(
        site,
        cables=(*site.cables, cable("watch:eth0", "mgmt-1:46")),
        devices=(*site.devices, Device(name="watch", role="appliance")),
        sharing=(*site.sharing, declared("watch")[-1].model_copy(update={"name": "watch"})),
    )
    assert asked(watched).verdict is V
    # The same device, as a bastion too.
    both = declared("watch", "bastion")[-1].model_copy(update={"name": "entry"})
    assert asked(changed(watched, sharing=(*watched.sharing, both))).verdict is P


@pytest.mark.parametrize("count", [1, 2])
def test_bastions_that_are_on_no_cable(count: int) -> None:
    """Theirs are the missing facts."""
    items = [declared(name, "bastion")[-1].model_copy(update={"name": name}) for name in ("one", "two")][:count]
    names = tuple(item.node for item in items)
    site = full_site(sharing=(*full_site().sharing, *items))
    missing = tuple(f"cables of {name}" for name in names)
    assert said(asked(site)) == [Said(N, f"{HEAD} not known", (*names, f"controller {CONTROLLER}"), missing, 38)]


def test_without_a_bastion_nothing_is_asked() -> None:
    assert (asked(full_site()).verdict, asked(full_site()).count) == (NA, 0)
