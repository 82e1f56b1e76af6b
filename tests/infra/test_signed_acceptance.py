"""Figures that a runner signed, with a real key: unsigned, altered or with another key they count for nothing."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from infra.stack.handing_over import Handover
from infra.stack.signatures import Signatures
from interlock.model.evidence.reading import EvidenceRead
from interlock.model.evidence.signers import NAMESPACE, read_signers
from interlock.model.site.inventory import EvidenceTerms
from tests.builders.accepted import ACCEPTED, CLEANED, accepting_site, entries, read, terms
from tests.infra.test_acceptance import handing_over

EVERYTHING = [*CLEANED, *ACCEPTED]


def key(folder: Path, name: str) -> Path:
    file = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(file)], check=True)
    return file


def signed(folder: Path, by: str, listed: str = "runner-1") -> tuple[EvidenceRead, Signatures]:
    """Evidence of everything in one file of JSON, signed with the key of `by`; the list has that of `listed`."""
    site = accepting_site().with_parts(
        evidence=EvidenceTerms(max_age_h=24, signers="signers", acceptance=(terms(),)), name="hall"
    )
    read(folder, site, entries())
    keys = {name: key(folder, name) for name in {by, listed}}
    body = " ".join(keys[listed].with_name(f"{listed}.pub").read_text().split()[:2])
    (folder / "signers").write_text(f'runner-1 namespaces="{NAMESPACE}" {body}\n')
    file = folder / "evidence/acceptance-1.json"
    subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(keys[by]), str(file)],
        check=True,
        capture_output=True,
    )
    found = read(folder, site, entries())
    return found, Signatures("hall", read_signers(folder / "signers", "signers", "site.yaml"), found.texts)


def lacking(found: EvidenceRead, signatures: Signatures | None) -> list[str]:
    site = accepting_site().with_parts(
        evidence=EvidenceTerms(max_age_h=24, signers="signers", acceptance=(terms(),)), name="hall"
    )
    asked: Handover = replace(handing_over(site, found.seen), signatures=signatures)
    return [str(one.step) for one in asked.lacking()]


def test_a_file_of_json_is_signed_like_any_other(tmp_path: Path) -> None:
    found, signatures = signed(tmp_path, by="runner-1")
    assert lacking(found, signatures) == []


def test_unsigned_figures_count_for_nothing(tmp_path: Path) -> None:
    found, signatures = signed(tmp_path, by="runner-1")
    assert lacking(found, None) == EVERYTHING
    bare = tuple(replace(text, signature=None) for text in found.texts)
    assert lacking(found, Signatures("hall", signatures.signers, bare)) == EVERYTHING


def test_the_key_of_somebody_else_does_not_do(tmp_path: Path) -> None:
    assert lacking(*signed(tmp_path, by="mallory")) == EVERYTHING


@pytest.mark.parametrize("busbw", [470.5])
def test_a_figure_that_was_altered_later_does_not_count(busbw: float, tmp_path: Path) -> None:
    found, signatures = signed(tmp_path, by="runner-1")
    (text,) = found.texts
    document = json.loads(text.data)
    document["seen"][5]["all_reduce"]["busbw"] = busbw
    altered = replace(text, data=json.dumps(document, indent=1).encode())
    assert lacking(found, Signatures("hall", signatures.signers, (altered,))) == EVERYTHING
