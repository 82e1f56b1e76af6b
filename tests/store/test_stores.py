"""What every store of objects must hold, tried on a folder, the Versity gateway and moto."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from interlock.store.objects import Changed, Exists, ObjectStore
from interlock.store.places import open_store
from tests.store.racing import race
from tests.store.world import there

SITE = "lyon"
WRITERS = 6
ROUNDS = 8
ODD = ("claims/segment:L:tor-1:110", "claims/a/b/../c", "claims/..", "claims/ü ,=%2F+?#&'", "claims/" + "x" * 900)


@pytest.fixture
def store(url: str) -> ObjectStore:
    return open_store(url, SITE)


def test_what_is_written_is_read(store: ObjectStore) -> None:
    assert store.get("stacks/a") is None
    version = store.put_new("stacks/a", b"1")
    found = store.get("stacks/a")
    assert found == (b"1", version)


def test_a_key_is_made_once(store: ObjectStore) -> None:
    store.put_new("stacks/a", b"1")
    with pytest.raises(Exists):
        store.put_new("stacks/a", b"2")
    assert there(store, "stacks/a").body == b"1"


def test_only_the_version_that_was_seen_is_written_over(store: ObjectStore) -> None:
    first = store.put_new("stacks/a", b"1")
    second = store.put_over("stacks/a", b"2", first)
    with pytest.raises(Changed):
        store.put_over("stacks/a", b"3", first)
    assert store.get("stacks/a") == (b"2", second)


def test_what_is_not_there_is_not_written_over(store: ObjectStore) -> None:
    version = store.put_new("stacks/a", b"1")
    with pytest.raises(Changed):
        store.put_over("stacks/b", b"2", version)
    assert store.get("stacks/b") is None


def test_what_is_removed_is_absent_and_may_be_made_again(store: ObjectStore) -> None:
    first = store.put_new("stacks/a", b"1")
    with pytest.raises(Changed):
        store.remove("stacks/a", store.put_over("stacks/a", b"2", first) and first)
    store.remove("stacks/a", there(store, "stacks/a").version)
    assert store.get("stacks/a") is None
    assert list(store.items("stacks/")) == []
    with pytest.raises(Changed):
        store.put_over("stacks/a", b"3", first)
    assert store.get("stacks/a") is None
    store.put_new("stacks/a", b"4")
    with pytest.raises(Exists):
        store.put_new("stacks/a", b"5")
    assert there(store, "stacks/a").body == b"4"


def test_removing_what_is_absent_is_fine(store: ObjectStore) -> None:
    version = store.put_new("stacks/a", b"1")
    store.remove("stacks/b", version)
    store.remove("stacks/a", version)
    store.remove("stacks/a", version)
    assert store.get("stacks/a") is None


def test_a_listing_is_sorted_and_whole(store: ObjectStore) -> None:
    names = [f"stacks/{name}" for name in ("b", "a:1", "a/1", "a", "é")]
    for name in names:
        store.put_new(name, name.encode())
    store.put_new("nodes/a", b"elsewhere")
    assert [(key, stored.body) for key, stored in store.items("stacks/")] == [(n, n.encode()) for n in sorted(names)]
    assert [key for key, _ in store.items("stacks/a:")] == ["stacks/a:1"]
    assert [key for key, _ in store.items("nothing/")] == []


@pytest.mark.parametrize("key", ODD)
def test_any_name_is_a_key(store: ObjectStore, key: str) -> None:
    store.put_new(key, b"1")
    store.put_new("claims/other", b"2")
    assert there(store, key).body == b"1"
    assert sorted(stored.body for _, stored in store.items("claims/")) == [b"1", b"2"]


def test_another_site_and_another_opening(url: str) -> None:
    open_store(url, SITE).put_new("stacks/a", b"1")
    assert there(open_store(url, SITE), "stacks/a").body == b"1"
    assert open_store(url, "reims").get("stacks/a") is None
    assert list(open_store(url, "reims").items("stacks/")) == []


def test_of_many_creators_exactly_one_wins(url: str) -> None:
    outcomes = race(create, *((url, number) for number in range(WRITERS)))
    store = open_store(url, SITE)
    for key, winners in Counter(key for won in outcomes for key in won).items():
        assert winners == 1, f"{key} was made {winners} times"
    made = {key: stored.body for key, stored in store.items("claims/")}
    assert made == {key: str(number).encode() for number, won in enumerate(outcomes) for key in won}
    assert len(made) == ROUNDS


def create(url: str, number: int) -> list[str]:
    store, won = open_store(url, SITE), []
    for key in (f"claims/{name}" for name in range(ROUNDS)):
        try:
            store.put_new(key, str(number).encode())
            won.append(key)
        except Exists:
            continue
    return won


def test_no_update_is_lost(url: str) -> None:
    assert race(add, *((url, number) for number in range(WRITERS))) == [ROUNDS] * WRITERS
    lines = there(open_store(url, SITE), "nodes/n").body.decode().split()
    assert sorted(lines) == sorted(f"{number}.{turn}" for number in range(WRITERS) for turn in range(ROUNDS))


def add(url: str, number: int) -> int:
    store = open_store(url, SITE)
    return sum(1 for turn in range(ROUNDS) for _ in until_written(store, f"{number}.{turn}\n".encode()))


def until_written(store: ObjectStore, line: bytes) -> Iterator[None]:
    while True:
        found = store.get("nodes/n")
        try:
            if found is None:
                store.put_new("nodes/n", line)
            else:
                store.put_over("nodes/n", found.body + line, found.version)
        except (Exists, Changed):
            continue
        yield
        return


def test_removal_and_creation_at_once_leave_one_winner_each(url: str) -> None:
    """Whoever makes the key is the only one until it is removed: the count of makers and removers agrees."""
    made = sum(race(turn_over, *((url,) for _ in range(WRITERS))))
    assert made == WRITERS * ROUNDS
    assert open_store(url, SITE).get("claims/one") is None


def turn_over(url: str) -> int:
    """Take the key and let go of it, as a lock; how often."""
    store, done = open_store(url, SITE), 0
    while done < ROUNDS:
        try:
            version = store.put_new("claims/one", f"{id(store)} {done}".encode())
        except Exists:
            continue
        assert there(store, "claims/one").version == version
        store.remove("claims/one", version)
        done += 1
    return done
