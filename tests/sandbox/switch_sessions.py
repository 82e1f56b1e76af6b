"""What the tests of the simulated switches share: a switch without a server, and a client for one with a server.

The client is the sandbox's own asyncssh in the sandbox's own environment: the project has no ssh library.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox.launcher.install import python
from sandbox.rack.reading import named
from sandbox.switches import devices
from sandbox.switches.command_line import Device, Session
from sandbox.switches.files import FileBackend
from sandbox.switches.table import SwitchState

LYON = named("lyon")
TOR, MANAGEMENT = LYON.switches
QUARANTINE = LYON.quarantine_vlan

#: Reads what to do as JSON on stdin, tells what came of it as JSON on stdout.
CLIENT = """
import asyncio, json, sys
import asyncssh

async def main():
    asked = json.load(sys.stdin)
    hosts = asyncssh.import_known_hosts("[%(host)s]:%(port)d %(host_key)s" % asked)
    options = {"username": asked["username"], "known_hosts": hosts, "password": asked.get("password"),
               "client_keys": [asked["key_file"]] if asked["key_file"] else [], "agent_path": None, "config": None}
    try:
        async with asyncssh.connect(asked["host"], asked["port"], **options) as connection:
            done = [await connection.run(command) for command in asked["commands"]]
    except asyncssh.Error as error:
        return {"refused": type(error).__name__}
    return {"answers": [[one.exit_status, one.stdout] for one in done]}

print(json.dumps(asyncio.run(main())))
"""


@dataclass(frozen=True)
class Client:
    """How one reaches a switch: an entry of `switches.yaml`."""

    entry: dict[str, Any]

    def attempt(self, *commands: str, **changed: Any) -> dict[str, Any]:
        """Run commands, each in a session of its own; what is given besides replaces words of the entry."""
        asked = json.dumps({**self.entry, **changed, "commands": commands})
        done = subprocess.run(
            [str(python()), "-c", CLIENT], input=asked, check=False, text=True, capture_output=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def answers(self, *commands: str, **changed: Any) -> list[tuple[int, str]]:
        """Exit code and output of each command."""
        return [(code, text) for code, text in self.attempt(*commands, **changed)["answers"]]

    def show(self, what: str) -> Any:
        """The data of one `show` command."""
        ((code, text),) = self.answers(f"show {what} | json")
        assert code == 0, text
        return json.loads(text)

    def vlan_of(self, port: str) -> tuple[str, int]:
        """Mode and access VLAN of a port, as the switch says it."""
        info = self.show(f"interfaces {port} switchport")["switchports"][port]["switchportInfo"]
        return info["mode"], info["accessVlanId"]


def clients(instance: Path) -> dict[str, Client]:
    """The switches of a running sandbox by name."""
    listed = yaml.safe_load((instance / "switches.yaml").read_text(encoding="utf-8"))["switches"]
    return {name: Client(entry) for name, entry in listed.items()}


def session(folder: Path, switch: devices.Switch = TOR) -> Session:
    """A session at a switch whose state lies in a folder."""
    return Session(Device(switch, FileBackend(folder / "switch.json", switch.initial)))


def typed(at: Session, *lines: str) -> list[str]:
    """What is answered to lines."""
    return [at.run(line) for line in lines]


@dataclass
class Recorder:
    """A backend that keeps what it was given, and refuses what a test tells it to."""

    initial: SwitchState
    applied: list[tuple[SwitchState, SwitchState]]
    refuses: Callable[[SwitchState], bool] = lambda _: False

    def load(self) -> SwitchState:
        return self.initial

    def apply(self, before: SwitchState, after: SwitchState) -> None:
        if self.refuses(after):
            raise OSError("no such bridge")
        self.applied.append((before, after))
