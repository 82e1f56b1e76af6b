"""L3-09: a way from a declared bastion to each controller, without any Poplar server.

bastion:eth0 ── mgmt-1:45  the management VLANs of vPODs, in which controllers have a port
           └─── tor-1:31   or the storage VLANs, behind which there are only Poplar servers with a port beside one
"""

from __future__ import annotations

from functools import cache

from interlock.model.site.inventory import Device, Site, Switch, SwitchPortConfig
from interlock.planning import plan_site
from policies import Judgement, Severity
from policies.edges.plan_fragment import plan_fragment
from policies.facts import identities as ids
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.graph.model import Model
from policies.graph.search import shortest
from tests.builders.pod64 import cable, cables, management_switch, site_locked, tor
from tests.policies.joining import declared
from tests.policies.workspace import NA, Made, N, P, V, first, full_site, judged, pair, text, verdicts

CONTROLLER = "acme-train-controller"


def site_with(*ports: SwitchPortConfig, at: str = "mgmt-1:45") -> Site:
    switch, _, number = at.partition(":")
    kept: tuple[Switch, ...] = (tor(), management_switch())
    return full_site(
        switches=tuple(
            item.model_copy(update={"ports": (*item.ports, *ports)}) if item.name == switch else item for item in kept
        ),
        cables=(*cables(), cable("bastion:eth0", f"{switch}:{number}")),
        devices=(Device(name="bastion", role="appliance"),),
        sharing=declared("bastion", "bastion"),
    )


def trunk(port: int, *tagged: tuple[int, int]) -> SwitchPortConfig:
    return SwitchPortConfig(port=port, mode="trunk", tagged=tagged)


@cache
def clean() -> tuple[Made, Made]:
    return pair(full_site())


def asked(site: Site) -> Judgement:
    acme, globex = clean()
    return judged(site, acme.plan, globex)


def test_a_bastion_on_the_management_networks() -> None:
    site = site_with(trunk(45, (110, 199)))
    judgement = asked(site)
    assert (verdicts(judgement)["L3-09"], judgement.exit_code) == (P, 0)
    assert verdicts(judged(site, plan_site(site, site_locked(site)), *clean())).get("L3-09", NA) == NA


def test_a_site_that_declares_none() -> None:
    assert verdicts(asked(full_site()))["L3-09"] == NA


def test_a_bastion_elsewhere() -> None:
    judgement = asked(site_with(trunk(45, (300, 300))))
    found = first(judgement)
    assert (found.rule, found.verdict, found.severity, judgement.exit_code) == ("L3-09", V, Severity.ERROR, 1)
    assert CONTROLLER in found.message
    assert text(found).endswith(f"controller {CONTROLLER}")


def test_a_bastion_behind_a_port_of_which_nobody_knows() -> None:
    judgement = asked(site_with())
    found = next(item for item in judgement.findings if item.rule == "L3-09")
    assert (found.verdict, found.missing) == (N, ("switches.mgmt-1.ports.45",))


def test_a_bastion_without_a_cable() -> None:
    site = full_site(sharing=declared("bastion", "bastion"))
    judgement = asked(site)
    found = first(judgement)
    assert (found.rule, found.verdict, found.missing) == ("L3-09", N, ("cables of bastion",))


def test_a_way_by_a_poplar_server_is_none() -> None:
    """There is one, and only through the tenant's own server."""
    site = site_with(trunk(31, (2000, 2999)), at="tor-1:31")
    assert verdicts(asked(site))["L3-09"] == V
    facts, plan = SiteFacts(site), plan_facts(clean()[0].plan)
    model = Model(facts, plan, plan_fragment(facts, plan))
    copies = [node for node in model.must if node.startswith(f"{ids.part('bastion', 'eth0')}@")]
    port = ids.neutron_port("acme", f"{CONTROLLER}-control")
    # Rights apart: what a tenant may plug in is no way that is there.
    there = {node for node in model.must if not node.startswith("cap:")}
    way = shortest(model.must, copies, port.__eq__, within=there)
    assert way is not None
    assert [node for node in way if node.startswith("dev:acme:acme-train-poplar-")]
