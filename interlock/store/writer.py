"""Whose hand a record is from."""

from __future__ import annotations

import getpass
import os
import socket
from datetime import UTC, datetime


def moment() -> str:
    """Now, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def user_at_host() -> str:
    """The person at this machine, as the machine knows them."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"


def writer() -> str:
    """Who writes, for people; no two writes are alike, so that no version of a record comes back."""
    return f"{user_at_host()}, process {os.getpid()}, {datetime.now(UTC).isoformat()}"
