"""What findings are about, and the smallest change that parts two owners."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from interlock.resources import SwitchPort
from interlock.vocabulary.entries import EntryKind, SpecEntry, of_lock, of_resource, of_site
from policies import Finding, Judgement, Severity, Verdict, judge
from policies.about import (
    Fact,
    OpenScope,
    PlanComponent,
    PlanResource,
    SaidFact,
    ScopeIsShared,
    SiteDevice,
    SiteFact,
    Subject,
    UndeclaredSharing,
)
from policies.authority.closure import AccessMode, HeldNode, Leak
from policies.authority.grants import Grant
from policies.edges.premises import Way
from policies.edges.shape import Edge, GraphFragment
from policies.facts import principals as who
from policies.facts.plan import plan_facts
from policies.facts.site import SiteFacts
from policies.findings.fixes import _Parting, fix_of
from policies.findings.spec_entries import SpecEntries
from policies.findings.spec_objects import fact_entry
from policies.footprints.boundary import PARTITION
from policies.graph.model import Model
from policies.judging import model_of
from policies.proof import FixKind
from policies.rules.authority import leak_cause
from policies.rules.rule import cause_hash
from tests.policies.workspace import (
    Made,
    assumptions,
    changed,
    edited,
    first,
    full_site,
    judged,
    pair,
    sharing,
)

SITE = full_site()
VLAN = "acme-train-ipu-data"


def suggested(site: Site, plan: Plan, *others: Made) -> Judgement:
    return judge(site, plan, [other.lock for other in others], suggest=True)


def found(judgement: Judgement, rule: str) -> Finding:
    return next(item for item in judgement.findings if item.rule == rule)


def taking_each_others_vlan() -> tuple[Made, Made]:
    acme, globex = pair(SITE)
    vlan = globex.plan.by_name["globex-train-ipu-data"].resource.canonical()["segmentation_id"]
    plan = edited(acme.plan, VLAN, segmentation_id=vlan)
    for item in plan.resources:
        if isinstance(item.resource, SwitchPort) and item.resource.interface == "rnic":
            plan = edited(plan, item.name, vlan=vlan)
    return Made(plan, acme.lock), globex


# What findings are about


def test_a_path_names_server_port_network_and_the_others_lock() -> None:
    acme, globex = taking_each_others_vlan()
    finding = found(judged(SITE, acme.plan, globex), "ISO-02")
    assert finding.path[0] != finding.path[-1]
    assert {of_resource(VLAN), of_lock("globex")} <= set(finding.about)


def test_a_guard_that_fails_is_named_as_the_site_file_has_it() -> None:
    acme, globex = pair(SITE)
    site = full_site(assumptions=assumptions(no_forwarding=False))
    finding = found(judged(site, acme.plan, globex), "ISO-02")
    assert of_site("assumptions.A3.no_forwarding") in finding.about


def test_a_guard_that_nobody_states_is_named() -> None:
    acme, globex = pair(SITE)
    site = full_site(sharing=sharing(no_tenant_ports=None))
    finding = first(judged(site, acme.plan, globex))
    assert finding.missing == ("sharing.external.guards.no_tenant_ports",)
    assert of_site("sharing.external.guards.no_tenant_ports") in finding.about
    assert finding.fix == ()


def test_a_rule_without_a_path_says_which_resource_it_is_about() -> None:
    acme, globex = pair(SITE)
    plan = edited(acme.plan, "acme-train-control-subnet", cidr="10.30.0.0/30")
    finding = found(judged(SITE, plan, globex), "CAP-05")
    assert finding.path == ()
    assert of_resource("acme-train-control-subnet") in finding.about


def about(*subjects: Subject) -> tuple[SpecEntry, ...]:
    """The entries of a finding whose text names a network and a switch, and that is about these."""
    acme, globex = pair(SITE)
    entries = SpecEntries(model_of(SITE, acme.plan, [globex.lock]), acme.plan)
    finding = Finding(
        rule="ISO-12", severity=Severity.BLOCK, verdict=Verdict.VIOLATED, message=f"network {VLAN}: not on tor-1",
        witness=(VLAN, "tor-1"), missing=("assumptions.A3.no_forwarding",), subjects=subjects,
    )  # fmt: skip
    return entries.of_finding(finding)


def test_text_is_not_read() -> None:
    assert about() == ()


def test_resources_say_more_than_components_and_these_than_devices() -> None:
    resource, component, device = PlanResource("acme-router"), PlanComponent("acme-train"), SiteDevice("tor-1")
    assert about(device) == (of_site("switches.tor-1"),)
    assert about(device, component) == (of_resource("acme-train"),)
    assert about(device, component, resource) == (of_resource("acme-router"),)
    assert about(resource, SiteFact("external.vlan")) == (of_site("external.vlan"), of_resource("acme-router"))


def test_what_neither_plan_nor_site_has_is_no_entry() -> None:
    assert about(PlanResource("globex-router"), PlanComponent("globex"), SiteDevice("tor-9")) == ()


@pytest.mark.parametrize(
    ("fact", "words", "entry"),
    [
        (SiteFact("external.vlan"), "external.vlan", of_site("external.vlan")),
        (UndeclaredSharing("bastion"), "sharing declares no bastion", of_site("sharing")),
        (ScopeIsShared(OpenScope("subnet pool", "p")), "subnet pool p is shared with tenants", None),
        (SaidFact("role of network a.b"), "role of network a.b", None),
    ],
)
def test_facts_have_an_entry_if_the_site_file_has_a_place_for_them(
    fact: Fact, words: str, entry: SpecEntry | None
) -> None:
    assert (str(fact), fact_entry(fact)) == (words, entry)


def test_an_open_scope_is_read_as_it_is_written() -> None:
    for scope in (OpenScope("address scope", "external-scope"), OpenScope("subnet pool", "site:SubnetPool/external")):
        assert OpenScope.parse(str(scope)) == scope


def test_a_leak_by_an_open_scope_is_about_that_scope() -> None:
    opened = ScopeIsShared(OpenScope("address scope", "external-scope"))
    bucket = who.thing("bucket", "acme", "acme-data")
    grant = Grant(Way.WRITES, who.principal("globex"), bucket, "policy", broken=(opened,), given_by="policy")
    leak = Leak("globex", HeldNode(bucket, AccessMode.WRITE), frozenset({"acme"}), (grant,))
    cause = leak_cause(leak, hint="", specificity=1)
    assert "not held: address scope external-scope is shared with tenants" in cause.witness[-1]
    named = [subject.name for subject in cause.about if isinstance(subject, PlanResource)]
    assert list(dict.fromkeys(named)) == ["acme-data", "policy", "external-scope"]


def test_a_clean_plan_costs_nothing() -> None:
    acme, globex = pair(SITE)
    assert all(item.fix == () for item in suggested(SITE, acme.plan, globex).findings)


# Ids


def test_ids_are_short_and_those_of_the_next_run() -> None:
    acme, globex = taking_each_others_vlan()
    ids = [item.id for item in judged(SITE, acme.plan, globex).findings]
    assert len(set(ids)) == len(ids)
    assert ids == [item.id for item in judged(SITE, acme.plan, globex).findings]
    assert all(len(name.rpartition("-")[2]) in (4, 8, 16) for name in ids)


def test_an_id_is_of_one_stack_and_one_cause() -> None:
    key = ("a", frozenset({"x", "y"}))
    assert cause_hash("lyon/acme", key) == cause_hash("lyon/acme", ("a", frozenset({"y", "x"})))
    assert cause_hash("lyon/acme", key) != cause_hash("lyon/globex", key)
    assert cause_hash("lyon/acme", key) != cause_hash("lyon/acme", ("b", frozenset({"x", "y"})))


# Changes


def test_the_network_that_took_anothers_vlan_is_the_smallest_change() -> None:
    acme, globex = taking_each_others_vlan()
    for rule in ("ISO-01", "ISO-02", "ISO-11"):
        finding = found(suggested(SITE, acme.plan, globex), rule)
        assert (finding.fix, finding.fix_kind) == ((of_resource(VLAN),), FixKind.SMALLEST), rule


def test_guards_that_fail_together_are_changed_together() -> None:
    acme, globex = pair(SITE)
    site = full_site(sharing=sharing(no_tenant_ports=False, l3_agent_enforces_scopes=False))
    finding = found(suggested(site, acme.plan, globex), "ISO-02")
    guards = {of_site(f"sharing.external.guards.{name}") for name in ("no_tenant_ports", "l3_agent_enforces_scopes")}
    # One router fewer would do as well, and is one change instead of two.
    assert finding.fix_kind is FixKind.SMALLEST
    assert len(finding.fix) == 1
    assert guards <= set(finding.about)


def test_what_is_not_asked_for_is_not_searched() -> None:
    acme, globex = taking_each_others_vlan()
    assert all(item.fix == () and item.fix_kind is None for item in judged(SITE, acme.plan, globex).findings)


def test_the_change_that_is_suggested_mends() -> None:
    """The entry of each suggestion, changed for good, ends its finding."""
    acme, globex = pair(SITE)
    site = full_site(sharing=sharing(no_tenant_ports=False))
    finding = found(suggested(site, acme.plan, globex), "ISO-02")
    assert finding.fix == (of_site("sharing.external.guards.no_tenant_ports"),)
    mended = changed(site, sharing=sharing())
    assert "ISO-02" not in {item.rule for item in judged(mended, acme.plan, globex).findings}


# The search, against trying everything


def drawn(joined: Sequence[tuple[str, str, str]]) -> tuple[SpecEntries, _Parting]:
    """A graph of other tenants' locks: each (a, b, owner) is an edge by that owner's lock."""
    acme, _ = pair(SITE)
    owners = sorted({owner for _, _, owner in joined})
    shares = [
        GraphFragment(owner, tuple(Edge(a, b, PARTITION) for a, b, who in joined if who == owner), {}, ())
        for owner in owners
    ]
    facts = plan_facts(acme.plan)
    ends = GraphFragment("acme", (Edge("cap:acme", "fabric:s", "E13"), Edge("fabric:t", "cap:them", "E13")),
                 {"cap:acme": frozenset({"acme"}), "cap:them": frozenset({"them"})}, ())  # fmt: skip
    model = Model(SiteFacts(SITE), facts, ends, shares)
    entries = SpecEntries(model, acme.plan)
    component = sorted(node for node in model.must if node.startswith(("fabric:", "cap:")))
    return entries, _Parting(entries, model.must, component, "acme", "them")


def by_trying(parting: _Parting) -> int | None:
    """The size of the smallest set of locks that parts the two; None if it is more than three."""
    entries = sorted(entry for entry in parting.rests_on if entry.kind is EntryKind.LOCK)
    for size in (1, 2, 3):
        if any(parting._path(frozenset(chosen)) is None for chosen in combinations(entries, size)):
            return size
    return None


def rows(count: int) -> list[tuple[str, str, str]]:
    """So many ways side by side, each by two locks of its own."""
    ways = [(f"fabric:m{n}", f"a{n}", f"b{n}") for n in range(count)]
    return [edge for mid, a, b in ways for edge in (("fabric:s", mid, a), (mid, "fabric:t", b))]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_ways_side_by_side_take_a_change_each(count: int) -> None:
    _, parting = drawn(rows(count))
    fix = parting.found()
    assert fix is not None
    assert (len(fix[0]), fix[1]) == (count, FixKind.SMALLEST)
    assert by_trying(parting) == count


def test_a_lock_that_stands_for_several_edges_is_one_change() -> None:
    joined = [(a, b, owner if a == "fabric:s" else "same") for a, b, owner in rows(4)]
    _, parting = drawn(joined)
    assert parting.found() == ((of_lock("same"),), FixKind.SMALLEST)


def test_an_edge_by_two_locks_takes_both() -> None:
    _, parting = drawn([("fabric:s", "fabric:t", "one"), ("fabric:s", "fabric:t", "two")])
    assert parting.found() == ((of_lock("one"), of_lock("two")), FixKind.SMALLEST)


def test_more_than_three_are_minimal() -> None:
    _, parting = drawn(rows(5))
    fix = parting.found()
    assert fix is not None
    assert fix[1] is FixKind.MINIMAL
    assert len(fix[0]) == 5
    chosen = frozenset(fix[0])
    assert parting._path(chosen) is None
    assert all(parting._path(chosen - {entry}) is not None for entry in chosen)


MIDDLE = [f"fabric:{name}" for name in "stuvw"]
PAIRS = list(combinations(MIDDLE, 2))


@given(st.lists(st.tuples(st.sampled_from(PAIRS), st.sampled_from("abcdef")), min_size=3, max_size=12))
def test_the_smallest_set_is_as_small_as_trying_everything_finds(joined: list[tuple[tuple[str, str], str]]) -> None:
    graph = [(a, b, owner) for (a, b), owner in joined]
    _, parting = drawn(graph)
    if parting._path(frozenset()) is None:
        return
    fix = parting.found()
    assert fix is not None
    size = by_trying(parting)
    assert fix[1] is (FixKind.MINIMAL if size is None else FixKind.SMALLEST)
    assert size is None or len(fix[0]) == size
    assert parting._path(frozenset(fix[0])) is None


def test_what_nobody_can_change_has_no_set() -> None:
    acme, globex = pair(SITE)
    model = model_of(SITE, acme.plan, [globex.lock])
    finding = Finding(
        rule="ISO-02", severity=Severity.BLOCK, verdict=Verdict.VIOLATED, message="", witness=(), path=("cap:acme",)
    )
    assert fix_of(SpecEntries(model, acme.plan), finding) is None
