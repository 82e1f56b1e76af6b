"""What `lock`, `capacity`, `site` and `plan` say of machines and hosts that are out of service."""

from __future__ import annotations

import json

import pytest

from tests.infra.conftest import Interlock, Lyon

STATES = """\
      sync_cables: 4
      states:
        "ipum-[03-04]": {state: failed, reason: "RNIC dead, ticket 123"}
        ipum-07: {state: maintenance, reason: new firmware}
"""


@pytest.fixture
def worn(lyon: Lyon) -> Lyon:
    """The site as it was locked, and since then two machines of acme's failed."""
    lyon.replace("site.yaml", "      sync_cables: 4\n", STATES)
    return lyon


def test_who_has_one_keeps_it_and_is_warned(worn: Lyon, interlock: Interlock) -> None:
    before = worn.locks()
    done = interlock("lock")
    assert (done.code, worn.locks()) == (0, before)
    warnings = [line for line in done.err.splitlines() if line.startswith("  warning: ")]
    assert warnings[0] == (
        "  warning: train keeps IPU-Machine ipum-03, which has failed (RNIC dead, ticket 123): mend it and take its "
        "`state` out of the site file, or give the vPOD others by `pins.train.machines` and lock again, which says "
        "what that recreates"
    )
    assert [line.split(",")[0] for line in warnings] == [
        "  warning: train keeps IPU-Machine ipum-03", "  warning: train keeps IPU-Machine ipum-04"
    ]  # fmt: skip
    assert interlock("lock", "--check").code == 0


def test_a_hole_has_three_ways_out_with_what_each_does(lyon: Lyon, interlock: Interlock) -> None:
    """The failed machine is named by `interlock check`, too, and the move that is told is the one that is made."""
    lyon.replace("site.yaml", "      sync_cables: 4\n", STATES.replace("[03-04]", "[02-02]"))
    before = lyon.locks()
    done = interlock("lock", "acme")
    assert (done.code, lyon.locks()) == (0, before)
    said = [line for line in done.err.splitlines() if line.startswith("    ")]
    assert said[0].startswith("    replace: another unit in the place of ipum-02; ")
    assert "  warning: train is in pieces, and its proof fails (TOP-28); the ways out, and what each does:" in done.err
    assert said[1].startswith("      ipum-01, ipum-02, ipum-03, ipum-04 stay, and the new unit is tested first")
    assert said[2].startswith("      replaced: VipuAgent acme-train-agent-ipum-02; VipuCluster acme-train-cluster; ")
    assert said[3].startswith("      lost: partitions that users made in it, ")
    assert said[4] == "    shrink: ask for 2 IPU-Machines"
    assert said[5] == "      shrinks in place, 4 → 2 IPU-Machines: releases ipum-01, ipum-02"
    assert any(line.startswith("      deleted: ") and "SwitchPort acme-train-mgmt-ipum-02, " in line for line in said)
    assert said[-1].startswith("    move: not now: vPOD train needs 4 neighbouring ")
    checked = interlock("check", "acme")
    assert checked.code == 1
    assert "TOP-28" in checked.out
    ways = json.loads(interlock("lock", "acme", "--format", "json").out)["tenants"][0]["ways_out"]
    assert [(item["way"], item["machines"]) for item in ways[:2]] == [
        ("replace", ["ipum-01", "ipum-02", "ipum-03", "ipum-04"]), ("shrink", ["ipum-03", "ipum-04"])
    ]  # fmt: skip


def test_where_nothing_is_left_there_is_nothing_to_shrink_to(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("site.yaml", "      sync_cables: 4\n", STATES.replace("[03-04]", "[01-04]"))
    ways = json.loads(interlock("lock", "acme", "--format", "json").out)["tenants"][0]["ways_out"]
    assert [item["way"] for item in ways] == ["replace", "move"]
    told = "  warning: train has no machine left: all 4 have failed, and its proof fails (TOP-28); the ways out, "
    assert told in interlock("lock", "acme").err
    assert "vPOD acme-train has no machine left: all 4 have failed" in interlock("check", "acme").out


def test_what_is_pinned_is_not_said_to_move(lyon: Lyon, interlock: Interlock) -> None:
    with lyon.file("tenants/acme.yaml").open("a") as file:
        file.write("pins: {train: {machines: [ipum-01, ipum-02, ipum-03, ipum-04]}}\n")
    lyon.replace("site.yaml", "      sync_cables: 4\n", STATES.replace("[03-04]", "[02-02]"))
    said = [line for line in interlock("lock", "acme").err.splitlines() if line.startswith("    ")]
    assert said[-1] == "    move: not now: `pins.train.machines` names the machines that it has"


def test_json_has_them_too(worn: Lyon, interlock: Interlock) -> None:
    acme, globex = json.loads(interlock("lock", "--format", "json").out)["tenants"]
    assert [item["device"] for item in acme["out_of_service"]] == ["ipum-03", "ipum-04"]
    assert globex["out_of_service"] == []


def test_a_pin_is_refused_and_nothing_is_written(worn: Lyon, interlock: Interlock) -> None:
    before = worn.locks()
    with worn.file("tenants/acme.yaml").open("a") as file:
        file.write("pins: {train: {machines: [ipum-05, ipum-06, ipum-07, ipum-08]}}\n")
    done = interlock("lock", "acme")
    assert (done.code, worn.locks()) == (2, before)
    assert "vPOD train pins ipum-07, which is in maintenance (new firmware)" in done.err


def test_capacity_counts_them_beside_what_is_free(worn: Lyon, interlock: Interlock) -> None:
    said = [line.strip() for line in interlock("capacity").out.splitlines()]
    rack = "IPU-Machines in logical rack rack-1 (ipu-m2000), the largest free block is 2"
    assert f"3  {rack}, 2 failed, 1 in maintenance" in said
    found = json.loads(interlock("capacity", "--format", "json").out)
    (rack_room,) = found["racks"]
    assert (rack_room["free"], rack_room["failed"], rack_room["maintenance"]) == (3, 2, 1)
    assert found["hosts"][0] == {"role": "poplar", "of": 4, "failed": 0, "maintenance": 0, "cleaning": 0}


def test_hosts_out_of_service_have_a_line_of_their_own(lyon: Lyon, interlock: Interlock) -> None:
    assert "hosts in service" not in interlock("capacity").out
    lyon.replace("site.yaml", "    poplar:\n", "    poplar:\n      states: {poplar-4: {state: failed, reason: fan}}\n")
    said = [line.strip() for line in interlock("capacity").out.splitlines()]
    assert "3  poplar hosts in service, of 4, 1 failed" in said


def test_the_screen_of_the_site_lists_them_with_the_reason(worn: Lyon, interlock: Interlock) -> None:
    lines = [" ".join(line.split()) for line in interlock("site").out.splitlines()]
    first = lines.index("out of service: given to nobody new, kept by whoever has it")
    assert lines[first + 1 : first + 4] == [
        "ipum-03 machine failed RNIC dead, ticket 123",
        "ipum-04 machine failed RNIC dead, ticket 123",
        "ipum-07 machine maintenance new firmware",
    ]
    rows = json.loads(interlock("site", "--format", "json").out)["out_of_service"]
    assert rows[2] == ["ipum-07", "machine", "maintenance", "new firmware"]


def test_a_plan_has_a_line_for_each(worn: Lyon, interlock: Interlock) -> None:
    said = interlock("plan", "acme").out
    assert (
        "\n\nout of service\n"
        "  train: IPU-Machine ipum-03 has failed (RNIC dead, ticket 123)\n"
        "  train: IPU-Machine ipum-04 has failed (RNIC dead, ticket 123)\n\n"
    ) in said
    assert "out of service" not in interlock("plan", "globex").out + interlock("plan").out
    found = json.loads(interlock("plan", "acme", "--format", "json").out)["out_of_service"]
    assert found[0] == {
        "vpod": "train", "claim": "machines", "device": "ipum-03", "state": "failed", "reason": "RNIC dead, ticket 123"
    }  # fmt: skip
