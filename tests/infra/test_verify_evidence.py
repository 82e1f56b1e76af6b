"""`interlock verify` of a certificate whose guard rests on evidence: the same derivation, by the clock of now."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interlock.model.evidence.values import moment_text
from tests.certificate.altering import sealed
from tests.infra.conftest import Interlock, Lyon
from tests.infra.recorded import GUARD, MGMT, TOR, Files, rest_on_evidence


@pytest.fixture
def files(unlocked: Lyon, interlock: Interlock) -> Files:
    """Evidence of now, two days before it is too old."""
    rest_on_evidence(unlocked)
    assert interlock("lock").code == 0
    found = Files(unlocked)
    found.write(days=28)
    return found


@pytest.fixture
def acme(files: Files, interlock: Interlock, tmp_path: Path) -> Path:
    """The certificate of one tenant."""
    file = tmp_path / "acme.json"
    done = interlock("check", "acme", "--certificate", str(file))
    assert done.code == 0, done.out + done.err
    return file


def altered(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """A certificate with other facts, and with the digests that belong to them."""
    found = json.loads(file.read_text())
    change(found["statement"])
    file.write_text(json.dumps(sealed(found)))


def test_it_says_what_the_guard_rests_on(acme: Path, files: Files, interlock: Interlock) -> None:
    said = json.loads(acme.read_text())["statement"]
    tor, mgmt = files.read(TOR), files.read(MGMT)
    assert said["guards"][GUARD] is True
    assert said["evidence"] == {
        GUARD: [
            ["tor-1", TOR, tor["read"], "30d", tor["configuration"]],
            ["mgmt-1", MGMT, mgmt["read"], "30d", mgmt["configuration"]],
        ]
    }
    assert interlock("verify", str(acme)).code == 0
    done = interlock("verify", str(acme), "acme", "--site", "lyon")
    assert done.code == 0, done.out


def test_three_days_later_it_is_not_sound(acme: Path, files: Files, interlock: Interlock) -> None:
    """With the files, and by itself; and one line for each switch, whatever follows from it."""
    day = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    for words in ((), ("acme", "--site", "lyon")):
        done = interlock("verify", str(acme), *words, "--as-of", day)
        assert done.code == 1
        assert done.out.splitlines() == [
            f"{GUARD}: the evidence of {switch} is of {files.read(name)['read']}, older than 30d by {day}T23:59:59Z"
            for switch, name in (("tor-1", TOR), ("mgmt-1", MGMT))
        ]


def test_on_its_own_day_it_was(acme: Path, interlock: Interlock) -> None:
    day = json.loads(acme.read_text())["date"]
    assert interlock("verify", str(acme), "--as-of", day).code == 0


def test_by_the_clock_of_now(acme: Path, interlock: Interlock) -> None:
    """To the second, not to the day."""

    def of(back: timedelta) -> Callable[[dict[str, Any]], None]:
        def change(said: dict[str, Any]) -> None:
            for row in said["evidence"][GUARD]:
                row[2] = moment_text(datetime.now(UTC) - back)

        return change

    for back, code in ((timedelta(days=30, minutes=-5), 0), (timedelta(days=30, minutes=5), 1)):
        altered(acme, of(back))
        assert interlock("verify", str(acme)).code == code
    altered(acme, of(-timedelta(minutes=5)))
    assert "which is yet to come" in interlock("verify", str(acme)).out


def test_other_evidence_than_that_of_the_site(acme: Path, files: Files, interlock: Interlock) -> None:
    files.write()
    done = interlock("verify", str(acme), "acme", "--site", "lyon")
    assert done.code == 1
    tor = files.read(TOR)
    assert done.out.splitlines()[0] == (
        f"{GUARD}: it does not rest on the evidence of tor-1 in the site, of {tor['read']}, {tor['configuration']}, "
        "no older than 30d"
    )
    assert len(done.out.splitlines()) == 2


def test_evidence_that_is_gone(acme: Path, files: Files, interlock: Interlock) -> None:
    files.site.file(TOR).unlink()
    done = interlock("verify", str(acme), "acme", "--site", "lyon")
    assert done.code == 1
    assert f"{GUARD}: it does not rest on the evidence of tor-1 in the site, which is not there" in done.out
    assert f"{GUARD}: the evidence of tor-1 is not there" in done.out


def test_evidence_of_another_configuration(acme: Path, files: Files, interlock: Interlock) -> None:
    """The certificate names the file as it is; that it says nothing of this switch is derived here, too."""
    other = files.read(MGMT)["configuration"]
    files.change(TOR, configuration=other)

    def change(said: dict[str, Any]) -> None:
        said["evidence"][GUARD][0][4] = other

    altered(acme, change)
    done = interlock("verify", str(acme), "acme", "--site", "lyon")
    assert done.code == 1
    assert f"{GUARD}: the evidence of tor-1 is about another configuration" in done.out


def to_longer_ago(said: dict[str, Any]) -> None:
    for row in said["evidence"][GUARD]:
        row[3] = "99d"


def to_one_switch(said: dict[str, Any]) -> None:
    said["evidence"][GUARD].pop()


def to_none(said: dict[str, Any]) -> None:
    said["evidence"][GUARD] = []


def to_by_hand(said: dict[str, Any]) -> None:
    said["evidence"] = {}


def to_another_guard(said: dict[str, Any]) -> None:
    said["evidence"]["assumptions.A2.default_policies"] = said["evidence"][GUARD]


def to_twice(said: dict[str, Any]) -> None:
    said["evidence"][GUARD].append(said["evidence"][GUARD][0])


def to_a_further_one(said: dict[str, Any]) -> None:
    said["evidence"][GUARD].append(["tor-9", *said["evidence"][GUARD][0][1:]])


def to_false(said: dict[str, Any]) -> None:
    said["guards"][GUARD] = False


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (to_longer_ago, "it does not rest on the evidence of tor-1 in the site"),
        (to_one_switch, "it does not rest on the evidence of mgmt-1 in the site"),
        (to_none, f"{GUARD} rests on evidence, and is True in it without any"),
        (to_by_hand, f"{GUARD} rests on evidence in the site alone"),
        (to_another_guard, "assumptions.A2.default_policies rests on evidence in it alone"),
        (to_twice, "it names evidence of tor-1 more than once"),
        (to_a_further_one, "it rests on evidence of tor-9, and the site has no such switch"),
        (to_false, f"{GUARD} rests on evidence, and is False in it without any"),
    ],
)
def test_a_forged_statement(
    acme: Path, interlock: Interlock, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    altered(acme, change)
    done = interlock("verify", str(acme), "acme", "--site", "lyon")
    assert done.code == 1
    assert words in done.out


@pytest.mark.parametrize(
    ("place", "value"), [(2, ""), (2, "yesterday"), (3, "30"), (3, "d"), (3, ""), (3, "30w"), (3, "9" * 30 + "d")]
)
def test_what_says_no_time(acme: Path, interlock: Interlock, place: int, value: str) -> None:
    def change(said: dict[str, Any]) -> None:
        said["evidence"][GUARD][0][place] = value

    altered(acme, change)
    done = interlock("verify", str(acme))
    assert done.code == 1
    words = "is not there" if (place, value) == (2, "") else "says in no known form when it was read"
    assert done.out.startswith(f"{GUARD}: the evidence of tor-1 {words}")


def test_one_that_was_judged_without_is_not_sound_by_its_verdict(
    files: Files, interlock: Interlock, tmp_path: Path
) -> None:
    files.site.file(TOR).unlink()
    file = tmp_path / "acme.json"
    assert interlock("check", "acme", "--certificate", str(file)).code == 3
    assert json.loads(file.read_text())["statement"]["guards"][GUARD] is None
    done = interlock("verify", str(file), "acme", "--site", "lyon")
    assert done.code == 1
    assert GUARD not in done.out
    assert "is not provable: " in done.out
