"""`interlock evidence`: what it signs and what it refuses to, and what it says of signatures that there are."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from infra.program.places import ROOT
from tests.infra.conftest import Interlock
from tests.infra.evidence import now
from tests.infra.signing import ACME, SigningSite, keys, seen_by, signing  # noqa: F401
from tests.infra.test_settle_evidence import lock_of, smaller  # noqa: F401

SIG = f"{ACME}.sig"


def signed(site: SigningSite, interlock: Interlock, name: str, file: str = ACME) -> tuple[int, str]:
    done = interlock("evidence", "sign", str(site.lyon.file(file)), "--key", str(site.key(name)))
    return done.code, done.out + done.err


def test_what_it_signs_is_settled(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.write(seen_by("anne"))
    code, said = signed(signing, interlock, "anne")
    assert (code, f"stacks/lyon/{SIG}: signed by anne" in said) == (0, True), said
    assert interlock("settle", "acme").code == 0
    assert lock_of(signing.lyon).released == ()


def test_a_path_may_be_relative(
    signing: SigningSite,  # noqa: F811
    interlock: Interlock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signing.write(seen_by("anne"))
    monkeypatch.chdir(signing.lyon.folder)
    assert interlock("evidence", "sign", ACME, "--key", os.path.relpath(signing.key("anne"))).code == 0


def test_a_second_signature_takes_the_place_of_the_first(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.write(seen_by("anne"))
    assert signed(signing, interlock, "anne")[0] == 0
    signing.write(seen_by("anne", "wiped"))
    assert interlock("evidence", "verify").code == 1
    assert signed(signing, interlock, "anne")[0] == 0
    assert interlock("evidence", "verify").code == 0


def test_it_signs_nothing_that_would_not_count(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    """An entry of somebody else's, a key that is not listed: the place of each is told, and nothing is written."""
    signing.write([*seen_by("anne", "wiped"), *seen_by("bob", "self-tested")])
    code, said = signed(signing, interlock, "anne")
    assert (code, said.count("IN-044"), said.count("by anne, and `by` says bob")) == (2, 2, 2)
    assert "stacks/lyon/evidence/acme.yaml:13:3: IN-044 with this key, it is signed by anne" in said
    assert "nothing was written" in said
    code, said = signed(signing, interlock, "eve")
    assert (code, "is signed with no key that stacks/lyon/signers lists for" in said) == (2, True)
    assert not signing.lyon.file(SIG).exists()


def test_a_file_that_names_no_site_is_not_signed(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.write(seen_by("anne"), site=None)
    code, said = signed(signing, interlock, "anne")
    assert (code, "IN-002 `site` is missing" in said, "write `site: lyon`" in said) == (2, True, True)
    assert not signing.lyon.file(SIG).exists()


@pytest.mark.parametrize("file", ["site.yaml", "evidence/acm.yaml", "../../x.yaml"])
def test_only_evidence_of_the_site_is_signed(signing: SigningSite, interlock: Interlock, file: str) -> None:  # noqa: F811
    signing.write(seen_by("anne"))
    code, said = signed(signing, interlock, "anne", file)
    assert (code, "it is no file of evidence of the site lyon" in said) == (2, True), said


def test_a_key_that_is_none_is_the_tools_to_tell(signing: SigningSite, interlock: Interlock, tmp_path: Path) -> None:  # noqa: F811
    signing.write(seen_by("anne"))
    done = interlock("evidence", "sign", str(signing.lyon.file(ACME)), "--key", str(tmp_path / "none"))
    assert (done.code, "ssh-keygen failed: Couldn't load" in done.err) == (4, True), done.err
    assert not signing.lyon.file(SIG).exists()


def test_ssh_keygen_asks_for_the_passphrase_at_the_terminal(signing: SigningSite) -> None:  # noqa: F811
    signing.write(seen_by("anne"))
    phrase = "correct horse"
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", phrase, "-f", signing.key("anne")], check=True)
    command = [sys.executable, "-m", "infra.cli", "evidence", "sign", str(signing.lyon.file(ACME)), "--site", "lyon"]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [*command, "--key", str(signing.key("anne"))])
    said = b""
    while b"passphrase" not in said:
        said += os.read(terminal, 4096)
    os.write(terminal, f"{phrase}\n".encode())
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert signing.lyon.file(SIG).exists()


def test_verify_as_json(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.sign(signing.write(seen_by("anne", "wiped")), "anne")
    signing.write([*seen_by("bob", "self-tested"), *seen_by("bob", "wiped", at=now(days=31))], "evidence/bob.yaml")
    done = interlock("evidence", "verify", "--json")
    found = json.loads(done.out)
    assert (done.code, found["exit_code"], found["site"], found["signers"]) == (1, 1, "lyon", "stacks/lyon/signers")
    first, second = found["files"]
    assert (first["signed_by"], first["entries"], first["unsigned"]) == (["anne"], 2, [])
    assert (second["signed_by"], second["entries"], second["too_old"]) == ([], 4, 2)
    assert [(one["step"], one["by"], one["because"]) for one in second["unsigned"]] == [
        ("self-tested", "bob", "is not signed")
    ] * 2


def test_what_is_too_old_to_count_needs_no_signer(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    """Files of earlier releases may stay, and who signed them may be gone."""
    signing.sign(signing.write(seen_by("zoe", at=now(days=31))), "zoe")
    done = interlock("evidence", "verify")
    assert (done.code, "no good signature; 10 entries, 10 too old to count" in done.out) == (0, True), done.out


def test_what_is_too_old_keeps_nobody_from_signing(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    """A file that goes on from release to release: its first entries may be of another key, or of another person."""
    old = seen_by("zoe", at=now(days=31))
    signing.write([*old, *seen_by("anne")])
    assert signed(signing, interlock, "anne")[0] == 0
    assert interlock("settle", "acme", "--dry-run").code == 0
    signing.write(old)
    code, said = signed(signing, interlock, "eve")
    assert (code, f"{ACME}: IN-044 with this key, it is signed with no key that" in said) == (2, True), said


def test_a_site_without_evidence_is_verified(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    done = interlock("evidence", "verify")
    assert (done.code, done.out) == (0, "lyon: there is no evidence\n")


#: Lines of the list -> what is said of each. KEY stands for a key.
LINES: dict[str, str] = {
    "anne": "IN-007 not a line of signers",
    "anne nothing": "IN-007 no public key behind the principals",
    "anne ssh-ed25519 AAAA": "IN-007 no public key behind the principals",
    "anne ssh-rsa BODY": "IN-007 no public key behind the principals",
    "* KEY": "IN-007 `*` is a pattern: whoever has the key could sign as anybody",
    "anne,bo? KEY": "IN-007 `bo?` is a pattern",
    '"!anne,bob" KEY': "IN-007 `!anne` is a pattern",
    "anne, KEY": "IN-007 an empty name among the principals",
    "anne cert-authority KEY": "IN-007 `cert-authority` lets somebody else say who signs",
    'anne valid-bfore="20270101" KEY': 'IN-007 `valid-bfore="20270101"` is no option of a signer',
    'anne valid-before="soon" KEY': "IN-007 `soon` is no moment",
    'anne valid-before="20261331" KEY': "IN-007 `20261331` is no moment",
    'anne valid-after="202602300000" KEY': "IN-007 `202602300000` is no moment",
    'anne namespaces="git",namespaces="interlock-evidence" KEY': "IN-007 `namespaces` stands twice",
    'anne namespaces="git",valid-after="2026" KEY': "IN-007 `2026` is no moment",
    "# nobody": "IN-023 lists nobody, so no evidence would count",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_ssh_keygen_would_pass_over_is_an_error(
    signing: SigningSite,  # noqa: F811
    interlock: Interlock,
    line: str,
) -> None:
    key = signing.public("anne")
    signing.allow("# who may sign", line.replace("KEY", key).replace("BODY", key.split()[1]))
    refused = interlock("settle", "acme")
    place = "stacks/lyon/signers:" if "IN-023" in LINES[line] else "stacks/lyon/signers:2:1:"
    assert refused.code == 2
    assert f"{place} {LINES[line]}" in refused.err, refused.err
    assert refused.err.count("IN-0") == 1


@pytest.mark.parametrize("name", ["../signers", "evidence/signers", "signers.yaml", "acme.yaml.sig", "-f", ""])
def test_the_list_lies_beside_the_site_file(signing: SigningSite, interlock: Interlock, name: str) -> None:  # noqa: F811
    signing.lyon.replace("site.yaml", "signers: signers", f"signers: {name!r}")
    refused = interlock("check")
    assert (refused.code, "is no name of a list of signers" in refused.err) == (2, True), refused.err
