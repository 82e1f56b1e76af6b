"""`interlock access`: the authority, certificates, revocations, and what is refused, on the shipped site."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import pytest

from infra.access.authority import authority_in
from infra.cli.exits import EnvironmentFailed
from interlock.planning.guest import poplar_user_data
from interlock.planning.guest.login import login_files
from interlock.planning.guest.poplar import VipuApi
from interlock.vocabulary import StackName
from tests.access.authorities import key_pair, public
from tests.access.servers import real_server, ssh_files
from tests.infra.conftest import Ended, Interlock, Lyon

#: When `interlock access` is asked in tests about days: a moment of their own, or midnight may pass within one.
NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


class AtNoon(datetime):
    """The clock that `interlock access` asks, stopped."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOON.timestamp(), tz)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where authorities are kept, as INTERLOCK_CA says."""
    found = tmp_path / "authorities"
    monkeypatch.setenv("INTERLOCK_CA", str(found))
    return found


@pytest.fixture
def anne(tmp_path: Path) -> Path:
    """A key of hers."""
    return key_pair(tmp_path / "keys", "anne")


@pytest.fixture
def ready(unlocked: Lyon, folder: Path, interlock: Interlock, anne: Path) -> Lyon:
    """acme with an authority, and anne."""
    made = interlock("access", "ca", "acme")
    assert (made.code, made.err) == (0, "")
    state(unlocked, made.out.strip(), f"- {{name: anne, keys: [{public(anne)}]}}")
    return unlocked


def state(lyon: Lyon, *lines: str) -> None:
    """Writes these lines under `access:` of acme: the authority, then people."""
    authority, *people = lines
    file = lyon.file("tenants/acme.yaml")
    text = re.sub(r"\n  ca: .*\n(  people:\n(    .*\n)*)?", "\n", file.read_text())
    stated = "".join(f"    {line}\n" for line in people)
    said = f"access:\n  {authority}\n" + (f"  people:\n{stated}" if people else "")
    file.write_text(text.replace("access:\n", said, 1))


def shown(certificate: str) -> str:
    """What ssh-keygen says of a certificate."""
    command = ["ssh-keygen", "-L", "-f", "-"]
    return subprocess.run(
        command, input=certificate, capture_output=True, text=True, check=True, env={**os.environ, "TZ": "UTC"}
    ).stdout  # fmt: skip


def validity(certificate: str) -> tuple[datetime, datetime]:
    found = re.search(r"Valid: from (\S+) to (\S+)", shown(certificate))
    assert found is not None
    begins, ends = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in found.groups())
    return begins, ends


def refused(done: Ended, code: int, *words: str) -> None:
    assert (done.code, done.out) == (code, ""), done
    for word in words:
        assert word in done.err, done.err


# The authority.


def test_an_authority_is_made_once_and_its_key_is_its_owners(
    unlocked: Lyon, folder: Path, interlock: Interlock
) -> None:
    first, again = interlock("access", "ca", "acme"), interlock("access", "ca", "acme")
    assert first == again
    assert first.out.startswith("ca: ssh-ed25519 AAAA")
    assert first.out.endswith(" interlock-ca-lyon-acme\n")
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in folder.glob("lyon-acme")} == {"lyon-acme": "0o600"}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not list(unlocked.stacks.rglob("lyon-acme*"))
    # Another tenant's is another key.
    assert interlock("access", "ca", "globex").out.split()[2] != first.out.split()[2]


def test_no_authority_in_the_home_of_nobody() -> None:
    with pytest.raises(EnvironmentFailed, match="~nobody-has-this-name cannot be used: Could not determine home"):
        authority_in(Path("~nobody-has-this-name"), StackName("lyon", "acme"))


@pytest.mark.parametrize("place", ["stacks", "work tree", "open"])
def test_no_authority_where_others_would_get_it(
    unlocked: Lyon, interlock: Interlock, tmp_path: Path, place: str
) -> None:
    places = {
        "stacks": unlocked.stacks / "ca",
        "work tree": tmp_path / "tree" / "deep" / "ca",
        "open": tmp_path / "open",
    }
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    (tmp_path / "open").mkdir(mode=0o755)
    done = interlock("access", "ca", "acme", "--keys", str(places[place]))
    said = "others can look into" if place == "open" else "where keys would be committed one day"
    refused(done, 4, said, "next:")
    assert not list(tmp_path.rglob("lyon-acme*"))


def test_without_a_folder_nothing_is_guessed(
    unlocked: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("INTERLOCK_CA", raising=False)
    refused(interlock("access", "ca", "acme"), 2, "--keys")


def test_without_ssh_keygen_it_says_what_to_install(
    unlocked: Lyon, folder: Path, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    refused(interlock("access", "ca", "acme"), 4, "there is no `ssh-keygen` on this machine", "openssh-client")


# Certificates.


def test_a_certificate_for_a_person(ready: Lyon, interlock: Interlock, anne: Path) -> None:
    done = interlock("access", "sign", "acme", "anne")
    assert done.code == 0
    said = shown(done.out)
    assert 'Key ID: "lyon-acme/anne"' in said
    assert "Serial: 1" in said
    assert said.split("Principals:")[1].split("Critical")[0].split() == ["lyon-acme:ubuntu"]
    assert "lyon-acme:ubuntu, up to" in done.err
    begins, ends = validity(done.out)
    assert timedelta(hours=12) <= ends - begins <= timedelta(hours=12, minutes=6)
    assert begins <= datetime.now(UTC) < ends


def test_a_certificate_says_accounts_and_vpods(ready: Lyon, interlock: Interlock, folder: Path, anne: Path) -> None:
    line = (folder / "lyon-acme.pub").read_text().strip()
    one = f"- {{name: anne, keys: [{public(anne)}], accounts: [root], vpods: [train]}}"
    state(ready, f"ca: {line}\n  accounts: [ubuntu, root]", one)
    said = shown(interlock("access", "sign", "acme", "anne").out)
    assert said.split("Principals:")[1].split("Critical")[0].split() == ["lyon-acme/train:root"]


def test_several_keys_have_a_certificate_each(
    ready: Lyon, interlock: Interlock, folder: Path, anne: Path, tmp_path: Path
) -> None:
    desk = key_pair(tmp_path / "keys", "desk")
    line = (folder / "lyon-acme.pub").read_text().strip()
    state(ready, f"ca: {line}", f"- {{name: anne, keys: [{public(anne)}, {public(desk)}]}}")
    both = interlock("access", "sign", "acme", "anne").out.splitlines()
    assert [re.findall(r"Serial: (\d+)", shown(item)) for item in both] == [["1"], ["2"]]
    (second,) = interlock("access", "sign", "acme", "anne", "--key", "2").out.splitlines()
    assert second.endswith(" desk")
    refused(interlock("access", "sign", "acme", "anne", "--key", "3"), 2, "has 2 key(s), and no number 3")


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.commands.access.datetime", AtNoon)


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize(
    ("since", "until", "said"),
    [(1, 9, "is let in from"), (-9, -1, "was let in up to"), (-9, 0, ""), (0, 9, ""), (0, 0, "")],
    ids=["not yet", "no longer", "last day", "first day", "only day"],
)
def test_days_of_a_person(
    ready: Lyon, interlock: Interlock, folder: Path, anne: Path, since: int, until: int, said: str
) -> None:
    days = [(NOON.date() + timedelta(days=number)).isoformat() for number in (since, until)]
    line = (folder / "lyon-acme.pub").read_text().strip()
    state(ready, f"ca: {line}", f"- {{name: anne, keys: [{public(anne)}], since: {days[0]}, until: {days[1]}}}")
    done = interlock("access", "sign", "acme", "anne", "--hours", "24")
    if said:
        refused(done, 2, said, "stacks/lyon/tenants/acme.yaml:9:")
        return
    begins, ends = validity(done.out)
    assert done.code == 0
    assert datetime.fromisoformat(days[0]).replace(tzinfo=UTC) <= begins
    assert ends < datetime.fromisoformat(days[1]).replace(tzinfo=UTC) + timedelta(days=1)


def test_who_gets_none(ready: Lyon, interlock: Interlock, folder: Path, anne: Path) -> None:
    refused(interlock("access", "sign", "acme", "ann"), 2, "there is no `ann` among the people of `acme`", "anne")
    refused(interlock("access", "sign", "acne", "anne"), 2, "there is no tenant `acne`", "acme")
    refused(interlock("access", "sign", "acme", "anne", "--hours", "25"), 2, "--hours")
    refused(interlock("access", "sign", "globex", "anne"), 2, "`globex` has no `ca`", "interlock access ca globex")
    # Refusals take no serial.
    assert "Serial: 1\n" in shown(interlock("access", "sign", "acme", "anne").out)


def test_a_key_that_servers_do_not_trust_signs_nothing(
    ready: Lyon, interlock: Interlock, tmp_path: Path, folder: Path
) -> None:
    other = str(tmp_path / "other")
    assert interlock("access", "ca", "acme", "--keys", other).code == 0
    refused(interlock("access", "sign", "acme", "anne", "--keys", other), 2, "servers would not take what it signs")
    assert interlock("access", "sign", "acme", "anne").code == 0
    empty = str(tmp_path / "empty")
    refused(interlock("access", "sign", "acme", "anne", "--keys", empty), 4, "no authority of lyon-acme")


def test_servers_of_before_are_served_by_the_former_authority(
    ready: Lyon, interlock: Interlock, tmp_path: Path, folder: Path, anne: Path
) -> None:
    """They trust it for as long as they are there, so what it signed has to be revoked there."""
    assert interlock("lock", "acme").code == 0
    assert interlock("access", "sign", "acme", "anne").code == 0
    other = str(tmp_path / "other")
    made = interlock("access", "ca", "acme", "--keys", other).out.removeprefix("ca: ").strip()
    state(ready, f"ca: {made}", f"- {{name: anne, keys: [{public(anne)}]}}")
    refused(interlock("access", "revoke", "acme", "anne"), 2, "`ca` is another key than")
    assert interlock("lock", "acme").code == 0
    for done in (interlock("access", "sign", "acme", "anne"), interlock("access", "revoke", "acme", "anne")):
        assert done.code == 0, done.err
        assert "only servers that were made before" in done.err
    current = interlock("access", "sign", "acme", "anne", "--keys", other)
    assert (current.code, "a former authority" in current.err) == (0, False)


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """An ssh-agent of the test's own."""
    socket = tmp_path / "agent"
    said = subprocess.run(["ssh-agent", "-a", socket], capture_output=True, text=True, check=True).stdout
    found = re.search(r"SSH_AGENT_PID=(\d+)", said)
    assert found is not None
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    try:
        yield
    finally:
        os.kill(int(found[1]), signal.SIGTERM)


def test_a_key_in_the_agent_signs(
    agent: None, unlocked: Lyon, interlock: Interlock, folder: Path, tmp_path: Path, anne: Path
) -> None:
    authority = key_pair(tmp_path / "keys", "authority")
    state(unlocked, f"ca: {public(authority)}", f"- {{name: anne, keys: [{public(anne)}]}}")
    refused(interlock("access", "sign", "acme", "anne", "--agent"), 4, "ssh-keygen failed")
    subprocess.run(["ssh-add", "-q", authority], check=True)
    done = interlock("access", "sign", "acme", "anne", "--agent")
    assert done.code == 0
    signer = re.findall(r"Signing CA: \S+ (\S+)", shown(done.out))
    shown_of = subprocess.run(["ssh-keygen", "-l", "-f", authority], capture_output=True, text=True, check=True).stdout
    assert signer == [shown_of.split()[1]]
    assert not (folder / "lyon-acme").exists()


# Revocation.


def is_revoked(folder: Path, certificate: str, tmp_path: Path) -> bool:
    """What ssh-keygen says of a certificate and the list."""
    file = tmp_path / "asked-cert.pub"
    file.write_text(certificate)
    done = subprocess.run(
        ["ssh-keygen", "-Q", "-f", folder / "lyon-acme.revoked", file], capture_output=True, text=True, check=False
    )
    return done.returncode != 0


def test_what_a_person_has_is_revoked(
    ready: Lyon, interlock: Interlock, folder: Path, tmp_path: Path, anne: Path
) -> None:
    bob = key_pair(tmp_path / "keys", "bob")
    line = (folder / "lyon-acme.pub").read_text().strip()
    people = [f"- {{name: {name}, keys: [{public(key)}]}}" for name, key in (("anne", anne), ("bob", bob))]
    state(ready, f"ca: {line}", *people)
    hers = [interlock("access", "sign", "acme", "anne").out for _ in range(2)]
    his = interlock("access", "sign", "acme", "bob").out
    # Who left the request is revoked all the same.
    state(ready, f"ca: {line}", people[1])
    done = interlock("access", "revoke", "acme", "anne")
    assert done.code == 0
    assert re.findall(r"revoked (\d), anne, which ends", done.out) == ["1", "2"]
    assert "interlock access push acme HOST" in done.err
    assert [is_revoked(folder, item, tmp_path) for item in (*hers, his)] == [True, True, False]
    assert interlock("access", "revoke", "acme", "anne").out == "there was nothing to revoke\n"
    assert interlock("access", "revoke", "acme", "--serial", "3").out.startswith("revoked 3, bob, which ends")
    assert [is_revoked(folder, item, tmp_path) for item in (*hers, his)] == [True, True, True]


def test_what_cannot_be_revoked(ready: Lyon, interlock: Interlock) -> None:
    refused(interlock("access", "revoke", "acme", "--serial", "7"), 4, "lyon-acme has signed no certificate 7")
    for wrong in (("acme",), ("acme", "anne", "--serial", "1")):
        refused(interlock("access", "revoke", *wrong), 2, "give a person, or --serial")


def test_a_register_that_is_broken_is_not_written_over(ready: Lyon, interlock: Interlock, folder: Path) -> None:
    """Else serials that are revoked would be given away again."""
    assert interlock("access", "sign", "acme", "anne").code == 0
    file = folder / "lyon-acme.json"
    file.write_text(file.read_text()[:20])
    refused(interlock("access", "sign", "acme", "anne"), 4, "is not what interlock wrote", "put back a copy")
    assert len(file.read_text()) == 20


def test_the_list_reaches_a_server(ready: Lyon, interlock: Interlock, folder: Path, tmp_path: Path, anne: Path) -> None:
    refused(interlock("access", "push", "acme", "127.0.0.1"), 4, "has revoked nothing yet")
    line = (folder / "lyon-acme.pub").read_text().strip()
    people = f"- {{name: anne, keys: [{public(anne)}], accounts: [ubuntu]}}"
    state(ready, f"ca: {line}\n  accounts: [ubuntu, root]", people)
    certificate = tmp_path / "anne-cert.pub"
    certificate.write_text(interlock("access", "sign", "acme", "anne").out)
    access = ready.gate().workspace.tenants["acme"].access
    document = poplar_user_data(
        "a", VipuApi("10.0.0.1", 8090, "10.1.0.0/24"), login=login_files(StackName("lyon", "acme"), "train", access)
    )
    with real_server(tmp_path / "server", ssh_files(document)) as server:
        assert server.login(anne, certificate).is_in
        assert interlock("access", "revoke", "acme", "anne").code == 0
        options = [f"-o{server.options[at + 1]}" for at in range(2, len(server.options), 2)]
        pushed = interlock("access", "push", "acme", "127.0.0.1", "--account", "root", *options)
        assert (pushed.code, pushed.out) == (0, "127.0.0.1: the list is there\n"), pushed.err
        assert not server.login(anne, certificate).is_in
        certificate.write_text(interlock("access", "sign", "acme", "anne").out)
        assert server.login(anne, certificate).is_in
    gone = interlock("access", "push", "acme", "127.0.0.1", "--account", "root", *options)
    assert gone.code == 4
    assert "1 of 1 servers have not got the list" in gone.err
    refused(interlock("access", "push", "acme", "127.0.0.1", "--account", "admin"), 2, "--account")


# What is shown, and what rests on it.


def test_people_and_certificates_are_listed(ready: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert interlock("access", "sign", "acme", "anne").code == 0
    text = interlock("access", "list", "acme").out
    assert text.startswith("anne: may sign in; ubuntu on all servers\n  key SHA256:")
    assert "\ncertificate 1, anne: ends " in text
    found = json.loads(interlock("access", "list", "acme", "--json").out)
    assert [item["standing"] for item in found["people"]] == ["may sign in"]
    assert [item["serial"] for item in found["certificates"]] == [1]
    assert found["ca"].startswith("SHA256:")
    interlock("access", "revoke", "acme", "anne")
    assert json.loads(interlock("access", "list", "acme", "--json").out)["certificates"] == []
    # Without the folder there are the people.
    monkeypatch.delenv("INTERLOCK_CA")
    assert "certificate" not in interlock("access", "list", "acme").out
    assert interlock("access", "list", "globex").out == "globex: nobody under `access.people`\n"


def test_who_left_the_request_is_named_with_what_is_still_good(
    ready: Lyon, interlock: Interlock, folder: Path, tmp_path: Path
) -> None:
    """No plan rests on people: whoever is taken out gets in until the certificate ends, or is revoked."""
    assert interlock("access", "sign", "acme", "anne").code == 0
    bob = key_pair(tmp_path / "keys", "bob")
    state(ready, f"ca: {(folder / 'lyon-acme.pub').read_text().strip()}", f"- {{name: bob, keys: [{public(bob)}]}}")
    assert interlock("access", "sign", "acme", "bob").code == 0
    first, second = interlock("access", "list", "acme").out.splitlines()[-2:]
    assert first.endswith("; not in the request: `interlock access revoke acme anne`")
    assert "not in the request" not in second


def test_nobody_gets_a_certificate_that_names_no_server(
    ready: Lyon, interlock: Interlock, folder: Path, anne: Path
) -> None:
    """The vPOD that she is let in to is released. Without principals some servers would take it for everybody's."""
    line = (folder / "lyon-acme.pub").read_text().strip()
    state(ready, f"ca: {line}", f"- {{name: anne, keys: [{public(anne)}], vpods: [train]}}")
    assert interlock("access", "sign", "acme", "anne").code == 0
    ready.replace("tenants/acme.yaml", "    machines: 4 #", "    state: released\n    machines: 4 #")
    refused(interlock("access", "sign", "acme", "anne"), 2, "`anne` is let in to no server", "wait until it is back")
    assert "; ubuntu on no server now" in interlock("access", "list", "acme").out


def test_a_person_more_or_less_changes_no_plan_and_no_lock(
    ready: Lyon, interlock: Interlock, folder: Path, tmp_path: Path, anne: Path
) -> None:
    assert interlock("lock").code == 0
    locks, plan = ready.locks(), interlock("plan", "acme", "--format", "json").out
    line = (folder / "lyon-acme.pub").read_text().strip()
    bob = key_pair(tmp_path / "keys", "bob")
    state(ready, f"ca: {line}", f"- {{name: bob, keys: [{public(bob)}], until: {NOON.date()}}}")
    assert interlock("check").code == 0
    again = interlock("plan", "acme", "--format", "json").out
    assert json.loads(again)["plan"] == json.loads(plan)["plan"]
    assert interlock("lock").code == 0
    assert ready.locks() == locks


def test_the_private_key_is_shown_nowhere(ready: Lyon, interlock: Interlock, folder: Path, tmp_path: Path) -> None:
    """Nor is it in locks, plans or certificates, with `--debug` on."""
    # The first line of base64 is the same in every key of this type.
    secret = [line for line in (folder / "lyon-acme").read_text().splitlines()[2:-1] if len(line) > 20]
    said = [interlock("access", "ca", "acme", "--debug")]
    said += [interlock("lock"), interlock("plan", "acme", "--format", "json")]
    said += [interlock("check", "--certificate", str(tmp_path / "{stack}.json"))]
    said += [interlock("access", word, "acme", "anne", "--debug") for word in ("sign", "revoke")]
    said += [interlock("access", "push", "acme", "-o", "Port=1", "127.0.0.1", "--debug")]
    texts = [text for done in said for text in (done.out, done.err)]
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file != folder / "lyon-acme"]
    texts += [file.read_bytes().decode("latin-1") for file in files]
    assert len(files) > 10
    assert secret
    assert not [line for line in secret for text in texts if line in text]


@pytest.mark.parametrize("word", ["ca", "sign", "revoke", "push", "list"])
def test_each_command_shows_examples_and_exit_codes(interlock: Interlock, word: str) -> None:
    done = interlock("access", word, "--help")
    assert done.code == 0
    assert "Exit code:\n    0  " in done.out
    examples = done.out.split("Examples:")[1].split("\n\n")[0].splitlines()[1:]
    assert examples
    assert all("interlock access " in line for line in examples)
