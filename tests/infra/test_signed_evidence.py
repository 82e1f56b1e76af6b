"""Where a site lists who may sign, evidence counts only with a good signature of who saw it. Signed by real keys.

site.yaml: evidence.signers ── signers: anne, bob ── evidence/acme.yaml + acme.yaml.sig ── settle
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.infra.conftest import Interlock, Lyon
from tests.infra.evidence import now
from tests.infra.signing import ACME, LIST, SigningSite, judged_by, keys, seen_by, signing  # noqa: F401
from tests.infra.test_settle_evidence import lock_of, smaller  # noqa: F401


def test_signed_by_who_saw_it_it_is_settled(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.sign(signing.write(seen_by("anne")), "anne")
    before = lock_of(signing.lyon).site
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    assert "nobody has to sign" not in done.err
    lock = lock_of(signing.lyon)
    assert (lock.released, {one.by for one in lock.settled}) == ((), {"anne"})
    # Who may sign decides no claim: no lock grows old with the list.
    assert lock.site == before
    assert interlock("lock", "--check").code == 0


def altered(site: SigningSite, file: Path) -> None:
    site.sign(file, "anne")
    file.write_text(file.read_text().replace("ipum-03", "ipum-02"))


def reversed_bytes(site: SigningSite, file: Path) -> None:
    """The same YAML with other line endings is another file."""
    site.sign(file, "anne")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


def moved(site: SigningSite, file: Path) -> None:
    """A good signature by anne, of another file of this very site."""
    other_file = site.write(seen_by("anne", "wiped"), "evidence/globex.yaml")
    site.sign(other_file, "anne")
    other_file.with_name("globex.yaml.sig").rename(file.with_name(f"{file.name}.sig"))


def of_no_site(site: SigningSite, file: Path) -> None:
    site.sign(site.write(seen_by("anne"), site=None), "anne")


def listed(options: str, name: str = "anne") -> Callable[[SigningSite, Path], None]:
    """A good signature of anne, whom the list has with these options."""

    def spoil(site: SigningSite, file: Path) -> None:
        site.sign(file, "anne")
        site.allow(site.line(name, options, key="anne"), site.line("bob"))

    return spoil


def kept(data: bytes) -> Callable[[SigningSite, Path], None]:
    return lambda site, file: void(file.with_name(f"{file.name}.sig").write_bytes(data))


def void(_: Any) -> None:
    """Nothing."""


def cut(site: SigningSite, file: Path) -> None:
    site.sign(file, "anne")
    signature = file.with_name(f"{file.name}.sig")
    signature.write_bytes(signature.read_bytes()[:-60])


def yesterday(days: int = 1) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y%m%d")


#: How a signature is not one of who saw it -> what is said of each entry.
SPOILT: dict[str, tuple[Callable[[SigningSite, Path], Any], str]] = {
    "none": (lambda _site, _file: None, " is not signed"),
    "another signer's key": (lambda site, file: site.sign(file, "bob"), " is signed by bob, and `by` says anne"),
    "a key that is not listed": (
        lambda site, file: site.sign(file, "eve"), " is signed with no key that stacks/lyon/signers lists for anne"
    ),
    "altered after it was signed": (altered, " has no good signature of anne (ssh-keygen: Signature verification"),
    "other line endings": (reversed_bytes, " has no good signature of anne (ssh-keygen: Signature verification"),
    "of another file": (moved, " has no good signature of anne (ssh-keygen: Signature verification failed"),
    "of a file that names no site": (of_no_site, " is in a file without `site: lyon`"),
    "for Git": (lambda site, file: site.sign(file, "anne", "git"), "(ssh-keygen: Couldn't verify signature: namespace"),
    "listed for Git alone": (listed('namespaces="git"'), "(ssh-keygen: signers:1: key is not permitted for use in"),
    "expired": (listed(f'valid-before="{yesterday()}"'), "(ssh-keygen: signers:1: key has expired"),
    "not listed yet": (listed(f'valid-after="{yesterday(-2)}"'), "(ssh-keygen: signers:1: key is not yet valid"),
    "listed under another name": (listed("", "zoe"), " is signed by zoe, and `by` says anne"),
    "listed in capitals": (listed("", "Anne"), " is signed by Anne, and `by` says anne"),
    "no signature at all": (kept(b"nothing\n"), "(ssh-keygen: Couldn't parse signature"),
    "empty": (kept(b""), "(ssh-keygen: "),
    "too long": (kept(b"-----BEGIN SSH SIGNATURE-----\n" + b"A" * 100_000), "(ssh-keygen: "),
    "cut short": (cut, "(ssh-keygen: "),
}  # fmt: skip


@pytest.mark.parametrize("case", SPOILT)
def test_what_nobody_signed_who_may_counts_for_nothing(signing: SigningSite, interlock: Interlock, case: str) -> None:  # noqa: F811
    spoil, said = SPOILT[case]
    spoil(signing, signing.write(seen_by("anne")))
    before = signing.lyon.locks()
    refused = interlock("settle", "acme")
    assert refused.code == 3, refused.err
    assert signing.lyon.locks() == before
    places = [line for line in refused.err.splitlines() if line.startswith("  - evidence: machine ipum-04")]
    assert len(places) == 5
    assert all("; stacks/lyon/evidence/acme.yaml:" in line and said in line for line in places), refused.err
    assert f"next: who saw it signs: interlock evidence sign stacks/lyon/{ACME} --key KEY" in refused.err
    # The step was seen: nobody is asked to write it down once more.
    assert "{machine: ipum-04" not in refused.err
    verified = interlock("evidence", "verify")
    assert verified.code == 1
    assert said in verified.out


def test_a_signature_of_another_site_is_an_error(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.sign(signing.write(seen_by("anne"), site="paris"), "anne")
    for command in (("settle", "acme"), ("check",), ("evidence", "verify")):
        refused = interlock(*command)
        assert (refused.code, "IN-042 it is evidence of the site `paris`" in refused.err) == (2, True), refused.err


def test_a_key_has_to_be_listed_when_the_step_was_seen(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    """Listed since an hour, and about two hours ago: whoever has the key now cannot speak for before."""
    since = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y%m%d%H%M%SZ")
    signing.allow(signing.line("anne", f'valid-after="{since}"'))
    signing.sign(signing.write(seen_by("anne", at=now(hours=2))), "anne")
    verified = interlock("evidence", "verify")
    assert verified.code == 1
    assert "key is not yet valid" in verified.out
    signing.sign(signing.write(seen_by("anne", at=now(minutes=30))), "anne")
    assert interlock("evidence", "verify").code == 0


def test_a_key_that_has_expired_since_says_nothing_of_before(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    """A signature has no time of its own: whoever has the key by now may have written the entry, and its time."""
    until = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y%m%d%H%M%S")
    signing.sign(signing.write(seen_by("anne", at=now(hours=2))), "anne")
    assert interlock("evidence", "verify").code == 0
    signing.allow(signing.line("anne", f'valid-before="{until}"'))
    verified = interlock("evidence", "verify")
    assert (verified.code, "key has expired" in verified.out) == (1, True), verified.out


def test_two_signers_have_a_file_each(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    first, second = ("deregistered", "unwired", "power-cycled"), ("wiped", "self-tested")
    signing.sign(signing.write(seen_by("anne", *first), "evidence/acme-anne.yaml"), "anne")
    time.sleep(1)
    bobs = signing.write(seen_by("bob", *second), "evidence/acme-bob.yaml")
    assert interlock("settle", "acme", "--dry-run").code == 3
    signing.sign(bobs, "bob")
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    assert {one.by for one in lock_of(signing.lyon).settled} == {"bob"}


def test_in_one_file_only_the_signers_own_entries_count(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    mixed = [*seen_by("anne", "deregistered", "unwired", "power-cycled"), *seen_by("bob", "wiped", "self-tested")]
    signing.sign(signing.write(mixed), "anne")
    found = json.loads(interlock("settle", "acme", "--dry-run", "--format", "json").out)
    assert (found["exit_code"], found["signers"]) == (3, "stacks/lyon/signers")
    assert {one["step"] for one in found["evidence"]} == {"wiped", "self-tested"}
    assert all("signed by anne, and `by` says bob" in one["because"][0] for one in found["evidence"])


def test_a_principal_may_have_blanks_and_several_keys(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.allow(
        "# who may", "", signing.line('"Anne Smith,anne"', key="old"), signing.line('"Anne Smith"', key="new")
    )
    for key in ("old", "new"):
        signing.sign(signing.write(seen_by("Anne Smith")), key)
        assert interlock("settle", "acme", "--dry-run").code == 0


def test_a_signature_that_does_not_count_is_not_remembered(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    """A later wipe that nobody signed must not stand in the lock as the one that it rests on."""
    signing.sign(signing.write(seen_by("anne")), "anne")
    time.sleep(1)
    signing.write(seen_by("mallory", "wiped"), "evidence/acme-mallory.yaml")
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    assert {one.by for one in lock_of(signing.lyon).settled} == {"anne"}


def test_without_ssh_keygen_nothing_passes(
    signing: SigningSite,  # noqa: F811
    interlock: Interlock,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    signing.sign(signing.write(seen_by("anne")), "anne")
    before = signing.lyon.locks()
    monkeypatch.setenv("PATH", str(tmp_path))
    for command in (("settle", "acme"), ("evidence", "verify"), ("evidence", "sign", _shown(signing), "--key", "k")):
        refused = interlock(*command)
        assert refused.code == 4
        assert "there is no `ssh-keygen` on this machine" in refused.err
        assert "openssh-client" in refused.err
    assert signing.lyon.locks() == before


def _shown(site: SigningSite) -> str:
    return str(site.lyon.file(ACME))


def test_a_site_that_lists_nobody_is_as_before_and_says_so(
    smaller: Lyon,  # noqa: F811
    keys: Path,  # noqa: F811
    interlock: Interlock,
) -> None:
    site = SigningSite(smaller, keys)
    kept(b"nothing")(site, site.write(seen_by("Anne"), site=None))
    assert "nobody has to: `evidence.signers` names no list" in interlock("site").out
    verified = interlock("evidence", "verify")
    assert (verified.code, "nobody has to sign" in verified.out) == (3, True)
    refused = interlock("evidence", "sign", _shown(site), "--key", str(site.key("anne")))
    assert (refused.code, "IN-002" in refused.err) == (2, True)
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    assert "note: nobody has to sign evidence: the site file states no `evidence.signers`" in done.err


def test_a_list_that_is_gone_is_no_list_of_nobody(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    signing.sign(signing.write(seen_by("anne")), "anne")
    signing.lyon.file(LIST).unlink()
    for command in (("settle", "acme"), ("check",), ("evidence", "verify")):
        refused = interlock(*command)
        assert (refused.code, "IN-020 there is no file stacks/lyon/signers" in refused.err) == (2, True)


def test_what_is_judged_is_what_was_read(signing: SigningSite) -> None:  # noqa: F811
    """Between reading and judging somebody may change the files: the signature is of the bytes that were read."""
    file = signing.write(seen_by("anne"))
    signing.sign(file, "anne")
    read = signing.lyon.gate().workspace
    altered(signing, file)
    again = signing.lyon.gate().workspace
    moment = datetime.now(UTC)
    said = [[judged_by(one).why_not(entry, moment) for entry in one.evidence] for one in (read, again)]
    assert set(said[0]) == {""}
    assert all("incorrect signature" in why for why in said[1])
