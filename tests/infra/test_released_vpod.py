"""`state: released` of a vPOD: all is given up but its servers' volumes, which go on being paid and are there again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from infra.program.gate import Gate
from interlock.planning.s3_users import s3_keys_of
from tests.infra.conftest import Interlock, Lyon

ASKED, RELEASED = "    machines: 4 # or `ipus: 16`\n", "    state: released\n    machines: 4 # or `ipus: 16`\n"
VOLUMES = ["acme-train-poplar-0-data", "acme-train-poplar-1-data"]
SAID = f"train is released: {', '.join(VOLUMES)} stay (200 GiB), and per month is paid: 16.00 EUR"


def told(interlock: Interlock, *words: str) -> dict[str, Any]:
    done = interlock(*words, "--format", "json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def placed(document: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Name of a volume -> where it stands, and what it is."""
    return {
        item["name"]: (item["component"], item["spec"])
        for item in document["plan"]["resources"]
        if item["kind"] == "Volume"
    }


@pytest.fixture
def released(lyon: Lyon, interlock: Interlock) -> Lyon:
    lyon.replace("tenants/acme.yaml", ASKED, RELEASED)
    done = interlock("lock", "acme")
    assert done.code == 0, done.err
    assert f"  {SAID}\n" in done.err
    assert "train gives up IPU-Machine ipum-01, ipum-02, ipum-03, ipum-04; a server on host" in done.err
    return lyon


def test_volumes_stay_are_paid_and_are_there_again(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    before = told(interlock, "plan", "acme")
    earlier = tmp_path / "before.json"
    earlier.write_text(json.dumps(before))
    lyon.replace("tenants/acme.yaml", ASKED, RELEASED)
    assert interlock("lock", "acme").code == 0
    text = interlock("plan", "acme", "--against", str(earlier)).out
    assert f"\nreleased\n  {SAID}\n" in text
    assert "train is released, 4 → 0 IPU-Machines: releases ipum-01, ipum-02, ipum-03, ipum-04" in text
    away = told(interlock, "plan", "acme", "--against", str(earlier))
    assert away["paid"] == [{"vpod": "train", "volumes": VOLUMES, "gib": 200, "per_month": "16.00", "currency": "EUR"}]
    # The component is a part of what Pulumi knows a volume by: in another it would be another volume.
    assert placed(away) == placed(before)
    assert not {item["name"] for item in away["changes"]} & {*VOLUMES, "acme-checkpoints", "acme-train-s3-key"}
    earlier.write_text(json.dumps(away))
    lyon.replace("tenants/acme.yaml", RELEASED, ASKED)
    assert interlock("lock", "acme").code == 0
    back = told(interlock, "plan", "acme", "--against", str(earlier))
    assert (placed(back), back["paid"]) == (placed(before), [])
    assert [item["way"] for item in back["resizes"]] == ["returns"]
    assert {item["name"] for item in back["changes"]} >= {
        f"{name.removesuffix('-data')}-attachment" for name in VOLUMES
    }
    assert not {item["name"] for item in back["changes"]} & {*VOLUMES}


def test_it_is_proved_and_derived_again(released: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    file = tmp_path / "acme.json"
    assert interlock("check", "acme", "--certificate", str(file)).code == 0
    done = interlock("verify", str(file), "--site", "lyon")
    assert done.code == 0, done.out + done.err
    # Nobody else's plan changes by it.
    assert interlock("check").code == 0


def test_what_has_no_price_is_not_free(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/acme.yaml", ASKED, RELEASED)
    lyon.replace("site.yaml", "  volume-gib: ", "  # volume-gib: ")
    done = interlock("lock")
    assert done.code == 0, done.err
    assert "stay (200 GiB), and per month is paid: the site states no price of volume-gib" in done.err


def test_what_the_request_says_of_it_waits(lyon: Lyon) -> None:
    """A volume of the tenant's own is attached to nothing, a share mounted nowhere, and no person let in everywhere."""
    lyon.replace("tenants/acme.yaml", ASKED, RELEASED)
    text = lyon.file("tenants/acme.yaml").read_text()
    lyon.file("tenants/acme.yaml").write_text(f"{text}\nvolumes:\n  scratch: {{size: 10GiB, vpod: train, server: 0}}\n")
    tenant = Gate.open("lyon").tenant("acme")
    assert [(one.vpod, one.server) for one in tenant.volumes] == [(None, None)]
    assert [one.vpods for one in tenant.shares] == [()]
    assert ([one.name for one in tenant.vpods], [one.name for one in tenant.released]) == ([], ["train"])


def test_a_bucket_is_still_of_whoever_made_it(lyon: Lyon) -> None:
    """Else another vPOD, which no request lets in, would be the one that may do everything with it."""
    another = "  other: {machines: 4, poplar: {servers: 1, flavor: poplar.half, image: poplar}}\n\nshares:\n"
    lyon.replace("tenants/acme.yaml", "\nshares:\n", another)
    assert [*s3_keys_of(Gate.open("lyon").tenant("acme"))] == ["train", "other"]
    lyon.replace("tenants/acme.yaml", ASKED, RELEASED)
    assert [*s3_keys_of(Gate.open("lyon").tenant("acme"))] == ["train", "other"]
