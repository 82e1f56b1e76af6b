"""LIF-08, LIF-12, and SEC-01, SEC-02 and SEC-04 by what was read of a V-IPU controller; each found again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest

from infra.verifying.answers import taken_for_granted
from infra.verifying.comparing import Comparing
from interlock.model.evidence.controller_file import ControllerEvidenceFile
from interlock.model.evidence.controller_reading import with_controllers
from interlock.model.evidence.sealed_files import FORMAT, UNSEALED
from interlock.model.site.controller_readings import ControllerReadings
from interlock.model.site.inventory import Site
from interlock.planning import SiteHashes
from policies import Judgement, Severity
from policies.facts.site import SiteFacts
from policies.judging import judge
from tests.builders.pod64 import tenant
from tests.policies.test_rules_guest_software import CONTROLLER, STATED, stating
from tests.policies.workspace import NA, Made, N, P, V, changed, made, verdicts

NAME = "acme-train-controller"
FILE = f"evidence/controllers-{NAME}.json"
#: The moment at which all of this is asked.
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAY = timedelta(days=1)

#: A controller as it should be, read a day ago: V-IPU 1.18, as the images of `SITE` state it.
GOOD: dict[str, Any] = {
    "format": FORMAT, "site": "lyon", "controller": NAME, "tenant": "acme", "read": NOW - DAY, "by": "the tests",
    "release": "1.18.0", "agents": [{"agent": f"acme-train-ipum-0{number}", "release": "1.18.2"} for number in (1, 2)],
    "keys_asked": True, "certificates": True, "forwarding_off": {"ipv4": True, "ipv6": True},
    "backup": {"state": NOW - 2 * DAY, "certificates": True},
    "admin_api": {"port": 8091, "addresses": ["127.0.0.1", "::1"]}, "user_data_clean": True, "digest": UNSEALED,
}  # fmt: skip


@cache
def plain() -> Site:
    """Images say their V-IPU and SDK, and nobody asks for readings."""
    return stating(STATED, {"vipu": "1.18.3"})


@cache
def acme() -> Made:
    return made(plain(), tenant("acme"))


def evidence(site: Site, **said: Any) -> ControllerEvidenceFile:
    """A reading; what is not given is as it should be."""
    document = GOOD | {"site": site.name} | said
    return ControllerEvidenceFile.model_validate(document | {"read": document["read"].isoformat()}).sealed()


def wanting(site: Site) -> Site:
    """The same, and the operator wants a reading of each controller."""
    return changed(site, controller=CONTROLLER.model_copy(update={"readings": ControllerReadings()}))


def asked(site: Site, *files: ControllerEvidenceFile) -> tuple[Judgement, frozenset[str]]:
    """What the proof says, and which rules the second derivation finds something of."""
    found = acme()
    read = with_controllers(site, {item.controller: item for item in files})
    judgement = judge(SiteFacts(read, NOW), found.plan, [])
    documents = {f"evidence/controllers-{item.controller}.json": _document(item) for item in files}
    full = json.loads(site.model_dump_json())
    comparing = Comparing(full, {"lyon-acme": found.plan.canonical()}, (), documents, NOW)
    return judgement, frozenset(comparing.ground.answers["acme"])


def _document(file: ControllerEvidenceFile) -> dict[str, Any]:
    return {**file.content, "digest": file.digest}


def of(judgement: Judgement, rule: str) -> list[tuple[str, str, str]]:
    """(verdict, severity, message) of what a rule found."""
    return [(str(item.verdict), str(item.severity), item.message) for item in judgement.findings if item.rule == rule]


RULES = ("LIF-08", "LIF-12", "SEC-01", "SEC-02", "SEC-04")
#: What nobody reads and everybody states.
STATED_RULES = dict.fromkeys(("SEC-01", "SEC-02", "SEC-04"), P)


def said(judgement: Judgement) -> Mapping[str, str]:
    found = verdicts(judgement)
    return {rule: found[rule] for rule in RULES}


def test_without_a_reading_nothing_is_asked_and_a_site_may_ask() -> None:
    judgement, again = asked(plain())
    assert said(judgement) == {"LIF-08": NA, "LIF-12": NA, **STATED_RULES}
    assert again.isdisjoint(RULES)
    judgement, again = asked(wanting(plain()))
    assert said(judgement) == {"LIF-08": N, "LIF-12": N, **STATED_RULES}
    # A vPOD whose controller is still to be made can be applied.
    assert {(item.severity, item.verdict) for item in judgement.findings if item.rule in RULES} == {(Severity.WARN, N)}
    assert again & {*RULES} == {"LIF-08", "LIF-12"}


@pytest.mark.parametrize("wants", [False, True])
def test_a_controller_that_was_read_and_is_as_it_should_be(wants: bool) -> None:
    judgement, again = asked(wanting(plain()) if wants else plain(), evidence(plain()))
    assert said(judgement) == dict.fromkeys(RULES, P)
    assert again.isdisjoint(RULES)


AGENTS = GOOD["agents"]
#: What was read -> (rule, verdict, words of its finding). The twin is the test above.
DEFECTS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "an agent of another release": (
        {"agents": [AGENTS[0], AGENTS[1] | {"release": "1.18.1"}]},
        "LIF-08", V, "has agents of releases 1.18.1 and 1.18.2",
    ),
    "agents of another minor release": (
        {"agents": [item | {"release": "1.17.0"} for item in AGENTS]},
        "LIF-08", V, "is of release 1.18.0, and its agents are of 1.17.0",
    ),
    "an agent that says no release": (
        {"agents": [AGENTS[0], AGENTS[1] | {"release": None}]},
        "LIF-08", N, "did not say the releases of its agents acme-train-ipum-02",
    ),
    "a controller that lists no agent": ({"agents": []}, "LIF-08", N, "lists no agent"),
    "a controller that says no release": ({"release": None}, "LIF-08", N, "did not say its release"),
    "servers with another client": (
        {"release": "1.17.9", "agents": [item | {"release": "1.17.9"} for item in AGENTS]},
        "LIF-08", V, "its servers' image poplar has V-IPU 1.18.0",
    ),
    "no backup": ({"backup": {"state": None, "certificates": True}}, "LIF-12", V, "has no backup of its state"),
    "no look at one": ({"backup": None}, "LIF-12", N, "was read without a look at a backup"),
    "a backup without certificates": (
        {"backup": GOOD["backup"] | {"certificates": False}}, "LIF-12", V, "a backup without its certificates",
    ),
    "a backup that was too old when it was read": (
        {"backup": GOOD["backup"] | {"state": NOW - 9 * DAY}}, "LIF-12", V, "when it was read, which is too old",
    ),
    "a backup that has become too old since": (
        {"read": NOW - 5 * DAY, "backup": GOOD["backup"] | {"state": NOW - 8 * DAY}},
        "LIF-12", N, "has no backup that anybody saw later than",
    ),
    "an open API": ({"keys_asked": False}, "SEC-01", V, "answered a call with a wrong key, seen at"),
    "no certificates": ({"certificates": False}, "SEC-01", V, "cannot take calls over TLS"),
    "an older release that nobody tried": (
        {"release": "1.17.9", "agents": [item | {"release": "1.17.9"} for item in AGENTS], "keys_asked": None},
        "SEC-01", N, "which asks for keys only if it is told to (before 1.18)",
    ),
    "forwarding of IPv4": ({"forwarding_off": {"ipv4": False, "ipv6": True}}, "SEC-02", V, "forwards packets of IPv4"),
    "forwarding of IPv6": ({"forwarding_off": {"ipv4": None, "ipv6": False}}, "SEC-02", V, "forwards packets of IPv6"),
    "an admin API in the control subnet": (
        {"admin_api": {"port": 8091, "addresses": ["10.1.5.10", "10.30.0.5"]}},
        "SEC-02", V, "takes calls of the admin API, tcp 8091, at 10.30.0.5, on acme-train-control",
    ),
    "an admin API everywhere": ({"admin_api": {"port": 8091, "addresses": ["*"]}}, "SEC-02", V, "at *, on"),
    "an admin API at all of IPv4": ({"admin_api": {"port": 8091, "addresses": ["0.0.0.0"]}}, "SEC-02", V, "at 0.0.0.0"),
    "an admin API at all of IPv6": ({"admin_api": {"port": 8091, "addresses": ["::"]}}, "SEC-02", V, "at ::, on"),
    "a key in user data": ({"user_data_clean": False}, "SEC-04", V, "has a key in the user data on its machine"),
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found_by_its_rule_and_again(defect: str) -> None:
    changes, rule, verdict, words = DEFECTS[defect]
    for site in (plain(), wanting(plain())):
        judgement, again = asked(site, evidence(site, **changes))
        assert verdicts(judgement)[rule] == verdict
        assert any(words in message for _, _, message in of(judgement, rule))
        assert {item.rule for item in judgement.findings} - _beside(defect) == {rule}
        assert rule in again
        if verdict == V:
            assert any(FILE in text for item in judgement.findings if item.rule == rule for text in item.witness)
        elif rule != "SEC-01":
            assert {severity for _, severity, _ in of(judgement, rule)} == {"W"}


def _beside(defect: str) -> set[str]:
    """What else an older release brings with it: no source has it with the SDK of the image."""
    return {"LIF-08"} if "nobody tried" in defect else set()


@pytest.mark.parametrize("said_of_sdk", [{"sdk": "3.1.0"}, {"sdk": None}])
def test_an_sdk_of_which_nobody_says_that_it_goes_with_it_is_not_known(said_of_sdk: dict[str, Any]) -> None:
    site = stating(STATED | said_of_sdk, {"vipu": "1.18.3"})
    judgement, again = asked(site, evidence(site))
    assert (said(judgement)["LIF-08"], "LIF-08" in again) == (N, True)
    assert {severity for _, severity, _ in of(judgement, "LIF-08")} == {"W"}


@pytest.mark.parametrize("api", [
    None, {"port": 8091, "addresses": []}, {"port": 8091, "addresses": ["10.1.5.10", "fe80::1"]},
])  # fmt: skip
def test_an_admin_api_elsewhere_or_unread_contradicts_nothing(api: dict[str, Any] | None) -> None:
    """On the operator's side, or where nobody looked."""
    judgement, again = asked(plain(), evidence(plain(), admin_api=api, user_data_clean=None))
    assert said(judgement) == dict.fromkeys(RULES, P)
    assert again.isdisjoint(RULES)


def test_what_is_found_again_in_part_is_still_taken_for_granted() -> None:
    """Filters of ports and planned user data are not derived a second time."""
    results = [{"rule": rule} for rule in RULES]
    assert taken_for_granted(results) == ["SEC-02", "SEC-04"]


def test_a_reading_that_is_too_old_counts_as_none_and_what_it_found_open_stands() -> None:
    """Nothing becomes better by waiting."""
    worst = {
        "keys_asked": False,
        "certificates": False,
        "backup": None,
        "forwarding_off": {"ipv4": False, "ipv6": False},
        "admin_api": {"port": 8091, "addresses": ["*"]},
        "user_data_clean": False,
    }
    for site in (plain(), wanting(plain())):
        judgement, again = asked(site, evidence(site, read=NOW - 31 * DAY, **worst))
        assert said(judgement) == {"LIF-08": N, "LIF-12": N, "SEC-01": V, "SEC-02": V, "SEC-04": V}
        (found,) = of(judgement, "LIF-08")
        assert found[2].startswith(f"the reading of {NAME} is of")
        assert "older than 30d" in found[2]
        assert again & {*RULES} == {*RULES}


def test_a_reading_makes_nothing_better_than_it_is_stated() -> None:
    site = plain()
    guards = tuple(
        item.model_copy(update={"guards": item.guards | {"secure_tls": None}}) if item.id == "A4" else item
        for item in site.assumptions
    )
    unsaid = changed(site, assumptions=guards)
    judgement, again = asked(unsaid, evidence(unsaid))
    assert (verdicts(judgement)["SEC-01"], "SEC-01" in again) == (N, True)


@pytest.mark.parametrize(("defect", "path"), [
    ("an open API", "assumptions.A4.secure_tls"),
    ("forwarding of IPv6", "sharing.vipu-controller.guards.ipv6_forwarding_off"),
    ("an admin API everywhere", "sharing.vipu-controller.guards.listeners_listed"),
])  # fmt: skip
def test_what_a_reading_contradicts_is_named_with_its_place(defect: str, path: str) -> None:
    changes, rule, _, _ = DEFECTS[defect]
    judgement, _ = asked(plain(), evidence(plain(), **changes))
    (finding,) = (item for item in judgement.findings if item.rule == rule)
    assert {item.name for item in finding.about} >= {NAME, path}


def test_a_file_of_another_tenants_controller_says_nothing() -> None:
    judgement, again = asked(plain(), evidence(plain(), tenant="globex", keys_asked=False, user_data_clean=False))
    assert said(judgement) == {"LIF-08": NA, "LIF-12": NA, **STATED_RULES}
    assert again.isdisjoint(RULES)


def test_locks_rest_on_no_reading() -> None:
    """Neither what is asked of readings nor what was read makes a lock older."""
    site = plain()
    read = with_controllers(wanting(site), {NAME: evidence(site)})
    allocation, before, after = acme().lock.allocation, SiteHashes(site), SiteHashes(read)
    assert (after.whole, after.slice_hash(allocation)) == (before.whole, before.slice_hash(allocation))
