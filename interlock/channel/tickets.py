"""What waits for a server, as Barbican keeps it: a ticket without a payload, and the secret that it names.

The secret goes when it is handed over, and by itself when it expires. The ticket has nothing secret in it and stays,
so that a second use is told from a secret that never was, and one that nobody fetched from one that was taken.

Both belong to the project of the operator's that the login is for; people of a tenant have no role there.

What a stack leaves carries its marker in `mode`, which Barbican keeps for whoever made a secret and does not interpret:
it stands there from the request that makes it, is in every list, and lists can be asked for it. Metadata come later.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from keystoneauth1.exceptions import ClientException

from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind

#: Begins the names of tickets and of secrets; the id of the server follows. Barbican compares names by SQL's LIKE,
#: so nothing in a name may be a wildcard of it.
TICKET, WAITING = "interlock-ticket-", "interlock-waiting-"
#: Keys of a ticket's metadata.
ITEM, SECRET, EXPIRES, ANNOUNCED, TAKEN = "item", "secret", "expires", "announced", "taken"
#: Which key waits: user and access half, which are not secret. On tickets of stacks only.
CREDENTIAL = "credential"
#: Stands on the ticket of a stack for a server that never asks for it: nothing waits, and a person brings it.
BY_HAND = "by-hand"
#: Of which making of its user a key of V-IPU is. On tickets of stacks only.
USER_MADE = "user-made"
#: How long a secret waits for its server.
WAITS = timedelta(minutes=60)

_PAGE = 100
#: Of `text/plain` Barbican strips the ends, and a file of keys ends with a line feed.
_BYTES = "application/octet-stream"
#: Seconds for one request: a guest waits for the answer, and Nova by its default no longer than five.
_TIMEOUT = 4


class KeyManagerFailed(Exception):
    """Barbican did not answer, or not as it should. What was asked may have happened all the same."""


class LeftByAStack(InterlockError):
    """What a stack leaves under the same name: only that stack takes it away."""

    kind = ErrorKind.INPUT


class Adapter(Protocol):
    """A session of keystoneauth that knows where Barbican is."""

    def request(self, url: str, method: str, **more: Any) -> Any:
        """One request; the path is below the endpoint."""
        ...


@dataclass(frozen=True)
class Ticket:
    """One thing that waits for one server, or did. `id` and `secret` are ids of Barbican's; times are UTC."""

    id: str
    item: str
    secret: str
    expires: datetime
    #: When the server was first told that something waits, and when it got it; None: not yet.
    announced: datetime | None = None
    taken: datetime | None = None
    #: Marker of the stack's object; empty: a person left it.
    owner: str = ""
    #: See `CREDENTIAL`.
    credential: str = ""
    #: See `BY_HAND`.
    by_hand: bool = False
    #: See `USER_MADE`.
    user_made: str = ""


class Shelf:
    """Tickets and secrets in Barbican. Every method raises `KeyManagerFailed`."""

    def __init__(self, barbican: Adapter) -> None:
        self._barbican = barbican

    def tickets(self, server: str) -> list[Ticket]:
        """Those of a server, by what they are for; one that is still being written does not count yet."""
        found = []
        for listed in self._named(f"{TICKET}{server}"):
            ticket = whole(listed, self._metadata(ident_of(listed)))
            if ticket is not None:
                found.append(ticket)
        return sorted(found, key=lambda ticket: (ticket.item, ticket.id))

    def put(self, server: str, item: str, text: str, expires: datetime) -> Ticket:
        """Leave a secret for a server, in place of what a person left for it under this name.

        Raises `LeftByAStack` where a stack leaves something under it, also while this runs: then it is taken back. A
        stack looks for what a person left, in turn, after its ticket is listed: one of the two sees the other.
        If this is broken off, a secret without a ticket expires and nobody gets it.
        """
        self._no_stack(server, item)
        for earlier in self.tickets(server):
            # One of a stack's that came since the look above stays: the look below finds it.
            if earlier.item == item and not earlier.owner:
                self._discard(earlier)
        expires = expires.astimezone(UTC).replace(microsecond=0)
        secret = self._new(waiting_secret(server, text, expires))
        ident = self._new({"name": f"{TICKET}{server}"})
        ticket = Ticket(ident, item, secret, expires)
        self._ask(f"{ident}/metadata", "PUT", {201}, json={"metadata": written(ticket)})
        try:
            self._no_stack(server, item)
        except LeftByAStack:
            self._discard(ticket)
            raise
        return ticket

    def _no_stack(self, server: str, item: str) -> None:
        """Raises `LeftByAStack`. One that is still being written says no name yet, so it counts for every one."""
        for listed in self._named(f"{TICKET}{server}"):
            mark = str(listed.get("mode") or "")
            ticket = whole(listed, self._metadata(ident_of(listed))) if mark else None
            if mark and ticket is None:
                raise LeftByAStack(
                    f"something is being left for {server} by a stack ({mark}), or its run was stopped there",
                    "wait until its `pulumi up` has ended, or run that again, and then this",
                )
            if mark and ticket is not None and ticket.item == item:
                raise LeftByAStack(
                    f"{item} is left for {server} by a stack ({mark})",
                    "use another name; what a stack leaves, its `pulumi refresh` and `pulumi up` leave again",
                )

    def _discard(self, ticket: Ticket) -> None:
        self.take(ticket)
        self._ask(ticket.id, "DELETE", {204, 404})

    def payload(self, ticket: Ticket) -> str | None:
        """The secret itself; None if it is gone or expired."""
        answer = self._ask(f"{ticket.secret}/payload", "GET", {200, 404}, headers={"Accept": _BYTES})
        return bytes(answer.content).decode() if answer.status_code == 200 else None

    def take(self, ticket: Ticket) -> bool:
        """Delete the secret. True for one caller ever: whoever gets False must forget what it read."""
        return bool(self._ask(ticket.secret, "DELETE", {204, 404}).status_code == 204)

    def note(self, ticket: Ticket, key: str, when: datetime) -> None:
        """Write a time on a ticket; one that is there already stays."""
        stamp = when.astimezone(UTC).isoformat()
        self._ask(f"{ticket.id}/metadata", "POST", {201, 409}, json={"key": key, "value": stamp})

    def state(self, ticket: Ticket, at: datetime) -> str:
        """What became of it, in words."""
        if ticket.by_hand:
            return "brought by hand: the server does not ask for it"
        if ticket.taken is not None:
            return f"taken at {ticket.taken:%Y-%m-%d %H:%M:%S} UTC"
        if at >= ticket.expires:
            return f"expired at {ticket.expires:%Y-%m-%d %H:%M:%S} UTC, and nobody fetched it: leave it again"
        if self._ask(ticket.secret, "GET", {200, 404}, headers={"Accept": "application/json"}).status_code == 404:
            return "lost: the service was ended between taking it and telling it; leave it again"
        return f"waits until {ticket.expires:%Y-%m-%d %H:%M:%S} UTC"

    def remove(self, server: str, *, of_stacks: bool = False) -> tuple[str, ...]:
        """Delete all that people left for a server, tickets last; returns the markers of what stacks left.

        That goes, too, with `of_stacks`: the stack's state keeps it, and learns of it by a refresh.
        """
        marks: set[str] = set()
        for name in (f"{WAITING}{server}", f"{TICKET}{server}"):
            for listed in list(self._named(name)):
                mark = str(listed.get("mode") or "")
                marks |= {mark} - {""}
                if of_stacks or not mark:
                    self._ask(ident_of(listed), "DELETE", {204, 404})
        return tuple(sorted(marks))

    def _named(self, name: str) -> Iterator[dict[str, Any]]:
        offset, total = 0, 1
        while offset < total:
            params = {"name": name, "limit": _PAGE, "offset": offset}
            page = _json(self._ask("", "GET", {200}, params=params))
            for item in page.get("secrets", []):
                if item.get("name") == name:
                    yield item
            offset, total = offset + _PAGE, int(page.get("total", 0))

    def _metadata(self, ident: str) -> dict[str, Any]:
        answer = self._ask(f"{ident}/metadata", "GET", {200, 404})
        found = _json(answer).get("metadata", {}) if answer.status_code == 200 else {}
        return found if isinstance(found, dict) else {}

    def _new(self, words: Mapping[str, str]) -> str:
        return ident_of(_json(self._ask("", "POST", {201}, json=dict(words))))

    def _ask(self, path: str, method: str, good: set[int], **more: Any) -> Any:
        """One request, of which nothing is logged: its body, or the answer's, may be the secret."""
        url = f"/secrets/{path}".rstrip("/")
        try:
            answer = self._barbican.request(url, method, raise_exc=False, log=False, timeout=_TIMEOUT, **more)
        except (ClientException, OSError) as error:
            # The text of the error may quote the request.
            raise KeyManagerFailed(f"{method} of a secret: {type(error).__name__}") from None
        if answer.status_code not in good:
            raise KeyManagerFailed(f"{method} of a secret: HTTP {answer.status_code}")
        return answer


def _json(answer: Any) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        raise KeyManagerFailed("the key manager did not answer with JSON") from None
    if not isinstance(found, dict):
        raise KeyManagerFailed("the key manager did not answer with an object")
    return found


def ident_of(item: Mapping[str, Any]) -> str:
    """The id at the end of a reference, which may name the endpoint by another host name than the catalogue."""
    ident = str(item.get("secret_ref", "")).rpartition("/")[2]
    if not ident:
        raise KeyManagerFailed("the key manager named no secret")
    return ident


def waiting_secret(server: str, text: str, expires: datetime) -> dict[str, str]:
    """The body of the request that makes a secret which waits for a server; `expires` in UTC, whole seconds."""
    return {
        "name": f"{WAITING}{server}",
        "payload": base64.b64encode(text.encode()).decode(),
        "payload_content_type": _BYTES,
        "payload_content_encoding": "base64",
        "expiration": expires.replace(tzinfo=None).isoformat(),
    }


def written(ticket: Ticket) -> dict[str, str]:
    """The metadata of a new ticket."""
    found = {ITEM: ticket.item, SECRET: ticket.secret, EXPIRES: ticket.expires.isoformat()}
    found |= {BY_HAND: "true"} if ticket.by_hand else {}
    found |= {USER_MADE: ticket.user_made} if ticket.user_made else {}
    return found | ({CREDENTIAL: ticket.credential} if ticket.credential else {})


def whole(listed: Mapping[str, Any], written: Mapping[str, Any]) -> Ticket | None:
    """A ticket, from what Barbican lists of it and its metadata; None if it is still being written."""
    expires = time_of(written.get(EXPIRES))
    if expires is None or not written.get(ITEM) or not written.get(SECRET):
        return None
    return Ticket(
        ident_of(listed), str(written[ITEM]), str(written[SECRET]), expires,
        announced=time_of(written.get(ANNOUNCED)), taken=time_of(written.get(TAKEN)),
        owner=str(listed.get("mode") or ""), credential=str(written.get(CREDENTIAL) or ""),
        by_hand=bool(written.get(BY_HAND)), user_made=str(written.get(USER_MADE) or ""),
    )  # fmt: skip


def time_of(written: object) -> datetime | None:
    """A time as Barbican and metadata have it, in UTC; None if it is none."""
    try:
        found = datetime.fromisoformat(str(written))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
