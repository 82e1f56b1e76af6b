"""The process of the switches: one ssh server for each, on an address of its own, keys only.

`ssh HOST COMMAND` answers and ends, with exit code 1 for a refused command; without a command there is a prompt.
Sessions take turns: one command at a time is read and applied. Each command is a line in `log/switches.log`.
"""

import asyncio
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh
import yaml

from sandbox.fabric.kept import KeptBackend
from sandbox.fabric.rack import fabric_of
from sandbox.launcher import frames
from sandbox.launcher.configuration import write_private
from sandbox.rack.reading import rack_of
from sandbox.services import process
from sandbox.services.process import Here
from sandbox.switches import keys, showing
from sandbox.switches.command_line import Device, Session
from sandbox.switches.devices import Switch
from sandbox.switches.files import FileBackend
from sandbox.switches.misbehaving import Misbehaving
from sandbox.switches.table import Backend

PLATFORM = "eos"


@dataclass(frozen=True)
class Users:
    """Who may log in: private keys by user name."""

    keys: dict[str, Any]

    def authorized(self, user: str) -> Any:
        """What asyncssh compares a login with; no key for nobody."""
        known = keys.public(self.keys[user]) if user in self.keys else ""
        return asyncssh.import_authorized_keys(known)


class Door(asyncssh.SSHServer):
    """Lets users in by their keys, and says first what this is."""

    def __init__(self, users: Users) -> None:
        self.users = users
        self.connection: Any = None

    def connection_made(self, conn: Any) -> None:
        """Keep the connection: each user has a key of its own."""
        self.connection = conn

    def begin_auth(self, username: str) -> bool:
        """Everybody has to prove who they are."""
        self.connection.send_auth_banner(f"{showing.NOTICE}.\n")
        self.connection.set_authorized_keys(self.users.authorized(username))
        return True


Log = Callable[[str], None]


async def talk(device: Device, odd: Misbehaving, log: Log, channel: Any) -> None:
    """One session: the command of the request, or lines until the client leaves."""
    user = channel.get_extra_info("username")
    await odd.pause()
    reads_only = user == keys.READER
    session = Session(odd.shown(device, reads_only=reads_only), reads_only=reads_only)

    def run(line: str) -> str:
        said = session.run(line)
        if words := line.strip("\0 "):
            log(f"{device.state.name} {user} {words!r} -> {said.partition(chr(10))[0][:100]!r}")
        return f"{said}\n" if said else ""

    if channel.command is not None:
        for line in channel.command.splitlines():
            channel.stdout.write(run(line))
        channel.exit(1 if session.failed else 0)
        return
    channel.stdout.write(session.prompt)
    try:
        async for line in channel.stdin:
            await odd.pause()
            channel.stdout.write(run(line.rstrip("\r\n")))
            if session.ended:
                break
            channel.stdout.write(session.prompt)
    except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged):
        pass
    channel.exit(0)


async def listen(device: Device, odd: Misbehaving, host_key: Any, port: int, users: Users, log: Log) -> None:
    """Serve one switch on its address, whatever its state is applied to."""

    async def handle(channel: Any) -> None:
        await talk(device, odd, log, channel)

    await asyncssh.create_server(
        lambda: Door(users),
        device.switch.address,
        port,
        server_host_keys=[host_key],
        process_factory=handle,
        encoding="utf-8",
        server_version="InterlockSandboxSwitch",
        login_timeout=30,
        keepalive_interval=0,
    )


async def start(switch: Switch, backend: Backend, state: Path, port: int, users: Users, log: Log) -> str:
    """Serve one of the sandbox's switches; returns its public host key."""
    device = Device(switch, backend)
    host_key = keys.key(keys.host_key_file(state, switch.name), switch.name)
    await listen(device, Misbehaving(state, switch.name), host_key, port, users, log)
    return keys.public(host_key)


def backend_of(switch: Switch, instance: Here) -> Backend:
    """A file, and a bridge that forwards frames where the instance has them."""
    file = FileBackend(instance.state / "switches" / f"{switch.name}.json", switch.initial)
    if not frames.wanted(instance.folder):
        return file
    return KeptBackend(fabric_of(instance.folder).backend(switch.name), file)


def tell(instance: Here, switches: tuple[Switch, ...], state: Path, host_keys: dict[str, str]) -> None:
    """Write what clients need: `known_hosts` for Neutron, `switches.yaml` for readers."""
    port = instance.ports["switches"]
    by_address = {switch.address: host_keys[switch.name] for switch in switches}
    write_private(instance.conf / "known_hosts", keys.known_hosts(by_address, port))
    entries = {
        switch.name: {
            "platform": PLATFORM,
            "host": switch.address,
            "port": port,
            "username": keys.READER,
            "key_file": str(keys.user_key_file(state, keys.READER)),
            "host_key": host_keys[switch.name],
        }
        for switch in switches
    }
    text = yaml.safe_dump({"switches": entries}, sort_keys=False, width=1000)
    write_private(instance.folder / "switches.yaml", "# The sandbox's switches, for who reads them.\n" + text)


async def serve(instance: Here) -> None:
    """Serve all switches until the process is asked to end."""
    state, port = instance.state / "switches", instance.ports["switches"]
    switches = rack_of(instance.folder).switches
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    users = Users({user: keys.key(keys.user_key_file(state, user), user) for user in (keys.WRITER, keys.READER)})
    with (instance.folder / "log" / "switches.log").open("a", encoding="utf-8", buffering=1) as file:

        def log(text: str) -> None:
            file.write(f"{time.time():.3f} {text}\n")

        host_keys = {
            switch.name: await start(switch, backend_of(switch, instance), state, port, users, log)
            for switch in switches
        }
        tell(instance, switches, state, host_keys)
        process.ready(instance, "switches")
        await ended.wait()


def main() -> None:
    """Start the switches and wait."""
    process.die_when_uncaught()
    asyncio.run(serve(process.here()))


if __name__ == "__main__":
    main()
