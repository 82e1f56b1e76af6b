"""The operator's own plan among the others of a tenant: what it joins, it joins in every judgement."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.lock.record import Lock
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Network, RbacPolicy, Server, Trunk, TrunkSubPort
from interlock.resources import Port as NeutronPort
from interlock.vocabulary.entries import of_lock
from policies import Verdict, judge
from policies.authority.closure import holdings
from policies.footprints.neighbours import Neighbours
from policies.judging import operators_part, seen_by
from tests.builders.pod64 import site_locked
from tests.policies.workspace import Made, N, P, V, added, full_site, pair, sharing, text, verdicts

SITE = full_site()
CONTROLLERS = "site:Project/controllers"


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


@cache
def of_site() -> Plan:
    return plan_site(SITE, site_locked(SITE))


def with_right(target: str, action: str = "access_as_shared") -> Plan:
    right = RbacPolicy.model_validate(
        {"project": CONTROLLERS, "object": "external", "action": action, "target": target}
    )
    return added(of_site(), "right", of_site().components[0].name, right)


def beside(operators: Plan, one: Made, other: Made) -> Verdict:
    """What Sep says of one tenant's plan beside the operator's, the same beside everybody and beside neighbours."""
    every = [one.lock, other.lock, operators_part(SITE, operators)]
    judgement = judge(SITE, one.plan, every)
    assert judge(SITE, one.plan, Neighbours.of(SITE, every)) == judgement
    return verdicts(judgement)["ISO-02"]


@pytest.mark.parametrize(
    ("operators", "verdict"),
    [
        (of_site(), P),
        (with_right("*"), V),
        (with_right("cloud:Project/acme"), V),
        (with_right("*", "access_as_external"), P),
    ],
    ids=["nothing given", "a right to all", "a right to one", "a gateway for all"],
)
def test_a_right_in_the_operators_plan_is_seen_by_tenants(operators: Plan, verdict: Verdict) -> None:
    acme, globex = clean()
    assert beside(operators, acme, globex) == verdict


def test_it_says_whose_right_it_is() -> None:
    acme, globex = clean()
    every = [globex.lock, operators_part(SITE, with_right("*"))]
    found = next(item for item in judge(SITE, acme.plan, every, suggest=True).findings if item.rule == "ISO-02")
    assert "what acme may plug in" in text(found)
    assert of_lock("op") in found.about


def test_a_trunk_in_the_operators_plan_joins_what_its_ports_are_on() -> None:
    """Its ports stand on acme's VLAN, and on one of the operator's own."""
    acme, globex = clean()
    plan, part = of_site(), of_site().components[0].name
    for number, vlan in enumerate((1000, 1900)):
        network = Network(
            name=f"extra-{number}", project=CONTROLLERS, network_type="vlan", physical_network="fabric100g",
            segmentation_id=vlan,
        )  # fmt: skip
        port = NeutronPort(
            name=f"port-{number}", project=CONTROLLERS, network=network.name, subnet="none", vnic_type="normal",
            address=f"10.9.{number}.2",
        )  # fmt: skip
        plan = added(added(plan, network.name, part, network), port.name, part, port)
    trunk = Trunk(name="trunk", project=CONTROLLERS, port="port-1", sub_ports=(TrunkSubPort(port="port-0", vlan=7),))
    server = Server(
        name="box", project=CONTROLLERS, flavor="site:Flavor/controller", image="site:Image/poplar", host="poplar-1",
        ports=("port-1",),
    )  # fmt: skip
    plan = added(added(plan, "trunk", part, trunk), "box", part, server)
    assert beside(plan, acme, globex) == V


def test_what_is_unknown_of_the_operators_plan_is_unknown_for_tenants() -> None:
    acme, globex = clean()
    site = full_site(sharing=sharing(no_tenant_ports=None))
    every = [globex.lock, operators_part(site, plan_site(site, site_locked(site)))]
    assert verdicts(judge(site, acme.plan, every))["ISO-02"] == N


def test_the_operators_own_judgement_does_not_count_it_twice() -> None:
    acme, globex = clean()
    locks = [acme.lock, globex.lock]
    for plan in (of_site(), with_right("*")):
        every = [*locks, operators_part(SITE, of_site())]
        assert judge(SITE, plan, every) == judge(SITE, plan, locks)
        assert judge(SITE, plan, Neighbours.of(SITE, every)) == judge(SITE, plan, locks)


def test_versions_of_what_the_operator_has_part_in_follow_its_plan() -> None:
    """A change of the operator's plan disturbs only those who meet what it is about."""
    acme, globex = clean()

    def boundary(operators: Lock) -> str:
        return judge(SITE, acme.plan, [globex.lock, operators]).boundary

    before = operators_part(SITE, of_site())
    assert boundary(before) == judge(SITE, acme.plan, [globex.lock]).boundary
    assert boundary(operators_part(SITE, with_right("*"))) != boundary(before)


def test_a_tenant_gets_nothing_but_the_operators_catalogue() -> None:
    """Public images of the operator's are for everybody to read."""
    acme, globex = clean()
    part = operators_part(SITE, of_site())
    alone, beside_it = (
        set(holdings(seen_by(SITE, acme.plan, others).model, "acme")) for others in ([globex.lock], [globex.lock, part])
    )
    assert beside_it - alone == {f"read obj:image/op/{image.name}" for image in SITE.images}
    assert judge(SITE, acme.plan, [globex.lock, part]).exit_code == 0
