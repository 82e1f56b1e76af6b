"""Rule SEC-05: an ssh key is what it is, not what it is called, and is one tenant's."""

from __future__ import annotations

import base64
from functools import cache

import pytest

from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Keypair
from interlock.vocabulary.ssh_keys import fingerprints
from policies import RULES, Severity, judge
from tests.builders.pod64 import site_locked, ssh_key
from tests.policies.workspace import Made, N, P, V, added, edited, first, full_site, judged, pair, verdicts

SITE = full_site()
KEY = "acme-key"
THEIRS = ssh_key("globex").split()[1]


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def with_key(text: str) -> Plan:
    return edited(clean()[0].plan, KEY, public_key=text)


def rsa(modulus: bytes) -> str:
    parts = (b"ssh-rsa", b"\x01\x00\x01", modulus)
    return "ssh-rsa " + base64.b64encode(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).decode()


def test_a_key_for_each_tenant() -> None:
    assert verdicts(judged(SITE, clean()[0].plan, clean()[1]))["SEC-05"] == P


@pytest.mark.parametrize(
    "text",
    [
        f"ssh-ed25519 {THEIRS}",
        f"ssh-ed25519 {THEIRS} anne@elsewhere",
        f"ssh-ed25519\t{THEIRS}\n",
        f'from="192.0.2.7",no-pty ssh-ed25519 {THEIRS}',
        f"{ssh_key('anne')}\nssh-ed25519 {THEIRS}",
    ],
    ids=["bare", "comment", "spaces", "options", "second line"],
)
def test_one_key_under_two_names(text: str) -> None:
    """The other tenant is known by its lock alone."""
    found = first(judged(SITE, with_key(text), clean()[1]))
    assert (found.rule, found.verdict, found.severity) == ("SEC-05", V, Severity.BLOCK)
    assert "acme's and globex's" in found.message
    assert found.witness[1] == f"ssh key {fingerprints(ssh_key('globex'))[0]}"


def test_with_the_rule_off_nobody_else_says_it() -> None:
    rest = tuple(rule for rule in RULES if rule.id != "SEC-05")
    judgement = judge(SITE, with_key(ssh_key("globex")), [clean()[1].lock], rest)
    assert judgement.exit_code == 0


def test_numbers_with_zeros_before_them_are_the_same_numbers() -> None:
    """OpenSSH takes them off, so both lines are one key."""
    assert fingerprints(rsa(b"\0" + b"\x80" * 256)) == fingerprints(rsa(b"\0\0\0" + b"\x80" * 256))
    assert fingerprints(rsa(b"\x70" * 256)) != fingerprints(rsa(b"\x71" * 256))
    assert fingerprints("ssh-rsa " + base64.b64encode(b"\0\0\0\7ssh-rsa\xff\xff\xff\xff").decode())


def test_a_fingerprint_is_that_of_openssh() -> None:
    line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKr02uEjnP4eKInAoZpd9RjVn5+oETOPEk/TeADGI9jM anne@acme.example"
    assert fingerprints(line) == ("SHA256:mtFEb1GlIG6aMsTmE2IIWK4BUABKUKj4Fnq3qCr5lU8",)


@pytest.mark.parametrize("text", ["", "ssh-ed25519", "ssh-ed25519 AAAA", f"ssh-rsa {THEIRS}", "A" * 100_000])
def test_a_key_that_nobody_can_read(text: str) -> None:
    judgement = judged(SITE, with_key(text), clean()[1])
    found = first(judgement)
    assert (found.rule, found.verdict, judgement.exit_code) == ("SEC-05", N, 3)
    assert found.missing == ("the key in acme-key",)


def test_two_pairs_of_one_tenant_may_be_one_key() -> None:
    plan = added(clean()[0].plan, "acme-key-2", "acme", Keypair(name="acme-key-2", public_key=ssh_key("acme")))
    assert judged(SITE, plan, clean()[1]).exit_code == 0


def test_a_key_of_the_operators_own() -> None:
    """A tenant that gives the operator's key as its own, or the operator who logs in with a tenant's."""
    acme, globex = clean()
    site = added(plan_site(SITE, site_locked(SITE)), "ops", "site", Keypair(name="ops", public_key=ssh_key("acme")))
    found = first(judged(SITE, site, acme, globex))
    assert (found.rule, found.verdict, "op's and acme's" in found.message) == ("SEC-05", V, True)
