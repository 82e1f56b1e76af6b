"""Rule SEC-05 of certificate authorities: no two tenants' servers trust one, and what signs is a key like others."""

from __future__ import annotations

import json

import pytest
import yaml

from interlock.model.tenant.request import Access
from interlock.planning.guest import poplar_user_data
from interlock.planning.guest.login import login_files
from interlock.planning.guest.poplar import VipuApi
from interlock.planning.plan import Plan
from interlock.vocabulary import StackName
from interlock.vocabulary.ssh_keys import fingerprints
from policies import Severity
from policies.facts.authorities import authorities
from policies.rules.login_keys import SEC_05
from tests.builders.pod64 import ssh_key, tenant
from tests.policies.asking import answered, told
from tests.policies.test_rules_login_keys import SITE, clean
from tests.policies.workspace import Made, N, P, V, edited, first, judged, made, verdicts

CA, SERVERS = ssh_key("the authority"), [f"acme-train-poplar-{number}" for number in (0, 1)]
PRINT = fingerprints(CA)[0]


def request(name: str, ca: str) -> Made:
    """A tenant whose servers trust this authority, and carry no key besides."""
    access = Access(members=("alice",), ssh_public_key=None, ssh_from=(), ca=ca)
    others = [] if name == "acme" else [clean()[0].lock]
    return made(SITE, tenant(name, access=access), others)


def document(ca: str) -> str:
    access = Access(members=(), ssh_public_key=None, ssh_from=(), ca=ca)
    return poplar_user_data(
        "a", VipuApi("10.0.0.1", 8090, "10.1.0.0/24"), login=login_files(StackName("s", "acme"), "train", access)
    )


def test_one_authority_of_two_tenants() -> None:
    """The finding says what the key can do; the other tenant is known by its lock alone."""
    judgement = judged(SITE, request("acme", CA).plan, request("globex", CA))
    found = first(judgement)
    assert (found.rule, found.verdict, found.severity) == ("SEC-05", V, Severity.BLOCK)
    assert found.message == (
        f"{SERVERS[0]} trusts a certificate authority whose key globex has too: "
        "it can sign itself into the servers of acme"
    )


def test_all_that_is_said_of_it() -> None:
    assert told(answered(SEC_05, SITE, request("acme", CA).plan, request("globex", CA))) == [
        (
            f"V 92: {SERVERS[0]} trusts a certificate authority whose key globex has too: "
            "it can sign itself into the servers of acme"
        ),
        (
            f"  witness: user data of {SERVERS[0]} / user data of {SERVERS[1]} / certificate authority {PRINT} "
            "/ a key of globex"
        ),
        f"  about: {', '.join(SERVERS)}, acme, globex",
    ]


@pytest.mark.parametrize("theirs", [ssh_key("another authority"), CA.replace("the authority", "elsewhere")])
def test_an_authority_is_its_key_and_not_its_comment(theirs: str) -> None:
    verdict = V if fingerprints(theirs) == fingerprints(CA) else P
    assert verdicts(judged(SITE, request("acme", CA).plan, request("globex", theirs)))["SEC-05"] == verdict


def test_an_authority_that_is_somebodys_key_pair() -> None:
    """globex logs in nowhere with it, and signs what it likes."""
    found = first(judged(SITE, request("acme", ssh_key("globex")).plan, clean()[1]))
    assert (found.rule, found.verdict) == ("SEC-05", V)
    assert "trusts a certificate authority" in found.message


def test_a_controller_trusts_no_tenants_authority() -> None:
    plan = edited(clean()[0].plan, "acme-train-controller", user_data=document(ssh_key("globex")))
    found = first(judged(SITE, plan, clean()[1]))
    assert (found.rule, found.verdict) == ("SEC-05", V)
    assert "opens acme-train-controller of the operator's" in found.message


@pytest.mark.parametrize(
    "text",
    [
        document(CA).replace("path: /etc/ssh/interlock/ca.pub", "path: /etc/ssh/interlock/other.pub"),
        "#cloud-config\nruncmd:\n  - echo TrustedUserCAKeys /etc/ssh/image.pub >> /etc/ssh/sshd_config\n",
    ],
    ids=["another file", "of the image"],
)
def test_an_authority_that_nobody_shows_is_unknown(text: str) -> None:
    plan = edited(clean()[0].plan, SERVERS[0], user_data=text)
    judgement = judged(SITE, plan, clean()[1])
    assert verdicts(judgement)["SEC-05"] == N
    assert any("trusts the certificate authorities in" in item.message for item in judgement.findings)


@pytest.mark.parametrize("style", [None, '"', "'", "|"])
def test_however_yaml_writes_it(style: str | None) -> None:
    read = yaml.safe_load(document(CA))
    for text in (
        yaml.safe_dump(read, default_style=style),
        yaml.safe_dump(read, default_flow_style=True),
        json.dumps(read),
    ):
        assert authorities(f"#cloud-config\n{text}") == authorities(document(CA))


def test_what_a_document_trusts() -> None:
    assert authorities(document(CA)).fingerprints == (PRINT,)
    assert authorities(document(CA)).elsewhere == ()
    nothing = document(CA).replace("TrustedUserCAKeys /etc/ssh/interlock/ca.pub", "TrustedUserCAKeys none")
    assert (authorities(nothing).fingerprints, authorities(nothing).elsewhere) == ((), ())
    for other in (
        "",
        "# TrustedUserCAKeys /etc/ssh/image.pub",
        "no: [yaml",
        "- a list",
        "write_files: 7",
        "write_files: [7, {path: 1}]",
    ):
        assert authorities(other).fingerprints == authorities(other).elsewhere == ()


@pytest.mark.parametrize(
    "item",
    [
        {"path": "/etc/ssh/ca.pub", "content": CA, "encoding": "text/plain"},
        {"path": "/etc/ssh/ca.pub", "content": 7},
        {"path": ["/etc/ssh/ca.pub"], "content": CA},
        {"path": "/etc/ssh/ca.pub"},
        7,
    ],
)
def test_a_file_of_authorities_that_is_not_written_as_it_stands_there(item: object) -> None:
    """Encoded, without a text or a path, or no file at all: nobody shows whom the server trusts."""
    trusting = {"path": "/etc/ssh/sshd_config.d/ca.conf", "content": "TrustedUserCAKeys /etc/ssh/ca.pub\n"}
    text = f"#cloud-config\n{yaml.safe_dump({'write_files': [trusting, item]})}"
    assert (authorities(text).fingerprints, authorities(text).elsewhere) == ((), ("/etc/ssh/ca.pub",))


def test_the_plan_has_no_key_pair_where_certificates_let_people_in() -> None:
    plan: Plan = request("acme", CA).plan
    assert not [item for item in plan.resources if item.resource.KIND == "Keypair"]
    assert verdicts(judged(SITE, plan, clean()[1]))["SEC-05"] == P
