"""`interlock capacity`: what is left, as a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from infra.commands.capacity import table
from interlock.model.lock.record import Released
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


def test_what_is_released_is_cleaning_and_neither_free_nor_out_of_service(lyon: Lyon, interlock: Interlock) -> None:
    assert "cleaning" not in interlock("capacity").out
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    assert interlock("lock", "acme").code == 0
    said = interlock("capacity").out
    rows, _, listed = said.partition("\ncleaning: ")
    rack = next(line for line in rows.splitlines() if "logical rack rack-1" in line)
    assert rack.strip().startswith("4  IPU-Machines")
    assert rack.endswith(", 2 cleaning")
    first = next(line for line in listed.splitlines() if "ipum-03" in line)
    since = gave_up(lyon, "ipum-03").since
    assert first == (
        f"  machine ipum-03 (PLACEHOLDER-M2000-03): was acme's (train), since {since}, with ports mgmt-1:3, tor-1:3"
    )
    found = json.loads(interlock("capacity", "--format", "json").out)
    assert (found["racks"][0]["free"], found["racks"][0]["cleaning"], found["racks"][0]["failed"]) == (4, 2, 0)
    assert [(one["kind"], one["name"], one["tenant"], one["since"]) for one in found["cleaning"]] == [
        ("machine", name, "acme", since) for name in ("ipum-03", "ipum-04")
    ]


def test_vlans_and_whole_vpods_are_cleaning_too(lyon: Lyon, interlock: Interlock) -> None:
    lyon.file("tenants/acme.yaml").write_text(lyon.file("tenants/acme.yaml").read_text() + "state: gone\n")
    assert interlock("lock", "acme").code == 0
    found = json.loads(interlock("capacity", "--format", "json").out)
    assert [item["cleaning"] for item in found["vlans"]] == [1, 1, 1]
    kinds = [one["kind"] for one in found["cleaning"]]
    # Room on hypervisors and addresses of servers need none: the cloud says whether they are gone.
    assert sorted(kinds) == [*["VLAN"] * 3, "VNI", *["machine"] * 4, "storage address"]
    assert "ipu-data VLANs on fabric100g" in interlock("capacity").out


def test_what_its_holder_has_again_is_lent(lyon: Lyon, interlock: Interlock) -> None:
    text = lyon.file("tenants/acme.yaml").read_text()
    lyon.replace("tenants/acme.yaml", "machines: 4", "machines: 2")
    assert interlock("lock", "acme").code == 0
    pins = "pins: {train: {machines: [ipum-01, ipum-02, ipum-03, ipum-04]}}\n"
    lyon.file("tenants/acme.yaml").write_text(text + pins)
    assert interlock("lock", "acme", "--move").code == 0
    found = json.loads(interlock("capacity", "--format", "json").out)
    assert (found["cleaning"], found["racks"][0]["cleaning"]) == ([], 0)


def test_what_was_replaced_is_cleaning_by_its_serial(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace(
        "site.yaml", "serials: PLACEHOLDER-M2000-[01-16]",
        'serials: ["PLACEHOLDER-M2000-[01-02]", M2000-NEW, "PLACEHOLDER-M2000-[04-16]"]',
    )  # fmt: skip
    assert interlock("lock").code == 0
    assert "  machine ipum-03 (PLACEHOLDER-M2000-03): was acme's (train), since " in interlock("capacity").out
    found = json.loads(interlock("capacity", "--format", "json").out)
    # It stands nowhere on the site: it takes no place in its rack, and no port.
    assert [(one["serial"], one["ports"]) for one in found["cleaning"]] == [("PLACEHOLDER-M2000-03", [])]
    assert found["racks"][0]["cleaning"] == 0


def gave_up(lyon: Lyon, machine: str) -> Released:
    lock = lyon.gate().workspace.locks["acme"]
    return next(one for one in lock.released if one.value == machine)
