"""What an authority signed and revoked: one JSON file beside its key, replaced as a whole, one writer at a time."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from infra.cli.exits import EnvironmentFailed
from interlock.resources import Frozen

#: How long certificates that ended are remembered.
_REMEMBERED = timedelta(days=365)


class IssuedCertificate(Frozen):
    """A certificate that was signed. Times in UTC, as ISO 8601."""

    serial: int
    person: str
    #: Of the key that it is about.
    fingerprint: str
    principals: tuple[str, ...]
    begins: datetime
    ends: datetime
    revoked: bool = False

    def is_alive(self, now: datetime) -> bool:
        """True if servers still take it: neither ended nor revoked."""
        return now <= self.ends and not self.revoked


class IssuedCertificates(Frozen):
    """All of one authority, by serial."""

    #: The last serial that was given away.
    last: int = 0
    #: Number of the revocation list; each is higher than the one before.
    lists: int = 0
    issued: tuple[IssuedCertificate, ...] = ()

    def remembered(self, now: datetime) -> IssuedCertificates:
        """Without what ended long ago."""
        return self.model_copy(update={"issued": tuple(x for x in self.issued if x.ends + _REMEMBERED > now)})


def read_register(file: Path) -> IssuedCertificates:
    """Empty if there is no file. Raises EnvironmentFailed for one that cannot be read."""
    try:
        return IssuedCertificates.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return IssuedCertificates()
    except (OSError, ValidationError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not what interlock wrote"
        hint = "put back a copy of it: without it nobody knows which serials are given away"
        raise EnvironmentFailed(f"{file} cannot be read: {said}", hint) from None


def write_register(file: Path, register: IssuedCertificates) -> None:
    """Replaces the file as a whole: a killed run leaves the old one or the new one."""
    new = file.with_name(f"{file.name}.new")
    text = json.dumps(register.model_dump(mode="json"), indent=1)
    with new.open("w", encoding="utf-8") as stream:
        stream.write(f"{text}\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(file)


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Waits until no other run signs or revokes for this authority."""
    with file.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
