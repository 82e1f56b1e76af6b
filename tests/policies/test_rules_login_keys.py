"""Rule SEC-05: an ssh key is what it is, not what it is called, and is one tenant's."""

from __future__ import annotations

import base64
import gzip
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from functools import cache

import pytest

from interlock.model.lock.record import FormerKey
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.resources import Keypair
from interlock.vocabulary.ssh_keys import fingerprints
from policies import RULES, Judgement, Severity, judge
from tests.builders.pod64 import site_locked, ssh_key
from tests.policies.workspace import (
    Made,
    N,
    P,
    V,
    added,
    edited,
    first,
    full_site,
    judged,
    pair,
    verdicts,
    with_footprint,
)

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


def certificate_of(line: str, kind: bytes = b"ssh-ed25519") -> str:
    """A user certificate of a key: nonce, the key, serial, type, and so on (PROTOCOL.certkeys)."""
    body, name = base64.b64decode(line.split()[1]), kind.partition(b"@")[0] + b"-cert-v01@openssh.com"
    nonce, behind = framed(b"\x17" * 32), (7).to_bytes(8, "big") + (1).to_bytes(4, "big") + framed(b"anne")
    return f"{name.decode()} {base64_of(framed(name) + nonce + body[4 + len(kind) :] + behind)}"


def framed(field: bytes) -> bytes:
    return len(field).to_bytes(4, "big") + field


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def security_key() -> str:
    kind = b"sk-ssh-ed25519@openssh.com"
    return f"{kind.decode()} {base64_of(framed(kind) + framed(bytes(range(32))) + framed(b'ssh:'))}"


def test_a_certificate_is_the_key_that_it_is_about() -> None:
    """Whoever has the key logs in with either."""
    for line in (ssh_key("globex"), rsa(b"\0" + b"\x80" * 256), security_key()):
        made_for = certificate_of(line, line.split()[0].encode())
        assert fingerprints(made_for) == fingerprints(line) != ()
    assert verdicts(judged(SITE, with_key(certificate_of(ssh_key("globex"))), clean()[1]))["SEC-05"] == V


def test_a_line_may_call_a_key_by_the_name_of_a_signature() -> None:
    line = rsa(b"\0" + b"\x80" * 256)
    for name in ("rsa-sha2-256", "rsa-sha2-512"):
        assert fingerprints(line.replace("ssh-rsa", name)) == fingerprints(line)


# Keys in user data.

HERS, OTHERS = ssh_key("globex"), ssh_key("anne")
PLAIN = f"#cloud-config\nssh_authorized_keys:\n  - {HERS}\n"
#: The body on two lines, as RFC 4716 has longer ones.
WRAPPED = f"{HERS.split()[1][:40]}\n{HERS.split()[1][40:]}"
SERVERS = ("acme-train-poplar-0", "acme-train-controller")


def mime_of(text: str) -> str:
    whole = MIMEMultipart(boundary="==x==")
    whole.attach(MIMEText(text, "cloud-config"))
    return whole.as_string()


def with_user_data(text: str, server: str = SERVERS[0]) -> Judgement:
    return judged(SITE, edited(clean()[0].plan, server, user_data=text), clean()[1])


@pytest.mark.parametrize(
    "document",
    [
        PLAIN,
        f"#cloud-config\nusers:\n  - default\n  - {{name: eve, ssh_authorized_keys: ['{HERS}']}}\n",
        f'#cloud-config\nusers:\n  - name: eve\n    ssh-authorized-keys: [from="192.0.2.7" {HERS}]\n',
        '#cloud-config\nssh_authorized_keys: ["' + HERS.replace(" ", "\\x20") + '"]\n',
        f"#!/bin/sh\necho '{HERS}' >> /root/.ssh/authorized_keys\n",
        f"#!/bin/sh\necho {base64_of(HERS.encode())} | base64 -d >> /root/.ssh/authorized_keys\n",
        (
            "#cloud-config\nwrite_files:\n  - path: /root/.ssh/authorized_keys\n    encoding: gz+b64\n"
            f"    content: {base64_of(gzip.compress(HERS.encode()))}\n"
        ),
        base64_of(PLAIN.encode()),
        gzip.compress(PLAIN.encode(), mtime=0).decode("latin-1"),
        mime_of(PLAIN),
        base64_of(mime_of(PLAIN).encode()),
        PLAIN.replace(HERS, certificate_of(HERS)),
        f"#!/bin/sh\nadd() {{ echo ssh-ed25519 $1 >> /root/.ssh/authorized_keys; }}\nadd {HERS.split()[1]}\n",
        f"#!/bin/sh\nssh-keygen -i -f - <<E\n---- BEGIN SSH2 PUBLIC KEY ----\n{WRAPPED}\n---- END\nE\n",
    ],
    ids=[
        "plain",
        "users",
        "hyphens",
        "escaped",
        "script",
        "base64",
        "file",
        "all base64",
        "gzip",
        "MIME",
        "both",
        "certificate",
        "without its type",
        "RFC 4716",
    ],
)
def test_a_key_of_another_tenant_in_user_data(document: str) -> None:
    found = first(with_user_data(document))
    assert (found.rule, found.verdict) == ("SEC-05", V)
    assert found.witness == (
        f"user data of {SERVERS[0]}",
        f"ssh key {fingerprints(HERS)[0]}",
        "a key of globex",
    )


def test_two_tenants_whose_user_data_have_one_key() -> None:
    document = PLAIN.replace(HERS, OTHERS)
    theirs = edited(clean()[1].plan, "globex-train-poplar-0", user_data=document)
    plan = edited(clean()[0].plan, SERVERS[0], user_data=document)
    judgement = judged(SITE, plan, with_footprint(SITE, theirs, clean()[1].lock))
    assert verdicts(judgement)["SEC-05"] == V
    assert verdicts(judged(SITE, plan, clean()[1]))["SEC-05"] == P


@pytest.mark.parametrize(
    "document",
    [
        PLAIN.replace(HERS, ssh_key("acme")),
        PLAIN.replace(HERS, OTHERS),
        f"#!/bin/sh\necho 'git.example.org,192.0.2.9 {HERS}' >> /etc/ssh/ssh_known_hosts\n",
        f"#cloud-config\nwrite_files:\n  - path: /etc/ssh/ssh_known_hosts\n    content: |\n      |1|aa=|bb= {HERS}\n",
    ],
    ids=["the tenant's", "nobody's else", "a host's", "a hashed host's"],
)
def test_a_key_in_user_data_that_lets_no_stranger_in(document: str) -> None:
    assert verdicts(with_user_data(document))["SEC-05"] == P


def test_a_tenants_key_on_a_controller() -> None:
    """The controller is the operator's: the operator's own key may be there, in the plan of each tenant."""
    found = first(with_user_data(PLAIN.replace(HERS, ssh_key("acme")), SERVERS[1]))
    assert (found.rule, found.verdict) == ("SEC-05", V)
    assert found.message == f"one ssh key is acme's and opens {SERVERS[1]} of the operator's"
    plans = [edited(made.plan, f"{made.plan.tenant}-train-controller", user_data=PLAIN.replace(HERS, OTHERS))
             for made in clean()]  # fmt: skip
    other = with_footprint(SITE, plans[1], clean()[1].lock)
    assert verdicts(judged(SITE, plans[0], other))["SEC-05"] == P


@pytest.mark.parametrize(
    "document",
    ["#cloud-config\nssh_import_id: [gh:eve]\n", "#cloud-config\nusers: [{name: e, ssh_import_id: gh:eve}]\n",
     "#include\nhttps://192.0.2.1/keys\n", mime_of("#cloud-config\nssh_import_id: [gh:eve]\n")],
)  # fmt: skip
def test_keys_that_are_fetched_are_unknown(document: str) -> None:
    assert verdicts(with_user_data(document))["SEC-05"] == N


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


def with_former(made: Made, *keys: str) -> Made:
    """A tenant that took keys out of its request; servers that were made with them may be there."""
    notes = tuple(
        FormerKey(fingerprint=name, since="2026-11-23T10:00:00Z") for key in keys for name in fingerprints(key)
    )
    return with_footprint(SITE, made.plan, made.lock.model_copy(update={"former_keys": notes}))


def test_a_key_that_anothers_servers_were_made_with() -> None:
    old = ssh_key("globex's first")
    acme, globex = clean()
    mine, theirs = with_footprint(SITE, with_key(old), acme.lock), with_former(globex, old)
    judgement = judged(SITE, mine.plan, theirs)
    found = judgement.findings[0]
    assert (found.rule, found.verdict) == ("SEC-05", V)
    assert "one ssh key is acme's and globex's: servers of globex that were made with it" in found.message
    assert found.witness[-1] == "a server of globex that was made earlier"
    assert found.hint is not None
    assert "recreate the servers of globex" in found.hint
    assert verdicts(judged(SITE, acme.plan, theirs))["SEC-05"] == P


def test_the_plan_of_whom_it_was_taken_from_is_refused_as_well() -> None:
    old = ssh_key("acme's first")
    acme, globex = clean()
    mine = with_former(acme, old)
    theirs = with_footprint(SITE, edited(globex.plan, "globex-key", public_key=old), globex.lock)
    judgement = judge(SITE, mine.plan, [mine.lock, theirs.lock])
    found = judgement.findings[0]
    assert (found.rule, found.verdict) == ("SEC-05", V)
    assert "servers of acme that were made with it" in found.message
    assert verdicts(judge(SITE, mine.plan, [mine.lock, globex.lock]))["SEC-05"] == P
    operators = judge(SITE, plan_site(SITE, site_locked(SITE)), [mine.lock, theirs.lock])
    assert verdicts(operators)["SEC-05"] == V


def test_a_former_key_of_both() -> None:
    old = ssh_key("of both")
    acme, globex = (with_former(one, old) for one in clean())
    found = judge(SITE, acme.plan, [acme.lock, globex.lock]).findings[0]
    assert found.rule == "SEC-05"
    assert "servers of acme and globex that were made with it" in found.message


def test_ones_own_former_key_is_no_finding() -> None:
    """Taken out and put back, before it is locked again."""
    acme, globex = clean()
    mine = with_former(acme, ssh_key("acme"))
    assert verdicts(judge(SITE, mine.plan, [mine.lock, globex.lock]))["SEC-05"] == P
