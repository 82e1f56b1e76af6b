"""Signatures beside evidence, seen from inside: what is handed over, readings, self-tests, and private keys.

an entry that nobody signed who may ── as if it were not there
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.stack.handing_over import Handover, demands
from infra.stack.signatures import Signatures
from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.signers import NAMESPACE
from interlock.model.site.inventory import EvidenceTerms
from tests.infra.conftest import Interlock, Lyon
from tests.infra.signing import LIST, SigningSite, judged_by, keys, lists_signers, seen_by, signing  # noqa: F401
from tests.infra.test_read_back_devices import later, reading_of
from tests.infra.test_replaced import NEW, of, other  # noqa: F401
from tests.infra.test_settle_evidence import (  # noqa: F401
    NOON,
    RACK,
    lock_of,
    machine,
    quiet_cloud,
    seen_of,
    site_of,
    smaller,
)

# What is handed over, without files.


class Stub(Signatures):
    """Entries that are signed, by their step."""

    def __init__(self, *signed: str) -> None:
        self.signed = signed

    def why_not(self, one: Sighting, now: datetime) -> str:
        return "" if one.step in self.signed else "is not signed"


STEPS = tuple(str(one.step) for one in seen_of(machine()))
SIGNED = tuple(chain.from_iterable(combinations(STEPS, count) for count in range(len(STEPS) + 1)))


@pytest.mark.parametrize("signed", SIGNED, ids=lambda names: "+".join(names) or "none")
def test_an_unsigned_entry_is_one_that_is_not_there(signed: tuple[str, ...]) -> None:
    """Whatever is signed of five steps: as if the rest had not been written."""
    site = site_of()
    listed_site = site.with_parts(evidence=EvidenceTerms(max_age_h=24, signers=LIST))
    wanted = demands(site, (RACK,), (), (), None)
    seen = seen_of(machine())
    found = Handover(listed_site, "acme", wanted, seen, NOON, Stub(*signed)).lacking()
    without = Handover(site, "acme", wanted, tuple(one for one in seen if one.step in signed), NOON).lacking()
    assert [one.step for one in found] == [one.step for one in without]
    assert not any(one.can_be_written for one in found)
    assert [str(one.step) for one in found] == [step for step in STEPS if step not in signed]


def test_where_nobody_looked_nothing_counts() -> None:
    site = site_of().with_parts(evidence=EvidenceTerms(max_age_h=24, signers=LIST))
    seen = seen_of(machine())
    bare = Handover(site, "acme", demands(site, (RACK,), (), (), None), seen, NOON)
    assert [str(one.step) for one in bare.lacking()] == [*STEPS]
    # What this very run was told by a switch or by Ironic is nobody's word.
    assert replace(bare, seen=tuple(replace(one, asked_now=True) for one in seen)).lacking() == ()


def test_an_entry_of_no_file_is_signed_by_nobody(signing: SigningSite) -> None:  # noqa: F811
    signing.sign(signing.write(seen_by("anne")), "anne")
    workspace = signing.lyon.gate().workspace
    one = replace(workspace.evidence[0], file="")
    assert judged_by(workspace).why_not(one, datetime.now(UTC)) == "stands in no file that could be signed"


# Readings that settle wrote down, and self-tests.


def test_what_settle_read_is_signed_by_any_of_them(
    signing: SigningSite,  # noqa: F811
    interlock: Interlock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading_of(signing.lyon, monkeypatch)
    signing.sign(signing.write(seen_by("anne", "deregistered")), "anne")
    refused = interlock("settle", "acme")
    assert "next: sign and commit stacks/lyon/evidence/acme-read.yaml" in refused.err
    file = signing.lyon.file("evidence/acme-read.yaml")
    text = file.read_text()
    assert yaml.safe_load(text)["site"] == "lyon"
    # It waits for a signature: it is not written down again, and nothing counts that came after it.
    rest = signing.write(
        seen_by("anne", "power-cycled", "wiped", "self-tested", at=later(text)), "evidence/acme-anne.yaml"
    )
    signing.sign(rest, "anne")
    time.sleep(1)  # until the second of the reading is over
    refused = interlock("settle", "acme", "--dry-run")
    assert refused.code == 3
    assert interlock("settle", "acme").code == 3
    assert file.read_text() == text
    signing.sign(file, "eve")
    assert interlock("settle", "acme").code == 3
    signing.sign(file, "bob")
    done = interlock("settle", "acme")
    assert done.code == 0, done.err


@pytest.mark.parametrize("file", ["evidence/acme-bob.yaml", "evidence/acme-read.yaml"])
def test_nobody_signs_in_the_name_of_settle_what_settle_does_not_see(
    signing: SigningSite,  # noqa: F811
    interlock: Interlock,
    file: str,
) -> None:
    """No switch says that a machine is wiped; nor does a reading stand elsewhere than in its file."""
    signing.sign(signing.write(seen_by("interlock settle, tor-1"), file), "bob")
    refused = interlock("settle", "acme")
    assert refused.code == 3, refused.err
    said = [line for line in refused.err.splitlines() if "is signed by bob, and `by` says interlock settle" in line]
    unwired = [line for line in said if "unwired" in line]
    assert len(said) - len(unwired) == 8, refused.err
    assert len(unwired) == (0 if file.endswith("read.yaml") else 2), refused.err


def test_readings_of_before_the_list_get_the_line_that_a_signature_needs(
    signing: SigningSite,  # noqa: F811
    interlock: Interlock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading_of(signing.lyon, monkeypatch)
    signing.sign(signing.write(seen_by("anne", "deregistered")), "anne")
    old = signing.write([], "evidence/acme-read.yaml", site=None)
    old.write_text("# kept\nreleased_by: acme\nseen:\n")
    old.write_text(old.read_text() + "".join(f"  - {json.dumps(entry)}\n" for entry in of(NEW, "self-tested")))
    interlock("settle", "acme")
    text = old.read_text()
    assert text.startswith("# kept\nsite: lyon\nreleased_by: acme\nseen:\n")
    assert len(yaml.safe_load(text)["seen"]) == 3


def test_a_self_test_that_nobody_signed_is_none(
    other: Lyon,  # noqa: F811
    keys: Path,  # noqa: F811
    interlock: Interlock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quiet_cloud(monkeypatch, tmp_path)
    site = lists_signers(other, keys)
    file = site.write([one | {"by": "anne"} for one in of(NEW, "self-tested")])
    refused = interlock("settle", "acme", "--dry-run")
    assert f"machine ipum-03 (serial {NEW}): nobody is known to have seen it self-tested; stacks" in refused.err
    assert "is not signed" in refused.err
    assert lock_of(other).replaced != ()
    site.sign(file, "anne")
    said = interlock("settle", "acme").err
    assert f"acme: ipum-03 ({NEW}) was seen self-tested" in said
    assert lock_of(other).replaced == ()
    assert json.loads(other.file("site.lock.json").read_text()).get("untested", {}) in ({}, [])


# Private keys.

_OPENED: list[str] = []
_WATCHED = [False]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _WATCHED[0] and event == "open":
        _OPENED.append(str(arguments[0]))


def test_no_private_key_is_read_by_us(signing: SigningSite, interlock: Interlock) -> None:  # noqa: F811
    """Every file that this process opens is noted: the evidence is among them, the key is not."""
    sys.addaudithook(_watch)
    file = signing.write(seen_by("anne"))
    private = signing.key("anne")
    secret = "".join(private.read_text().splitlines()[1:-1])
    _OPENED.clear()
    _WATCHED[0] = True
    try:
        done = interlock("evidence", "sign", str(file), "--key", str(private))
        settled = interlock("settle", "acme", "--dry-run")
    finally:
        _WATCHED[0] = False
    assert (done.code, settled.code) == (0, 0), done.err + settled.err
    assert str(file) in _OPENED
    assert [name for name in _OPENED if str(private.parent) in name] == []
    said = _joined(f"{done.out}{done.err}{settled.out}{settled.err}")
    kept_files = [path.read_text() for path in signing.lyon.stacks.rglob("*") if path.is_file()]
    assert not any(secret[at : at + 40] in text for at in (0, 60, 120) for text in (said, *map(_joined, kept_files)))


def _joined(text: str) -> str:
    return text.replace("\n", "")


def test_the_namespace_is_fixed() -> None:
    """Signatures that were made would count no more under another."""
    assert NAMESPACE == "interlock-evidence"
