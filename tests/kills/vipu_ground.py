"""One vPOD's controller on which is killed: the sandbox's, behind the proxy, with a cloud on paper beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tests.faults.proxy import Proxy
from tests.kills.inventory import Inventory
from tests.kills.victims import Victim, Zygote
from tests.support.engine.process import Recorded
from tests.support.engine.runs import Engine
from tests.support.engine.stack import Stack
from tests.support.paper.vpod import PaperVpod, paper_vpod

#: Seconds that a command may take to end which has its answer.
_ENDING = 10.0


@dataclass
class VipuGround:
    """What all points share."""

    vpod: PaperVpod
    zygote: Zygote
    #: Where provider processes have their temporary files.
    temporary: Path

    @property
    def proxy(self) -> Proxy:
        """Before the controller's commands and the cloud on paper."""
        return self.vpod.proxy

    def victim(self) -> Victim:
        """A new provider process."""
        self.proxy.seen.clear()
        return self.zygote.victim()

    def up(self, stack: Stack, names: Collection[str], *, preflight: bool = False) -> list[str]:
        """What an `up` of these recreated, in a provider process of its own."""
        stack.process = victim = self.victim()
        engine = Engine(stack, processes=None, scope=[*names], preflight=preflight)
        try:
            for _ in engine.up():
                pass
        finally:
            victim.close()
        return engine.recreated

    def look(self, services: Collection[str] = ()) -> Inventory:
        """Everything, whatever the services."""
        del services
        return self.vpod.everything()

    def left(self, stack: Stack, held: dict[str, Recorded]) -> dict[str, str]:
        """Nothing that `look` does not show."""
        del stack, held
        return {}

    def unharmed(self, stack: Stack) -> None:
        """Asserts that the key which waits counts, and that no command left a file: one of a user has its key."""
        del stack
        self.vpod.check_key()
        end = time.monotonic() + _ENDING
        while left := [str(path) for path in self.temporary.rglob("*") if path.is_file()]:
            assert time.monotonic() < end, left
            time.sleep(0.1)

    def write(self, stack: Stack, name: str) -> None:
        raise AssertionError(f"{name} holds no data")

    def discard_backups(self) -> None:
        raise AssertionError("nothing here has copies")


@contextmanager
def vipu_ground(folder: Path) -> Iterator[VipuGround]:
    """A controller that knows nobody, before and after."""
    temporary = folder / "temporary"
    temporary.mkdir()
    with paper_vpod(folder) as vpod:
        with mock.patch.dict(os.environ, {"TMPDIR": str(temporary)}):
            zygote = Zygote(vpod.clouds_yaml, folder)
        try:
            yield VipuGround(vpod, zygote, temporary)
        finally:
            zygote.close()
