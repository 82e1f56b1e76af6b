"""FACT-01: what is said of a resource that the proof does not read, or does not know where to put."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policies import Verdict
from policies.about import PlanComponent, PlanResource, Subject
from policies.facts.kinds import PlanFacts
from policies.facts.plan import plan_facts
from policies.facts.plan_references import ReferenceFact
from policies.rules.completeness import FACT_01
from tests.policies.one_rule import Said, of_facts, said
from tests.policies.test_rules_sec import clean
from tests.policies.workspace import N, P, V, full_site

FACTS: PlanFacts = plan_facts(clean()[0].plan)
#: A flavour that the site has.
POPLAR = "site:Flavor/poplar.half"


@pytest.mark.parametrize(
    ("change", "expected", "about"),
    [
        (
            {"unread": (("Gadget", "acme-gadget"),)},
            Said(
                N, "nobody says what tenants could meet in acme-gadget, a Gadget", ("Gadget acme-gadget",),
                ("reading of Gadget",), 99,
            ),
            (PlanResource("acme-gadget"),),
        ),
        (
            {"hidden": (("acme-twin", ("Port", "Server")),)},
            Said(
                V, "2 resources of the plan are named acme-twin, so all but one are overlooked",
                ("Port acme-twin", "Server acme-twin"), (), 99,
            ),
            (PlanResource("acme-twin"),),
        ),
        (
            {"other_vpod": (("acme-port", "acme-a", "acme-b"),)},
            Said(
                V, "acme-port is said to be of vPOD acme-a, and it is a part of acme-b",
                ("acme-port, vPOD acme-a", "component tree: acme-b"), (), 98,
            ),
            (PlanResource("acme-port"), PlanComponent("acme-a"), PlanComponent("acme-b")),
        ),
        (
            {"other_vpod": (("acme-port", "acme-a", None),)},
            Said(
                V, "acme-port is said to be of vPOD acme-a, and it is a part of no vPOD",
                ("acme-port, vPOD acme-a", "component tree: no vPOD"), (), 98,
            ),
            (PlanResource("acme-port"), PlanComponent("acme-a")),
        ),
        (
            {"without_vpod": ("acme-port",)},
            Said(
                N, "nobody states to which vPOD acme-port belongs", ("acme-port",), ("vPOD of acme-port",), 98,
            ),
            (PlanResource("acme-port"),),
        ),
        (
            {"unresolved": (ReferenceFact("acme-leg", "router", "globex-router"),)},
            Said(
                N, "acme-leg refers to globex-router (router), which neither this plan nor the site has",
                ("acme-leg, router", "globex-router"), ("what globex-router is",), 12,
            ),
            (PlanResource("acme-leg"),),
        ),
        (
            {"of_site": (ReferenceFact("a", "flavor", "site:Flavor/huge"), ReferenceFact("b", "flavor", POPLAR))},
            Said(
                N, "a refers to site:Flavor/huge (flavor), which neither this plan nor the site has",
                ("a, flavor", "site:Flavor/huge"), ("what site:Flavor/huge is",), 12,
            ),
            (PlanResource("a"),),
        ),
    ],
)  # fmt: skip
def test_what_is_overlooked(change: dict[str, tuple[object, ...]], expected: Said, about: tuple[Subject, ...]) -> None:
    found = of_facts(FACT_01, full_site(), replace(FACTS, **change))  # type: ignore[arg-type]
    assert said(found) == [expected]
    assert found.findings[0].subjects == about
    # A fact that is missing leaves it open, one that is wrong decides.
    assert found.verdict is expected.verdict


@pytest.mark.parametrize(
    ("change", "verdicts"),
    [
        ({"unread": (("Gadget", "x"),), "without_vpod": ("y",)}, [N, N]),
        ({"hidden": (("x", ("Port", "Port")),), "without_vpod": ("y",)}, [V, N]),
        ({"hidden": (("x", ("Port", "Port")),), "other_vpod": (("y", "a", None),)}, [V, V]),
    ],
)
def test_each_is_told(change: dict[str, tuple[object, ...]], verdicts: list[Verdict]) -> None:
    found = of_facts(FACT_01, full_site(), replace(FACTS, **change))  # type: ignore[arg-type]
    assert [item.verdict for item in found.findings] == verdicts


def test_every_resource_is_looked_at() -> None:
    found = of_facts(FACT_01, full_site(), FACTS)
    assert (found.count, found.verdict) == (len(clean()[0].plan.resources), P)
