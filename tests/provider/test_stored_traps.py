"""What waits for a server, and is not this credential's: not taken over, not deleted, and never silently beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from interlock.channel import LeftByAStack
from interlock.channel.tickets import TICKET
from interlock.provider.actuators import ACTUATORS
from interlock.provider.errors import Failure
from interlock.provider.markers import marker
from interlock.provider.registers import plain_id
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import CredentialId
from tests.conftest import ROOT, Sandbox
from tests.provider.channel import MARK, NAME, SECOND, Channel
from tests.support.engine.process import Refused
from tests.support.world.declared import handed
from tests.support.world.small import OWNER

LEFT = "[default]\naws_access_key_id = of-a-person\n"


def test_channel_ticket_of_another_key_or_server_is_not_adopted(channel: Channel) -> None:
    """What a killed run left, and meanwhile the plan says something else: it goes, and is left as planned."""
    api, ident = channel.operator.api("key-manager"), channel.stack.state[NAME].id
    written = api.get(f"/secrets/{ident}/metadata")["metadata"]
    user = CredentialId.parse(written["credential"]).user
    other = str(CredentialId(user, "of-a-key-before"))
    api.put(f"/secrets/{ident}/metadata", {"metadata": written | {"credential": other}})
    seen = channel.stack.read(NAME, record=False)
    assert seen is not None
    assert seen.outputs["broken"].startswith(f"it hands {other} to server {channel.server} as s3")
    assert channel.stack.create(NAME).id != ident
    assert channel.marked() == channel.whole(channel.server)
    channel.stack.delete(NAME)
    api.post("/secrets", {"name": f"{TICKET}{channel.stack.state['alice-project'].id}", "mode": MARK})
    channel.stack.create(NAME)
    assert channel.marked() == channel.whole(channel.server)


@pytest.mark.parametrize("state", ["waits", "taken"])
def test_trap_a_secret_that_a_person_left_is_not_taken_over(channel: Channel, state: str) -> None:
    stack, server = channel.stack, channel.server
    stack.delete(NAME)
    ticket = channel.shelf.put(server, "s3", LEFT, datetime.now(UTC) + timedelta(minutes=5))
    if state == "taken":
        assert channel.fetched(server) == {"s3": LEFT}
    with pytest.raises(Refused, match="a person did") as refused:
        stack.create(NAME)
    assert refused.value.partial is None
    assert f"`interlock channel remove {server}`" in str(refused.value)
    assert channel.marked() == []
    assert [found.id for found in channel.shelf.tickets(server)] == [ticket.id]
    assert (channel.shelf.payload(ticket) == LEFT) is (state == "waits")
    channel.shelf.remove(server)
    stack.create(NAME)
    assert channel.fetched(server) == {"s3": channel.file()}


def test_trap_a_secret_with_another_stacks_marker_is_not_taken_over(channel: Channel) -> None:
    """A marker that ours is the beginning of, and one that Barbican's comparison (SQL's LIKE) takes for ours."""
    stack, api, server = channel.stack, channel.operator.api("key-manager"), channel.server
    stack.delete(NAME)
    for mark in (f"{MARK}-2", "interlock:5742a6:alice-handed"):
        ident = plain_id(api.post("/secrets", {"name": f"{TICKET}{server}", "mode": mark}))
        metadata = {"item": "s3", "secret": ident, "expires": datetime.now(UTC).isoformat()}
        api.put(f"/secrets/{ident}/metadata", {"metadata": metadata})
        with pytest.raises(Refused, match=f"{mark} leaves it"):
            stack.create(NAME)
        assert api.find(f"/secrets/{ident}") is not None
        api.delete(f"/secrets/{ident}")
    stack.create(NAME)


def test_channel_secret_of_another_name_stays_beside_it(channel: Channel) -> None:
    stack, server = channel.stack, channel.server
    ticket = channel.shelf.put(server, "other", LEFT, datetime.now(UTC) + timedelta(minutes=5))
    channel.again()
    stack.delete(NAME)
    assert channel.shelf.payload(ticket) == LEFT
    stack.create(NAME)
    assert channel.fetched(server) == {"other": LEFT, "s3": channel.file()}


def test_channel_put_by_a_person_is_refused_where_a_stack_leaves_it(channel: Channel) -> None:
    expires = datetime.now(UTC) + timedelta(minutes=5)
    with pytest.raises(LeftByAStack, match=f"s3 is left for {channel.server} by a stack"):
        channel.shelf.put(channel.server, "s3", LEFT, expires)
    assert channel.fetched(channel.server) == {"s3": channel.file()}


def test_channel_put_by_a_person_meanwhile_fails_on_one_side_at_least(channel: Channel) -> None:
    """Between the two halves of ours: the person is refused. One that was sooner by a moment: ours is."""
    stack, server, found = channel.stack, channel.server, ACTUATORS["StoredCredential"]
    stack.delete(NAME)
    ident = found.create(channel.operator, channel.target())
    with pytest.raises(LeftByAStack, match="something is being left"):
        channel.shelf.put(server, "s3", LEFT, datetime.now(UTC) + timedelta(minutes=5))
    found.finish(channel.operator, channel.target(), ident)
    assert channel.fetched(server) == {"s3": channel.file()}
    found.delete(channel.operator, ident, channel.target())
    api = channel.operator.api("key-manager")
    ident = found.create(channel.operator, channel.target())
    theirs = plain_id(api.post("/secrets", {"name": f"{TICKET}{server}"}))
    metadata = {"item": "s3", "secret": theirs, "expires": datetime.now(UTC).isoformat()}
    api.put(f"/secrets/{theirs}/metadata", {"metadata": metadata})
    with pytest.raises(Failure, match="a person did"):
        found.finish(channel.operator, channel.target(), ident)
    found.delete(channel.operator, ident, channel.target())
    api.delete(f"/secrets/{theirs}")
    stack.create(NAME)


def test_channel_secrets_of_one_server_are_left_side_by_side(channel: Channel) -> None:
    stack = channel.stack
    stack.delete(NAME)
    channel.declare({SECOND: handed("alice", item="second")})
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            list(pool.map(stack.create, (NAME, SECOND)))
            assert stack.read(NAME) is not None
            assert stack.diff(NAME) == stack.diff(SECOND) == {}
            list(pool.map(stack.delete, (NAME, SECOND)))
            assert channel.marked() == channel.marked(marker(OwnerId(OWNER), SECOND)) == []
        list(pool.map(stack.create, (NAME, SECOND)))
    assert channel.fetched(channel.server) == {"s3": channel.file(), "second": channel.file()}


def test_channel_put_on_the_command_line_says_who_leaves_it(channel: Channel, sandbox: Sandbox) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OS_CLIENT_CONFIG_FILE": str(sandbox.clouds_yaml)}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "infra.cli", "channel", "put", channel.server, "s3", "--cloud", sandbox.cloud],
        input=LEFT, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert f"s3 is left for {channel.server} by a stack ({MARK})" in done.stderr
    assert "use another name" in done.stderr
    assert "of-a-person" not in done.stderr
    assert channel.marked() == channel.whole(channel.server)
