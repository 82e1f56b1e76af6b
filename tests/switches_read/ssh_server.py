"""An ssh server in this process that answers commands from a table: a stand-in for a switch, and none of its software.

It runs in a thread with a loop of its own, so that what is tested may run its loop as it does in production.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

USER = "interlock"
PASSWORD = "canary-of-a-password"


@dataclass
class FakeSwitch:
    """How one server behaves."""

    #: Command -> what it answers; every other command is refused as EOS does.
    answers: dict[str, str]
    host_key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))
    #: None: nobody may log in by key.
    user_key: asyncssh.SSHKey | None = None
    #: Seconds before each answer.
    delay: float = 0.0
    #: Nobody is answered before as many are asked as it is for.
    meeting: asyncio.Barrier | None = None
    #: Commands after which the connection is cut, in the middle of the answer.
    cuts: tuple[str, ...] = ()
    #: Commands at which the whole server stands still, in the middle of the answer, until the event is set: it takes
    #: what is sent to it, and closes nothing that it is asked to close.
    freezes: tuple[str, ...] = ()
    thaw: threading.Event = field(default_factory=threading.Event)
    #: What was asked, in this order.
    asked: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def known_as(self) -> str:
        """Its public host key, as `switches.yaml` has it."""
        return self.host_key.export_public_key().decode().strip()


class _Door(asyncssh.SSHServer):
    def __init__(self, switch: FakeSwitch) -> None:
        self.switch = switch

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)

    def public_key_auth_supported(self) -> bool:
        return self.switch.user_key is not None

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        mine = self.switch.user_key
        return mine is not None and username == USER and key.public_data == mine.public_data


async def _serve(switch: FakeSwitch) -> Any:
    async def answer(process: asyncssh.SSHServerProcess[str]) -> None:
        command = process.command or ""
        switch.asked.append(command)
        await asyncio.sleep(switch.delay)
        if switch.meeting is not None:
            await switch.meeting.wait()
        text = switch.answers.get(command)
        if text is None:
            process.stdout.write("% Invalid input\n")
            process.exit(1)
            return
        if command in switch.cuts:
            process.stdout.write(text[: len(text) // 2])
            await process.stdout.drain()
            process.get_extra_info("connection").abort()
            return
        if command in switch.freezes:
            process.stdout.write(text[: len(text) // 2])
            await process.stdout.drain()
            # On purpose without `await`: nobody else of this loop gets a turn either.
            switch.thaw.wait(60)
        process.stdout.write(text)
        process.exit(0)

    return await asyncssh.listen(
        "127.0.0.1", 0, server_factory=lambda: _Door(switch), server_host_keys=[switch.host_key],
        process_factory=answer,
    )  # fmt: skip


@contextmanager
def running(*switches: FakeSwitch) -> Iterator[None]:
    """The servers, listening; each has its port then."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def call(work: Any) -> Any:
        done: Future[Any] = asyncio.run_coroutine_threadsafe(work, loop)
        return done.result(30)

    listening = []
    try:
        for switch in switches:
            listening.append(call(_serve(switch)))
            switch.port = listening[-1].get_port()
        yield
    finally:
        for switch in switches:
            switch.thaw.set()
        for server in listening:
            loop.call_soon_threadsafe(server.close)
        call(_cancel_all())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


async def _cancel_all() -> None:
    mine = asyncio.current_task()
    rest = [task for task in asyncio.all_tasks() if task is not mine]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def write_secret(file: Path, content: bytes | str) -> Path:
    """A file that its owner alone may read."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    file.chmod(0o600)
    return file
