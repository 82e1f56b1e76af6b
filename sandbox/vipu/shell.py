"""Stands for a shell in a Poplar server of the sandbox: `python -m sandbox.vipu.shell --help`."""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from . import station
from .guest import SETTINGS, hand_over
from .sandbox_cloud import CONTROLLER_NAME, FoundServer, SandboxCloud
from .station import NOT_THERE, WRONG_WORDS, guest_folder

_ROOT = Path(__file__).resolve().parents[2]

_ABOUT = """Stands for ssh to a Poplar server of the sandbox, and a command there.

Nothing is logged in to: no server of the sandbox runs, and of all commands there is `vipu` alone. It asks the vPOD's
controller, a SIMULATOR of V-IPU, with the server's own user and key and from the server's networks.

  python -m sandbox.vipu.shell --new-key hooli-lab-poplar-0
  python -m sandbox.vipu.shell hooli-lab-poplar-0 vipu create partition mine --size 4
  python -m sandbox.vipu.shell hooli-lab-poplar-0 vipu occupy partition mine --gcd 0

`occupy` and `vacate` stand for a workload that begins and ends; they are no commands of V-IPU. Exit code: that of
vipu; 255: there is no way to the server, or from it to the controller; 127: another command; 2: wrong words.
"""


class NoWay(Exception):
    """A server is not there, or not reached, in the words of ssh."""


def main(arguments: Sequence[str]) -> int:
    """One command line; its exit code."""
    asked = _words(arguments)
    instance = asked.dir.resolve()
    cloud = SandboxCloud(instance)
    try:
        server = _server(cloud, asked.server)
        controller = _server(cloud, asked.at) if asked.at else _controller(cloud, server)
        if asked.new_key:
            hand_over(instance, server.uuid, server.name, _new_key(instance, controller, server.name))
            print(f"{server.name}: its user at {controller.name} has a new key, which is in the server")
            return 0
    except NoWay as error:
        print(f"ssh: {error}", file=sys.stderr)
        return NOT_THERE
    except sqlite3.OperationalError as error:
        print(f"ssh: {asked.server}: no cloud in {instance} ({error})", file=sys.stderr)
        return NOT_THERE
    return _run(instance, server, controller, asked.command)


def _words(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.vipu.shell", description=_ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=_ROOT / ".interlock" / "sandbox", help="folder of the instance")
    parser.add_argument("--at", metavar="CONTROLLER", help="ask this controller, by name, and not the vPOD's own")
    parser.add_argument(
        "--new-key", action="store_true", help="as the operator: leave a new key of its user in the server"
    )
    parser.add_argument("server", metavar="SERVER", help="name at Nova")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="vipu WORDS…", help="what to run there")
    asked = parser.parse_args(arguments)
    if asked.new_key == bool(asked.command):
        parser.error("say a command, or --new-key")
    return asked


def _server(cloud: SandboxCloud, name: str) -> FoundServer:
    """The one server of a name."""
    found = [item for item in cloud.named(name) if item.name == name]
    if len(found) != 1:
        many = "no server of that name" if not found else f"{len(found)} servers of that name"
        raise NoWay(f"{name}: {many} in {cloud.folder}")
    return found[0]


def _controller(cloud: SandboxCloud, server: FoundServer) -> FoundServer:
    """The controller on a network of the server's."""
    own = {item.network for item in cloud.networks(server.uuid)}
    near = [
        item
        for item in cloud.named(CONTROLLER_NAME)
        if not own.isdisjoint(network.network for network in cloud.networks(item.uuid))
    ]
    if len(near) != 1:
        raise NoWay(f"{server.name}: {len(near)} V-IPU controllers on its networks, not one; name one with --at")
    return near[0]


def _new_key(instance: Path, controller: FoundServer, user: str) -> str:
    words = ["vipu-admin", "update", "user", user, "--new-access-key", "--showjson"]
    done = subprocess.run(
        [sys.executable, "-m", "sandbox.vipu.station", str(instance), controller.uuid, *words],
        cwd=_ROOT, check=False, text=True, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        raise NoWay(f"{controller.name}: {done.stderr.strip()}")
    return str(json.loads(done.stdout)["access_key"])


def _run(instance: Path, server: FoundServer, controller: FoundServer, command: list[str]) -> int:
    program, *words = command
    file = guest_folder(instance, server.uuid) / SETTINGS
    if program == "vipu" and not file.exists():
        print(f"{server.name} has no key yet: run this with --new-key first, as the operator", file=sys.stderr)
        return WRONG_WORDS
    return station.main((str(instance), controller.uuid, "--from", server.uuid, program, "--config", str(file), *words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
