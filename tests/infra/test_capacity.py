"""`interlock capacity`: what is left, as a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from infra.commands.capacity import table
from interlock.planning import capacity
from interlock.planning.capacity import PowerRoom
from tests.infra.conftest import Interlock, Lyon


def left(interlock: Interlock) -> dict[str, str]:
    """What is left, by the words that the table has for it."""
    done = interlock("capacity")
    assert done.code == 0, done.err
    pairs = (line.strip().split("  ", 1) for line in done.out.splitlines())
    return {what: count for count, what in pairs}


def test_the_table_counts_what_is_free_beside_the_locks(lyon: Lyon, interlock: Interlock) -> None:
    before = left(interlock)
    assert before["vPODs of 4 IPU-Machines (ipu-m2000)"] == "1"
    assert before["vPODs of 8 IPU-Machines (ipu-m2000)"] == "0"
    assert before["vPODs of 1 IPU-Machine (ipu-m2000)"] == "4"
    assert before["Poplar servers of flavour poplar.half"] == "5"
    lyon.file("tenants/globex.lock.json").unlink()
    after = left(interlock)
    assert after["vPODs of 8 IPU-Machines (ipu-m2000)"] == "1"
    assert int(after["control VNIs"]) == int(before["control VNIs"]) + 1
    vlans = next(what for what in before if what.startswith("ipu-data VLANs on fabric100g"))
    assert int(after[_same(after, vlans)]) == int(before[vlans]) + 1


def _same(rows: dict[str, str], what: str) -> str:
    """The row that starts with the same words."""
    return next(row for row in rows if row.split(",")[0] == what.split(",")[0])


def test_json_has_the_same_figures(lyon: Lyon, interlock: Interlock) -> None:
    done = interlock("capacity", "--format", "json")
    found = json.loads(done.out)
    assert (done.err, found["version"]) == ("", 1)
    sizes = {item["machines"]: item["aligned"] for item in found["vpods"]}
    assert sizes == {1: 4, 2: 2, 4: 1, 8: 0, 16: 0}
    assert found["racks"][0]["largest_block"] == 4
    assert found["vnis"]["free"] == int(left(interlock)["control VNIs"])


def test_power_is_told_in_kilowatts_and_not_guessed(lyon: Lyon) -> None:
    workspace = lyon.gate().workspace
    found = capacity(workspace.site, workspace.locks.values())
    racks = (PowerRoom("cabinet-1", 17200, 9100, 8100), PowerRoom("cabinet-2", 17200, None, None))
    said = table(replace(found, racks_power=racks, rooms_power=())).splitlines()[-2:]
    assert [line.strip() for line in said] == [
        "8.1 kW  power in cabinet-1, of 17.2 kW",
        "not stated  power in cabinet-2, of 17.2 kW",
    ]


def test_an_unknown_site_is_an_input_error(lyon: Lyon, interlock: Interlock) -> None:
    assert interlock("capacity", "--site", "lion").code == 2
