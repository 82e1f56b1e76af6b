"""OpenSSH's own tools, asked as people would ask them. No secret is ever an argument or passes through here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from infra.cli.exits import EnvironmentFailed

_GET_IT = "install OpenSSH's client: on Debian or Ubuntu `sudo apt-get install -y openssh-client`"


def run_tool(program: str, *arguments: str | Path, stdin: bytes | None = None, folder: Path | None = None) -> str:
    """What the tool prints. In UTC, so that days mean the same everywhere. Raises EnvironmentFailed with its words.

    Without `stdin` it may ask for a passphrase at the terminal. `folder`: where it runs, here by default.
    """
    environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C"}
    command: Sequence[str | Path] = (program, *arguments)
    try:
        done = subprocess.run(command, env=environment, input=stdin, cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise EnvironmentFailed(f"there is no `{program}` on this machine", _GET_IT) from None
    if done.returncode:
        raise ToolFailed(program, done.returncode, done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


class ToolFailed(EnvironmentFailed):
    """A tool of OpenSSH ended with an exit code. Its last line says why; `first` is its first one, maybe empty."""

    def __init__(self, program: str, code: int, said: str) -> None:
        last = said.splitlines()[-1] if said else f"exit code {code}"
        self.first = next(iter(said.splitlines()), "")
        super().__init__(f"{program} failed: {last}", "mend what it names, and run the command again")
