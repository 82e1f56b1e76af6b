"""Where everything lies: the repository, what all instances share, and one instance."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SANDBOX = Path(__file__).resolve().parents[1]
ROOT = SANDBOX.parent
MADE = ROOT / ".interlock"
BASE = MADE / "sandbox-base"
VENV = BASE / "venv"
GOLDEN = BASE / "golden"
UV_VENV = MADE / "uv"
DEFAULT_INSTANCE = MADE / "sandbox"
REQUIREMENTS = SANDBOX / "requirements.lock"
TEMPLATES = SANDBOX / "conf"


@dataclass(frozen=True)
class Instance:
    """One embedded cloud: a folder that holds its ports, configuration, state and logs."""

    folder: Path

    @property
    def ports(self) -> Path:
        """The TCP port of each listener, chosen at the first start."""
        return self.folder / "ports.json"

    @property
    def clouds(self) -> Path:
        """Credentials for every OpenStack client."""
        return self.folder / "clouds.yaml"

    @property
    def conf(self) -> Path:
        """The services' configuration files, written again at every start."""
        return self.folder / "conf"

    @property
    def state(self) -> Path:
        """Databases, keys, images, objects: all that a restart must find again."""
        return self.folder / "state"

    @property
    def logs(self) -> Path:
        """One log per service, and one per process for what it printed."""
        return self.folder / "log"

    @property
    def run(self) -> Path:
        """Process ids and ready marks."""
        return self.folder / "run"

    @property
    def stamp(self) -> Path:
        """Which pins the state was made with."""
        return self.state / "stamp"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one supervisor at a time may change this folder; a second one waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
