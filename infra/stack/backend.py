"""What the engine leaves in its file backend: locks of processes, and the state of a stack.

As pulumi 3.259 lays it out below the folder of PULUMI_BACKEND_URL:

    .pulumi/stacks/clusters/<stack>.json                       {"version": 3, "checkpoint": {"latest": …}}
    .pulumi/locks/organization/clusters/<stack>/<uuid>.json    {"pid", "username", "hostname", "timestamp"}
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from infra.cli.exits import EnvironmentFailed
from infra.program.places import PROJECT
from interlock.vocabulary.urns import Urn


@dataclass(frozen=True)
class BackendLock:
    """A lock file of the backend, with the process that wrote it."""

    path: Path
    pid: int
    host: str
    since: str

    @property
    def dead(self) -> bool:
        """True if the process is known to be gone: it ran on this host, where no `pulumi` has its id now."""
        return self.host == socket.gethostname() and not _runs_pulumi(self.pid)

    def remove(self) -> None:
        """Delete the lock; the backend's file of attributes beside it goes too."""
        for path in (self.path, self.path.with_name(f"{self.path.name}.attrs")):
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class FileBackend:
    """The folder `.pulumi` of a file backend."""

    folder: Path

    @classmethod
    def at(cls, url: str, base: Path) -> FileBackend:
        """The one of PULUMI_BACKEND_URL; relative paths start at `base`. Raises `EnvironmentFailed`."""
        parts = urlsplit(url)
        if parts.scheme != "file":
            raise EnvironmentFailed(
                f"PULUMI_BACKEND_URL is {url or 'not set'}, which is no local folder (file://…): only its "
                "locks can be judged from here; for another backend see `pulumi cancel`"
            )
        try:
            return cls(base / Path(parts.netloc + parts.path).expanduser() / ".pulumi")
        except RuntimeError as error:
            raise EnvironmentFailed(f"PULUMI_BACKEND_URL is {url}: {error}", "write the folder in full") from None

    def locks(self, stack: str) -> Iterator[BackendLock]:
        """Locks that are held for a stack."""
        for path in sorted((self.folder / "locks").glob(f"**/{PROJECT}/{stack}/*.json")):
            yield _lock(path)

    def stacks(self) -> list[str]:
        """Names of the stacks that have a state."""
        found = (self.folder / "stacks" / PROJECT).glob("*.json*")
        return sorted({path.name.partition(".json")[0] for path in found if not path.name.endswith((".bak", ".attrs"))})

    def may_have_pending(self, stack: str) -> bool:
        """False if the stack surely has no interrupted operations; cheap: it runs before every `pulumi`."""
        folder = self.folder / "stacks" / PROJECT
        plain = folder / f"{stack}.json"
        if plain.exists():
            return bool(json.loads(plain.read_text())["checkpoint"].get("latest", {}).get("pending_operations"))
        return any((folder / f"{stack}.json{suffix}").exists() for suffix in (".gz", ".zst"))


@dataclass(frozen=True)
class PendingOperations:
    """Plan names of what the engine had begun and not ended."""

    creates: tuple[str, ...] = ()
    #: Updates, deletions and reads.
    others: tuple[str, ...] = ()


def interrupted(deployment: Mapping[str, Any]) -> PendingOperations:
    """What is pending in a stack's deployment."""
    operations = deployment.get("pending_operations") or []
    names = [(item["type"] == "creating", Urn.parse(item["resource"]["urn"]).name) for item in operations]
    return PendingOperations(
        tuple(name for creating, name in names if creating), tuple(name for creating, name in names if not creating)
    )


def _lock(path: Path) -> BackendLock:
    try:
        record = json.loads(path.read_text())
        return BackendLock(path, int(record["pid"]), record["hostname"], record["timestamp"])
    except (ValueError, KeyError, TypeError):
        raise EnvironmentFailed(
            f"{path} is a lock that cannot be read: if no pulumi runs on its stack, run `pulumi cancel`"
        ) from None


def _runs_pulumi(pid: int) -> bool:
    """True unless it is known that this process is gone."""
    try:
        os.kill(pid, 0)
        before, _, after = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    except ProcessLookupError:
        return False
    except OSError:
        # It is another user's, or this system has no /proc: it may well run.
        return True
    # A process that nobody has collected yet runs no more; a name other than pulumi's means a reused id.
    return "pulumi" in before and after.split()[0] != "Z"
