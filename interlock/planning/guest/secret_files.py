"""What a server fetches after its first boot, and the program that does: names alone stand in the document.

Each thing becomes a file below `FOLDER` that only root reads, called by its name, with the text that was left for the
server: for S3 keys that of `~/.aws/credentials`, which clients find by `AWS_SHARED_CREDENTIALS_FILE`. It is of no
account's home, since images differ in these.

Not for whole hosts: Ironic deploys them by itself, so Nova knows none of them and answers no question of theirs; and
their config drive, which stays on the disk, is no place for a secret.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from .document import Part
from .files import GuestFile

TABLE = "/etc/interlock/secrets.json"
FOLDER = "/etc/interlock/secrets"
PROGRAM = "/usr/local/sbin/interlock-secrets"
UNIT = "interlock-secrets.service"

_SERVICE = f"""\
[Unit]
Description=Fetch what waits for this server, once
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={PROGRAM}

[Install]
WantedBy=multi-user.target
"""


def fetched_secrets(names: Sequence[str]) -> Part:
    """The files of a server that fetches these; nothing if there are none."""
    if not names:
        return Part()
    files = (
        GuestFile(TABLE, json.dumps(sorted(names)) + "\n"),
        GuestFile(PROGRAM, program(), mode=0o755),
        GuestFile(f"/etc/systemd/system/{UNIT}", _SERVICE),
    )
    commands = (("systemctl", "daemon-reload"), ("systemctl", "enable", "--now", "--no-block", UNIT))
    return Part(files=files, commands=commands)


def program() -> str:
    """The program's source. It runs with the image's own Python, which cloud-init has brought: 3.8 or later."""
    return Path(__file__).with_name("secrets_in_guest.py").read_text(encoding="utf-8")
