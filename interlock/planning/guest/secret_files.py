"""What a server fetches after its first boot, and the program that does: names alone stand in the document.

Each thing becomes a file below `/etc/interlock/secrets` that only root reads, called by its name, with the text that
was left for the server: for S3 keys that of `~/.aws/credentials`, which clients find by `AWS_SHARED_CREDENTIALS_FILE`.
It is of no account's home, since images differ in these.

Not for whole hosts: Ironic deploys them by itself, so Nova knows none of them and answers no question of theirs; and
their config drive, which stays on the disk, is no place for a secret.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from interlock.resources.asked_names import TABLE

from .document import Part
from .files import GuestFile
from .programs import program_source, started

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
    table = GuestFile(TABLE, json.dumps(sorted(names)) + "\n")
    return started(GuestFile(PROGRAM, program(), mode=0o755), table, UNIT, _SERVICE)


def program() -> str:
    """The program's source."""
    return program_source("secrets_in_guest")
