"""EXPO-01 of public servers: nobody gets in by the floating address but from the prefixes that the request states.

Each case is asked of the rule and of the second derivation (`verify --site`), which share no code.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from infra.checker import complaints
from infra.verifying.address_ranges import inside, ip_ranges
from infra.verifying.answers import ANEW
from infra.verifying.inventory import Inventory
from infra.verifying.plans import PlanOfStack
from infra.verifying.ports import Ports, asked_of, claimed_of
from interlock.planning.plan import Plan
from interlock.resources import SecurityGroup
from interlock.resources import SecurityGroupRule as Filter
from policies.facts.plan import plan_facts
from policies.proof import RuleResult
from policies.rules.exposure import EXPO_01, L3_08
from tests.builders.pod64 import tenant
from tests.certificate.test_forgeries import beside, certified, grown
from tests.planning.golden import public_request
from tests.policies.one_rule import of_facts
from tests.policies.workspace import Made, N, P, V, edited, full_site, judged, made, pair, verdicts, with_footprint

SITE = full_site()
PORT, GROUP, ENTRY = "acme-train-poplar-0-control", "acme-train-poplar-public", "acme-train-poplar-0-public"
SERVER = "acme-train-poplar-0"
STATED = "198.51.100.0/24"


@cache
def public() -> Made:
    """acme, whose first server is public, as planned."""
    return made(SITE, public_request())


def with_filters(*filters: Filter, stated: tuple[str, ...] = (STATED,)) -> Plan:
    """The filter of public servers holds these, and the request states those prefixes."""
    plan = edited(public().plan, GROUP, rules=filters)
    return plan.model_copy(update={"public_from": {ENTRY: stated}})


def ssh(prefix: str | None, **fields: Any) -> Filter:
    known = {"direction": "ingress", "protocol": "tcp", "port_min": 22, "port_max": 22, "remote_prefix": prefix}
    return Filter.model_validate(known | fields)


def asked(plan: Plan) -> RuleResult:
    return of_facts(EXPO_01, SITE, plan_facts(plan))


def again(plan: Plan) -> list[str]:
    """What the second derivation finds in the plan file."""
    document = json.loads(json.dumps(plan.canonical()))
    ports = Ports(_known(), asked_of([document]), claimed_of([document], []))
    return list(ANEW["EXPO-01"](PlanOfStack(Inventory(_known(), ports), document)))


@cache
def _known() -> Any:
    return json.loads(SITE.model_dump_json())


def test_as_planned_it_is_proved_with_all_other_rules() -> None:
    judgement = judged(SITE, public().plan, pair(SITE)[1])
    assert judgement.exit_code == 0
    assert [verdicts(judgement)[rule] for rule in ("EXPO-01", "L3-08", "L3-11")] == [P, P, P]
    assert again(public().plan) == []


@pytest.mark.parametrize(
    ("filters", "stated"),
    [
        ((), (STATED,)),
        ((ssh(STATED),), (STATED,)),
        ((ssh("198.51.100.128/25"), ssh("198.51.100.7/32", protocol="icmp", port_min=None, port_max=None)), (STATED,)),
        # Two halves hold what neither holds.
        ((ssh(STATED),), ("198.51.100.0/25", "198.51.100.128/25")),
        # Written as IPv6 it is the IPv4 prefix that it maps.
        ((ssh("::ffff:198.51.100.0/120", ethertype="IPv6"),), (STATED,)),
        ((ssh("2001:db8::/48", ethertype="IPv6"),), ("2001:db8::/32",)),
        # What goes out, and who is inside already.
        ((ssh(None, direction="egress"),), (STATED,)),
        ((ssh(None, remote_group=GROUP),), (STATED,)),
    ],
)
def test_who_is_stated_may_come_in(filters: tuple[Filter, ...], stated: tuple[str, ...]) -> None:
    plan = with_filters(*filters, stated=stated)
    assert asked(plan).verdict is P
    assert again(plan) == []


@pytest.mark.parametrize(
    ("filters", "stated", "words"),
    [
        ((ssh("198.51.100.0/23"),), (STATED,), "tcp 22-22 from 198.51.100.0/23"),
        ((ssh(STATED), ssh("192.0.2.9/32")), (STATED,), "tcp 22-22 from 192.0.2.9/32"),
        ((ssh(STATED),), (), f"tcp 22-22 from {STATED}"),
        ((ssh(None),), (STATED,), "tcp 22-22 from any IPv4 address"),
        ((ssh(None, ethertype="IPv6"),), (STATED,), "tcp 22-22 from any IPv6 address"),
        # Neighbours with a gap between them.
        ((ssh(STATED),), ("198.51.100.0/25", "198.51.100.192/26"), f"tcp 22-22 from {STATED}"),
        ((ssh("::/96", ethertype="IPv6"),), ("0.0.0.0/0",), "tcp 22-22 from ::/96"),
        ((ssh("10.0.0.0/8", port_min=443, port_max=443),), (STATED,), "tcp 443-443 from 10.0.0.0/8"),
    ],
)
def test_anybody_else_is_told(filters: tuple[Filter, ...], stated: tuple[str, ...], words: str) -> None:
    plan = with_filters(*filters, stated=stated)
    found = asked(plan)
    why = f"security group {GROUP} lets in {words}"
    assert [(item.verdict, item.message) for item in found.findings] == [
        (V, f"{SERVER} is reached from outside by others than its request states: {why}")
    ]
    assert found.findings[0].witness == ("outside", ENTRY, f"port {PORT}", why)
    assert len(again(plan)) == 1


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"port_security": False}, "without port security"),
        ({"vnic_type": "direct"}, "of type direct"),
        ({"vnic_type": "baremetal"}, "of type baremetal"),
    ],
)
def test_a_port_at_which_nothing_filters(changes: dict[str, Any], kind: str) -> None:
    plan = edited(public().plan, PORT, **changes)
    (found,) = asked(plan).findings
    assert (found.verdict, found.witness[-1]) == (V, f"port {PORT} is {kind}, where no security group filters")
    assert again(plan) == [f"nothing filters behind {ENTRY}"]


def test_a_group_of_which_nobody_knows_what_it_lets_in() -> None:
    plan = edited(public().plan, PORT, security_groups=(GROUP, "site:SecurityGroup/office"))
    (found,) = asked(plan).findings
    assert (found.verdict, found.missing) == (N, ("rules of site:SecurityGroup/office",))
    assert again(plan) == [f"nobody states what site:SecurityGroup/office lets in behind {ENTRY}"]


def test_of_an_entry_that_is_not_declared_that_alone_is_told() -> None:
    """Nobody states prefixes of it."""
    plan = with_filters(ssh("192.0.2.0/24")).model_copy(update={"public": ()})
    (found,) = asked(plan).findings
    assert "is an entry from outside that the request does not declare" in found.message
    assert again(plan) == [f"{ENTRY} is open and not declared"]


def test_a_public_server_that_lost_its_entry_is_told() -> None:
    plan = public().plan
    without = plan.model_copy(update={"resources": tuple(item for item in plan.resources if item.name != ENTRY)})
    (found,) = asked(without).findings
    assert found.message == f"{ENTRY} is declared public, and nothing of the plan lets anybody in there"
    assert again(without) == [f"{ENTRY} is declared and not open"]


def test_an_entry_whose_port_is_not_of_the_plan_is_told_by_where_it_leads() -> None:
    plan = edited(public().plan, ENTRY, port="globex-train-poplar-0-control")
    assert asked(plan).verdict is P
    assert of_facts(L3_08, SITE, plan_facts(plan)).verdict is V


def test_what_is_not_public_has_no_way_in() -> None:
    """Without `public:` the plan of the same tenant has no entry, and the rule nothing to look at."""
    facts = plan_facts(made(SITE, tenant("acme")).plan)
    assert facts.floating_ips == ()
    assert of_facts(EXPO_01, SITE, replace(facts, bucket_policies=())).count == 0


def test_a_certificate_that_calls_it_proved_is_refused() -> None:
    altered, globex = with_footprint(SITE, with_filters(ssh("192.0.2.0/24")), public().lock), pair(SITE)[1]
    found: Any = grown(json.loads(json.dumps(certified(SITE, altered, globex))))
    assert list(complaints(found)) == [], "alone it is sound"
    compared = beside(SITE, altered, globex).compare(found, "acme")
    assert any(text.startswith("EXPO-01 is proved in it, and does not show: ") for text in compared.complaints)


@pytest.mark.parametrize(
    ("prefixes", "joined"),
    [
        ((), []),
        (("10.0.0.0/9", "10.128.0.0/9"), [(4, 0x0A000000, 0x0AFFFFFF)]),
        (("10.0.0.0/9", "10.0.0.0/8"), [(4, 0x0A000000, 0x0AFFFFFF)]),
        (("10.0.0.0/32", "10.0.0.2/32"), [(4, 0x0A000000, 0x0A000000), (4, 0x0A000002, 0x0A000002)]),
        (("::/128", "0.0.0.0/32"), [(4, 0, 0), (6, 0, 0)]),
    ],
)
def test_ranges_are_joined_where_they_touch(prefixes: tuple[str, ...], joined: list[tuple[int, int, int]]) -> None:
    assert ip_ranges(prefixes) == joined
    assert all(inside(prefix, joined) for prefix in prefixes)


def test_the_group_of_public_servers_is_one_of_the_plan() -> None:
    assert isinstance(public().plan.by_name[GROUP].resource, SecurityGroup)
