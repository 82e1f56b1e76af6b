"""Runs an external program in the foreground: it receives Ctrl-C itself and ends in its own way."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(command: Sequence[str | Path], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> int:
    """Run a program to its end; its exit code. After Ctrl-C raises KeyboardInterrupt, when it has ended.

    The terminal sends Ctrl-C to both of us. `subprocess.run` would kill the program a quarter of a second
    later, and a killed `pulumi` leaves its lock and half-made objects.
    """
    interrupted = False
    with subprocess.Popen(command, cwd=folder, env=environment) as child:
        while child.returncode is None:
            try:
                child.wait()
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return child.returncode
