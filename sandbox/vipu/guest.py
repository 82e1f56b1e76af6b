"""What a Poplar server does with V-IPU, for tests: its own id and key, and `vipu` at the user API of its controller."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .forms import write_whole
from .station import guest_folder

_ROOT = Path(__file__).resolve().parents[2]
#: What `vipu --config` reads in a Poplar server.
SETTINGS = "vipu-cli.hcl"


def hand_over(instance: Path, server: str, user: str, key: str) -> Path:
    """Leave a user's key in a server, in a file that its owner alone reads."""
    file = guest_folder(instance, server) / SETTINGS
    # The station says where the API is; the control address of this file is another one there.
    write_whole(file, f'api-host="127.0.0.1"\napi-user-id="{user}"\napi-access-key="{key}"\n')
    return file


@dataclass(frozen=True)
class PoplarGuest:
    """A Poplar server of an instance: ids of both servers at Nova, and what the channel handed to it."""

    instance: Path
    controller: str
    server: str
    user: str
    key: str = field(repr=False)

    def vipu(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command. The key is in a file that its owner alone reads, as in a server."""
        file = hand_over(self.instance, self.server, self.user, self.key)
        station = [sys.executable, "-m", "sandbox.vipu.station", str(self.instance), self.controller]
        return subprocess.run(
            [*station, "--from", self.server, "vipu", "--config", str(file), *words],
            cwd=_ROOT, check=False, text=True, capture_output=True,
        )  # fmt: skip
