"""What a certificate says of rules, of the day and of the semantics, and what a forger would make of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from infra.checker import ASKED, FORMAT, MAY_WARN, SEMANTICS, complaints
from policies import RULES
from policies import certificate as made
from policies.certificate import certificate
from policies.judging import judge, seen_by
from policies.statement import SEMANTICS as PROVED_BY
from tests.certificate.altering import sealed
from tests.certificate.test_certificate import clean
from tests.policies.workspace import full_site, pair

Found = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]


def forged(forge: Callable[[Found], None]) -> list[str]:
    """The complaints about a copy of a sound certificate, forged and sealed again."""
    found: Found = json.loads(json.dumps(clean()[0][0]))
    forge(found)
    return list(complaints(sealed(found), day=found["date"]))


def test_the_checkers_table_of_rules_is_that_of_the_proof() -> None:
    """A rule that is added to one of them is added to the other: `ASKED` in infra/checker/answers.py."""
    words = {"site and tenant": "both"}
    wanted = {
        (str(rule.severity), words.get(rule.of, str(rule.of)), rule.id) for rule in RULES if rule.severity in "BE"
    }
    assert {(severity, of, name) for (severity, of), names in ASKED.items() for name in names.split()} == wanted
    assert {rule.id for rule in RULES if rule.severity in "BE"} >= {*chain(*MAY_WARN.values())}


def test_versions_are_those_of_the_proof_and_of_the_page() -> None:
    page = (ROOT / "docs" / "design" / "semantics.md").read_text()
    assert re.findall(r"^Version (\d+)\b", page, re.MULTILINE) == [str(SEMANTICS)]
    assert (SEMANTICS, FORMAT) == (PROVED_BY, made.FORMAT)


def _no_results(found: Found) -> None:
    found["judgement"]["results"] = []


def _one_rule_less(found: Found) -> None:
    found["judgement"]["results"] = [item for item in found["judgement"]["results"] if item["rule"] != "ISO-02"]


def _one_rule_as_warning(found: Found) -> None:
    next(item for item in found["judgement"]["results"] if item["rule"] == "ISO-02")["severity"] = "W"


def _one_rule_twice(found: Found) -> None:
    found["judgement"]["results"].append(found["judgement"]["results"][0])


def _another_version(found: Found) -> None:
    found["statement"]["semantics"] = 0


def _violated_without_findings(found: Found) -> None:
    next(item for item in found["judgement"]["results"] if item["rule"] == "ISO-02")["verdict"] = "violated"


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (_no_results, "not asked, or not with this severity: AUTH-01 (B)"),
        (_one_rule_less, "not asked, or not with this severity: ISO-02 (B)"),
        (_one_rule_as_warning, "not asked, or not with this severity: ISO-02 (B)"),
        (_one_rule_twice, "a rule was asked twice"),
        (_another_version, "version 0 of the semantics"),
        (_violated_without_findings, "ISO-02 is violated, and its findings say nothing"),
    ],
)
def test_answers_that_nobody_gave(forge: Callable[[Found], None], words: str) -> None:
    (said,) = forged(forge)
    assert words in said


def _finding(severity: str) -> Found:
    return {
        "rule": "ISO-07", "severity": severity, "verdict": "violated", "message": "joined", "witness": [],
        "missing": [], "hint": "", "specificity": 0, "id": "ISO-07-0", "path": [], "about": [], "fix": [],
        "fix_kind": None,
    }  # fmt: skip


def _with_finding(found: Found, severity: str, expires: str) -> None:
    result = next(item for item in found["judgement"]["results"] if item["rule"] == "ISO-07")
    result |= {"verdict": "violated", "findings": [_finding(severity)]}
    waiver = {"rule": "ISO-07", "owner": "anne", "reason": "known", "expires": expires, "state": "used"}
    found["judgement"]["waivers"] = [waiver | {"findings": 1, "hint": ""}] if expires else []


def test_a_waiver_counts_up_to_its_day_and_no_longer() -> None:
    assert forged(lambda found: _with_finding(found, "E", found["date"])) == []
    (said,) = forged(lambda found: _with_finding(found, "E", "1999-12-31"))
    assert "the waiver of ISO-07 counts up to 1999-12-31" in said


def test_a_finding_is_as_severe_as_its_rule() -> None:
    (said,) = forged(lambda found: _with_finding(found, "W", ""))
    assert said == "ISO-07 is violated: joined"


@pytest.mark.parametrize("said", ["violated", "not provable"])
@pytest.mark.parametrize("found", ["proved", "not applicable"])
def test_a_finding_that_finds_nothing_makes_no_rule_sound(said: str, found: str) -> None:
    """Whichever rule it is: somebody who may not say *proved* of it says it of its finding."""
    for number, result in enumerate(clean()[0][0]["judgement"]["results"]):

        def put(known: Found, number: int = number) -> None:
            finding = _finding("B") | {"verdict": found}
            known["judgement"]["results"][number] |= {"verdict": said, "findings": [finding]}

        assert forged(put) == [f"{result['rule']} is {said}, and its findings say {found}"]


def test_a_rule_that_the_checker_does_not_know_can_only_find_more() -> None:
    def asked(found: Found, severity: str) -> None:
        result = found["judgement"]["results"][0]
        finding = _finding(severity) | {"rule": "NEW-01"}
        new = {"rule": "NEW-01", "severity": "E", "verdict": "violated", "findings": [finding]}
        found["judgement"]["results"].append(result | new)

    assert forged(lambda found: asked(found, "W")) == []
    assert forged(lambda found: asked(found, "E")) == ["NEW-01 is violated: joined"]


def test_a_date_in_the_past_does_not_bring_a_waiver_back() -> None:
    """Who checks it says which day it is; and a certificate is not of a day that is yet to come."""
    site = full_site()
    acme, globex = pair(site)
    judgement = judge(site, acme.plan, [globex.lock])
    seen = seen_by(site, acme.plan, [globex.lock])
    found = json.loads(certificate(seen, judgement, date(2026, 1, 2)).model_dump_json())
    assert list(complaints(found, day="2026-01-02")) == []
    assert list(complaints(found, day="2026-01-01")) == ["it is of 2026-01-02, after 2026-01-01"]
    _with_finding(found, "E", "2026-01-02")
    assert list(complaints(sealed(found), day="2026-01-02")) == []
    assert list(complaints(sealed(found), day="2026-01-03"))
