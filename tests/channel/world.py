"""The shelf, the desk and the clock of the channel's tests, over an imitation of Barbican."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from interlock.channel import Desk, Reply, Shelf
from interlock.channel.desk import GAP
from tests.channel.barbican import Barbican

SERVER, OTHER = "0c2f9a7e-1111-4000-8000-000000000000", "0c2f9a7e-2222-4000-8000-000000000000"
SECRET = "[default]\naws_secret_access_key = never-in-a-log\n"
HOUR = timedelta(hours=1)
#: What a stack writes into `mode`.
MARK = "interlock:0a11ce:alice-handed"


class World:
    """A shelf, a desk and a clock that a test moves."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 25, 12, tzinfo=UTC)
        self.barbican = Barbican(lambda: self.now)
        self.shelf = Shelf(self.barbican)
        self.desk = Desk(self.shelf, lambda: self.now)

    def put(self, server: str = SERVER, item: str = "s3") -> None:
        self.shelf.put(server, item, SECRET, self.now + HOUR)

    def twice(self, server: str = SERVER) -> Reply:
        """As the program in a server asks."""
        self.desk.ask(server)
        self.now += GAP
        return self.desk.ask(server)

    def state(self) -> str:
        (ticket,) = self.shelf.tickets(SERVER)
        return self.shelf.state(ticket, self.now).partition(" ")[0].strip(":")
