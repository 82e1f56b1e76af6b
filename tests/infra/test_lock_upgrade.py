"""`interlock lock --upgrade`: locks of format 1 on a whole site."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from interlock.model.lock.record import FORMAT
from tests.infra.conftest import Interlock, Lyon

FORMATS = Path(__file__).parents[1] / "model" / "formats"
ACME, SITE = "tenants/acme.lock.json", "site.lock.json"


def read(lyon: Lyon, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lyon.file(name).read_text())
    return document


@pytest.fixture
def old(lyon: Lyon) -> Lyon:
    """The site with the locks of acme and of the operator as the first version wrote them, and the request of then."""
    text = lyon.file("tenants/acme.yaml").read_text()
    before, found, rest = text.partition("shares:\n")
    assert found
    lyon.file("tenants/acme.yaml").write_text(before + rest[rest.index("buckets:") :])
    shutil.copy(FORMATS / "acme-1.lock.json", lyon.file(ACME))
    shutil.copy(FORMATS / "site-1.lock.json", lyon.file(SITE))
    return lyon


def test_every_other_command_names_it(old: Lyon, interlock: Interlock) -> None:
    for command in (("lock",), ("lock", "acme"), ("lock", "--check"), ("check",), ("capacity",)):
        done = interlock(*command)
        assert done.code == 2
        assert done.err.count("IN-034 a lock of format 1: this version reads format 2") == 2
        assert "run `interlock lock --upgrade`" in done.err


def test_no_claim_changes_and_the_lock_is_fresh(old: Lyon, interlock: Interlock) -> None:
    before, files = {name: read(old, name) for name in (ACME, SITE)}, old.locks()
    done = interlock("lock", "--upgrade")
    assert done.code == 0, done.err
    assert done.err.splitlines() == ["site: upgraded, serial 2", "acme: upgraded, serial 2"]
    for name, was in before.items():
        now = read(old, name)
        assert (now["format"], now["serial"], now["owner"]) == (FORMAT, was["serial"] + 1, was["owner"])
    claims = before[ACME]["allocation"]["vpods"]["train"]
    now = read(old, ACME)["allocation"]["vpods"]["train"]
    assert {key: now[key] for key in claims} == claims
    assert old.locks()["tenants/globex.lock.json"] == files["tenants/globex.lock.json"]
    assert interlock("lock", "--check").code == 0
    assert interlock("check").code == 0


def test_a_second_time_nothing_is_written(old: Lyon, interlock: Interlock) -> None:
    interlock("lock", "--upgrade")
    before = old.locks()
    done = interlock("lock", "--upgrade")
    assert done.code == 0
    assert done.err == "nothing to upgrade: every lock is of the present format\n"
    assert old.locks() == before


def test_a_request_that_changed_meanwhile_changes_no_claim(old: Lyon, interlock: Interlock) -> None:
    old.replace("tenants/acme.yaml", "servers: 2", "servers: 1")
    done = interlock("lock", "--upgrade", "--format", "json")
    assert done.code == 0, done.err
    assert [(item["id"], item["stale"]) for item in json.loads(done.out)["upgraded"]] == [
        ("site", False),
        ("acme", True),
    ]
    assert read(old, ACME)["allocation"]["vpods"]["train"]["hosts"] == ["poplar-1", "poplar-2"]
    assert "IN-031" in interlock("check").err
    assert interlock("lock", "acme").code == 0
    assert interlock("check").code == 0


def test_one_edited_by_hand_stops_all_of_it(old: Lyon, interlock: Interlock) -> None:
    old.replace(ACME, '"ipu_data_vlan": 1000', '"ipu_data_vlan": 1001')
    before = old.locks()
    done = interlock("lock", "--upgrade")
    assert done.code == 2
    assert "IN-033 edited by hand" in done.err
    assert old.locks() == before


def test_a_later_format_says_that_this_version_is_too_old(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(ACME, f'"format": {FORMAT}', f'"format": {FORMAT + 1}')
    for command in (("lock",), ("lock", "--upgrade")):
        done = interlock(*command)
        assert done.code == 2
        assert "this version of interlock is too old" in done.err
