"""Whether the switches of an instance forward frames: a setting that it keeps, and the fabric that does it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.fabric.namespaces import FabricFailed
from sandbox.fabric.needs import FabricLacks, require_fabric
from sandbox.fabric.rack import fabric_of, remains_of
from sandbox.launcher.errors import SandboxError

#: In the instance's folder, not in its state: `reset` keeps it.
FILE = "settings.json"
COMMAND = "sudo python3 sandbox/supervisor.py up --frames"


def wanted(folder: Path) -> bool:
    """Whether the switches of the instance in this folder forward frames. A sandbox that was told nothing does not."""
    path = folder / FILE
    try:
        return bool(json.loads(path.read_text(encoding="utf-8"))["frames"])
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError) as error:
        raise SandboxError(f'{path} is not {{"frames": true}} or {{"frames": false}}.\n  Remove it.') from error


def forwarded(folder: Path) -> bool:
    """Whether they do so now: there are bridges."""
    return wanted(folder) and remains_of(folder).is_up


def words(folder: Path) -> str:
    """What `status` tells of it."""
    if not wanted(folder):
        return "off: switches keep tables, and no frame flows"
    return "on: switches forward frames" if forwarded(folder) else "on at the next start; there are no bridges now"


def keep(folder: Path, frames: bool) -> None:
    """Keep what was asked for."""
    whole = folder / f"{FILE}.new"
    whole.write_text(json.dumps({"frames": frames}) + "\n", encoding="utf-8")
    whole.replace(folder / FILE)


def require(frames: bool | None) -> None:
    """Raises SandboxError if frames are asked for and this machine or user cannot have them."""
    if frames:
        with told():
            require_fabric(COMMAND)


def up(folder: Path) -> None:
    """Make bridges, namespaces and cables, all ports down: the process of the switches sets them. Once for a start."""
    require(True)
    with told():
        fabric_of(folder).up()


def down(folder: Path) -> None:
    """Remove them; does nothing for an instance that never had any."""
    fabric = remains_of(folder)
    if not fabric.folder.exists():
        return
    require(True)
    with told():
        fabric.down()
    fabric.folder.rmdir()


@contextmanager
def told() -> Iterator[None]:
    """What a fabric lacks, or could not do, as an error of the sandbox."""
    try:
        yield
    except (FabricLacks, FabricFailed) as error:
        raise SandboxError(str(error)) from error
