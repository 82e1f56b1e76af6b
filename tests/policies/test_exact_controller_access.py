"""SEC-01, SEC-02 and SEC-03: which controllers are asked about, and what is no fault."""

from __future__ import annotations

import pytest

from interlock.planning.plan import Plan
from interlock.resources import SecurityGroupRule
from policies import Verdict
from policies.rules.controller_access import SEC_01, SEC_02, SEC_03, shown
from policies.rules.rule import Rule
from tests.policies.one_rule import Said, answer, findings, messages, said
from tests.policies.test_rules_sec import CONTROLLER, SERVER, SITE, api, clean, let_in, site_plan
from tests.policies.workspace import N, P, V, assumptions, changed, edited, full_site

PORT, SUBNET = f"{CONTROLLER}-control", "acme-train-control-subnet"


def own() -> Plan:
    return clean()[0].plan


@pytest.mark.parametrize(("rule", "count"), [(SEC_01, 1), (SEC_02, 2), (SEC_03, 1)])
def test_controllers_of_a_plan(rule: Rule, count: int) -> None:
    """Its own, and the ports of these, whatever others have."""
    found = answer(rule, SITE, own(), clean()[1])
    assert (found.verdict, found.count) == (P, count)


def test_the_operators_plan_answers_for_all_controllers() -> None:
    found = answer(SEC_03, SITE, site_plan(), *clean())
    assert (found.verdict, found.count) == (P, 2)


def test_a_port_that_no_file_describes_is_not_asked_about() -> None:
    """Who is behind it ISO-02 asks."""
    found = answer(SEC_02, SITE, edited(own(), CONTROLLER, ports=("nobody", PORT)))
    assert (found.verdict, found.count) == (P, 1)


@pytest.mark.parametrize(("rule", "count"), [(SEC_01, 2), (SEC_02, 5)])
def test_what_an_allocation_names_is_a_controller(rule: Rule, count: int) -> None:
    assert answer(rule, SITE, edited(own(), "acme-train-allocation", controller=SERVER)).count == count


# SEC-01.


@pytest.mark.parametrize(("value", "verdict", "words"), [(False, V, "false"), (None, N, "not known")])
def test_a_controller_without_keys(value: bool | None, verdict: Verdict, words: str) -> None:
    expected = Said(
        verdict,
        f"whether {CONTROLLER} takes calls only with a key and over TLS is {words}",
        (f"everybody on the networks of {CONTROLLER}", CONTROLLER, "allocation acme-train-allocation"),
        ("assumptions.A4.secure_tls",) if verdict is N else (),
        91,
    )
    assert findings(SEC_01, full_site(assumptions=assumptions(secure_tls=value)), own()) == [expected]


# SEC-02.


@pytest.mark.parametrize("cidr", ["10.30.0.0/24", "10.30.0.7/24"])
def test_the_control_subnet_however_it_is_written(cidr: str) -> None:
    assert messages(SEC_02, SITE, edited(own(), SUBNET, cidr=cidr)) == []


def test_rules_for_what_goes_out_admit_nobody() -> None:
    assert (
        messages(SEC_02, SITE, api(let_in(remote_prefix="10.30.0.0/24"), SecurityGroupRule(direction="egress"))) == []
    )


def test_a_port_that_lets_in_too_much() -> None:
    words = "lets tcp 8090-8090 from any IPv4 address in, and the control subnet of its vPOD is 10.30.0.0/24"
    witness = (f"controller {CONTROLLER}", f"port {PORT} on acme-train-control", words)
    assert findings(SEC_02, SITE, api(let_in())) == [
        Said(V, f"port {PORT} of controller {CONTROLLER} {words}", witness, (), 74)
    ]


def test_a_controller_on_a_network_of_no_stated_role() -> None:
    """Nobody can say what may be let in there, which is no fault yet."""
    item = own().by_name["acme-train-control"]
    fields = {name: getattr(own(), name) for name in Plan.model_fields}
    rest = tuple(item.model_copy(update={"role": None}) if old is item else old for old in own().resources)
    (found,) = findings(SEC_02, SITE, Plan(**fields | {"resources": rest}))
    assert (found.verdict, found.missing, found.order) == (N, ("role of network acme-train-control",), 74)
    assert found.message.endswith("so nobody can say what may be let in there")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"project": "acme-project"},
            ["lies in a project of acme's, who may change what it lets in"],
        ),
        ({"security_groups": ()}, ["has no security group that filters"]),
        ({"port_security": False}, ["has no security group that filters"]),
        (
            {"project": "acme-project", "port_security": False},
            ["lies in a project of acme's, who may change what it lets in", "has no security group that filters"],
        ),
    ],
)
def test_who_decides_what_a_port_lets_in(change: dict[str, object], words: list[str]) -> None:
    head = f"port {PORT} of controller {CONTROLLER} "
    assert messages(SEC_02, SITE, edited(own(), PORT, **change)) == [head + item for item in words]


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ("acme-train-poplar-ssh", None),
        (
            "acme-train-controller-mgmt",
            f"of which {CONTROLLER}-management is not on acme-train-control",
        ),
        ("globex-train-poplar-ssh", "which is not of this plan"),
    ],
)
def test_the_api_for_a_group(group: str, words: str | None) -> None:
    head = f"port {PORT} of controller {CONTROLLER} lets tcp 8090-8090 from group {group} in, "
    assert messages(SEC_02, SITE, api(let_in(remote_group=group))) == ([head + words] if words else [])


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (let_in(remote_prefix="10.0.0.0/8"), "tcp 8090-8090 from 10.0.0.0/8"),
        (let_in(remote_group="friends"), "tcp 8090-8090 from group friends"),
        (SecurityGroupRule(direction="ingress"), "everything from any IPv4 address"),
        (SecurityGroupRule(direction="ingress", protocol="icmp", ethertype="IPv6"), "icmp from any IPv6 address"),
    ],
)
def test_a_filter_in_words(rule: SecurityGroupRule, words: str) -> None:
    assert shown(rule) == words


# SEC-03.


def test_one_controller_for_two() -> None:
    plan = edited(clean()[1].plan, "globex-train-allocation", controller=CONTROLLER)
    allocation = "V-IPU allocation globex-train-allocation"
    expected = Said(
        V,
        f"acme can control {allocation}, which is globex's",
        (
            "acme",
            f"reads server {CONTROLLER} (calls it where it listens)",
            f"serves {allocation} (globex-train-allocation)",
        ),
        (),
        93,
    )
    assert findings(SEC_03, SITE, plan, clean()[0]) == [expected]


def test_where_packets_meet_other_rules_say_why() -> None:
    """Two control networks with one id: each tenant calls the other's controller, as it reaches all else there."""
    plan = edited(clean()[1].plan, "globex-train-control", segmentation_id=5000)
    assert said(answer(SEC_03, SITE, plan, clean()[0])) == []


def test_which_port_is_the_user_api_is_unknown_at_a_site_that_states_no_controllers() -> None:
    """A plan with controllers is then not judged by any number of a port, and each of their ports is named."""
    found = findings(SEC_02, changed(SITE, controller=None), own())
    ports = (PORT, f"{CONTROLLER}-management")
    networks = {PORT: "acme-train-control", ports[1]: "acme-train-management"}
    assert found == [
        Said(
            N,
            f"which port of controller {CONTROLLER} is the user API is not stated",
            (f"controller {CONTROLLER}", f"port {port} on {networks[port]}"),
            ("controller",),
            74,
        )
        for port in ports
    ]
