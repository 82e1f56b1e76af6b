"""What `interlock controllers --record` writes of the shipped site's V-IPU controllers, and what the proof says.

The controllers are one simulator, reached by its commands. What is read of each is tested in tests/vipu_driving.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interlock.model.evidence.controller_file import ControllerEvidenceFile
from interlock.model.evidence.values import moment_text
from interlock.vipu.answers import SaidAgent
from interlock.vipu.client import ControllerClient
from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.racks import rack_of
from sandbox.vipu.serving import Serving
from tests.infra.conftest import Ended, Interlock, Lyon
from tests.vipu.desk import AT_ONCE, Desk
from tests.vipu_driving.stand import Stand

NAME = "acme-train-controller"
FILE = f"evidence/controllers-{NAME}.json"


@dataclass
class Asked:
    """The site and the simulator that stands for all its controllers."""

    site: Lyon
    desk: Desk

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.site.file(FILE).read_text())
        return found

    def change(self, *, sealed: bool = True, **values: Any) -> None:
        """Other values in the file, with the digest that belongs to them."""
        document = self.read() | values
        if sealed:
            document["digest"] = ControllerEvidenceFile.model_validate(document).expected_digest
        self.site.file(FILE).write_text(json.dumps(document))


@pytest.fixture
def asked(lyon: Lyon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    desk = Desk(tmp_path / "controller", rack_of(), ControllerSettings(durations=AT_ONCE))
    desk.agents(range(1, 3))
    (tmp_path / "backup").mkdir()
    more = f"    machine: {{storage: {tmp_path / 'controller' / 'state'}, backup: {tmp_path / 'backup'}}}\n"
    with Serving(desk.controller).running() as serving:
        monkeypatch.setenv("INTERLOCK_VIPU", str(Stand(desk, serving, tmp_path).write(more)))
        yield Asked(lyon, desk)


def found(ended: Ended, rule: str) -> list[dict[str, Any]]:
    """What `check --format json` finds of a rule."""
    stacks = json.loads(ended.out)["stacks"]
    return [item for stack in stacks for item in stack["findings"] if item["rule"] == rule]


def test_what_is_recorded_is_what_the_proof_and_the_verifier_rest_on(
    asked: Asked, interlock: Interlock, tmp_path: Path
) -> None:
    """Of a controller without `--secure`, without certificates and backup. Before it was read it was proved."""
    assert interlock("check", "acme").code == 0
    done = interlock("controllers", NAME, "--record", "--by", "the tests")
    assert (done.code, done.err) == (1, "")
    assert "keys: a call with a wrong key was answered" in done.out
    assert f"evidence of {NAME}: stacks/lyon/{FILE}; commit it" in done.out
    said = asked.read()
    assert {key: said[key] for key in ("controller", "tenant", "by", "release", "keys_asked", "certificates")} == {
        "controller": NAME, "tenant": "acme", "by": "the tests", "release": "1.18.0", "keys_asked": False,
        "certificates": False,
    }  # fmt: skip
    assert said["backup"] == {"state": None, "certificates": False}
    certificate = tmp_path / "acme.json"
    ended = interlock("check", "acme", "--format", "json", "--certificate", str(certificate))
    assert ended.code == 1
    assert [item["verdict"] for item in found(ended, "SEC-01")] == ["violated"]
    (item,) = found(ended, "SEC-01")
    assert f"{FILE}, read {said['read']} by the tests" in item["witness"]
    places = interlock("check", "acme").out
    assert "stacks/lyon/site.yaml:" in places.partition("SEC-01")[2].partition("LIF-")[0], places
    assert {one["message"] for one in found(ended, "LIF-12")} >= {
        f"controller {NAME} has no backup of its state: there is no copy of vipu-server.json"
    }
    verified = interlock("verify", str(certificate), "acme", "--site", "lyon")
    assert "and does not show" not in verified.out
    # A certificate that was made without what was read is refused beside it.
    whole = asked.read()
    asked.site.file(FILE).unlink()
    assert interlock("check", "acme", "--certificate", str(certificate)).code == 0
    assert interlock("verify", str(certificate), "acme", "--site", "lyon").code == 0
    asked.site.file(FILE).write_text(json.dumps(whole))
    refused = interlock("verify", str(certificate), "acme", "--site", "lyon")
    assert refused.code == 1
    assert all(f"{rule} is " in refused.out for rule in ("LIF-08", "LIF-12", "SEC-01"))


def test_an_id_of_an_agent_may_be_as_long_as_plans_make_it(
    asked: Asked, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where one fits into no file the old file stays, with the reason: of that controller alone."""
    longest, listed = "-".join(("t" * 20, "v" * 20, "agent", "m" * 63)), ControllerClient.agents

    def with_one(name: str) -> None:
        one = SaidAgent(name, "10.2.1.3", 8080, "ONLINE", "1.18.0")
        monkeypatch.setattr(ControllerClient, "agents", lambda self: {**listed(self), name: one})

    with_one(longest)
    assert interlock("controllers", NAME, "--record").code == 1
    whole = asked.read()
    assert longest in [item["agent"] for item in whole["agents"]]
    with_one("x" * 256)
    ended = interlock("controllers", NAME, "--record")
    assert (ended.code, "is no id of an agent" in ended.out, asked.read() == whole) == (4, True, True), ended.out


def test_a_site_that_wants_readings_warns_until_there_are_some(asked: Asked, interlock: Interlock) -> None:
    """No lock grows older, and nothing is stopped; but for what one found open, however old it is."""
    before = asked.site.locks()
    line = "controller: {flavor: vipu.controller, image: vipu-controller, user_api_port: 8090}"
    wanted = line.replace("}", ", readings: {max_age: 10d, backup: 2d}}")
    asked.site.replace("site.yaml", line, wanted)
    ended = interlock("check", "acme", "--format", "json")
    assert (ended.code, asked.site.locks() == before) == (0, True)
    for rule in ("LIF-08", "LIF-12"):
        assert [(item["severity"], item["verdict"]) for item in found(ended, rule)] == [("W", "not provable")]
    assert "readings:" in interlock("site", "--full").out
    assert interlock("controllers", NAME, "--record").code == 1
    old = moment_text(datetime.now(UTC) - timedelta(days=11))
    asked.change(read=old)
    ended = interlock("check", "acme", "--format", "json")
    assert ended.code == 1
    assert [item["verdict"] for item in found(ended, "SEC-01")] == ["violated"]
    (item,) = found(ended, "LIF-12")
    assert item["message"].startswith(f"the reading of {NAME} is of {old}, older than 10d")


@pytest.mark.parametrize(
    ("values", "sealed", "words"),
    [
        ({"keys_asked": True}, False, "IN-041"),
        ({"site": "paris"}, True, "IN-042"),
        ({"read": "2101-01-01T00:00:00Z"}, True, "IN-043"),
        ({"controller": "acme-other-controller"}, True, "its name says another controller"),
        ({"certificates": "yes"}, False, "IN-003"),
    ],
)
def test_a_wrong_file(asked: Asked, interlock: Interlock, values: dict[str, Any], sealed: bool, words: str) -> None:
    interlock("controllers", NAME, "--record")
    asked.change(sealed=sealed, **values)
    ended = interlock("check", "acme")
    assert (ended.code, words in ended.err, f"{FILE}:1:" in ended.err) == (2, True, True), ended.err


def test_names_words_and_controllers_that_do_not_answer(
    asked: Asked, interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = interlock("controllers", "acme-trian-controller")
    assert (ended.code, "is no V-IPU controller of a plan of this site" in ended.err) == (2, True)
    assert "did you mean `acme-train-controller`?" in ended.err
    assert "who answers for evidence is said with --record" in interlock("controllers", "--by", "me").err
    elsewhere = tmp_path / "other.yaml"
    elsewhere.write_text(f"controllers:\n  {NAME}: {{run: local, command: [/nowhere/vipu-admin]}}\n")
    monkeypatch.setenv("INTERLOCK_VIPU", str(elsewhere))
    ended = interlock("controllers", "--record", "--format", "json")
    assert ended.code == 4
    without = json.loads(ended.out)["recorded"]["without"]
    assert "/nowhere/vipu-admin cannot be started here" in without[NAME]
    assert all("does not say how V-IPU controller" in why for name, why in without.items() if name != NAME)
    assert not list(asked.site.file("evidence").glob("controllers-*"))
