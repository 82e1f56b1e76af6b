"""Properties over random small workspaces with defects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.model.site.guards import ASSUMPTION_GUARDS
from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies import RULES, Verdict
from policies.edges.plan_fragment import plan_fragment
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.footprints.boundary import lock_share
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.judging import judge, model_of
from tests.builders.pod64 import management_switch, tenant, tor
from tests.policies.workspace import Made, assumptions, edited, full_site, made, verdicts, with_footprint

IDS = ("acme", "globex", "carol")
VLANS = (1000, 1001, 1002, 2000, 2001, 2002)
SEP = ("ISO-01", "ISO-02")
#: A quarter of what the profile asks for: each example judges three plans.
FEW = settings(max_examples=max(25, settings().max_examples // 4))


@cache
def clean() -> dict[str, Made]:
    site, found = full_site(), dict[str, Made]()
    for name in IDS:
        found[name] = made(site, tenant(name, machines=4, servers=1), [other.lock for other in found.values()])
    return found


@dataclass(frozen=True)
class Defect:
    """One thing changed in a tenant's plan."""

    tenant: str
    what: str
    vlan: int

    def applied(self, plan: Plan) -> Plan:
        owner = self.tenant
        match self.what:
            case "claim":
                return edited(plan, f"{owner}-train-storage", segmentation_id=self.vlan)
            case "rnic":
                name = next(item.name for item in plan.resources if "-rnic-" in item.name)
                return edited(plan, name, vlan=self.vlan)
            case "function":
                return edited(plan, f"{owner}-train-poplar-0-storage", port_security=False)
            case "controller":
                return edited(plan, f"{owner}-train-controller", project=f"{owner}-project")
            case "scope":
                return edited(plan, f"{owner}-train-control-subnet", subnet_pool="site:SubnetPool/external-pool")
            case _:
                return edited(plan, f"{owner}-train-control", shared=True)


defects = st.lists(
    st.builds(
        Defect,
        tenant=st.sampled_from(IDS),
        what=st.sampled_from(("claim", "rnic", "function", "controller", "scope", "shared")),
        vlan=st.sampled_from(VLANS),
    ),
    max_size=3,
)
guards = st.dictionaries(
    st.sampled_from([guard for known in ASSUMPTION_GUARDS.values() for guard in known]),
    st.sampled_from([None, False]),
    max_size=2,
)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    switch = tor().model_copy(
        update={
            "routed_vlans": draw(st.sampled_from([(), (), (1000, 1001), (1001, 1002), None])),
            "ip_routing": draw(st.sampled_from([False, False, True, None])),
        }
    )
    return full_site(switches=(switch, management_switch()), assumptions=assumptions(**draw(guards)))


def workspace(site: Site, wrong: list[Defect]) -> dict[str, Made]:
    found = {}
    for name, item in clean().items():
        plan = item.plan
        for defect in wrong:
            plan = defect.applied(plan) if defect.tenant == name else plan
        found[name] = with_footprint(site, plan, item.lock)
    return found


def whole(site: Site, plan: Plan, others: list[Plan]) -> Model:
    """The model over the full graphs of all plans, no footprint in between."""
    facts = SiteFacts(site)
    own = plan_facts(plan)
    return Model(facts, own, plan_fragment(facts, own), [plan_fragment(facts, plan_facts(other)) for other in others])


def answers(model: Model) -> dict[str, Verdict]:
    names = Names(model)
    return {rule.id: rule.judge(model, names).verdict for rule in RULES}


@FEW
@given(site=sites(), wrong=defects)
def test_footprints_suffice(site: Site, wrong: list[Defect]) -> None:
    """A verdict over footprints is the verdict over everybody's full graph, for every tenant in turn."""
    made_of = workspace(site, wrong)
    for name, item in made_of.items():
        others = [other for key, other in made_of.items() if key != name]
        small = answers(model_of(site, item.plan, [other.lock for other in others]))
        large = answers(whole(site, item.plan, [other.plan for other in others]))
        assert small == large


@FEW
@given(site=sites(), wrong=defects)
def test_someone_notices_what_the_operator_sees(site: Site, wrong: list[Defect]) -> None:
    """No conflict between tenants falls between two judgements: each party's own judgement shows it."""
    made_of = workspace(site, wrong)
    model = whole(site, made_of["acme"].plan, [made_of["globex"].plan, made_of["carol"].plan])
    for graph in (model.must, model.may):
        for component in model.components(graph):
            owners = {label for node in component for label in model.label(node)} & set(IDS)
            if len(owners) > 1 and "acme" in owners:
                locks = [made_of[name].lock for name in ("globex", "carol")]
                assert verdicts(judge(site, made_of["acme"].plan, locks))["ISO-02"] is not Verdict.PROVED


@FEW
@given(site=sites(), wrong=defects, order=st.permutations(("globex", "carol")))
def test_the_order_of_others_does_not_matter(site: Site, wrong: list[Defect], order: list[str]) -> None:
    made_of = workspace(site, wrong)
    plan = made_of["acme"].plan
    assert judge(site, plan, [made_of[name].lock for name in order]) == judge(
        site, plan, [made_of[name].lock for name in sorted(order)]
    )


@FEW
@given(site=sites(), wrong=defects)
def test_more_facts_join_more(site: Site, wrong: list[Defect]) -> None:
    """A further tenant takes no edge away, and what is certain may also be."""
    made_of = workspace(site, wrong)
    plan = made_of["acme"].plan
    less = model_of(site, plan, [made_of["globex"].lock])
    more = model_of(site, plan, [made_of["globex"].lock, made_of["carol"].lock])
    for smaller, larger in ((less.must, more.must), (less.may, more.may), (more.must, more.may)):
        assert set(map(frozenset, smaller.edges)) <= set(map(frozenset, larger.edges))


@FEW
@given(wrong=defects, stated=guards)
def test_stating_a_guard_decides_one_way_or_the_other(wrong: list[Defect], stated: dict[str, bool | None]) -> None:
    """What is proved with a fact unknown is proved whatever the fact; what is violated then, too."""
    unknown = full_site(assumptions=assumptions(**dict.fromkeys(stated, None)))
    made_of = workspace(unknown, wrong)
    locks = [made_of[name].lock for name in ("globex", "carol")]
    before = verdicts(judge(unknown, made_of["acme"].plan, locks))
    for value in (True, False):
        known = full_site(assumptions=assumptions(**dict.fromkeys(stated, value)))
        after = verdicts(judge(known, made_of["acme"].plan, locks))
        for rule in SEP:
            if before[rule] is not Verdict.NOT_PROVABLE:
                assert after[rule] is before[rule]


@FEW
@given(site=sites(), wrong=defects)
def test_a_footprint_survives_its_file(site: Site, wrong: list[Defect]) -> None:
    facts = SiteFacts(site)
    for item in workspace(site, wrong).values():
        lock = type(item.lock).model_validate_json(item.lock.model_dump_json())
        assert lock_share(lock, facts) == lock_share(item.lock, facts)
        assert lock.hash == lock.expected_hash()
