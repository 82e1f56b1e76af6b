"""`interlock site`: on one screen, in full, and with a wrong file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from interlock.model.site.loading import load_site
from tests.infra.conftest import Interlock, Lyon

STACKS = Path(__file__).parents[2] / "stacks"


def test_one_screen(interlock: Interlock) -> None:
    ended = interlock("site")
    assert (ended.code, ended.err) == (0, "")
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert lines[0] == "site lyon on cloud sandbox"
    assert "machines 16 16 ipu-m2000" in lines
    assert "ipu_data VLAN 1000-1999 on fabric100g /24 from 10.32.0.0/12" in lines
    assert "vipu-controller vipu-controller any tenant rule SEC-03 all 6 guards hold" in lines
    assert "prices bare-metal-host" in lines
    assert max(len(line) for line in ended.out.splitlines()) <= 120


def test_the_full_form_loads_again(interlock: Interlock, tmp_path: Path) -> None:
    for form in ("yaml", "json"):
        ended = interlock("site", "--full", "--format", form)
        assert (ended.code, ended.err) == (0, "")
        home = tmp_path / form / "lyon"
        home.mkdir(parents=True)
        (home / "site.yaml").write_text(ended.out, encoding="utf-8")
        assert load_site(home, home.parent).site == load_site(STACKS / "lyon", STACKS.parent).site
        assert "racks" not in (yaml.safe_load(ended.out) if form == "yaml" else json.loads(ended.out))


def test_json_has_the_rows_of_the_screen(interlock: Interlock) -> None:
    told = json.loads(interlock("site", "--format", "json").out)
    assert (told["version"], told["site"], told["cloud"]) == (1, "lyon", "sandbox")
    assert ["machines", "16", "16 ipu-m2000"] in told["counts"]
    assert all(told[part] for part in ("counts", "pools", "shared", "not_stated"))


def test_a_form_without_the_full_form_is_refused(interlock: Interlock) -> None:
    ended = interlock("site", "--format", "yaml")
    assert ended.code == 2
    assert "add --full" in ended.err


def test_a_site_that_is_not_there(interlock: Interlock) -> None:
    ended = interlock("site", "--site", "lyn")
    assert (ended.code, ended.out) == (2, "")
    assert "IN-020 there is no such site" in ended.err
    assert "did you mean `lyon`?" in ended.err


@pytest.mark.parametrize("name", ["/etc", "..", "../stacks/lyon", "lyon/../lyon"])
def test_a_folder_that_is_not_below_stacks(interlock: Interlock, name: str) -> None:
    for command in ("site", "check"):
        ended = interlock(command, "--site", name)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"{name}: IN-020 there is no such site\n")


def test_the_request_of_a_tenant_called_site_is_no_site(lyon: Lyon, interlock: Interlock) -> None:
    lyon.file("tenants/site.yaml").write_text(lyon.file("tenants/acme.yaml").read_text())
    ended = interlock("site", "--site", "lyon/tenants")
    assert (ended.code, ended.out) == (2, "")
    assert "IN-020 there is no such site" in ended.err


def test_tenants_and_locks_are_not_looked_at(lyon: Lyon, interlock: Interlock) -> None:
    before = interlock("site")
    lyon.file("tenants/acme.yaml").write_text("vpods: [")
    lyon.file("tenants/globex.lock.json").write_text("{")
    assert interlock("site") == before
    assert before.code == 0
