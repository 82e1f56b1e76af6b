"""Who gets in: Debian's sshd with the files of a plan's user data, OpenSSH's client, certificates of real keys.

Each refusal has its counterpart on the same server that differs in the one thing that it is about.
"""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from infra.access.authority import WantedCertificate
from infra.access.pushing import push

from .authorities import HOUR, Signer, key_pair, now, public, signer
from .conftest import Hall
from .servers import real_server, ssh_files

DAY = timedelta(days=1)


def test_a_certificate_that_is_good_opens_the_account(hall: Hall) -> None:
    done = hall.train.login(hall.anne, hall.acme.certificate(hall.anne))
    assert (done.code, done.out) == (0, "ubuntu"), done.err
    # Who it was stands in the log of the server.
    assert f"ID {hall.acme.stack}/anne (serial " in hall.train.log


@pytest.mark.parametrize(
    ("begins", "ends", "let_in"),
    [(-2 * DAY, -DAY, False), (DAY, 2 * DAY, False), (-DAY, DAY, True)],
    ids=["expired", "not yet valid", "valid"],
)
def test_a_certificate_is_good_in_its_time_only(hall: Hall, begins: timedelta, ends: timedelta, let_in: bool) -> None:
    certificate = hall.acme.certificate(hall.anne, begins=begins, ends=ends)
    assert hall.train.login(hall.anne, certificate).is_in is let_in


def test_a_key_alone_opens_nothing(hall: Hall) -> None:
    """Neither one that nobody certified, nor somebody else's with a certificate that is not about it."""
    bob = key_pair(hall.keys, "bob")
    assert not hall.train.login(bob).is_in
    assert not hall.train.login(hall.anne).is_in
    assert not hall.train.login(bob, hall.acme.certificate(hall.anne)).is_in
    assert hall.train.login(bob, hall.acme.certificate(bob)).is_in


def test_a_key_that_the_server_lists_opens_it_as_before(hall: Hall) -> None:
    carol, dave = key_pair(hall.keys, "carol"), key_pair(hall.keys, "dave")
    hall.serve.authorize(public(carol))
    assert hall.serve.login(carol).is_in
    assert not hall.serve.login(dave).is_in


def test_a_certificate_opens_its_own_tenants_servers_only(hall: Hall) -> None:
    ours, theirs = hall.acme.certificate(hall.anne), hall.globex.certificate(hall.anne)
    assert hall.train.login(hall.anne, ours).is_in
    assert not hall.strangers.login(hall.anne, ours).is_in
    assert hall.strangers.login(hall.anne, theirs).is_in
    assert not hall.train.login(hall.anne, theirs).is_in


def test_another_tenants_authority_cannot_name_our_principals(hall: Hall) -> None:
    """Nor would ours open the servers of somebody whose name we write into it."""
    assert not hall.train.login(hall.anne, hall.globex.certificate(hall.anne, of=hall.acme.stack)).is_in
    assert not hall.train.login(hall.anne, hall.acme.certificate(hall.anne, of=hall.globex.stack)).is_in
    assert hall.train.login(hall.anne, hall.acme.certificate(hall.anne, of=hall.acme.stack)).is_in


def test_an_account_wants_a_principal_of_its_own(hall: Hall) -> None:
    user, root = hall.acme.certificate(hall.anne), hall.acme.certificate(hall.anne, accounts=("root",))
    assert not hall.train.login(hall.anne, user, "root").is_in
    assert not hall.train.login(hall.anne, root, "ubuntu").is_in
    assert hall.train.login(hall.anne, root, "root").out == "root"
    # An account that the request does not name is closed, whatever the certificate says.
    assert not hall.train.login(hall.anne, hall.acme.certificate(hall.anne, accounts=("backup",)), "backup").is_in


def test_a_person_of_one_vpod_gets_into_that_one(hall: Hall) -> None:
    one, both = (hall.acme.certificate(hall.anne, vpods=vpods) for vpods in (["serve"], ["serve", "train"]))
    assert hall.serve.login(hall.anne, one).is_in
    assert not hall.train.login(hall.anne, one).is_in
    assert hall.train.login(hall.anne, both).is_in


def test_what_is_revoked_is_refused_once_the_list_is_there(hall: Hall) -> None:
    """The list is pushed by the real path: a certificate of minutes, ssh, root on the server."""
    lost, kept = hall.acme.certificate(hall.anne), hall.acme.certificate(hall.anne)
    last = hall.acme.authority.register().last
    hall.acme.authority.revoked(person=None, serials=[last - 1], now=now())
    assert hall.train.login(hall.anne, lost).is_in, "servers know nothing of it yet"
    assert push(hall.acme.authority, "root", ["127.0.0.1"], hall.train.options, now()) == [None]
    assert not hall.train.login(hall.anne, lost).is_in
    assert hall.train.login(hall.anne, kept).is_in
    assert hall.serve.login(hall.anne, lost).is_in, "only a server that has the list refuses"


def test_a_list_that_is_none_locks_nobody_out(hall: Hall) -> None:
    """Pushed over a good one it is refused by the server, and the good one stays."""
    before = hall.serve.has("/etc/ssh/interlock/revoked")
    hall.acme.authority.revocations.write_bytes(b"SSHKRL\n\0 cut off")
    (failed,) = push(hall.acme.authority, "root", ["127.0.0.1"], hall.serve.options, now())
    assert failed is not None
    assert hall.serve.has("/etc/ssh/interlock/revoked") == before
    assert hall.serve.login(hall.anne, hall.acme.certificate(hall.anne)).is_in


def test_a_server_of_before_trusts_no_authority(hall: Hall, tmp_path: Path) -> None:
    """Without the files of a plan with `ca` there is no way in by certificate: the files are what opens it."""
    with real_server(hall.keys.parent / "bare", ()) as bare:
        assert not bare.login(hall.anne, hall.acme.certificate(hall.anne)).is_in
        bare.authorize(public(hall.anne))
        assert bare.login(hall.anne).is_in


@pytest.mark.parametrize("missing", ["20-certificates.conf", "ca.pub", "ubuntu"])
def test_each_file_is_needed(hall: Hall, missing: str) -> None:
    files = [item for item in ssh_files(hall.acme.user_data()["train"]) if not item["path"].endswith(missing)]
    assert len(files) == len(ssh_files(hall.acme.user_data()["train"])) - 1
    with real_server(hall.keys.parent / f"without-{missing}", files) as server:
        assert not server.login(hall.anne, hall.acme.certificate(hall.anne)).is_in


@pytest.mark.parametrize("options", [("-t", "rsa", "-b", "3072"), ("-t", "ecdsa", "-b", "521")], ids=["RSA", "ECDSA"])
def test_keys_of_other_types_get_in(hall: Hall, options: tuple[str, ...]) -> None:
    key = key_pair(hall.keys, options[1], *options)
    assert hall.train.login(key, hall.acme.certificate(key)).is_in


def test_a_certificate_forwards_no_agent(hall: Hall) -> None:
    """Root of a server could use the keys in it, and they may be those of another tenant."""
    certificate = hall.acme.certificate(hall.anne)
    shown = subprocess.run(["ssh-keygen", "-L", "-f", certificate], capture_output=True, text=True, check=True).stdout
    extensions = shown.split("Extensions:")[1].split()
    assert extensions == ["permit-port-forwarding", "permit-pty"]


def test_the_private_key_is_nowhere_but_in_its_file(hall: Hall, tmp_path: Path) -> None:
    """Whatever else was written or said: user data, certificates, register, list, logs of servers."""
    fresh: Signer = signer(tmp_path / "ca", "acme")
    certificate = fresh.certificate(hall.anne)
    fresh.authority.revoked(person="anne", serials=(), now=now())
    secret = fresh.authority.private.read_text(encoding="utf-8").split()[4:-5]
    assert len(secret) > 2
    others = [file for file in tmp_path.rglob("*") if file.is_file() and file != fresh.authority.private]
    assert certificate in others
    texts = [file.read_bytes().decode("latin-1") for file in others]
    texts += [*fresh.user_data().values(), hall.train.log, hall.serve.log, hall.strangers.log]
    assert not [line for line in secret for text in texts if line in text]
    assert fresh.authority.private.stat().st_mode & 0o777 == 0o600


def test_serials_are_given_once_and_the_register_says_to_whom(hall: Hall, tmp_path: Path) -> None:
    fresh = signer(tmp_path / "ca", "acme")
    wanted = WantedCertificate("anne", public(hall.anne), (f"{fresh.stack}:ubuntu",), now(), now() + HOUR)
    fresh.authority.signed([wanted, wanted])
    fresh.authority.signed([wanted])
    assert [item.serial for item in fresh.authority.register().issued] == [1, 2, 3]
    assert {item.person for item in fresh.authority.register().issued} == {"anne"}
