"""`interlock lock`: who is given what, and what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.infra.conftest import Interlock, Lyon

ACME, GLOBEX, SITE = "tenants/acme.lock.json", "tenants/globex.lock.json", "site.lock.json"


def read(lyon: Lyon, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lyon.file(name).read_text())
    return document


def test_the_first_time_everybody_gets_a_lock(unlocked: Lyon, interlock: Interlock) -> None:
    done = interlock("lock")
    assert done.code == 0
    assert done.err.splitlines() == [
        "site: written, serial 1",
        "acme: written, serial 1",
        "globex: written, serial 1",
    ]
    assert done.out == ""
    assert sorted(unlocked.locks()) == [SITE, ACME, GLOBEX]
    owners = {read(unlocked, name)["owner"] for name in unlocked.locks()}
    assert len(owners) == 3


def test_a_second_time_no_byte_changes(lyon: Lyon, interlock: Interlock) -> None:
    before = lyon.locks()
    done = interlock("lock")
    assert done.code == 0
    assert [line.split()[1] for line in done.err.splitlines()] == ["unchanged,"] * 3
    assert lyon.locks() == before


def test_tenants_are_served_in_the_order_of_their_ids(unlocked: Lyon, interlock: Interlock) -> None:
    interlock("lock", "globex", "acme", "acme")
    named = {name: read(unlocked, name)["allocation"] for name in (ACME, GLOBEX)}
    for name in unlocked.locks():
        unlocked.file(name).unlink()
    interlock("lock")
    assert {name: read(unlocked, name)["allocation"] for name in (ACME, GLOBEX)} == named


def test_a_changed_request_changes_its_own_lock_only(lyon: Lyon, interlock: Interlock) -> None:
    before, old = lyon.locks(), read(lyon, ACME)
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    done = interlock("lock")
    assert "acme: written, serial 2" in done.err
    assert lyon.locks() == before | {ACME: lyon.file(ACME).read_bytes()}
    new = read(lyon, ACME)
    assert new["owner"] == old["owner"]
    assert new["allocation"]["vpods"]["train"]["machines"] == old["allocation"]["vpods"]["train"]["machines"]


def test_a_claim_given_up_stays_in_the_lock(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    interlock("lock", "acme")
    released = {item["value"] for item in read(lyon, ACME)["released"]}
    assert any(value.startswith("ipum-") for value in released)
    again = lyon.locks()
    interlock("lock", "acme")
    assert lyon.locks() == again


def test_a_changed_site_renews_every_lock_and_keeps_every_claim(lyon: Lyon, interlock: Interlock) -> None:
    before = {name: read(lyon, name) for name in (ACME, GLOBEX)}
    lyon.replace("site.yaml", "volume_types: [fast]", "volume_types: [fast, slow]")
    done = interlock("lock")
    assert [line.split()[-1] for line in done.err.splitlines()] == ["2", "2", "2"]
    for name, old in before.items():
        assert read(lyon, name)["allocation"] == old["allocation"]


def test_without_room_nothing_is_written(lyon: Lyon, interlock: Interlock) -> None:
    before = lyon.locks()
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 1")
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 16")
    done = interlock("lock")
    assert done.code == 2
    assert done.err.startswith("stacks/lyon/tenants/globex.yaml:2:1: PL-002 ")
    assert "\n  hint: " in done.err
    assert "Traceback" not in done.err
    assert lyon.locks() == before


def test_a_lock_whose_request_is_gone_stays_and_counts(lyon: Lyon, interlock: Interlock) -> None:
    before = lyon.locks()
    lyon.file("tenants/acme.yaml").unlink()
    done = interlock("lock")
    assert done.code == 0
    assert done.err.splitlines()[-1] == "acme: has a lock and no request any more; its claims still count"
    assert lyon.locks() == before
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 16")
    refused = interlock("lock")
    assert refused.code == 2
    assert "PL-002" in refused.err


def test_unknown_tenants_are_all_named_with_the_nearest(lyon: Lyon, interlock: Interlock) -> None:
    before = lyon.locks()
    done = interlock("lock", "acne", "globex", "blobex")
    assert done.code == 2
    assert done.err.splitlines() == [
        "stacks/lyon/tenants/acne.yaml: IN-020 there is no tenant `acne`",
        "  hint: did you mean `acme`?",
        "stacks/lyon/tenants/blobex.yaml: IN-020 there is no tenant `blobex`",
        "  hint: did you mean `globex`?",
    ]
    assert lyon.locks() == before


def test_a_lock_edited_by_hand_is_refused(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(ACME, '"serial": 1', '"serial": 7')
    done = interlock("lock")
    assert done.code == 2
    assert "IN-033" in done.err


def test_an_unknown_site_is_an_input_error(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("lock", "--site", "lion")
    assert done.code == 2
    assert "did you mean `lyon`?" in done.err


def test_no_draft_is_left_beside_the_locks(lyon: Lyon) -> None:
    tenants: Path = lyon.file("tenants")
    assert not [file for file in tenants.iterdir() if file.name.startswith(".")]
