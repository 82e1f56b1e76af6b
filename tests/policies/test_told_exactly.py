"""SEC-01, SEC-02, SEC-11, SEC-14 and TOP-06: all that each says of a defect, and that it says no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interlock.planning.plan import Plan
from interlock.resources import BucketStatement, SecurityGroupRule
from policies import Judgement, Verdict
from tests.policies.test_authority import policy_on, public_plan, reading
from tests.policies.test_data_rules import ACCESS, both, site_of
from tests.policies.test_rules_sec import CONTROLLER, SERVER, SITE, api, clean, control_subnet, let_in
from tests.policies.workspace import Made, N, V, assumptions, edited, full_site, judged

PORT = "acme-train-controller-control"


def told(judgement: Judgement, rule: str) -> list[str]:
    return [item.message for item in judgement.findings if item.rule == rule]


# SEC-01: what the operator runs as one, and what an allocation names as one.


@pytest.mark.parametrize(("value", "verdict", "words"), [(False, V, "false"), (None, N, "not known")])
def test_every_controller_of_a_plan_needs_keys(value: bool | None, verdict: Verdict, words: str) -> None:
    plan = edited(clean()[0].plan, "acme-train-allocation", controller=SERVER)
    judgement = judged(full_site(assumptions=assumptions(secure_tls=value)), plan)
    found = {item.witness[1:]: item for item in judgement.findings if item.rule == "SEC-01"}
    assert set(found) == {(SERVER, "allocation acme-train-allocation"), (CONTROLLER,)}
    for (name, *_), item in found.items():
        assert item.message == f"whether {name} takes calls only with a key and over TLS is {words}"
        assert item.verdict is verdict


# SEC-02.


def own(**fields: object) -> SecurityGroupRule:
    return let_in(remote_prefix=control_subnet(), **fields)


def two_groups() -> Plan:
    return edited(api(let_in()), PORT, security_groups=("nobody", "acme-train-controller-api"))


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (
            two_groups,
            [
                "has the group nobody, which is not of this plan",
                "lets tcp 8090-8090 from any IPv4 address in, and the control subnet of its vPOD is 10.30.0.0/24",
            ],
        ),
        (
            lambda: edited(api(own()), PORT, network="nobody"),
            ["lets tcp 8090-8090 from 10.30.0.0/24 in, and nothing but the user API is called there"],
        ),
        (
            lambda: api(own(protocol="udp")),
            ["lets udp 8090-8090 from 10.30.0.0/24 in, and the user API is tcp 8090"],
        ),
        (
            lambda: edited(api(own()), "acme-train-control-subnet", network="acme-train-storage"),
            ["lets tcp 8090-8090 from 10.30.0.0/24 in, and the control subnet of its vPOD is none"],
        ),
        (
            lambda: api(SecurityGroupRule(direction="ingress")),
            ["lets everything from any IPv4 address in, and the user API is tcp 8090"],
        ),
        # An address inside the subnet stands for it, as Neutron reads it; a port of no file is told by ISO-02.
        (lambda: api(let_in(remote_prefix=control_subnet().replace(".0/", ".9/"))), []),
        (lambda: edited(clean()[0].plan, CONTROLLER, ports=("nobody",)), []),
    ],
)
def test_what_a_controller_lets_in(plan: Callable[[], Plan], expected: list[str]) -> None:
    head = f"port {PORT} of controller {CONTROLLER} "
    assert told(judged(SITE, plan()), "SEC-02") == [head + words for words in expected]


# SEC-11.


@pytest.mark.parametrize(("value", "verdict", "words"), [(False, V, "false"), (None, N, "not known")])
def test_a_policy_rests_on_the_service(value: bool | None, verdict: Verdict, words: str) -> None:
    site, plan = site_of(bucket_rules_enforced=value), clean()[0].plan
    found = [item for item in judged(site, policy_on(plan, reading("acme-train-s3"))).findings if item.rule == "SEC-11"]
    assert [(item.message, item.verdict) for item in found] == [
        (f"whether a bucket policy is enforced is {words}", verdict)
    ]
    assert told(judged(site, plan), "SEC-11") == []


def of_another_bucket() -> Plan:
    return edited(policy_on(clean()[0].plan, reading("acme-train-s3")), "acme-data-policy", bucket="globex-data")


def for_three() -> Plan:
    names = ("globex-train-s3", "acme-train-s3", "initech-train-s3")
    return policy_on(clean()[0].plan, BucketStatement(principals=names, actions=("read",)))


def for_everybody_and_one() -> Plan:
    """A public bucket, as its request declares it, and one stranger by name after that."""
    plan = public_plan()
    (item,) = (item for item in plan.resources if item.resource.KIND == "BucketPolicy")
    everybody = getattr(item.resource, "statements", ())
    assert everybody
    return edited(plan, item.name, statements=(*everybody, reading("globex-train-s3")))


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (of_another_bucket, ["is for globex-data, no bucket of this plan"]),
        (for_three, [f"lets {name}-train-s3, no user of acme, read" for name in ("globex", "initech")]),
        (for_everybody_and_one, ["lets globex-train-s3, no user of acme, read"]),
    ],
)
def test_whom_a_policy_names(plan: Callable[[], Plan], expected: list[str]) -> None:
    assert [words.partition(" ")[2] for words in told(judged(SITE, plan()), "SEC-11")] == expected


# SEC-14.


def with_gateway() -> Plan:
    plan = edited(both()[0].plan, "acme-train-storage-subnet", gateway="10.21.0.1")
    return edited(plan, ACCESS, vip="10.21.0.1")


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (
            "acme-train-storage-subnet",
            {"network": "acme-train-control"},
            "it is for 10.21.0.0/24, and the subnet of acme-train-storage is none",
        ),
        (
            ACCESS,
            {"prefix": "10.21.0.5/24"},
            "it is for 10.21.0.5/24, and the subnet of acme-train-storage is 10.21.0.0/24",
        ),
        ("acme-models", {"project": "site:Project/controllers"}, "acme-models is no share of acme"),
        (
            "acme-train-storage",
            {"project": "site:Project/controllers"},
            "acme-train-storage is no storage network of a vPOD of acme, and no in-band network of a cluster of its",
        ),
    ],
)
def test_whom_a_share_is_for(name: str, change: dict[str, object], words: str) -> None:
    assert told(judged(site_of(), edited(both()[0].plan, name, **change)), "SEC-14") == [f"{ACCESS}: {words}"]


def test_the_appliance_at_the_gateways_address() -> None:
    assert told(judged(site_of(), with_gateway()), "SEC-14") == [
        f"{ACCESS}: the appliance's address 10.21.0.1 is that of gateway of acme-train-storage-subnet"
    ]


# TOP-06.

ONE, TWO = "acme-train-rnic-ipum-01", "acme-train-rnic-ipum-02"


@pytest.mark.parametrize(
    ("change", "thing"),
    [
        ({"device": "ipum-01"}, "ipum-01 rnic"),
        ({"port": 1}, "tor-1 port 1"),
        # Told once, by the machine: the port is that of the same two.
        ({"device": "ipum-01", "port": 1}, "ipum-01 rnic"),
    ],
)
def test_a_machine_or_port_planned_twice(change: dict[str, object], thing: str) -> None:
    found = [item for item in judged(SITE, edited(clean()[0].plan, TWO, **change)).findings if item.rule == "TOP-06"]
    assert [item.message for item in found] == [f"{thing} is planned 2 times"]
    assert [line.partition(":")[0] for line in found[0].witness] == [ONE, TWO]


def _rnic_port(of: Made) -> int:
    ports = (item.resource for item in of.plan.resources if "-rnic-" in item.name)
    return int(getattr(next(ports), "port", 0))


def test_a_switch_port_of_two_that_no_machine_explains() -> None:
    acme, globex = clean()
    number = _rnic_port(globex)
    plan = edited(acme.plan, ONE, port=number, device="poplar-9")
    assert told(judged(SITE, plan, globex), "TOP-06") == [f"acme takes what globex holds: tor-1 port {number}"]
