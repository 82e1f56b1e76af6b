"""A changed serial is a changed machine: the old one stays its holder's, the new one wants a self-test.

site.yaml: ipum-03 has another serial ── lock ── plan, plan --against, check ── evidence ── settle
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.model.lock.files import dump_lock, load_lock
from interlock.model.lock.record import Lock
from interlock.planning.devices import without_serials
from tests.infra.conftest import Interlock, Lyon
from tests.infra.evidence import STEPS, now, write
from tests.infra.test_settle_evidence import lock_of, quiet_cloud, smaller  # noqa: F401

OLD, NEW = "PLACEHOLDER-M2000-03", "M2000-NEW"
SERIALS = "serials: PLACEHOLDER-M2000-[01-16]"
OTHERS = f'serials: ["PLACEHOLDER-M2000-[01-02]", {NEW}, "PLACEHOLDER-M2000-[04-16]"]'
OWED = "deregistered, unwired, power-cycled, wiped and self-tested"
SAID = f"machine ipum-03: {OLD} replaced by {NEW}, untested; the old one was last acme's and is not clean until it was"


def swapped(lyon: Lyon) -> None:
    lyon.replace("site.yaml", SERIALS, OTHERS)


def of(serial: str, *steps: str) -> list[dict[str, str]]:
    return [
        {"machine": "ipum-03", "serial": serial, "step": step, "at": now(seconds=1), "by": "Anne"} for step in steps
    ]


@pytest.fixture
def other(lyon: Lyon, interlock: Interlock) -> Lyon:
    """acme's ipum-03 was replaced, and everything is locked again."""
    swapped(lyon)
    done = interlock("lock")
    assert done.code == 0, done.err
    assert f"  warning: train: {SAID} seen {OWED}" in done.err
    return lyon


def test_the_lock_keeps_the_old_one_and_notes_the_new_one(other: Lyon, interlock: Interlock) -> None:
    lock = lock_of(other)
    assert [(one.vpod, one.claim, one.value, one.serial) for one in lock.released] == [
        ("train", "machines", "ipum-03", OLD)
    ]
    assert [(one.device, one.before, one.serial) for one in lock.replaced] == [("ipum-03", OLD, NEW)]
    assert lock.serials["ipum-03"] == NEW
    assert {f"machine:{OLD}", f"machine:{NEW}"} <= set(lock.footprint.exclusive)
    before = other.locks()
    assert interlock("lock").code == 0
    assert other.locks() == before
    assert interlock("lock", "--check").code == 0


def test_its_addresses_come_with_it_and_its_place_stays(lyon: Lyon, interlock: Interlock) -> None:
    """The other board has MAC addresses of its own; the tenant keeps position and ports, and nothing moves."""
    before = lock_of(lyon)
    swapped(lyon)
    lyon.replace(
        "site.yaml", 'rnic: "02:00:00:00:03:[01-10]"',
        'rnic: ["02:00:00:00:03:[01-02]", "02:00:00:00:77:03", "02:00:00:00:03:[04-10]"]',
    )  # fmt: skip
    done = interlock("lock")
    assert (done.code, "MAC address" in done.err) == (0, False)
    after = lock_of(lyon)
    assert after.allocation == before.allocation
    held = [{name for name in lock.footprint.exclusive if name.startswith("mac:")} for lock in (before, after)]
    assert (held[0] - held[1], held[1] - held[0]) == (
        {"mac:02%3A00%3A00%3A00%3A03%3A03"}, {"mac:02%3A00%3A00%3A00%3A77%3A03"},
    )  # fmt: skip


def test_a_new_serial_with_the_old_address_is_warned_of(lyon: Lyon, interlock: Interlock) -> None:
    """Half of the label was copied: nothing would answer the new board."""
    swapped(lyon)
    said = interlock("lock", "acme").err
    assert "  warning: ipum-03 has another serial, and its RNIC the MAC address of the unit before" in said
    document = json.loads(interlock("lock", "acme", "--format", "json").out)
    assert document["tenants"][0]["kept_addresses"] == []


def test_before_it_is_locked_the_check_names_it(lyon: Lyon, interlock: Interlock) -> None:
    swapped(lyon)
    done = interlock("lock", "--check")
    assert done.code == 1
    assert f'`serials.ipum-03` says "{OLD}" and should say "{NEW}"' in done.out


def test_a_lock_that_records_no_serials_tells_it_by_what_it_holds(lyon: Lyon, interlock: Interlock) -> None:
    """Locks of earlier versions: unchanged where nothing else changes, and the replacement is found all the same."""
    file = lyon.file("tenants/acme.lock.json")
    dump_lock(without_serials(load_lock(file, "acme.lock.json", Lock)), file)
    before = lyon.locks()
    assert interlock("lock").code == 0
    assert lyon.locks() == before
    assert interlock("lock", "--check").code == 0
    swapped(lyon)
    assert interlock("lock").code == 0
    (one,) = lock_of(lyon).replaced
    assert (one.device, one.before, one.serial) == ("ipum-03", OLD, NEW)


def test_plan_says_it(other: Lyon, interlock: Interlock) -> None:
    assert f"replaced\n  train: {SAID} seen {OWED}" in interlock("plan", "acme").out
    document = json.loads(interlock("plan", "acme", "--format", "json").out)
    assert [(one["device"], one["before"], one["untested"]) for one in document["replaced"]] == [("ipum-03", OLD, True)]
    assert "replaced\n" not in interlock("plan", "globex").out


@pytest.mark.parametrize("stack", [("acme",), ()], ids=["the tenant's", "the operator's"])
def test_against_an_earlier_plan_it_is_a_change(
    lyon: Lyon, interlock: Interlock, tmp_path: Path, stack: tuple[str, ...]
) -> None:
    file = tmp_path / "before.json"
    file.write_text(interlock("plan", *stack, "--format", "json").out)
    swapped(lyon)
    assert interlock("lock").code == 0
    said = interlock("plan", *stack, "--against", str(file)).out
    # The tenant's has its agent besides, and what stands on that: cluster, allocation, two users.
    assert f"{6 if stack == ('acme',) else 1} to replace" in said
    assert f"± ipum-03  machine\n      serial: {OLD} → {NEW}: replace (" in said


def test_an_untested_one_is_not_provable(other: Lyon, interlock: Interlock) -> None:
    done = interlock("check", "acme")
    assert done.code == 3
    assert "LIF-13" in done.out
    assert interlock("check", "globex").code == 0


def test_a_certificate_that_leaves_it_out_is_not_believed(other: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    """The certificate is of the plan after the test, the lock that it is checked with of before."""
    old = other.file("tenants/acme.lock.json").read_bytes()
    write(other, of(NEW, "self-tested"))
    interlock("settle", "acme")
    file = tmp_path / "acme.json"
    assert interlock("check", "acme", "--certificate", str(file)).code == 0
    done = interlock("verify", str(file), "--site", "lyon")
    assert done.code == 0, done.out + done.err
    other.file("tenants/acme.lock.json").write_bytes(old)
    done = interlock("verify", str(file), "--site", "lyon")
    assert done.code != 0


def test_evidence_of_its_test_frees_the_plan_and_not_the_old_one(
    other: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quiet_cloud(monkeypatch, tmp_path)
    write(other, of(OLD, "self-tested"))
    refused = interlock("settle", "acme")
    assert refused.code == 3
    assert f"machine ipum-03 (serial {NEW}): nobody is known to have seen it self-tested" in refused.err
    assert lock_of(other).replaced
    write(other, of(NEW, "self-tested"))
    assert interlock("settle", "acme", "--dry-run").code == 3
    assert lock_of(other).replaced
    refused = interlock("settle", "acme")
    assert refused.code == 3
    assert f"acme: ipum-03 ({NEW}) was seen self-tested" in refused.err
    for step in STEPS:
        assert f"{{machine: ipum-03, serial: {OLD}, step: {step}, at: <when>, by: <who>}}" in refused.err
    lock = lock_of(other)
    assert (lock.replaced, [one.serial for one in lock.released]) == ((), [OLD])
    assert interlock("check", "acme").code == 0
    assert f"{OLD} replaced by {NEW}; the old one was last acme's" in interlock("plan", "acme").out
    write(other, [*of(NEW, "self-tested"), *of(OLD, *STEPS)])
    done = interlock("settle", "acme")
    assert done.code == 0, done.err
    lock = lock_of(other)
    assert ([one.identity for one in lock.settled], lock.released) == ([f"machine:{OLD}"], ())
    assert "replaced\n" not in interlock("plan", "acme").out


def test_a_test_from_before_it_was_put_in_says_nothing(
    other: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quiet_cloud(monkeypatch, tmp_path)
    (entry,) = of(NEW, "self-tested")
    write(other, [entry | {"at": now(hours=1)}])
    assert "is older than the last use" in interlock("settle", "acme").err


def test_what_was_released_stays_with_the_serial_that_it_had(smaller: Lyon, interlock: Interlock) -> None:  # noqa: F811
    """ipum-03 was given up and is not clean; what stands there now is free, and the old one is nobody else's."""
    assert [one.serial for one in lock_of(smaller).released if one.claim == "machines"] == [
        OLD, "PLACEHOLDER-M2000-04"
    ]  # fmt: skip
    assert free(interlock) == 4
    swapped(smaller)
    assert interlock("lock").code == 0
    lock = lock_of(smaller)
    assert f"machine:{OLD}" in lock.footprint.exclusive
    assert f"machine:{NEW}" not in lock.footprint.exclusive
    assert lock.replaced == ()
    refused = interlock("settle", "acme")
    assert f"machine ipum-03 (serial {OLD}): nobody" in refused.err
    # What stands there now is free; and put back under another name, the old one is not.
    assert free(interlock) == 5
    smaller.replace("site.yaml", OTHERS, OTHERS.replace('"PLACEHOLDER-M2000-[04-16]"', moved()))
    assert interlock("lock").code == 0
    assert free(interlock) == 4


def moved() -> str:
    """The serials of ipum-04 to ipum-16, with the old one in the place of ipum-05."""
    return f'PLACEHOLDER-M2000-04, {OLD}, "PLACEHOLDER-M2000-[06-16]"'


def free(interlock: Interlock) -> int:
    """Machines that anybody could have."""
    found = json.loads(interlock("capacity", "--format", "json").out)
    return int(found["racks"][0]["free"])
