"""A key of the tenant's that waits for its server, and Barbican as an operator sees it beside us."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from interlock.channel import Desk, Shelf
from interlock.channel.tickets import TICKET, WAITING
from interlock.provider.actuators import Target
from interlock.provider.clouds import Cloud
from interlock.provider.markers import marker
from interlock.resources import Resource, StoredCredential
from interlock.vocabulary.owners import OwnerId
from tests.support.engine.stack import Stack
from tests.support.world.small import OWNER, World

NAME, KEY, PLACE = "alice-handed", "alice-s3-key", "alice-server"
SECOND_KEY, SPARE, SECOND = "alice-s3-key-2", "alice-spare-server", "alice-handed-2"
MARK = marker(OwnerId(OWNER), NAME)


@dataclass
class Channel:
    """A tenant's stack whose key waits for its server, and Barbican past us."""

    stack: Stack
    operator: Cloud

    @property
    def shelf(self) -> Shelf:
        return Shelf(self.operator._adapter("key-manager", None))

    @property
    def server(self) -> str:
        return self.stack.state[PLACE].id

    def secrets(self) -> list[dict[str, Any]]:
        """All that Barbican lists in the operator's project."""
        return list(self.operator.api("key-manager").items("/secrets", "secrets", limit=100))

    def marked(self, mark: str = MARK) -> list[str]:
        """Names of those with this marker, in the order of the alphabet."""
        return sorted(item["name"] for item in self.secrets() if item["mode"] == mark)

    def whole(self, server: str) -> list[str]:
        """What it is where all is well."""
        return [f"{TICKET}{server}", f"{WAITING}{server}"]

    def file(self, key: str = KEY) -> str:
        """What the server is to get."""
        outputs = self.stack.state[key].outputs
        names = f"aws_access_key_id = {outputs['access_key']}\naws_secret_access_key = {outputs['secret_key']}\n"
        return f"[default]\n{names}"

    def fetched(self, server: str) -> dict[str, str]:
        """What the server is told, as its program asks: the first question is not answered."""
        desk = Desk(self.shelf, gap=timedelta(0))
        desk.ask(server)
        return desk.ask(server).items

    def again(self, name: str = NAME) -> str:
        """What an `up` does about one that is to be replaced; the id of the new one."""
        old = self.stack.state[name].id
        self.stack.delete(name)
        new = self.stack.create(name).id
        assert new != old
        assert self.stack.read(name) is not None
        assert self.stack.diff(name) == {}
        return new

    def declare(self, more: dict[str, Resource]) -> None:
        self.stack.declare(self.stack.resources | more)
        assert self.stack.admit(preview=False) == []

    def target(self, name: str = NAME) -> Target[StoredCredential]:
        spec = self.stack.resources[name]
        assert isinstance(spec, StoredCredential)
        refs = {field: self.stack.state[str(getattr(spec, field))].id for field in ("project", "credential", "place")}
        return Target(name, OwnerId(OWNER), spec, {**refs})


@contextmanager
def left_anew(world: World, operator: Cloud) -> Iterator[Channel]:
    """Afterwards all is as before."""
    stack = world.tenant
    before, order = dict(stack.resources), list(stack.state)
    found = Channel(stack, operator)
    found.again()
    try:
        yield found
    finally:
        for name in (SECOND, NAME, SPARE, SECOND_KEY):
            if name in stack.state:
                stack.delete(name)
        found.shelf.remove(found.server, of_stacks=True)
        stack.declare(before)
        assert stack.admit(preview=False) == []
        stack.create(NAME)
        # As before: what refers to the key is deleted in front of it.
        state = {name: stack.state.pop(name) for name in order}
        stack.state.update(state)
