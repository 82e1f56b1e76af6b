"""What a stack leaves for a server, beside what people do (`interlock channel put`), over an imitation of Barbican."""

from __future__ import annotations

import pytest

from interlock.channel import LeftByAStack
from interlock.channel.desk import GAP
from tests.channel.barbican import Answer
from tests.channel.world import HOUR, MARK, SERVER, World


def stack_leaves(world: World, item: str = "s3") -> tuple[str, str]:
    """Ids of the ticket and the secret, as `StoredCredential` makes both."""
    expires = world.now.replace(tzinfo=None) + HOUR
    secret = _new(world, {"name": f"interlock-waiting-{SERVER}", "payload": "c2VjcmV0", "expiration": f"{expires}"})
    ticket = _new(world, {"name": f"interlock-ticket-{SERVER}"})
    world.barbican.secrets[ticket].metadata = {
        "item": item, "secret": secret, "expires": (world.now + HOUR).isoformat(),
    }  # fmt: skip
    return ticket, secret


def _new(world: World, words: dict[str, str]) -> str:
    made = world.barbican.request("/secrets", "POST", json=words | {"mode": MARK}, log=False)
    return str(made.body["secret_ref"].rpartition("/")[2])


def test_what_a_stack_leaves_is_not_replaced_by_a_person(world: World) -> None:
    """Whole, and while it is being written: then it says no name yet."""
    ticket = world.barbican.request(
        "/secrets", "POST", json={"name": f"interlock-ticket-{SERVER}", "mode": MARK}, log=False
    )
    with pytest.raises(LeftByAStack, match="something is being left"):
        world.put()
    ident = ticket.body["secret_ref"].rpartition("/")[2]
    metadata = {"item": "s3", "secret": "s99", "expires": world.now.isoformat()}
    world.barbican.secrets[ident].metadata = metadata
    with pytest.raises(LeftByAStack, match=f"s3 is left for {SERVER} by a stack .{MARK}."):
        world.put()
    assert [*world.barbican.secrets] == [ident]
    world.put(item="other")
    assert [found.item for found in world.shelf.tickets(SERVER)] == ["other", "s3"]


def test_a_person_takes_back_what_a_stack_left_meanwhile(world: World) -> None:
    """The stack's ticket comes while the person's is being written."""

    def at_the_same_time() -> Answer:
        world.barbican.instead.clear()
        world.barbican.request("/secrets", "POST", json={"name": f"interlock-ticket-{SERVER}", "mode": MARK}, log=False)
        return world.barbican.request("/secrets/s2/metadata", "PUT", json={"metadata": {"item": "s3"}}, log=False)

    world.barbican.instead["PUT", "/metadata"] = at_the_same_time
    with pytest.raises(LeftByAStack):
        world.put()
    assert [secret.mode for secret in world.barbican.secrets.values()] == [MARK]


def test_what_a_stack_leaves_between_two_looks_of_a_person_stays(world: World) -> None:
    """The stack begins and ends while the person's `put` goes on to what was left before."""
    world.put()
    listed: list[int] = []
    ids: list[str] = []

    def tickets() -> Answer:
        listed.append(1)
        if len(listed) == 2:
            ids.extend(stack_leaves(world))
        return world.barbican._list({"name": f"interlock-ticket-{SERVER}", "offset": 0, "limit": 100})

    world.barbican.instead["GET", "/secrets"] = tickets
    with pytest.raises(LeftByAStack, match="s3 is left for"):
        world.put()
    assert set(ids) <= world.barbican.secrets.keys(), "the stack's state says that both are there"
    assert len(ids) == 2


def test_what_a_stack_left_is_removed_only_where_that_is_said(world: World) -> None:
    world.put()
    ids = set(stack_leaves(world))
    assert world.shelf.remove(SERVER) == (MARK,)
    assert world.barbican.secrets.keys() == ids
    assert world.shelf.remove(SERVER, of_stacks=True) == (MARK,)
    assert world.barbican.secrets == {}
    assert world.shelf.remove(SERVER) == ()


def test_of_two_that_wait_under_one_name_none_is_handed_over(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A person's `put` that was killed before its second look, beside a stack's."""
    world.put()
    stack_leaves(world)
    world.put(item="other")
    world.desk.ask(SERVER)
    world.now += GAP
    answer = world.desk.ask(SERVER)
    assert answer.items.keys() == {"other"}
    assert (answer.said, answer.again) == (("s3 was left twice, and nobody knows which is meant",), 75)
    assert "s3 was left twice" in caplog.text
    world.shelf.remove(SERVER)
    assert world.twice().items == {"s3": "secret"}


def test_a_note_that_is_refused_once_is_written_all_the_same(world: World) -> None:
    """Without it, what was handed over looks lost, and a stack would leave the key again."""
    world.put()
    world.desk.ask(SERVER)
    world.now += GAP
    refused: list[int] = []

    def once() -> Answer:
        refused.append(1)
        world.barbican.instead = {}
        return Answer(500)

    world.barbican.instead = {("POST", "/metadata"): once}
    assert world.desk.ask(SERVER).items.keys() == {"s3"}
    assert (refused, world.state()) == ([1], "taken")
