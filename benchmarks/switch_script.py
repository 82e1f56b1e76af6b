"""The other side of reading: a script that sends the same commands and takes two values from one of the answers.

python -m benchmarks.switch_script netmiko|asyncssh FILE     the VLAN of each port goes to stdout, as JSON

FILE: {"host", "port", "username", "key_file", "known_hosts", "commands", "switchports"}, the last one naming the
command that tells VLANs. All answers are parsed as JSON and nothing is checked. It runs in the environment of the
embedded cloud, which has netmiko for Neutron's driver; so it imports nothing of this project.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Asked = dict[str, Any]

#: Seconds for one answer.
PATIENCE = 120


def by_netmiko(asked: Asked) -> list[str]:
    """The answers, typed at a prompt one after the other."""
    # By name, for mypy: it is not in the environment in which types are checked.
    netmiko = importlib.import_module("netmiko")
    with netmiko.ConnectHandler(
        device_type="arista_eos",
        host=asked["host"],
        port=asked["port"],
        username=asked["username"],
        use_keys=True,
        key_file=asked["key_file"],
        ssh_strict=True,
        alt_host_keys=True,
        alt_key_file=asked["known_hosts"],
    ) as connection:
        return [connection.send_command(command, read_timeout=PATIENCE) for command in asked["commands"]]


def by_asyncssh(asked: Asked) -> list[str]:
    """The answers, each to a request of its own on one connection."""
    return asyncio.run(_ask(asked))


async def _ask(asked: Asked) -> list[str]:
    asyncssh = importlib.import_module("asyncssh")
    async with asyncssh.connect(
        asked["host"],
        asked["port"],
        username=asked["username"],
        known_hosts=asked["known_hosts"],
        client_keys=[asked["key_file"]],
        config=None,
        agent_path=None,
    ) as connection:
        return [(await connection.run(command, check=True)).stdout for command in asked["commands"]]


WAYS: dict[str, Callable[[Asked], list[str]]] = {"netmiko": by_netmiko, "asyncssh": by_asyncssh}


def vlans(asked: Asked, answers: list[str]) -> dict[str, int]:
    """Port -> access VLAN."""
    parsed = dict(zip(asked["commands"], map(json.loads, answers), strict=True))
    ports = parsed[asked["switchports"]]["switchports"]
    return {name: item["switchportInfo"]["accessVlanId"] for name, item in ports.items()}


if __name__ == "__main__":
    question = json.loads(Path(sys.argv[2]).read_text())
    json.dump(vlans(question, WAYS[sys.argv[1]](question)), sys.stdout)
