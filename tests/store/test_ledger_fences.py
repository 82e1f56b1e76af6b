"""The ledger's refusals: who may take what, which proofs and states are too old, and that a refusal leaves nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interlock.store.ledger import Foreign, IdentityTaken, Ledger, Outdated, Refused
from interlock.store.objects import ObjectStore, StoreFailed
from interlock.store.places import open_store
from interlock.store.records import FootprintRecord, StackRecord
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from tests.store.memory import AFTER, BEFORE, MemoryStore, WatchedStore
from tests.store.racing import race
from tests.store.world import claims, content, entry, nodes, require_listed, require_marked, taking

ONE = entry(["machine:1", "segment:L:tor-1:110"], ["L:tor-1:110", "dev:1"])
TWO = entry(["machine:1", "machine:2"], ["L:tor-1:110", "dev:2"])
FAR = entry(["machine:9"], ["dev:9"])


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def ledger(store: MemoryStore) -> Ledger:
    return Ledger(store)


def refusal(kind: type[Refused], call: Callable[[], object]) -> Refused:
    with pytest.raises(kind) as refused:
        call()
    assert type(refused.value) is kind
    assert refused.value.hint
    return refused.value


def recorded(ledger: Ledger, stack: str) -> StackRecord:
    """The record of a stack that has one."""
    record = ledger.stack(stack)
    assert record is not None
    return record


def applied(ledger: Ledger, stack: str, wanted: FootprintRecord = ONE, **changes: object) -> str:
    """The lineage of a stack that has taken this and made something."""
    record = ledger.take(taking(stack, wanted, ledger, **changes), None)
    ledger.confirm(stack, record.lineage)
    return record.lineage


def test_what_is_taken_is_recorded(ledger: Ledger, store: MemoryStore) -> None:
    record = ledger.take(taking("acme", ONE), None)
    assert ledger.stack("acme") == record
    assert ledger.stacks() == (record,)
    assert not record.confirmed
    assert len(record.lineage) == 32
    require_marked(store, "acme", ONE)
    require_listed(store)


def test_an_identity_that_another_stack_holds(ledger: Ledger, store: MemoryStore) -> None:
    applied(ledger, "acme")
    before = content(store)
    refused = refusal(IdentityTaken, lambda: ledger.take(taking("beta", TWO, ledger), None))
    assert "machine:1 is held by stack acme" in str(refused)
    assert content(store) == before
    refusal(IdentityTaken, lambda: ledger.check(taking("beta", TWO, ledger)))


def test_an_identity_of_a_namesake(ledger: Ledger, store: MemoryStore) -> None:
    """The record is gone, its claim is not: the stack's name alone is no proof of ownership."""
    applied(ledger, "acme")
    del store.objects["stacks/acme"]
    refused = refusal(IdentityTaken, lambda: ledger.take(taking("acme", ONE, ledger, owner="stranger"), None))
    assert "owner-acme" in str(refused)


def test_another_owner_under_the_stacks_name(ledger: Ledger, store: MemoryStore) -> None:
    lineage, before = applied(ledger, "acme"), content(store)
    stranger = taking("acme", TWO, ledger, owner="stranger")
    refusal(Foreign, lambda: ledger.check(stranger))
    refused = refusal(Foreign, lambda: ledger.take(stranger, lineage))
    assert "owner-acme" in str(refused)
    assert "stranger" in str(refused)
    refusal(Foreign, lambda: ledger.recover("acme", OwnerId("stranger")))
    assert content(store) == before


def test_an_older_commit(ledger: Ledger, store: MemoryStore) -> None:
    lineage = applied(ledger, "acme", serial=4)
    before = content(store)
    refused = refusal(Outdated, lambda: ledger.take(taking("acme", TWO, ledger, serial=3), lineage))
    assert "lock serial 3, applied 4" in str(refused)
    assert "git pull" in refused.hint
    assert content(store) == before
    ledger.take(taking("acme", TWO, ledger, serial=4), lineage)


@pytest.mark.parametrize("state", [None, "0" * 32])
def test_another_state_or_none(ledger: Ledger, store: MemoryStore, state: str | None) -> None:
    lineage, before = applied(ledger, "acme"), content(store)
    refused = refusal(Foreign, lambda: ledger.take(taking("acme", TWO, ledger), state))
    assert "interlock recover acme" in refused.hint
    assert content(store) == before
    assert ledger.take(taking("acme", TWO, ledger), lineage).lineage == lineage


def test_a_state_lost_before_anything_was_made_costs_nothing(ledger: Ledger, store: MemoryStore) -> None:
    first = ledger.take(taking("acme", ONE, ledger), None)
    second = ledger.take(taking("acme", ONE, ledger), None)
    assert second.lineage != first.lineage
    assert second.entries == (ONE,)
    refusal(Foreign, lambda: ledger.confirm("acme", first.lineage))
    ledger.confirm("acme", second.lineage)
    require_listed(store)


def test_recovery_shuts_the_lost_state_out(ledger: Ledger) -> None:
    old = applied(ledger, "acme")
    new = ledger.recover("acme", OwnerId("owner-acme"))
    assert new != old
    refusal(Foreign, lambda: ledger.take(taking("acme", ONE, ledger), old))
    refusal(Foreign, lambda: ledger.confirm("acme", old))
    refusal(Foreign, lambda: ledger.drop("acme", old, ONE.digest))
    # As after a first run that was killed: a state without claims may take them, and one of another lineage not.
    taken = ledger.take(taking("acme", ONE, ledger), None)
    assert (taken.confirmed, taken.recovered) == (True, True)
    refusal(Foreign, lambda: ledger.take(taking("acme", ONE, ledger), old))
    ledger.confirm("acme", taken.lineage)
    refusal(Foreign, lambda: ledger.take(taking("acme", ONE, ledger), None))
    refusal(Foreign, lambda: ledger.recover("beta", OwnerId("owner-beta")))


def test_a_restored_old_state(ledger: Ledger) -> None:
    lineage = applied(ledger, "acme")
    ledger.check_state("acme", lineage, ONE.digest)
    ledger.take(taking("acme", TWO, ledger, serial=2), lineage)
    ledger.check_state("acme", lineage, ONE.digest)
    ledger.drop("acme", lineage, ONE.digest)
    refused = refusal(Foreign, lambda: ledger.check_state("acme", lineage, ONE.digest))
    assert "older" in str(refused)
    ledger.check_state("acme", lineage, TWO.digest)
    refusal(Foreign, lambda: ledger.check_state("acme", "0" * 32, TWO.digest))
    refusal(Foreign, lambda: ledger.check_state("beta", lineage, TWO.digest))


def test_a_proof_beside_an_older_state_of_a_neighbour(ledger: Ledger, store: MemoryStore) -> None:
    beside = entry(["machine:5"], ["L:tor-1:110"])
    proved = taking("beta", beside, ledger)
    applied(ledger, "acme")
    before = content(store)
    refused = refusal(Outdated, lambda: ledger.take(proved, None))
    assert "older state of acme at L:tor-1:110" in str(refused)
    assert "run again" in refused.hint
    refusal(Outdated, lambda: ledger.check(proved))
    assert content(store) == before
    ledger.take(taking("beta", beside, ledger), None)


def test_a_node_that_is_only_met_is_compared_and_not_written(ledger: Ledger, store: MemoryStore) -> None:
    applied(ledger, "acme")
    looking = taking("beta", FAR, met=("L:tor-1:110", "dev:9"))
    refusal(Outdated, lambda: ledger.take(looking, None))
    record = ledger.take(taking("beta", FAR, ledger, met=looking.met), None)
    assert record.entries == (FAR,)
    assert set(nodes(store)["L:tor-1:110"].holders) == {"acme"}


def test_two_that_look_where_the_other_writes_do_not_both_pass(store: MemoryStore) -> None:
    """Each has something where the other only looks; the second takes between the first one's reads and writes."""
    mine, theirs = entry(["machine:1"], ["a"]), entry(["machine:2"], ["b"])
    met = ("a", "b")

    def watch(number: int, name: str, key: str, when: str) -> None:
        if (name, key, when) == ("put_new", "stacks/acme", BEFORE):
            Ledger(store).take(taking("beta", theirs, met=met), None)

    refusal(Outdated, lambda: Ledger(WatchedStore(store, watch)).take(taking("acme", mine, met=met), None))
    assert [record.stack for record in Ledger(store).stacks()] == ["beta"]
    require_listed(store)


def test_what_another_run_of_the_stack_claimed_must_be_proved_too(ledger: Ledger, store: MemoryStore) -> None:
    lineage = applied(ledger, "acme")
    proved = taking("acme", entry(["machine:7"]), ledger)
    ledger.take(taking("acme", TWO, ledger), lineage)
    before = content(store)
    refused = refusal(Outdated, lambda: ledger.take(proved, lineage))
    assert "the stack itself" in str(refused)
    assert content(store) == before


def test_strangers_never_meet(ledger: Ledger, store: MemoryStore) -> None:
    """What others do elsewhere is neither looked at nor written."""
    applied(ledger, "acme")
    touched: list[str] = []
    watched = WatchedStore(store, lambda number, name, key, when: touched.append(key))
    Ledger(watched).take(taking("beta", FAR), None)
    assert set(touched) == {"stacks/beta", "claims/machine:9", "nodes/dev:9"}


def test_another_run_in_flight(ledger: Ledger, store: MemoryStore) -> None:
    def watch(number: int, name: str, key: str, when: str) -> None:
        if (name, key, when) == ("put_new", "stacks/acme", BEFORE):
            Ledger(store).take(taking("acme", ONE), None)

    refused = refusal(IdentityTaken, lambda: Ledger(WatchedStore(store, watch)).take(taking("acme", ONE), None))
    assert "in flight" in str(refused)
    assert recorded(ledger, "acme").written_by in str(refused)
    require_marked(store, "acme", ONE)


def test_a_run_that_went_on_over_our_marks_keeps_them(ledger: Ledger, store: MemoryStore) -> None:
    """The first fails after the second has taken over: it takes nothing back, since nothing is its own any more."""

    def watch(number: int, name: str, key: str, when: str) -> None:
        if (name, key, when) == ("put_new", "claims/segment:L:tor-1:110", AFTER):
            Ledger(store).take(taking("acme", ONE, ledger), None)
            raise StoreFailed("no answer", "run again")

    with pytest.raises(StoreFailed):
        Ledger(WatchedStore(store, watch)).take(taking("acme", ONE), None)
    require_marked(store, "acme", ONE)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), StoreFailed("no room", "make room")])
def test_a_run_that_is_stopped_takes_back_what_it_wrote(store: MemoryStore, stop: BaseException) -> None:
    ledger = Ledger(store)
    lineage = applied(ledger, "acme")
    before, marks = content(store), TWO.nodes[-1]

    def watch(number: int, name: str, key: str, when: str) -> None:
        if (name, key, when) == ("put_new", f"nodes/{marks}", AFTER):
            raise stop

    with pytest.raises(type(stop)):
        Ledger(WatchedStore(store, watch)).take(taking("acme", TWO, ledger), lineage)
    assert content(store) == before


def test_what_cannot_be_taken_back_is_said_and_listed(store: MemoryStore) -> None:
    def watch(number: int, name: str, key: str, when: str) -> None:
        if number > 8:
            raise StoreFailed("the disk is gone", "mount it")

    with pytest.raises(StoreFailed) as failed:
        Ledger(WatchedStore(store, watch)).take(taking("acme", ONE), None)
    assert "stays so until the next run of acme" in failed.value.__notes__[0]
    require_listed(store)
    assert claims(store)


def test_dropping_keeps_what_a_remaining_entry_holds(ledger: Ledger, store: MemoryStore) -> None:
    lineage = applied(ledger, "acme")
    ledger.take(taking("acme", TWO, ledger), lineage)
    ledger.drop("acme", lineage, ONE.digest)
    assert set(claims(store)) == {"machine:1", "machine:2"}
    assert set(nodes(store)) == {"L:tor-1:110", "dev:2"}
    require_marked(store, "acme", TWO)
    ledger.drop("acme", lineage, ONE.digest)
    ledger.drop("acme", lineage, TWO.digest)
    assert store.objects == {}
    ledger.drop("acme", lineage, TWO.digest)


def test_what_a_killed_run_left_is_forgotten_unless_somebody_was_there_since(
    ledger: Ledger, store: MemoryStore
) -> None:
    lineage = applied(ledger, "acme")
    seen = ledger.take(taking("acme", TWO, ledger), lineage)
    ledger.confirm("acme", lineage, serial=7)
    before = content(store)
    refused = refusal(IdentityTaken, lambda: ledger.forget(seen, [TWO.digest]))
    assert "in flight" in str(refused)
    assert content(store) == before
    ledger.forget(recorded(ledger, "acme"), [TWO.digest])
    assert set(claims(store)) == {"machine:1", "segment:L:tor-1:110"}
    require_marked(store, "acme", ONE)
    require_listed(store)
    ledger.forget(recorded(ledger, "acme"), [ONE.digest])
    assert store.objects == {}
    refusal(IdentityTaken, lambda: ledger.forget(seen, [ONE.digest]))


def test_an_older_commit_that_claims_the_same(ledger: Ledger) -> None:
    """Not every change of a lock changes what is claimed; the serial counts all the same."""
    lineage = applied(ledger, "acme", serial=4)
    ledger.confirm("acme", lineage, serial=5)
    ledger.confirm("acme", lineage, serial=4)
    refused = refusal(Outdated, lambda: ledger.check(taking("acme", ONE, ledger, serial=4)))
    assert "lock serial 4, applied 5" in str(refused)
    ledger.check(taking("acme", ONE, ledger, serial=5))


def test_what_is_settled_is_free_and_the_states_version_stays(ledger: Ledger, store: MemoryStore) -> None:
    lineage = applied(ledger, "acme")
    ledger.release("acme", ["segment:L:tor-1:110", "machine:elsewhere"])
    assert set(claims(store)) == {"machine:1"}
    ledger.check_state("acme", lineage, ONE.digest)
    ledger.release("acme", ["segment:L:tor-1:110"])
    ledger.take(taking("beta", entry(["segment:L:tor-1:110"]), ledger), None)
    refusal(IdentityTaken, lambda: ledger.take(taking("acme", ONE, ledger), lineage))
    ledger.drop("acme", lineage, ONE.digest)
    assert claims(store)["segment:L:tor-1:110"].stack == "beta"
    ledger.release("nobody", ["machine:1"])


def test_confirming_twice_reads_once(ledger: Ledger, store: MemoryStore) -> None:
    lineage = applied(ledger, "acme")
    calls: list[str] = []
    watched = WatchedStore(store, lambda number, name, key, when: calls.append(name) if when == BEFORE else None)
    Ledger(watched).confirm("acme", lineage)
    assert calls == ["get"]
    assert recorded(ledger, "acme").confirmed


def test_a_record_that_nobody_can_read_is_not_taken_for_absent(ledger: Ledger, store: MemoryStore) -> None:
    applied(ledger, "acme")
    store.objects["claims/machine:1"] = b'{"format": 7}'
    with pytest.raises(StoreFailed, match="claims/machine:1: not a record that this interlock reads"):
        ledger.take(taking("beta", TWO, ledger), None)


def test_fence_two_clones_with_one_vlan(url: str) -> None:
    """Two stacks, two processes, one VLAN: one wins, the other leaves no record and no claim."""
    outcomes = race(run, *((url, stack) for stack in ("acme", "beta", "gamma")))
    won = [outcome.removeprefix("took ") for outcome in outcomes if outcome.startswith("took ")]
    assert len(won) == 1, outcomes
    assert all("IdentityTaken" in outcome or outcome == f"took {won[0]}" for outcome in outcomes)
    store = open_store(url, "lyon")
    assert [record.stack for record in Ledger(store).stacks()] == won
    assert {claim.stack for claim in claims(store).values()} == set(won)
    require_listed(store)


def test_fence_clones_of_one_stack(url: str) -> None:
    """The same stack from several clones: what is left is one whole record, whoever wrote it last."""
    outcomes = race(run, *((url, "acme") for _ in range(3)))
    assert any(outcome == "took acme" for outcome in outcomes)
    assert all(outcome == "took acme" or "IdentityTaken" in outcome for outcome in outcomes), outcomes
    require_marked(open_store(url, "lyon"), "acme", wanted("acme"))
    require_listed(open_store(url, "lyon"))


def test_fence_neighbours_that_do_not_meet(url: str) -> None:
    assert race(run_alone, *((url, f"t{number}") for number in range(4))) == [f"took t{n}" for n in range(4)]
    require_listed(open_store(url, "lyon"))


def wanted(stack: str) -> FootprintRecord:
    return entry(["segment:V:sandbox:vlan:7", f"machine:{stack}"], [f"dev:{stack}"])


def run(url: str, stack: str) -> str:
    return _taken(open_store(url, "lyon"), stack, wanted(stack))


def run_alone(url: str, stack: str) -> str:
    return _taken(open_store(url, "lyon"), stack, entry([f"machine:{stack}"], [f"dev:{stack}"]))


def _taken(store: ObjectStore, stack: str, what: FootprintRecord) -> str:
    try:
        Ledger(store).take(taking(stack, what), None)
    except Refused as refused:
        return f"{type(refused).__name__} {refused}"
    return f"took {stack}"


def test_a_name_that_is_another_users_now_gets_nothing(ledger: Ledger) -> None:
    """Persons are kept by id: one who was deleted and recreated under the same name is told."""
    record = ledger.take(taking("acme", ONE), None, persons={"alice": "4a", "bob@ops": "5b"})
    ledger.confirm("acme", record.lineage, persons={"alice": "4a", "carol": "6c"})
    assert (ledger.stack("acme") or record).persons == {"alice": "4a", "bob@ops": "5b", "carol": "6c"}
    before = ledger.stacks()
    wanted = taking("acme", TWO, ledger)
    for attempt in (
        lambda: ledger.check(wanted, {"alice": "77"}),
        lambda: ledger.take(wanted, record.lineage, persons={"alice": "77"}),
        lambda: ledger.confirm("acme", record.lineage, persons={"alice": "77"}),
    ):
        refused = refusal(Foreign, attempt)
        assert "user alice is another than the one that got the right: its id was 4a, and is 77 now" in str(refused)
    assert ledger.stacks() == before
    # Whoever is taken out of the request is forgotten, and may be named again.
    ledger.take(wanted, record.lineage, persons={"bob@ops": "5b"})
    again = taking("acme", ONE, ledger)
    assert ledger.take(again, record.lineage, persons={"alice": "77"}).persons == {"alice": "77"}


def test_the_first_to_claim_fixes_the_cloud_and_region(ledger: Ledger) -> None:
    here = CloudFingerprint("5eed", "RegionOne")
    record = ledger.take(taking("acme", ONE), None, here)
    before = ledger.stacks()
    other = CloudFingerprint("5eed", "RegionTwo")
    refused = refusal(Foreign, lambda: ledger.take(taking("beta", FAR, ledger), None, other))
    assert "5eed (region RegionOne); the one in use is 5eed (region RegionTwo)" in str(refused)
    refusal(Foreign, lambda: ledger.take(taking("acme", TWO, ledger), record.lineage, other))
    assert ledger.stacks() == before
    ledger.take(taking("acme", TWO, ledger), record.lineage, here)
