"""Views look at the theorem's own graph: none of them is violated, or not provable, where its theorem is proved."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from policies import Verdict
from policies.judging import judge
from tests.policies.test_examples_switches import NONE, WIDE, leaves, two
from tests.policies.test_properties import FEW, Defect, defects, guards, sites, workspace
from tests.policies.workspace import Made, assumptions, changed, judged, verdicts

#: View -> the rules of which one must not be proved where it speaks: Sep for tenants, for vPODs, claims.
VIEWS = {
    "ISO-05": {"ISO-02"},
    "ISO-06": {"ISO-02"},
    "ISO-14": {"ISO-02", "ISO-11"},
    "ISO-15": {"ISO-02", "ISO-11"},
    "ISO-16": {"ISO-02"},
    "ISO-24": {"ISO-02"},
    "ISO-27": {"ISO-02", "ISO-03"},
}
_RANK = (Verdict.NOT_APPLICABLE, Verdict.PROVED, Verdict.NOT_PROVABLE, Verdict.VIOLATED)


def no_worse_than_their_theorems(site: Site, plan: Plan, others: list[Made]) -> None:
    found = verdicts(judge(site, plan, [other.lock for other in others]))
    for view, theorems in VIEWS.items():
        worst = max(_RANK.index(found[rule]) for rule in theorems)
        assert _RANK.index(found[view]) <= max(worst, _RANK.index(Verdict.PROVED)), (view, found)


@FEW
@given(site=sites(), wrong=defects)
def test_on_one_switch(site: Site, wrong: list[Defect]) -> None:
    made_of = workspace(site, wrong)
    for name, item in made_of.items():
        no_worse_than_their_theorems(site, item.plan, [other for key, other in made_of.items() if key != name])


lists = st.sampled_from([NONE, WIDE, None, ((1000, 1000),)])
natives = st.tuples(*[st.sampled_from([None, 1000, 1005, 3999])] * 2)


@FEW
@given(tagged=lists, untagged=natives, vlan=st.sampled_from([1000, 1005]), stated=guards, lost=st.booleans())
def test_over_links(
    tagged: tuple[tuple[int, int], ...] | None,
    untagged: tuple[int | None, int | None],
    vlan: int,
    stated: dict[str, bool | None],
    lost: bool,
) -> None:
    """Two leaves and a spine; the second end of the first uplink may have no record."""
    site = leaves(tagged=tagged, natives=untagged)
    if lost:
        spine = site.switch["spine-1"].model_copy(update={"ports": site.switch["spine-1"].ports[1:]})
        site = changed(site, switches=tuple(spine if item.name == "spine-1" else item for item in site.switches))
    acme, globex = two(site, vlan=vlan)
    site = changed(site, assumptions=assumptions(**stated))
    no_worse_than_their_theorems(site, acme.plan, [globex])
    no_worse_than_their_theorems(site, globex.plan, [acme])


def test_the_links_of_the_site_are_a_rule_of_their_own() -> None:
    """No owner meets another by it yet."""
    site = leaves(tagged=None)
    acme, _ = two(site, vlan=1005)
    assert verdicts(judged(site, acme.plan))["ISO-14"] == Verdict.PROVED
