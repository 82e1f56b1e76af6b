"""An S3 key waits in the real Barbican for its server: made, fetched, expired, rotated, cut off, and gone."""

from __future__ import annotations

import base64
import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import openstack
import pytest

from interlock.channel.tickets import TICKET, WAITING, waiting_secret
from interlock.provider.actuators import ACTUATORS
from interlock.provider.actuators import stored_credential as actuator
from interlock.provider.actuators.stored_credential import StoredCredentialActuator
from interlock.provider.audit.listing import listed
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.preflight.encryption import hand_over
from interlock.provider.regions import Catalogue
from interlock.resources import S3Credential, Server, ServiceUser
from interlock.vocabulary.pair_ids import CredentialId
from tests.conftest import Sandbox
from tests.e2e.s3 import client, refusal
from tests.provider.channel import KEY, MARK, NAME, PLACE, SECOND_KEY, SPARE, Channel
from tests.support.cloud.journal import Trap
from tests.support.engine.process import Refused
from tests.support.world.declared import handed

MUNGE_USER = "alice-munge"


def test_channel_secret_waits_for_its_server_and_stands_in_no_state(channel: Channel) -> None:
    stack, server = channel.stack, channel.server
    assert channel.marked() == channel.whole(server)
    (ticket,) = channel.shelf.tickets(server)
    key = stack.state[KEY]
    assert (ticket.id, ticket.item, ticket.owner) == (stack.state[NAME].id, "s3", MARK)
    assert ticket.credential == key.id
    left = ticket.expires - datetime.now(UTC)
    assert timedelta(minutes=58) < left <= timedelta(minutes=60)
    assert key.outputs["secret_key"] not in repr(stack.state[NAME])
    assert channel.fetched(server) == {"s3": channel.file()}


def test_channel_secret_that_was_fetched_is_no_difference(channel: Channel) -> None:
    stack, before = channel.stack, channel.stack.state[NAME]
    assert channel.fetched(channel.server)
    assert stack.read(NAME) == before
    assert stack.diff(NAME) == {}
    # What a crash lost is found, and the server is not sent it once more.
    assert stack.create(NAME).id == before.id
    assert channel.marked() == [f"{TICKET}{channel.server}"]
    stack.delete(NAME)
    assert channel.marked() == []


def test_channel_secret_that_expired_is_left_again(channel: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    stack, server = channel.stack, channel.server
    monkeypatch.setattr(StoredCredentialActuator, "LASTS", timedelta(seconds=3))
    channel.again()
    time.sleep(3.2)
    monkeypatch.undo()
    seen = stack.read(NAME)
    assert seen is not None
    assert "nobody fetched it until" in seen.outputs["broken"]
    assert stack.diff(NAME) == {"broken": True}
    channel.again()
    assert channel.marked() == channel.whole(server)
    assert channel.fetched(server) == {"s3": channel.file()}


def test_channel_secret_that_expired_is_gone_with_destroy(channel: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StoredCredentialActuator, "LASTS", timedelta(seconds=2))
    channel.again()
    time.sleep(2.2)
    channel.stack.delete(NAME)
    assert channel.marked() == []


def test_channel_secret_that_was_lost_on_the_way_is_left_again(channel: Channel) -> None:
    (ticket,) = channel.shelf.tickets(channel.server)
    assert channel.shelf.take(ticket)
    seen = channel.stack.read(NAME)
    assert seen is not None
    assert seen.outputs["broken"] == "its secret is gone, and no server is known to have it"
    channel.again()
    assert channel.fetched(channel.server) == {"s3": channel.file()}


def test_channel_ticket_that_somebody_deleted_leaves_no_secret_behind(channel: Channel) -> None:
    """Gone for a refresh; and a destroy without one takes what nobody would get any more."""
    stack = channel.stack
    channel.operator.api("key-manager").delete(f"/secrets/{stack.state[NAME].id}")
    assert stack.read(NAME, record=False) is None
    stack.delete(NAME)
    assert channel.marked() == []


def test_channel_secret_follows_a_rotated_key(channel: Channel) -> None:
    stack = channel.stack
    first = stack.resources[KEY]
    assert isinstance(first, S3Credential)
    moved = handed("alice").model_copy(update={"credential": SECOND_KEY})
    channel.declare({SECOND_KEY: first.model_copy(update={"number": 2}), NAME: moved})
    stack.create(SECOND_KEY)
    assert stack.diff(NAME) == {"credential": True, "id_of_credential": True}
    channel.again()
    assert channel.fetched(channel.server) == {"s3": channel.file(SECOND_KEY)}


def test_channel_secret_of_munge_is_the_key_alone_and_opens_no_bucket(channel: Channel) -> None:
    """1024 bits, of a user without a role: S3 asks Keystone, which knows no way from it to a project."""
    stack, first = channel.stack, channel.stack.resources[KEY]
    assert isinstance(first, S3Credential)
    key = first.model_copy(update={"user": MUNGE_USER, "opens": "munge"})
    user = ServiceUser(name=MUNGE_USER, project="alice-project")
    channel.declare({MUNGE_USER: user, SECOND_KEY: key, NAME: handed("alice", "munge", SECOND_KEY)})
    stack.create(MUNGE_USER)
    try:
        made = stack.create(SECOND_KEY).outputs
        assert len(bytes.fromhex(made["secret_key"])) == 128
        assert stack.read(SECOND_KEY) is not None
        assert stack.diff(SECOND_KEY) == {}
        channel.again()
        assert made["secret_key"] not in repr(stack.state[NAME])
        assert channel.fetched(channel.server) == {"munge": made["secret_key"]}
        with openstack.connect(cloud=channel.operator.name) as cloud:
            refused = refusal(client(cloud, made["access_key"], made["secret_key"]).list_buckets)
        assert refused in ("AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId")
    finally:
        for name in (NAME, SECOND_KEY, MUNGE_USER):
            stack.delete(name)


def test_channel_secret_follows_its_server(channel: Channel) -> None:
    stack, old = channel.stack, channel.server
    server = Server(
        name="alice-spare", project="alice-project", flavor="site:Flavor/poplar", image="site:Image/machine",
        host="poplar-2", ports=(),
    )  # fmt: skip
    channel.declare({SPARE: server, NAME: handed("alice").model_copy(update={"place": SPARE})})
    new = stack.create(SPARE).id
    assert stack.diff(NAME) == {"place": True, "id_of_place": True}
    channel.again()
    assert channel.marked() == channel.whole(new)
    assert channel.fetched(old) == {}
    assert channel.fetched(new) == {"s3": channel.file()}


@pytest.mark.parametrize("calls", ["the secret", "the secret and the ticket", "all"])
def test_channel_secret_of_a_run_that_was_cut_off_is_left_once(
    channel: Channel, monkeypatch: pytest.MonkeyPatch, calls: str
) -> None:
    stack, server, found = channel.stack, channel.server, ACTUATORS["StoredCredential"]
    stack.delete(NAME)
    ident = ""
    if calls == "the secret":
        body = waiting_secret(server, "cut off", datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1))
        channel.operator.api("key-manager").post("/secrets", body | {"mode": MARK})
    else:
        ident = found.create(channel.operator, channel.target())
        assert channel.fetched(server) == {}
        if calls == "all":
            found.finish(channel.operator, channel.target(), ident)
    made = stack.create(NAME).id
    assert (calls == "all") is (made == ident)
    assert channel.marked() == channel.whole(server)
    assert channel.fetched(server) == {"s3": channel.file()}
    stack.delete(NAME)
    assert [item["name"] for item in channel.secrets() if server in item["name"]] == []
    stack.create(NAME)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("when", ["before", "after"])
def test_channel_secret_whose_answer_was_lost_is_left_once(
    channel: Channel, sandbox: Sandbox, number: int, when: str
) -> None:
    """Each request that changes something: the secret, the ticket, what it says."""
    stack, server = channel.stack, channel.server
    stack.delete(NAME)
    trap = Trap(sandbox.dir)
    trap.arm(number, when, path="/v1/secrets")
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(stack.create, NAME)
        assert trap.wait(20) is not None
        trap.release()
        making.result()
    assert channel.marked() == channel.whole(server)
    assert channel.fetched(server) == {"s3": channel.file()}


def test_channel_secret_is_in_no_log_and_no_failure(
    channel: Channel, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of our own calls, of libraries at their loudest, and where Barbican quotes what it was sent."""
    caplog.set_level(logging.DEBUG)
    channel.again()
    file = channel.file()
    # Longer than a schema of Barbican's allows, which is told with the text.
    monkeypatch.setattr(actuator, "waiting_secret", _too_long)
    channel.stack.delete(NAME)
    with pytest.raises(Refused) as refused:
        channel.stack.create(NAME)
    monkeypatch.undo()
    canaries = (channel.stack.state[KEY].outputs["secret_key"], base64.b64encode(file.encode()).decode())
    for text in (caplog.text, str(refused.value), *refused.value.reasons, repr(channel.stack.state[PLACE])):
        assert [one for one in canaries if one in text] == []
    channel.stack.create(NAME)


def _too_long(server: str, text: str, expires: datetime) -> dict[str, Any]:
    body: dict[str, Any] = {"name": f"{WAITING}{server}", "payload": base64.b64encode(text.encode()).decode()}
    return body | {"payload_content_type": body["payload"], "expiration": [body["payload"], text, expires.isoformat()]}


def test_channel_secret_of_a_key_that_is_gone_says_what_to_do(channel: Channel) -> None:
    target = channel.target()
    user = CredentialId.parse(target.one("credential")).user
    gone = replace(target, refs={**target.refs, "credential": str(CredentialId(user, "gone"))})
    with pytest.raises(Failure, match="Keystone has no S3 key gone of user") as refused:
        ACTUATORS["StoredCredential"].create(channel.operator, gone)
    assert "run `pulumi refresh --target` on the S3Credential" in str(refused.value)


def test_preflight_of_secrets_for_servers(channel: Channel, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud, admission = Cloud(sandbox.cloud), channel.stack.admission()
    assert list(hand_over(cloud, admission)) == []

    def forbidden(*_: Any, **__: Any) -> Any:
        raise Failure(Trouble.FORBIDDEN, "key-manager GET /secrets: not allowed")

    monkeypatch.setattr(type(cloud.api("key-manager")), "pages", forbidden)
    (fault,) = hand_over(cloud, admission)
    assert fault.message == (
        f"{NAME}: to wait for servers, and Barbican lets this login list no secrets: "
        "key-manager GET /secrets: not allowed"
    )
    assert "a role in its own project" in fault.hint
    regions = {kind: names for kind, names in cloud.login.catalogue.regions.items() if kind != "key-manager"}
    vars(cloud)["login"] = replace(cloud.login, catalogue=Catalogue(regions))
    (fault,) = hand_over(cloud, admission)
    assert (
        fault.message == f"{NAME}: to wait for servers, and the catalogue of cloud {sandbox.cloud!r} has no key-manager"
    )
    nobody = admission.model_copy(update={"resources": ()})
    assert list(hand_over(cloud, nobody)) == []


def test_audit_lists_a_ticket_as_the_one_object_and_its_secret_as_none(channel: Channel) -> None:
    found = listed(channel.operator)
    assert found.marked["StoredCredential", MARK] == (channel.stack.state[NAME].id,)
    assert channel.stack.state[KEY].outputs["secret_key"] not in json.dumps(dict(found.of("StoredCredential")))
