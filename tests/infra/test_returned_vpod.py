"""A released vPOD that returns: before an `up` of its release it has what it had, afterwards what is free by then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from infra.program.gate import Gate
from interlock.model.load import dump_lock
from interlock.model.lock.record import Lock
from interlock.store.ledger import Ledger
from tests.infra.conftest import Interlock, Lyon

ASKED, RELEASED = "    machines: 4 # or `ipus: 16`\n", "    state: released\n    machines: 4 # or `ipus: 16`\n"
ACME = "tenants/acme.yaml"
SIBLING = "  tune:\n    machines: 1\n    poplar: {servers: 1, flavor: poplar.half, image: poplar}\n"
FIRST_FOUR = ("ipum-01", "ipum-02", "ipum-03", "ipum-04")


@pytest.fixture(autouse=True)
def _no_store_but_this(store: Ledger) -> None:
    """Whose `up` counts is what the tests say."""


def lock_of(lyon: Lyon, name: str = "acme") -> Lock:
    return lyon.gate().workspace.locks[name]


def must(interlock: Interlock, *words: str) -> str:
    done = interlock(*words)
    assert done.code == 0, done.out + done.err
    return done.out + done.err


def up(tenant: str | None, store: Ledger) -> None:
    """What an `up` of the stack as it is locked now does to the store."""
    gate = Gate.open("lyon").with_applied()
    taking = gate.taking(gate.prove(tenant))
    assert taking is not None
    before = store.stack(taking.stack)
    record = store.take(taking, before.lineage if before else None)
    store.confirm(taking.stack, record.lineage, taking.serial)
    for entry in record.entries[:-1]:
        store.drop(taking.stack, record.lineage, entry.digest)


@contextmanager
def meanwhile_released(lyon: Lyon, interlock: Interlock) -> Iterator[None]:
    """The vPOD released and locked; asked for again at the end, and not locked."""
    lyon.replace(ACME, ASKED, RELEASED)
    must(interlock, "lock", "acme")
    yield
    lyon.replace(ACME, RELEASED, ASKED)


def same(lock: Lock) -> dict[str, Any]:
    """All of a lock but how often it was written."""
    return lock.model_dump(mode="json", exclude={"serial", "hash"})


def test_the_lock_after_is_the_lock_before(lyon: Lyon, interlock: Interlock, store: Ledger) -> None:
    """Machines, ids, hosts, ports: all. The stack of before is applied."""
    up(None, store)
    up("acme", store)
    before, plan = lock_of(lyon), must(interlock, "plan", "acme", "--format", "json")
    with meanwhile_released(lyon, interlock):
        assert [*lock_of(lyon).former] == ["train"]
        assert "as they should be" in must(interlock, "lock", "--check")
    said = must(interlock, "lock", "acme")
    assert "  train has again what it had: nothing of its release (lock serial 2) was applied\n" in said
    assert same(lock_of(lyon)) == same(before)
    assert json.loads(must(interlock, "plan", "acme", "--format", "json")) == json.loads(plan)
    assert "as they should be" in must(interlock, "lock", "--check")


def test_of_a_stack_that_was_never_applied_too(lyon: Lyon, interlock: Interlock) -> None:
    before = lock_of(lyon)
    with meanwhile_released(lyon, interlock):
        pass
    must(interlock, "lock")
    assert same(lock_of(lyon)) == same(before)


def test_after_an_up_of_the_release_it_goes_elsewhere_and_lock_and_plan_say_so(
    lyon: Lyon, interlock: Interlock, store: Ledger
) -> None:
    up(None, store)
    up("acme", store)
    with meanwhile_released(lyon, interlock):
        up("acme", store)
    said = must(interlock, "lock", "acme")
    names = ", ".join(FIRST_FOUR)
    why = "its release (lock serial 2) was applied, and nobody saw them clean since"
    assert f"  warning: train does not get {names} back: {why}\n" in said
    lock = lock_of(lyon)
    assert (lock.allocation.vpods["train"].machines, lock.former) == (("ipum-05", "ipum-06", "ipum-07", "ipum-08"), {})
    waits = f"  train gave up {names}: nobody gets them, itself included, before `interlock settle acme` saw them clean"
    assert waits in must(interlock, "plan", "acme")
    assert json.loads(must(interlock, "plan", "acme", "--format", "json"))["waiting"] == [
        {"vpod": "train", "machines": [*FIRST_FOUR]}
    ]
    assert "as they should be" in must(interlock, "lock", "--check")
    # Whoever pins them has them, and waits for nothing.
    with lyon.file(ACME).open("a") as file:
        file.write(f"pins: {{train: {{machines: [{names}]}}}}\n")
    must(interlock, "lock", "acme", "--move")
    assert names not in must(interlock, "plan", "acme").partition("\nreleased\n")[2].partition("\n\n")[0]


def test_it_grows_around_what_it_had_while_a_sibling_came(lyon: Lyon, interlock: Interlock) -> None:
    """The sibling is given nothing of it, and the growth is one in place: 4 machines apart would be a move."""
    with meanwhile_released(lyon, interlock):
        lyon.replace(ACME, "\nshares:\n", f"{SIBLING}\nshares:\n")
        must(interlock, "lock")
        assert not {*lock_of(lyon).allocation.vpods["tune"].machines} & {*FIRST_FOUR}
        tune = lock_of(lyon).allocation.vpods["tune"]
        lyon.replace(ACME, SIBLING, SIBLING.replace("machines: 1", "machines: 2"))
        must(interlock, "lock")
    must(interlock, "lock")
    lock = lock_of(lyon)
    assert lock.allocation.vpods["train"].machines == FIRST_FOUR
    assert {*tune.machines} < {*lock.allocation.vpods["tune"].machines}
    assert (lock.released, lock.former) == ((), {})


def test_of_two_that_were_released_one_returns(lyon: Lyon, interlock: Interlock, store: Ledger) -> None:
    """The other waits on, and an `up` of the first's return is one of its own release."""
    lyon.replace(ACME, "\nshares:\n", f"{SIBLING}\nshares:\n")
    must(interlock, "lock")
    before = lock_of(lyon).allocation
    lyon.replace(ACME, SIBLING, SIBLING.replace("machines", "state: released\n    machines"))
    with meanwhile_released(lyon, interlock):
        assert {*lock_of(lyon).former} == {"train", "tune"}
    must(interlock, "lock")
    lock = lock_of(lyon)
    assert lock.allocation.vpods == {"train": before.vpods["train"]}
    assert ({*lock.former}, {one.vpod for one in lock.released}) == ({"tune"}, {"tune"})
    up(None, store)
    up("acme", store)
    lyon.replace(ACME, "state: released\n    ", "")
    assert "warning: tune does not get " in must(interlock, "lock")
    after = lock_of(lyon).allocation
    assert after.vpods["train"] == before.vpods["train"]
    assert not {*after.vpods["tune"].machines} & {*before.vpods["tune"].machines}


def test_what_somebody_else_pinned_meanwhile_stays_theirs(lyon: Lyon, interlock: Interlock) -> None:
    with meanwhile_released(lyon, interlock):
        globex, text = lyon.file("tenants/globex.yaml"), lyon.file("tenants/globex.yaml").read_text()
        globex.write_text(
            text.replace("machines: 8", "machines: 4")
            + "  more: {machines: 1, poplar: {servers: 1}}\npins: {more: {machines: [ipum-02]}}\n"
        )
        must(interlock, "lock", "globex")
    assert "warning: train does not get ipum-01, ipum-02, ipum-03, ipum-04 back: by now globex has ipum-02" in must(
        interlock, "lock", "acme"
    )
    assert not {*lock_of(lyon).allocation.vpods["train"].machines} & {*FIRST_FOUR}


def test_a_store_that_cannot_be_read_is_said_and_nothing_is_written(
    lyon: Lyon, interlock: Interlock, store: Ledger, tmp_path: Path
) -> None:
    up(None, store)
    with meanwhile_released(lyon, interlock):
        (record,) = (tmp_path / "claims" / "lyon" / "stacks").iterdir()
        record.write_text("{")
        # Where nothing returns nothing is asked.
        must(interlock, "lock")
    before = lyon.locks()
    done = interlock("lock")
    assert (done.code, lyon.locks()) == (4, before), done.err
    assert "claims store" in done.err


def test_a_board_that_was_swapped_meanwhile_is_another_one(lyon: Lyon, interlock: Interlock) -> None:
    """As if the vPOD had never been released: the new board owes its test, the old one waits under its serial."""
    with meanwhile_released(lyon, interlock):
        swapped = 'serials: ["PLACEHOLDER-M2000-[01-02]", M2000-NEW, "PLACEHOLDER-M2000-[04-16]"]'
        lyon.replace("site.yaml", "serials: PLACEHOLDER-M2000-[01-16]", swapped)
    must(interlock, "lock")
    lock = lock_of(lyon)
    assert lock.allocation.vpods["train"].machines == FIRST_FOUR
    assert [(one.device, one.before, one.serial) for one in lock.replaced] == [
        ("ipum-03", "PLACEHOLDER-M2000-03", "M2000-NEW")
    ]
    assert [(one.claim, one.value, one.serial) for one in lock.released] == [
        ("machines", "ipum-03", "PLACEHOLDER-M2000-03")
    ]


def test_what_a_sibling_pinned_meanwhile_is_the_siblings(lyon: Lyon, interlock: Interlock) -> None:
    with meanwhile_released(lyon, interlock):
        lyon.replace(ACME, "\nshares:\n", f"{SIBLING}\npins: {{tune: {{machines: [ipum-02]}}}}\nshares:\n")
        must(interlock, "lock")
    assert "back: by now tune has ipum-02\n" in must(interlock, "lock")
    assert not {*lock_of(lyon).allocation.vpods["train"].machines} & {*FIRST_FOUR}


def test_what_is_released_no_more_is_not_taken_back(lyon: Lyon, interlock: Interlock) -> None:
    """As after settling: nothing of it is the tenant's, whatever its lock remembers."""
    with meanwhile_released(lyon, interlock):
        lock = lock_of(lyon)
        assert {*lock.former} == {"train"}
        settled = lock.model_copy(update={"released": lock.released[1:]}).sealed()
        dump_lock(settled, lyon.file("tenants/acme.lock.json"))
    assert "has again" not in must(interlock, "lock")
    assert lock_of(lyon).former == {}
