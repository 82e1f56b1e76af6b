"""SARIF and JUnit of `interlock check` and `interlock audit`."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree

import pytest

from infra.audit.comparison import Audit
from infra.reports import ci_reports
from policies import RULES
from tests.infra.conftest import STACKS, Interlock, Lyon

SITE = "leaky/vlan-of-another"


@pytest.fixture
def leaky(lyon: Lyon, interlock: Interlock) -> str:
    """A site that must not be built, locked."""
    shutil.copytree(STACKS / SITE, lyon.stacks / SITE)
    assert interlock("lock", "--site", SITE).code == 0
    return SITE


def test_sarif_has_every_finding_with_its_lines(leaky: str, interlock: Interlock) -> None:
    done = interlock("check", "globex", "--site", leaky, "--format", "sarif")
    assert done.code == 1
    document = json.loads(done.out)
    (run,) = document["runs"]
    assert document["version"] == "2.1.0"
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert known == {rule.id for rule in RULES}
    (judged,) = json.loads(interlock("check", "globex", "--site", leaky, "--format", "json").out)["stacks"]
    assert sorted(result["ruleId"] for result in run["results"]) == sorted(item["rule"] for item in judged["findings"])
    (first,) = [result for result in run["results"] if result["ruleId"] == "ISO-01"]
    assert first["level"] == "error"
    files = {place["physicalLocation"]["artifactLocation"]["uri"] for place in first["locations"]}
    assert f"stacks/{leaky}/tenants/globex.yaml" in files
    assert all(place["physicalLocation"]["region"]["startLine"] > 0 for place in first["locations"])


def test_what_decides_nothing_is_a_note_in_sarif_and_skipped_in_junit(lyon: Lyon, interlock: Interlock) -> None:
    (run,) = json.loads(interlock("check", "--format", "sarif").out)["runs"]
    assert {result["level"] for result in run["results"]} == {"note"}
    root = ElementTree.fromstring(interlock("check", "--format", "junit").out)
    assert [suite.get("failures") for suite in root] == ["0", "0", "0"]
    (weight,) = [case for case in root.iter("testcase") if (case.get("name") or "").startswith("PWR-04 ")]
    skipped = weight.find("skipped")
    assert skipped is not None
    assert "severity W, does not count" in (skipped.get("message") or "")


def test_junit_fails_the_rules_that_are_violated(leaky: str, interlock: Interlock) -> None:
    done = interlock("check", "globex", "--site", leaky, "--format", "junit")
    assert done.code == 1
    (suite,) = ElementTree.fromstring(done.out)
    (judged,) = json.loads(interlock("check", "globex", "--site", leaky, "--format", "json").out)["stacks"]
    violated = {item["rule"] for item in judged["results"] if item["verdict"] == "violated"}
    failed = {(case.get("name") or "").split()[0] for case in suite if case.find("failure") is not None}
    assert failed == violated
    assert suite.get("name") == "leakyvlan-globex"
    assert (suite.get("tests"), suite.get("failures")) == (str(len(judged["results"])), str(len(violated)))


def test_a_waived_finding_is_suppressed(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "feeds: {a: 43kW, b: 43kW}", "feeds: {a: 15kW, b: 15kW}")
    with lyon.file("site.yaml").open("a") as file:
        file.write("waivers:\n  PWR-02: {owner: ops@lyon.example, reason: until the visit, expires: 2999-12-31}\n")
    assert interlock("lock").code == 0
    (run,) = json.loads(interlock("check", "--format", "sarif").out)["runs"]
    (waived,) = [result for result in run["results"] if result["ruleId"] == "PWR-02"]
    assert waived["suppressions"] == [{"kind": "external", "justification": "until the visit"}]
    assert "PWR-02" in interlock("check").out
    assert "(waived, does not count)" in interlock("check").out


def test_a_list_that_cannot_be_read_fails_in_junit() -> None:
    """As the exit code says: CI that looks at the file alone must not take it for a pass."""
    audit = Audit("lyon", "sandbox", (), (), {"FloatingIp": "HTTP 403"}, requests=1, objects=0)
    suite = ci_reports._suite("lyon", ci_reports._unmanaged_cases(audit))
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")


@pytest.mark.parametrize("character", ["\x01", "\x1b", "\ufffe", "\ud800"])
def test_names_that_xml_cannot_hold_leave_the_report_whole(character: str) -> None:
    case = ci_reports._Case(f"kp{character}x", failed="gone")
    suite = ElementTree.fromstring(ci_reports._junit([ci_reports._suite(f"s{character}", [case])]))[0]
    assert [item.get("name") for item in suite] == ["kp?x"]
