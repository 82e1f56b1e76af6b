"""The embedded cloud's simulated switch with as many ports as wanted, for who measures reading.

python -m benchmarks.switch_of_ports FOLDER PORTS     serves until it is told to end (SIGTERM)

Each port has a VLAN of its own name space (`vlan_of`) and an LLDP neighbour. FOLDER gets `switches.yaml` as a reader
takes it, and `known_hosts`; the second is there when the switch listens.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from pathlib import Path

import yaml

from sandbox.switches import keys, vlans
from sandbox.switches.command_line import Device
from sandbox.switches.devices import GIGABIT, Neighbor, Port, Switch, access
from sandbox.switches.files import FileBackend
from sandbox.switches.misbehaving import Misbehaving
from sandbox.switches.server import PLATFORM, Users, listen
from sandbox.switches.table import SwitchState

NAME, SERIAL, MAC, ADDRESS = "large-1", "BENCHMARK-1", "02:1c:73:00:00:09", "127.0.0.1"


def vlan_of(number: int) -> int:
    """The VLAN that a port is in."""
    return 1000 + number


def port_name(number: int) -> str:
    """What the switch calls a port."""
    return f"Ethernet{number}"


def switch_of(count: int) -> Switch:
    """A switch with ports 1 to `count`."""
    numbers = range(1, count + 1)
    return Switch(
        name=NAME,
        model=f"benchmark, {count} ports",
        serial=SERIAL,
        mac=MAC,
        address=ADDRESS,
        physical_network="fabric100g",
        shut_unused=True,
        ports=tuple(Port(port_name(number), 100 * GIGABIT, "100GBASE-CR4") for number in numbers),
        initial=SwitchState(
            NAME,
            {port_name(number): access(vlan_of(number)) for number in numbers},
            {vlan: vlans.default_name(vlan) for vlan in (vlans.DEFAULT, *map(vlan_of, numbers))},
        ),
        neighbors={
            port_name(number): Neighbor(
                f"device-{number}", "rnic", f"02:00:00:00:{number // 256:02x}:{number % 256:02x}"
            )
            for number in numbers
        },
    )


async def serve(folder: Path, count: int) -> None:
    """Listen, tell readers how they get in, and wait for the end."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    switch, key_file = switch_of(count), keys.user_key_file(folder, keys.READER)
    users = Users({keys.READER: keys.key(key_file, keys.READER)})
    host_key = keys.key(keys.host_key_file(folder, NAME), NAME)
    device, port = Device(switch, FileBackend(folder / f"{NAME}.json", switch.initial)), _free_port()
    await listen(device, Misbehaving(folder, NAME), host_key, port, users, lambda _: None)
    entry = {
        "platform": PLATFORM,
        "host": ADDRESS,
        "port": port,
        "username": keys.READER,
        "key_file": str(key_file),
        "host_key": keys.public(host_key),
    }
    (folder / "switches.yaml").write_text(yaml.safe_dump({"switches": {NAME: entry}}))
    told = folder / "known_hosts.new"
    told.write_text(keys.known_hosts({ADDRESS: keys.public(host_key)}, port))
    told.rename(folder / "known_hosts")
    await ended.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
