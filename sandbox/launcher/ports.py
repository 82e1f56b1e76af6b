"""Free TCP ports for an instance, chosen once and kept in its ports.json."""

import json
import socket
import zlib
from pathlib import Path

from sandbox.launcher.catalogue import LISTENERS
from sandbox.launcher.errors import SandboxError
from sandbox.launcher.layout import MADE, Instance
from sandbox.rack.reading import rack_of

# Below Linux's range for outgoing connections (32768-60999): a port taken from
# that range could be in use by somebody's client when the instance starts again.
FIRST, LAST = 20000, 31999


def addresses(folder: Path) -> tuple[str, ...]:
    """Every address of the sandbox in this folder. Its switches have one each and share a port."""
    return ("127.0.0.1", *(switch.address for switch in rack_of(folder).switches))


def is_free(port: int, own: tuple[str, ...]) -> bool:
    """Whether a listener can be opened on all of these addresses."""
    return all(can_bind(address, port) for address in own)


def can_bind(address: str, port: int) -> bool:
    """Whether a listener can be opened here."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


def read(instance: Instance) -> dict[str, int]:
    """The recorded ports by listener; empty when none were chosen yet."""
    try:
        recorded = json.loads(instance.ports.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except json.JSONDecodeError as error:
        message = f"{instance.ports} is not JSON ({error}).\n  Remove it; new ports are then chosen."
        raise SandboxError(message) from error
    return {str(name): int(port) for name, port in recorded.items()}


def claimed(made: Path, own: Path) -> set[int]:
    """Ports recorded by the other instances under `made`, whether they run or not."""
    others = [path for path in made.glob("*/ports.json") if path.parent != own]
    return {port for path in others for port in read(Instance(path.parent)).values()}


def choose(own: Path, taken: set[int], wanted: tuple[str, ...] = LISTENERS) -> dict[str, int]:
    """One free port per listener, none of them in `taken`.

    The search begins at a place that depends on the folder, so that two clones
    on one machine seldom meet even when neither runs.
    """
    span = LAST - FIRST + 1
    start = zlib.crc32(str(own).encode()) % span
    found, here = list[int](), addresses(own)
    for step in range(span):
        port = FIRST + (start + step) % span
        if port not in taken and is_free(port, here):
            found.append(port)
        if len(found) == len(wanted):
            return dict(zip(wanted, found, strict=True))
    raise SandboxError(f"fewer than {len(wanted)} free TCP ports between {FIRST} and {LAST} on 127.0.0.1")


def settle(instance: Instance) -> dict[str, int]:
    """The recorded ports, or newly chosen ones, which are then recorded."""
    known = read(instance)
    if set(known) == set(LISTENERS):
        return known
    return renew(instance)


def renew(instance: Instance) -> dict[str, int]:
    """Choose all ports again and record them."""
    instance.folder.mkdir(parents=True, exist_ok=True)
    ports = choose(instance.folder, claimed(MADE, instance.folder))
    temporary = instance.ports.with_suffix(".new")
    temporary.write_text(json.dumps(ports, indent=1) + "\n", encoding="utf-8")
    temporary.replace(instance.ports)
    return ports
