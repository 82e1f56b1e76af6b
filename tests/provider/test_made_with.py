"""What servers were made with, as the embedded Nova and Ironic say it: a key pair tells of later servers alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.made_with import MadeWith, made_with
from interlock.vocabulary.owners import OwnerId
from tests.builders.pod64 import ssh_key
from tests.support.engine.runs import force, up
from tests.support.engine.stack import Stack
from tests.support.world.small import World

KEY = "alice-key"
NEW = ssh_key("alice's second")


@pytest.fixture
def rekeyed(world: World) -> Iterator[Stack]:
    """The tenant with another key under the same name, applied; afterwards as it was."""
    stack, planned = world.tenant, dict(world.tenant.resources)
    pair: Any = planned[KEY]
    stack.declare(planned | {KEY: pair.model_copy(update={"public_key": NEW})})
    up(stack, stack.resources, preflight=True)
    yield stack
    stack.declare(planned)
    up(stack, stack.resources, preflight=True)


def there(operator: Cloud, stack: Stack) -> dict[str, MadeWith]:
    return {item.name: item for item in made_with(operator, OwnerId(stack.owner))}


def _wait_for_another_second(operator: Cloud, stack: Stack) -> None:
    """Nova tells the time of a server in whole seconds."""
    pair = operator.api("compute").get(f"/os-keypairs/{stack.state[KEY].id}")["keypair"]
    made = datetime.fromisoformat(pair["created_at"]).replace(tzinfo=UTC)
    time.sleep(max(0.0, 2 - (datetime.now(UTC) - made).total_seconds()))


def test_the_key_of_a_server_is_known_where_it_is_younger_than_its_pair(rekeyed: Stack, operator: Cloud) -> None:
    before = there(operator, rekeyed)
    assert {(item.kind, name) for name, item in before.items()} == {
        ("Server", "alice-server"), ("BareMetalServer", "alice-metal")
    }  # fmt: skip
    for name, item in before.items():
        assert item.id == rekeyed.state[name].id
        assert item.public_key == ""
        assert "as old as its key pair" in item.unknown
        assert item.user_data == rekeyed.state[name].outputs["user_data"]
    _wait_for_another_second(operator, rekeyed)
    force(rekeyed, "alice-server")
    after = there(operator, rekeyed)
    assert (after["alice-server"].public_key, after["alice-server"].unknown) == (NEW, "")
    assert after["alice-metal"] == before["alice-metal"]


def test_nothing_of_other_owners_is_looked_at(world: World, operator: Cloud) -> None:
    assert there(operator, world.site) == {}
