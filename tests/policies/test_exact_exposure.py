"""EXPO-01 and L3-08: what is said of an entry from outside, and where it may lead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policies import Verdict
from policies.about import PlanComponent, PlanResource, Subject
from policies.edges.plan import EXTERNAL_REFERENCE
from policies.facts.data import BucketPolicyFact
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.facts.rights import FloatingIpFact
from policies.rules.exposure import EXPO_01, L3_08
from tests.policies.one_rule import Said, of_facts, said
from tests.policies.test_rules_sec import CONTROLLER, SERVER, SITE, clean
from tests.policies.workspace import NA, P, V

FACTS: PlanFacts = plan_facts(clean()[0].plan)
AT = "192.0.2.10"


def with_entries(
    *floating: FloatingIpFact, buckets: tuple[str, ...] = (), declared: tuple[str, ...] = (), actions: str = "read"
) -> PlanFacts:
    """These addresses, buckets that everybody may use, and what the request declares public."""
    policies = tuple(
        BucketPolicyFact(f"{name}-policy", name, "acme-train-s3-key", ((("acme-train-s3", "*"), (actions, "list")),))
        for name in buckets
    )
    stated = tuple((name, ("203.0.113.0/24",)) for name in declared)
    access = replace(FACTS.access, public=declared, public_from=stated)
    return replace(FACTS, floating_ips=floating, bucket_policies=policies, access=access)


def address(port: str, owner: str = "acme", network: str = EXTERNAL_REFERENCE) -> FloatingIpFact:
    return FloatingIpFact("acme-entry", owner, network, AT, port)


UNDECLARED = "is an entry from outside that the request does not declare"


@pytest.mark.parametrize(
    ("plan", "message", "witness", "about"),
    [
        (
            with_entries(address(f"{SERVER}-control")),
            f"acme-entry {UNDECLARED}: {AT} leads to {SERVER}",
            ("outside", "acme-entry", f"{AT} leads to {SERVER}"),
            (PlanResource("acme-entry"), PlanComponent("acme-entry"), PlanResource(SERVER)),
        ),
        # A port that no server holds, or that no file describes, goes by its own name.
        (
            with_entries(address("nobody")),
            f"acme-entry {UNDECLARED}: {AT} leads to nobody",
            ("outside", "acme-entry", f"{AT} leads to nobody"),
            (PlanResource("acme-entry"), PlanComponent("acme-entry"), PlanResource("nobody")),
        ),
        (
            with_entries(buckets=("acme-data",)),
            f"acme-data {UNDECLARED}: everybody may read and list",
            ("outside", "acme-data", "everybody may read and list"),
            (PlanResource("acme-data"), PlanComponent("acme-data")),
        ),
        (
            with_entries(declared=("acme-data",)),
            "acme-data is declared public, and nothing of the plan lets anybody in there",
            ("acme-data", "declared public", "no policy and no floating address"),
            (PlanResource("acme-data"), PlanComponent("acme-data")),
        ),
        (
            with_entries(address(f"{SERVER}-control", network="cloud:Network/other"), declared=("acme-entry",)),
            "acme-entry is an address of cloud:Network/other, not the site's external network",
            ("acme-entry", AT, "cloud:Network/other"),
            (PlanResource("acme-entry"), PlanResource("cloud:Network/other")),
        ),
    ],
)
def test_what_is_said_of_an_entry(
    plan: PlanFacts, message: str, witness: tuple[str, ...], about: tuple[Subject, ...]
) -> None:
    found = of_facts(EXPO_01, SITE, plan)
    assert said(found) == [Said(V, message, witness, (), 20)]
    assert found.findings[0].subjects == about


@pytest.mark.parametrize(
    ("plan", "count", "verdict"),
    [
        (with_entries(), 0, NA),
        (with_entries(address(f"{SERVER}-control"), declared=("acme-entry",)), 2, P),
        (with_entries(buckets=("acme-data",), declared=("acme-data",)), 2, P),
        (with_entries(buckets=("acme-data",), declared=("acme-other",)), 2, V),
    ],
)
def test_entries_are_those_declared(plan: PlanFacts, count: int, verdict: Verdict) -> None:
    found = of_facts(EXPO_01, SITE, plan)
    assert (found.count, found.verdict) == (count, verdict)


def test_a_policy_for_users_by_name_is_no_entry() -> None:
    named = replace(with_entries(buckets=("acme-data",)).bucket_policies[0], grants=((("acme-train-s3",), ("read",)),))
    assert of_facts(EXPO_01, SITE, replace(with_entries(), bucket_policies=(named,))).verdict is NA


# L3-08.


def labelled(*labels: str) -> PlanFacts:
    """The server is controlled by these."""
    servers = tuple(replace(item, labels=frozenset(labels)) if item.name == SERVER else item for item in FACTS.servers)
    return replace(FACTS, servers=servers)


@pytest.mark.parametrize(
    ("plan", "entry", "words", "named"),
    [
        (FACTS, address(f"{SERVER}-control"), None, ""),
        (FACTS, address("nobody"), "nobody, which is no port of this plan", "nobody"),
        (
            replace(FACTS, ports=tuple(replace(item, server=None) for item in FACTS.ports)),
            address(f"{SERVER}-control"),
            f"port {SERVER}-control, which no server holds",
            f"{SERVER}-control",
        ),
        (
            replace(FACTS, servers=()),
            address(f"{SERVER}-control"),
            f"port {SERVER}-control, which no server holds",
            f"{SERVER}-control",
        ),
        (FACTS, address(f"{CONTROLLER}-control"), f"the V-IPU controller {CONTROLLER}", CONTROLLER),
        (labelled("acme", "globex"), address(f"{SERVER}-control"), f"{SERVER}, in which globex has a part", SERVER),
        (FACTS, address(f"{SERVER}-control", "globex"), f"{SERVER}, in which globex has a part", SERVER),
        (
            labelled("acme", "globex"),
            address(f"{SERVER}-control", "globex"),
            f"{SERVER}, in which globex has a part",
            SERVER,
        ),
        (
            labelled("acme", "initech"),
            address(f"{SERVER}-control", "globex"),
            f"{SERVER}, in which globex and initech has a part",
            SERVER,
        ),
    ],
)
def test_where_an_address_may_lead(plan: PlanFacts, entry: FloatingIpFact, words: str | None, named: str) -> None:
    found = of_facts(L3_08, SITE, replace(plan, floating_ips=(entry,)))
    assert found.count == 1
    if words is None:
        assert found.verdict is P
        return
    witness = ("outside", AT, f"port {entry.port}", words)
    assert said(found) == [Said(V, f"floating address {AT} (acme-entry) leads to {words}", witness, (), 92)]
    about = (PlanResource("acme-entry"), PlanResource(named), PlanResource(entry.port))
    assert found.findings[0].subjects == about
