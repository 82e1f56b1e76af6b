"""Rules SEC-01 to SEC-04, SEC-08, SEC-12, SEC-15, SEC-20 and SEC-21; SEC-11 and SEC-14 are with data."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Image, SecurityGroup, SecurityGroupRule
from policies import Verdict
from policies.facts.user_data import contents
from policies.rules.credentials import credentials_in
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, site_locked, tenant, vpod
from tests.policies.test_data_rules import appliance, both, site_of
from tests.policies.workspace import (
    NA,
    Made,
    N,
    P,
    V,
    added,
    assumptions,
    changed,
    edited,
    first,
    full_site,
    judged,
    made,
    pair,
    text,
    verdicts,
)

SITE = full_site()
SERVER = "acme-train-poplar-0"
CONTROLLER = "acme-train-controller"


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def site_plan() -> Plan:
    return plan_site(SITE, site_locked(SITE))


def test_as_planned() -> None:
    acme, globex = clean()
    found = verdicts(judged(SITE, acme.plan, globex))
    assert {found[f"SEC-{number}"] for number in ("01", "02", "03", "04", "12", "15", "21")} == {P}
    of_site = verdicts(judged(SITE, site_plan(), acme, globex))
    assert (of_site["SEC-08"], of_site["SEC-03"], of_site["SEC-21"]) == (P, P, P)


# SEC-01, example 21.


@pytest.mark.parametrize(("value", "verdict"), [(False, V), (None, N)])
def test_example_21_controllers_without_keys(value: bool | None, verdict: str) -> None:
    site = full_site(assumptions=assumptions(secure_tls=value))
    acme, globex = pair(site)
    judgement = judged(site, acme.plan, globex)
    found = next(item for item in judgement.findings if item.rule == "SEC-01")
    assert (found.verdict, verdicts(judgement)["AUTH-01"]) == (verdict, verdict)
    assert first(judgement).rule in ("SEC-01", "ISO-05")
    assert "allocation acme-train-allocation" in text(found)


def test_a_plan_without_a_controller_asks_nothing() -> None:
    site = full_site(assumptions=assumptions(secure_tls=False))
    assert verdicts(judged(site, made(site, tenant("acme", vpods=(), buckets=())).plan))["SEC-01"] == NA


# SEC-02.


def api(*rules: SecurityGroupRule) -> Plan:
    return edited(clean()[0].plan, "acme-train-controller-api", rules=rules)


def let_in(**fields: object) -> SecurityGroupRule:
    return SecurityGroupRule.model_validate(
        {"direction": "ingress", "protocol": "tcp", "port_min": 8090, "port_max": 8090} | fields
    )


def control_subnet() -> str:
    return clean()[0].lock.allocation.vpods["train"].control_subnet


@pytest.mark.parametrize(
    "rule",
    [
        let_in(),
        let_in(remote_prefix="203.0.113.0/24"),
        let_in(remote_prefix="10.30.0.0/16"),
        SecurityGroupRule(direction="ingress", protocol="tcp", port_min=8090, port_max=8091, remote_prefix="own"),
        SecurityGroupRule(direction="ingress", remote_prefix="own"),
    ],
)
def test_the_api_for_more_than_its_own_vpod(rule: SecurityGroupRule) -> None:
    prefix = control_subnet() if rule.remote_prefix == "own" else rule.remote_prefix
    found = first(judged(SITE, api(rule.model_copy(update={"remote_prefix": prefix})), clean()[1]))
    assert (found.rule, found.verdict) == ("SEC-02", V)


def test_the_api_for_its_own_vpod() -> None:
    assert verdicts(judged(SITE, api(let_in(remote_prefix=control_subnet())), clean()[1]))["SEC-02"] == P


def test_the_api_by_group() -> None:
    """As good as the control subnet while all members are there."""
    assert verdicts(judged(SITE, api(let_in(remote_group="acme-train-poplar-ssh")), clean()[1]))["SEC-02"] == P


@pytest.mark.parametrize(
    ("group", "words"),
    [("acme-train-controller-mgmt", "is not on acme-train-control"), ("globex-train-poplar-ssh", "not of this plan")],
)
def test_the_api_for_a_group_of_more_than_its_own_vpod(group: str, words: str) -> None:
    found = first(judged(SITE, api(let_in(remote_group=group)), clean()[1]))
    assert (found.rule, found.verdict, words in found.message) == ("SEC-02", V, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"security_groups": ()}, "no security group"),
        ({"port_security": False}, "no security group"),
        ({"security_groups": ("globex-train-controller-api",)}, "not of this plan"),
    ],
)
def test_a_controller_without_filters(change: dict[str, object], words: str) -> None:
    plan = edited(clean()[0].plan, f"{CONTROLLER}-control", **change)
    found = next(item for item in judged(SITE, plan, clean()[1]).findings if item.rule == "SEC-02")
    assert (found.verdict, words in found.message) == (V, True)


def test_a_group_that_the_tenant_may_change() -> None:
    plan = edited(clean()[0].plan, f"{CONTROLLER}-api", project="acme-project")
    found = first(judged(SITE, plan, clean()[1]))
    assert (found.rule, found.verdict) == ("SEC-02", V)
    assert "has the group acme-train-controller-api of acme, who may change what it lets in" in found.message


@pytest.mark.parametrize(("part", "meets"), [("control", P), ("management", V)])
def test_a_port_of_the_controller_that_is_the_tenants(part: str, meets: Verdict) -> None:
    """Its owner changes what it lets in, and takes it to another server: with it goes the wire that it is on."""
    plan = edited(clean()[0].plan, f"{CONTROLLER}-{part}", project="acme-project")
    judgement = judged(SITE, plan, clean()[1])
    found = [item for item in judgement.findings if item.rule == "SEC-02"]
    assert any("lies in a project of acme's" in item.message for item in found)
    assert verdicts(judgement)["ISO-02"] is meets


def test_calls_from_the_management_network() -> None:
    group = SecurityGroup(name="open", project="site:Project/controllers", rules=(let_in(remote_prefix="10.3.0.0/24"),))
    plan = edited(clean()[0].plan, "acme-train-controller-mgmt", rules=group.rules)
    assert verdicts(judged(SITE, plan, clean()[1]))["SEC-02"] == V


# SEC-03: a defect that it explains best is example 20, in test_authority.


def test_example_20_is_told_by_sec_03() -> None:
    acme, globex = clean()
    plan = edited(globex.plan, "globex-train-allocation", controller=CONTROLLER)
    assert verdicts(judged(SITE, plan, acme))["SEC-03"] == V


# SEC-04.

SECRETS = (
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
    "access: AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI",
    "secret_key: abc123",
    "password: hunter2",
    "export OS_PASSWORD=hunter2",
    "chpasswd:",
    "    hashed_passwd: $6$abc",
    "  - {name: bob, passwd: $6$abc}",
    "OS_APPLICATION_CREDENTIAL_SECRET=abc",
    "Authorization: Bearer abcdefgh1234",
    'api-access-key="abc"',
    "git clone https://bob:hunter2@example.org/x",
    '{"users": [{"name": "bob", "password": "hunter2"}]}',
    '{"chpasswd": {"expire": false}}',
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQy",
)
HARMLESS = (
    "-----BEGIN PUBLIC KEY-----",
    "ssh_pwauth: false",
    "PasswordAuthentication no",
    "password: ${PASSWORD}",
    "password:",
    "lock_passwd: true",
    'api-host="10.30.0.2"',
    "https://example.org/x",
    "# no password is set here",
)


@pytest.mark.parametrize("line", SECRETS)
def test_a_credential_in_user_data(line: str) -> None:
    assert list(credentials_in(contents(f"#cloud-config\n{line}\n")))
    plan = edited(clean()[0].plan, SERVER, user_data=f"#cloud-config\n{line}\n")
    found = first(judged(SITE, plan, clean()[1]))
    assert (found.rule, found.verdict) == ("SEC-04", V)
    assert "line 2" in found.message
    assert line.split()[-1] not in found.message


@pytest.mark.parametrize("line", HARMLESS)
def test_no_credential_in_user_data(line: str) -> None:
    assert list(credentials_in(contents(f"#cloud-config\n{line}\nhostname: x\n"))) == []


def test_servers_that_are_told_nothing() -> None:
    acme = clean()[0].plan
    for name in (SERVER, "acme-train-poplar-1", CONTROLLER):
        acme = edited(acme, name, user_data="")
    assert verdicts(judged(SITE, acme, clean()[1]))["SEC-04"] == NA


# SEC-08.


def test_a_flavour_without_a_fence() -> None:
    found = first(judged(SITE, edited(site_plan(), "poplar.half", extra_specs={}), *clean()))
    assert (found.rule, found.verdict) == ("SEC-08", V)
    assert "has no fence" in found.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hosts": ("poplar-1", "poplar-2")}, "stands in no aggregate"),
        ({"metadata": {"interlock_role": "other"}}, "which no aggregate has"),
        ({"hosts": ("poplar-1", "poplar-2", "poplar-3", "poplar-4", "infra-1")}, "infra and poplar"),
    ],
)
def test_a_fence_on_one_side(change: dict[str, object], words: str) -> None:
    judgement = judged(SITE, edited(site_plan(), "poplar-hosts", **change), *clean())
    found = [item for item in judgement.findings if item.rule == "SEC-08"]
    assert (found[0].rule, found[0].verdict) == (first(judgement).rule, V)
    assert any(words in item.message for item in found)


def test_aggregates_that_are_on_the_cloud_already() -> None:
    """What stands in them is not in any file: not provable, and only a warning."""
    site = changed(SITE, existing={"Aggregate/poplar-hosts": "5d0c", "Aggregate/infra-hosts": "5d0d"})
    judgement = judged(site, plan_site(site, site_locked(site)))
    assert (verdicts(judgement)["SEC-08"], judgement.exit_code) == (N, 0)
    found = [item.message for item in judgement.findings if item.rule == "SEC-08"]
    # Neither the hosts nor what the flavours ask for pass in silence.
    assert any("stands in no aggregate" in message for message in found)
    assert any("which no aggregate has" in message for message in found)


# SEC-12.


def test_a_key_of_another_vpods_account() -> None:
    pods = (vpod("train", machines=4, servers=1), vpod("serve", machines=4, servers=1))
    plan = made(SITE, tenant("acme", vpods=pods)).plan
    assert verdicts(judged(SITE, plan))["SEC-12"] == P
    judgement = judged(SITE, edited(plan, "acme-serve-s3-key", user="acme-train-s3"))
    found = first(judgement)
    assert (found.rule, found.verdict) == ("SEC-12", V)
    assert [item.message for item in judgement.findings if item.rule == "SEC-12"] == [
        "vPOD acme-serve has no S3 account of its own, so its servers use another's key",
        "key acme-serve-s3-key is for acme-train-s3, the account of vPOD acme-train",
    ]


# SEC-15; example 41 is in test_authority.


@pytest.mark.parametrize("image", ["globex-own", "cloud:Image/somebodys"])
def test_an_image_of_somebody_else(image: str) -> None:
    found = first(judged(SITE, edited(clean()[0].plan, SERVER, image=image), clean()[1]))
    assert (found.rule, found.verdict) == ("SEC-15", V)


@pytest.mark.parametrize("change", [{"sha512": ""}, {"file": "file:///etc/passwd"}, {"file": "../../etc/passwd"}])
def test_an_image_that_nobody_checks(change: dict[str, str]) -> None:
    found = first(judged(SITE, edited(site_plan(), "poplar", **change), *clean()))
    assert (found.rule, found.verdict) == ("SEC-15", V)


def test_a_private_image_of_ones_own() -> None:
    image = Image(name="own", file="own.raw", sha512="0" * 128, visibility="private")
    plan = edited(added(clean()[0].plan, "acme-own", "acme", image), SERVER, image="acme-own")
    assert verdicts(judged(SITE, plan, clean()[1]))["SEC-15"] == P


# SEC-21, example 42.


@pytest.mark.parametrize(("value", "verdict"), [(False, V), (None, N), (True, P)])
def test_example_42_two_owners_on_one_host(value: bool | None, verdict: str) -> None:
    site = full_site(assumptions=assumptions(mitigations=value))
    acme = made(site, tenant("acme", servers=1), hosts=("poplar-1",))
    globex = made(site, tenant("globex", machines=8, servers=1), [acme.lock], hosts=("poplar-1",))
    judgement = judged(site, globex.plan, acme)
    assert verdicts(judgement)["SEC-21"] == verdict
    if value is not True:
        assert first(judgement).rule == "SEC-21"
        assert text(first(judgement)) == "acme-train-poplar-0 [acme] – globex-train-poplar-0 [globex]"


@pytest.mark.parametrize("value", [False, None])
def test_example_42_one_owner_on_each_host(value: bool | None) -> None:
    site = full_site(assumptions=assumptions(mitigations=value))
    acme = made(site, tenant("acme", servers=1), hosts=("poplar-1",))
    globex = made(site, tenant("globex", machines=8, servers=1), [acme.lock], hosts=("poplar-2",))
    assert verdicts(judged(site, globex.plan, acme))["SEC-21"] == P


def test_whole_hosts_share_no_hypervisor() -> None:
    site = bare_metal_pod64(assumptions=assumptions(mitigations=False))
    acme = made(site, tenant("acme", vpods=(bare_metal_vpod(servers=1),)))
    assert "SEC-21" not in {item.rule for item in judged(site, acme.plan).findings}


# SEC-14, example 31: the appliance looks at the client's address alone.


@pytest.mark.parametrize(("value", "verdict"), [(False, V), (None, N), (True, P)])
def test_example_31_one_prefix_for_two_tenants(value: bool | None, verdict: str) -> None:
    site = site_of(appliance(access_by_vip_and_client=value))
    acme, globex = both()
    prefix = acme.lock.allocation.vpods["train"].storage_subnet
    plan = edited(globex.plan, "globex-train-storage-subnet", cidr=prefix)
    own = getattr(globex.plan.by_name["globex-models-access-train"].resource, "vip", "")
    vip = prefix.rpartition(".")[0] + "." + str(int(own.rpartition(".")[2]) + 1)
    plan = edited(plan, "globex-models-access-train", prefix=prefix, vip=vip)
    port = "globex-train-poplar-0-storage"
    at = getattr(plan.by_name[port].resource, "address", "").rpartition(".")[2]
    judgement = judged(site, edited(plan, port, address=f"{prefix.rpartition('.')[0]}.{at}"), acme)
    found = verdicts(judgement)
    ways = [item for item in judgement.findings if "acme-models-access-train" in item.message]
    assert {item.rule for item in ways} == (set() if value else {"SEC-14", "L3-04"})
    assert value is True or (found["SEC-14"], found["L3-04"]) == (verdict, verdict)


# SEC-20: names and descriptions are no authority. It is a rule about this code; tests/house has its other half.

POLICIES = Path(__file__).parents[2] / "policies"


def test_no_description_is_read() -> None:
    """`description` and the cloud's `name` of a resource are for people: facts go by the plan's names and projects."""
    read = {
        f"{path.name}:{node.lineno}"
        for path in POLICIES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and _is_for_people(node)
    }
    assert read == set()


def _is_for_people(node: ast.Attribute) -> bool:
    of_a_resource = isinstance(node.value, ast.Name) and node.value.id == "spec"
    return node.attr == "description" or (node.attr == "name" and of_a_resource)
