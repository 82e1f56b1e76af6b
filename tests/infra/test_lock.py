"""`interlock lock`: who is given what, and what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.infra.conftest import Interlock, Lyon

ACME, GLOBEX, SITE = "tenants/acme.lock.json", "tenants/globex.lock.json", "site.lock.json"


def told(err: str) -> list[str]:
    """The lines about whole locks, without what changed in them."""
    return [line for line in err.splitlines() if not line.startswith(" ")]


def read(lyon: Lyon, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lyon.file(name).read_text())
    return document


def test_the_first_time_everybody_gets_a_lock(unlocked: Lyon, interlock: Interlock) -> None:
    done = interlock("lock")
    assert done.code == 0
    assert told(done.err) == ["site: written, serial 1", "acme: written, serial 1", "globex: written, serial 1"]
    assert "  train is given IPU-Machine ipum-01, ipum-02, ipum-03, ipum-04; a server on host poplar-1" in done.err
    assert "warning" not in done.err
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
    assert done.err.startswith("stacks/lyon/tenants/globex.yaml:10:24: PL-002 ")
    assert "\n  hint: " in done.err
    assert "Traceback" not in done.err
    assert lyon.locks() == before


def test_a_lock_that_holds_claims_needs_its_request(lyon: Lyon, interlock: Interlock) -> None:
    before = lyon.locks()
    lyon.file("tenants/acme.yaml").unlink()
    done = interlock("lock")
    assert done.code == 2
    assert done.err.startswith("stacks/lyon/tenants/acme.lock.json: IN-035 ")
    assert "`state: gone`" in done.err
    assert lyon.locks() == before


def test_a_tenant_that_goes_gives_up_everything_and_it_stays_taken(lyon: Lyon, interlock: Interlock) -> None:
    request = lyon.file("tenants/acme.yaml")
    request.write_text(f"state: gone\n{request.read_text()}")
    done = interlock("lock", "acme")
    assert done.code == 0, done.err
    lock = read(lyon, ACME)
    assert lock["allocation"] == {"vpods": {}}
    (first,) = [item for item in lock["released"] if (item["claim"], item["value"]) == ("machines", "ipum-01")]
    assert (first["vpod"], first["since"][:2]) == ("train", "20")
    assert "  train gives up IPU-Machine ipum-01" in done.err
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 16")
    assert interlock("lock", "globex").code == 2


def test_a_move_is_done_only_when_asked_for(unlocked: Lyon, interlock: Interlock) -> None:
    unlocked.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    unlocked.replace("tenants/globex.yaml", "machines: 8", "machines: 2")
    interlock("lock")
    assert read(unlocked, GLOBEX)["allocation"]["vpods"]["research"]["machines"] == ["ipum-03", "ipum-04"]
    unlocked.replace("tenants/acme.yaml", "machines: 2", "machines: 4")
    before = unlocked.locks()
    refused = interlock("lock", "acme")
    assert refused.code == 2
    assert refused.err.startswith("stacks/lyon/tenants/acme.yaml:")
    assert "PL-003 vPOD train cannot grow to 4 IPU-Machines" in refused.err
    assert (
        "hint: the move that is possible: moves, 2 → 4 IPU-Machines: given ipum-05, ipum-06, ipum-07, ipum-08; "
        "releases ipum-01, ipum-02; "
    ) in refused.err
    assert "SwitchPort acme-train-mgmt-ipum-02, acme-train-mgmt-ipum-01, " in refused.err
    assert "ask for it with `--move`, or free what is in the way" in refused.err
    assert unlocked.locks() == before
    moved = interlock("lock", "acme", "--move")
    assert moved.code == 0, moved.err
    assert "  train is given IPU-Machine ipum-05, ipum-06, ipum-07, ipum-08\n" in moved.err
    assert "  train gives up IPU-Machine ipum-01, ipum-02; nobody gets them" in moved.err
    assert "  train moves, 2 → 4 IPU-Machines: given ipum-05, ipum-06, ipum-07, ipum-08; releases ipum-01" in moved.err
    assert "SwitchPort acme-train-mgmt-ipum-02, acme-train-mgmt-ipum-01, " in moved.err
    assert unlocked.locks() == before | {ACME: unlocked.file(ACME).read_bytes()}


def test_data_that_a_destroy_would_refuse_are_warned_of(lyon: Lyon, interlock: Interlock) -> None:
    said = interlock("lock", "acme").err
    assert "on_delete" not in said, "acme says erase"
    lyon.replace("tenants/acme.yaml", "on_delete: erase", "on_delete: keep")
    for _ in range(2):
        said = interlock("lock", "acme").err
        assert "warning: `pulumi destroy` refuses to take acme-" in said
        for name in ("acme-train-poplar-0-data", "acme-train-poplar-1-data", "acme-checkpoints"):
            assert name in said
    (acme,) = json.loads(interlock("lock", "acme", "--format", "json").out)["tenants"]
    assert sorted(acme["kept_data"]) == [
        "acme-checkpoints", "acme-datasets", "acme-train-poplar-0-data", "acme-train-poplar-1-data",
    ]  # fmt: skip


def test_the_report_as_json(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    done = interlock("lock", "--format", "json")
    acme, globex = json.loads(done.out)["tenants"]
    assert done.err == ""
    assert (acme["id"], acme["changed"], acme["serial"]) == ("acme", True, 2)
    assert acme["vpods"][0]["given_up"] == [{"claim": "hosts", "value": "poplar-2"}]
    assert (globex["changed"], globex["vpods"][0]["given"]) == (False, [])


def test_ctrl_c_leaves_every_lock_whole(lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lyon.locks()
    lyon.replace("site.yaml", "volume_types: [fast]", "volume_types: [fast, slow]")
    written: list[str] = []

    def interrupted(descriptor: int) -> None:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append("a lock")

    monkeypatch.setattr("os.fsync", interrupted)
    assert interlock("lock").code == 130
    monkeypatch.undo()
    after = lyon.locks()
    assert [name for name in before if after[name] != before[name]] == [SITE, ACME]
    for name in after:
        assert json.loads(after[name])["serial"] == (1 if name == GLOBEX else 2)
    assert not [file for file in lyon.file("tenants").iterdir() if file.name.startswith(".")]


def test_options_that_do_not_go_together_are_refused(lyon: Lyon, interlock: Interlock) -> None:
    for options in (("--check", "--move"), ("--upgrade", "acme"), ("--fleet",), ("--check", "acme")):
        assert interlock("lock", *options).code == 2


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
