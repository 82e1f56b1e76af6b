"""A program of ours that runs in a server: its source, the table that it reads, and the unit that starts it.

The sources stand beside this file. They run with the image's own Python, which cloud-init has brought: 3.8 or later.
"""

from __future__ import annotations

from pathlib import Path

from .document import Part
from .files import GuestFile


def program_source(module: str) -> str:
    """The source of a program, by the name of its module here."""
    return Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")


def started(program: GuestFile, table: GuestFile, unit: str, service: str) -> Part:
    """All of one program. `unit`: its name; `service`: what stands in it. No boot waits for it."""
    files = (table, program, GuestFile(f"/etc/systemd/system/{unit}", service))
    commands = (("systemctl", "daemon-reload"), ("systemctl", "enable", "--now", "--no-block", unit))
    return Part(files=files, commands=commands)
