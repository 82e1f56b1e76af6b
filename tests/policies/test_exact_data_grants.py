"""SEC-11 and SEC-14: who is named in a policy, with whose key it is made, and at which address a share is mounted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Literal

import pytest

from interlock.planning.plan import Plan
from interlock.resources import BucketStatement
from policies import Verdict
from policies.about import PlanResource
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.rules.data_grants import SEC_11, SEC_14
from tests.policies.one_rule import Said, answer, findings, messages, of_facts
from tests.policies.test_authority import policy_on, public_plan, reading
from tests.policies.test_data_rules import ACCESS, appliance, both, site_of
from tests.policies.test_rules_sec import clean
from tests.policies.workspace import Made, N, P, V, edited, with_footprint

STORAGE = "acme-train-storage-subnet"
POLICY = "acme-data-policy"


def acme() -> Plan:
    return clean()[0].plan


def elsewhere() -> Plan:
    """The user whom the policy names lies in a project of the operator's."""
    return edited(policy_on(acme(), reading("acme-train-s3")), "acme-train-s3", project="site:Project/controllers")


def public(*principals: str, actions: tuple[Literal["read", "write"], ...] = ("read",)) -> Plan:
    """The bucket is declared public."""
    return edited(public_plan(), POLICY, statements=(BucketStatement(principals=principals, actions=actions),))


# SEC-11.


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (lambda: public("*"), []),
        # To publish it is to let everybody read it, and nothing else, and nobody else by name.
        (lambda: public("*", "globex-train-s3"), [f"{POLICY} lets globex-train-s3, no user of acme, read"]),
        (lambda: public("*", actions=("read", "write")), [f"{POLICY} lets everybody read and write"]),
        (
            lambda: policy_on(acme(), BucketStatement(principals=("*",), actions=("read",))),
            [f"{POLICY} lets everybody read"],
        ),
        (lambda: policy_on(acme(), reading("acme-train-s3")), []),
        # A user that the plan makes elsewhere is none of the tenant's, nor is a key for it.
        (
            elsewhere,
            [
                "acme-data is made with acme-train-s3-key, no key of a user of acme",
                f"{POLICY} is made with acme-train-s3-key, no key of a user of acme",
                f"{POLICY} lets acme-train-s3, no user of acme, read",
            ],
        ),
        (
            lambda: edited(policy_on(acme(), reading("acme-train-s3")), POLICY, credential="globex-train-s3-key"),
            [f"{POLICY} is made with globex-train-s3-key, no key of a user of acme"],
        ),
        (
            lambda: edited(acme(), "acme-data", project="site:Project/controllers"),
            ["acme-data lies in a project of op"],
        ),
    ],
)
def test_who_may_use_a_bucket(plan: Callable[[], Plan], expected: list[str]) -> None:
    found = findings(SEC_11, site_of(), plan())
    assert [item.message for item in found] == expected
    assert {(item.verdict, item.order) for item in found} <= {(V, 88)}
    assert [" ".join(item.witness) for item in found] == expected


@pytest.mark.parametrize(("value", "verdict", "words"), [(False, V, "false"), (None, N, "not known"), (True, P, "")])
def test_a_policy_says_nothing_while_the_service_keeps_to_none(
    value: bool | None, verdict: Verdict, words: str
) -> None:
    site, fact = site_of(bucket_rules_enforced=value), "assumptions.A11.bucket_rules_enforced"
    plan = policy_on(acme(), reading("acme-train-s3"))
    missing = (fact,) if value is None else ()
    expected = Said(verdict, f"whether a bucket policy is enforced is {words}", (fact,), missing, 67)
    assert findings(SEC_11, site, plan) == ([] if value else [expected])
    assert (answer(SEC_11, site, plan).verdict, answer(SEC_11, site, plan).count) == (verdict, 2)
    # Where no policy is planned nothing rests on it.
    assert answer(SEC_11, site, acme()).verdict is P


# SEC-14.


@pytest.mark.parametrize(("value", "verdict", "words"), [(False, V, "false"), (None, N, "not known"), (True, P, "")])
def test_a_grant_says_nothing_while_the_service_keeps_to_none(value: bool | None, verdict: Verdict, words: str) -> None:
    site, fact = site_of(storage_rules_enforced=value), "assumptions.A11.storage_rules_enforced"
    missing = (fact,) if value is None else ()
    expected = Said(verdict, f"whether a grant by address is enforced is {words}", (fact,), missing, 67)
    assert findings(SEC_14, site, both()[0].plan) == ([] if value else [expected])


@cache
def facts() -> PlanFacts:
    return plan_facts(both()[0].plan)


@pytest.mark.parametrize(
    ("networks", "expected"),
    [
        ((), []),
        # Two grants on one network may name one address of the appliance.
        (("acme-train-storage",), []),
        (("b",), ["b"]),
        (("c", "a", "b"), ["a"]),
    ],
)
def test_an_address_of_the_appliance_on_several_networks(networks: tuple[str, ...], expected: list[str]) -> None:
    (access,) = facts().accesses
    more = tuple(replace(access, name=f"more-{name}", network=name) for name in networks)
    found = of_facts(SEC_14, site_of(), replace(facts(), accesses=(access, *more)))
    head = f"{ACCESS}: the appliance's address {access.vip} stands on"
    assert [item.message for item in found.findings if item.message.startswith(f"{ACCESS}:")] == [
        f"{head} {name} too" for name in expected
    ]
    for item in found.findings[: len(expected)]:
        assert [subject for subject in item.subjects if subject in (PlanResource("a"), PlanResource("b"))] == [
            PlanResource(name) for name in expected
        ]


@pytest.mark.parametrize(
    ("prefix", "vip", "words"),
    [
        ("10.21.0.5/24", "10.21.0.200", None),
        ("10.21.0.0/25", "10.21.0.200", "is not in 10.21.0.0/25"),
        ("10.21.0.0/24", "10.21.0.10", "is that of acme-train-poplar-0-storage"),
    ],
)
def test_the_appliance_in_its_subnet(prefix: str, vip: str, words: str | None) -> None:
    """However the subnet is written."""
    plan = edited(edited(both()[0].plan, STORAGE, cidr=prefix), ACCESS, prefix=prefix, vip=vip)
    expected = [] if words is None else [f"{ACCESS}: the appliance's address {vip} {words}"]
    assert messages(SEC_14, site_of(), plan) == expected


@pytest.mark.parametrize("gateway", [None, "10.21.0.1"])
def test_the_gateway_is_no_place_for_the_appliance(gateway: str | None) -> None:
    plan = edited(edited(both()[0].plan, STORAGE, gateway=gateway), ACCESS, vip="10.21.0.1")
    words = f"{ACCESS}: the appliance's address 10.21.0.1 is that of gateway of {STORAGE}"
    assert messages(SEC_14, site_of(), plan) == ([words] if gateway else [])


@pytest.mark.parametrize(
    ("theirs", "meet"),
    [("10.21.1.0/24", False), ("10.21.0.9/24", True), ("10.21.0.0/16", True), ("10.21.9.9/16", True)],
)
def test_prefixes_meet_however_they_are_written(theirs: str, meet: bool) -> None:
    globex = both()[1]
    plan = edited(globex.plan, "globex-models-access-train", prefix=theirs)
    other: Made = with_footprint(site_of(), plan, globex.lock)
    site = site_of(appliance(access_by_vip_and_client=False))
    alike = [item for item in messages(SEC_14, site, both()[0].plan, other) if "looks at clients alone" in item]
    assert bool(alike) is meet
