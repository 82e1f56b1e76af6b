"""A certificate authority of one stand-in, and its certificate for 127.0.0.1 and localhost: clients verify it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from sandbox.authority import HERE, make_authority

_LIFE = datetime.timedelta(days=7)


@dataclass(frozen=True)
class ServerCertificate:
    """Files: the authority that clients are told of, the server's certificate, its key."""

    authority: Path
    chain: Path
    key: Path


def make_certificate(folder: Path) -> ServerCertificate:
    """A new authority, whose key is not kept, and what it signed."""
    folder.mkdir(parents=True, exist_ok=True)
    files = ServerCertificate(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    authority = make_authority("stand-in of UFM, authority", _LIFE)
    authority.issue("stand-in of UFM", files.chain, files.key, HERE)
    authority.write(files.authority)
    return files
