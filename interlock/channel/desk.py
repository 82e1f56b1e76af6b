"""What a server is given and told. No state is kept here: it may be killed at any moment, and many may run at once.

cloud-init reads `vendor_data2.json` at a server's first boot, before any program of ours, and keeps what it read on the
disk. So the first question of a server is only told that something waits. What is asked `GAP` later or after that is
answered: cloud-init is through by then, and the program in the server goes on asking.

Source: cloud-init, `cloudinit/sources/DataSourceOpenStack.py` (`vendordata2_pure`, and retries of a reading).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from .tickets import ANNOUNCED, TAKEN, KeyManagerFailed, Shelf, Ticket

LOG = logging.getLogger("interlock.channel")

#: Longer than cloud-init goes on where an answer is late: six tries of 10 s each, and a second between them.
GAP = timedelta(seconds=75)
#: What takes longer is not taken: Nova may have given up, and the answer would be lost. It waits 30 s, as we ask for.
PATIENCE = timedelta(seconds=10)
#: How often it is tried to note that a secret was handed over; the server waits meanwhile.
_TRIES = 3
FIRST_WAIT = "something waits for this server; ask again"


@dataclass(frozen=True)
class Reply:
    """What a server gets. `items`: name -> text, which is secret and so not in the `repr`."""

    items: dict[str, str] = field(default_factory=dict, repr=False)
    #: One sentence for each thing that was not given.
    said: tuple[str, ...] = ()
    #: After how many seconds to ask again; None: there is no use in it.
    again: int | None = None

    def canonical(self) -> dict[str, Any]:
        """As the server reads it."""
        return {"version": 1, "items": self.items, "said": list(self.said), "again": self.again}


def now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


class Desk:
    """Hands over what waits for a server. `clock` gives UTC."""

    def __init__(self, shelf: Shelf, clock: Callable[[], datetime] = now, gap: timedelta = GAP) -> None:
        self._shelf = shelf
        self._clock = clock
        self._gap = gap

    def ask(self, server: str) -> Reply:
        """One question of a server, whose id Nova vouches for."""
        try:
            tickets = self._shelf.tickets(server)
        except KeyManagerFailed as error:
            return self._failed(server, "what waits for it", error)
        if not tickets:
            LOG.info("server %s: nothing is there for it", server)
            return Reply(said=("nothing is there for this server",), again=self._seconds)
        replies = [self._ask_for(server, ticket) for ticket in tickets if ticket.item not in self._doubled(tickets)]
        replies += [self._doubt(server, item) for item in self._doubled(tickets)]
        items = {name: text for reply in replies for name, text in reply.items.items()}
        waits = [reply.again for reply in replies if reply.again is not None]
        return Reply(items, tuple(line for reply in replies for line in reply.said), min(waits, default=None))

    def _doubled(self, tickets: Sequence[Ticket]) -> tuple[str, ...]:
        """Names under which more than one secret waits: a stack and a person at the same moment, one of them killed."""
        at = self._clock()
        waiting = Counter(ticket.item for ticket in tickets if ticket.taken is None and at < ticket.expires)
        return tuple(sorted(item for item, count in waiting.items() if count > 1))

    def _doubt(self, server: str, item: str) -> Reply:
        LOG.warning("server %s: %s was left twice, and none is handed over: see `interlock channel look`", server, item)
        return Reply(said=(f"{item} was left twice, and nobody knows which is meant",), again=self._seconds)

    @property
    def _seconds(self) -> int:
        return max(1, int(self._gap.total_seconds()))

    def _ask_for(self, server: str, ticket: Ticket) -> Reply:
        try:
            return self._given(server, ticket)
        except KeyManagerFailed as error:
            return self._failed(server, ticket.item, error)

    def _given(self, server: str, ticket: Ticket) -> Reply:
        at = self._clock()
        if ticket.by_hand:
            return _refused(server, ticket, "is brought by hand")
        if ticket.taken is not None:
            return _refused(server, ticket, f"was already handed over at {ticket.taken:%Y-%m-%d %H:%M:%S} UTC")
        if at >= ticket.expires:
            return _refused(server, ticket, f"expired at {ticket.expires:%Y-%m-%d %H:%M:%S} UTC, and nobody fetched it")
        if ticket.announced is None:
            self._shelf.note(ticket, ANNOUNCED, at)
            LOG.info("server %s: %s waits for it, as it was told", server, ticket.item)
            return Reply(said=(f"{ticket.item}: {FIRST_WAIT}",), again=self._seconds)
        if at < ticket.announced + self._gap:
            return Reply(said=(f"{ticket.item}: {FIRST_WAIT}",), again=self._seconds)
        text = self._shelf.payload(ticket)
        if text is not None and self._clock() - at > PATIENCE:
            LOG.warning("server %s: %s is left: the key manager is slow", server, ticket.item)
            return Reply(said=(f"{ticket.item}: the key manager is slow",), again=self._seconds)
        if text is None or not self._shelf.take(ticket):
            return _refused(server, ticket, "was already handed over, or another request was sooner")
        self._note_taken(server, ticket, at)
        LOG.info("server %s: %s handed over", server, ticket.item)
        return Reply({ticket.item: text})

    def _note_taken(self, server: str, ticket: Ticket, at: datetime) -> None:
        """The secret is this request's now, whether or not that can be written down; not noted it looks lost."""
        for left in reversed(range(_TRIES)):
            try:
                self._shelf.note(ticket, TAKEN, at)
            except KeyManagerFailed as error:
                if not left:
                    LOG.warning("server %s: that %s was handed over is not noted: %s", server, ticket.item, error)
            else:
                break

    def _failed(self, server: str, item: str, error: KeyManagerFailed) -> Reply:
        LOG.warning("server %s: %s: %s", server, item, error)
        return Reply(said=(f"{item}: the key manager does not answer",), again=self._seconds)


def _refused(server: str, ticket: Ticket, why: str) -> Reply:
    LOG.warning("server %s: refused: %s %s", server, ticket.item, why)
    return Reply(said=(f"{ticket.item} {why}",))
