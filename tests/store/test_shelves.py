"""A record that somebody else changes at every try: whoever writes it gives up, and says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interlock.store.break_glass import BreakGlass, GlassEntry, GlassOpening
from interlock.store.history import History, Settlement
from interlock.store.ledger import Ledger
from interlock.store.objects import Exists, ObjectStore, StoreFailed
from interlock.vocabulary import CloudFingerprint
from interlock.vocabulary.owners import OwnerId
from tests.store.memory import MemoryStore

STACK = "lyon-acme"


class _Lost(MemoryStore):
    """A store at which somebody else is first each time, and takes it away again."""

    def put_new(self, key: str, body: bytes) -> str:
        raise Exists(key)


def _entry(number: int) -> GlassEntry:
    words = {"reason": "x", "since": "2026-11-26T03:00:00Z", "until": "2026-11-26T05:00:00Z"}
    opening = GlassOpening(site="lyon", stack=STACK, number=number, by="ann@ops", written=words["since"], **words)
    return GlassEntry(opening=opening)


WRITERS: dict[str, Callable[[ObjectStore], object]] = {
    f"break-glass of {STACK}": lambda store: BreakGlass(store).add(STACK, _entry),
    f"history of {STACK}": lambda store: History(store).settled(
        STACK, "acme", OwnerId("abc123"), Settlement(at="2026-11-26T03:00:00Z", things=())
    ),
    "cloud": lambda store: Ledger(store).keep_cloud(CloudFingerprint.parse("keystone/paris")),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_record_that_keeps_changing_is_given_up_by_name(name: str) -> None:
    with pytest.raises(StoreFailed) as caught:
        WRITERS[name](_Lost())
    assert caught.value.what == f"claims store memory:, {name}: it changed 100 times while it was being written"
    assert caught.value.hint.startswith("run again when fewer runs are under way; ")
