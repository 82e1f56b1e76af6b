"""2 → 4 → 2 by commands: what `lock` says before it writes, and `plan` against the plan before; and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.infra.conftest import Interlock, Lyon

REQUEST = "tenants/acme.yaml"


def told(text: str) -> list[str]:
    """What is said of the vPOD's resize, whoever says it."""
    lines = [line.strip().removeprefix("warning: train: ").removeprefix("train ") for line in text.splitlines()]
    words = (
        "grows in place",
        "shrinks in place",
        "moves",
        "restarted: ",
        "replaced: ",
        "deleted: ",
        "lost: ",
        "refused: ",
    )
    return [line for line in lines if line.startswith(words)]


def resized(lyon: Lyon, interlock: Interlock, before: Path, change: tuple[str, str]) -> list[str]:
    """Lock another size. Fails unless lock and plan say the same."""
    before.write_text(interlock("plan", "acme", "--format", "json").out)
    lyon.replace(REQUEST, *change)
    by_lock = told(interlock("lock", "acme").err)
    by_plan = told(interlock("plan", "acme", "--against", str(before)).out)
    assert by_lock == by_plan
    return by_lock


def test_two_four_two_in_place(unlocked: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    unlocked.replace(REQUEST, "machines: 4", "machines: 2")
    interlock("lock")
    grown = resized(unlocked, interlock, tmp_path / "before.json", ("machines: 2", "machines: 4"))
    assert grown[0] == "grows in place, 2 → 4 IPU-Machines: given ipum-03, ipum-04"
    assert not [line for line in grown if line.startswith("deleted: ")]
    shrunk = resized(unlocked, interlock, tmp_path / "before.json", ("machines: 4", "machines: 2"))
    assert shrunk[0] == "shrinks in place, 4 → 2 IPU-Machines: releases ipum-03, ipum-04"
    gone = next(line for line in shrunk if line.startswith("deleted: "))
    assert "SwitchPort acme-train-mgmt-ipum-04, acme-train-mgmt-ipum-03, " in gone


def test_another_board_is_told_by_lock_and_plan_alike(lyon: Lyon, interlock: Interlock, tmp_path: Path) -> None:
    """It stays where it is, and has another agent, on which cluster, allocation, users and partitions stand."""
    lyon.replace(REQUEST, "volume: 100GiB}", "volume: 100GiB}\n    partitions: {jobs: {ipus: 16}}")
    interlock("lock", "acme")
    before = tmp_path / "before.json"
    before.write_text(interlock("plan", "acme", "--format", "json").out)
    boards = 'serials: ["PLACEHOLDER-M2000-[01-02]", M2000-NEW, "PLACEHOLDER-M2000-[04-16]"]'
    lyon.replace("site.yaml", "serials: PLACEHOLDER-M2000-[01-16]", boards)
    by_lock = told(interlock("lock").err)
    assert by_lock == told(interlock("plan", "acme", "--against", str(before)).out)
    assert [line.split(";")[0].split(":")[0] for line in by_lock] == ["replaced", "lost", "refused"]
    assert by_lock[0].startswith("replaced: VipuAgent acme-train-agent-ipum-03; VipuCluster acme-train-cluster; ")
    assert told(interlock("lock").err) == []


def test_what_an_apply_refuses_is_not_written(lyon: Lyon, interlock: Interlock) -> None:
    """A server goes with the machines, and its volume says `keep`; with `erase` the same is taken."""
    lyon.replace(REQUEST, "on_delete: erase", "on_delete: keep")
    assert interlock("lock", "acme").code == 0
    before = lyon.locks()
    lyon.replace(REQUEST, "machines: 4", "machines: 2")
    lyon.replace(REQUEST, "servers: 2", "servers: 1")
    done = interlock("lock", "acme")
    assert (done.code, lyon.locks()) == (2, before)
    assert done.err.startswith("stacks/lyon/tenants/acme.yaml:")
    assert (
        "PL-001 vPOD train shrinks in place, 4 → 2 IPU-Machines: releases ipum-03, ipum-04; that is refused: "
        in done.err
    )
    assert "Volume acme-train-poplar-1-data: cannot delete it: it holds data and says `on_delete: keep`" in done.err
    lyon.replace(REQUEST, "on_delete: keep", "on_delete: erase")
    assert interlock("lock", "acme").code == 0


def test_more_machines_and_a_partition_for_them_are_one_request(
    unlocked: Lyon, interlock: Interlock, tmp_path: Path
) -> None:
    """Nothing can run yet on a partition that no lock has, so it needs no word that it may end."""
    unlocked.replace(REQUEST, "machines: 4", "machines: 2")
    interlock("lock")
    before = tmp_path / "before.json"
    before.write_text(interlock("plan", "acme", "--format", "json").out)
    unlocked.replace(REQUEST, "machines: 2", "machines: 4")
    unlocked.replace(REQUEST, "volume: 100GiB}", "volume: 100GiB}\n    partitions: {jobs: {ipus: 16}}")
    done = interlock("lock", "acme")
    assert done.code == 0, done.err
    assert told(done.err) == told(interlock("plan", "acme", "--against", str(before)).out)
    assert "acme-train-partition" not in "".join(told(done.err))


@pytest.mark.parametrize("what", ["a volume of a server that comes", "the first share"])
def test_data_that_comes_with_machines_hides_nothing(
    unlocked: Lyon, interlock: Interlock, tmp_path: Path, what: str
) -> None:
    """The claims of before have no place for it, and yet say what becomes of all else; what is refused stays so."""
    shares = "shares:\n  datasets: 100GiB"
    volume = "volumes:\n  scratch: {size: 20GiB, vpod: train, server: 1}\n\nbuckets:"
    unlocked.replace(REQUEST, "volume: 100GiB}", "volume: 100GiB}\n    partitions: {jobs: {ipus: 8}}")
    unlocked.replace(REQUEST, "machines: 4", "machines: 2")
    if what == "the first share":
        unlocked.replace(REQUEST, shares, "shares: {}")
    else:
        unlocked.replace(REQUEST, "servers: 2", "servers: 1")
    assert interlock("lock").code == 0
    before = tmp_path / "before.json"
    before.write_text(interlock("plan", "acme", "--format", "json").out)
    if what == "the first share":
        unlocked.replace(REQUEST, "shares: {}", shares)
    else:
        unlocked.replace(REQUEST, "servers: 1", "servers: 2")
        unlocked.replace(REQUEST, "buckets:", volume)
    unlocked.replace(REQUEST, "machines: 2", "machines: 4")
    refused = interlock("lock", "acme")
    assert refused.code == 2
    assert "VipuPartition acme-train-partition-jobs" in refused.err
    unlocked.replace(REQUEST, "{ipus: 8}", "{ipus: 8, replaceable: true}")
    done = interlock("lock", "acme")
    assert done.code == 0, done.err
    assert told(done.err) == told(interlock("plan", "acme", "--against", str(before)).out)
