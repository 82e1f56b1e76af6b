"""Pulumi's command line, run for a stack of this project, and the file backend's own files.

What the engine leaves behind when it is killed is mended here: its lock, if its process is dead on this
host, and the pending creates, which are safe to drop because the provider adopts what they made.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .exits import EnvironmentFailed
from .places import PACK, PROJECT, ROOT


@dataclass(frozen=True)
class BackendLock:
    """A lock file of the backend, with the process that wrote it."""

    path: Path
    pid: int
    host: str
    since: str

    @property
    def dead(self) -> bool:
        """True if the process is known to be gone: it ran on this host and exists no more."""
        return self.host == socket.gethostname() and not _alive(self.pid)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """A killed process whose parent has not collected it yet runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return False


@dataclass(frozen=True)
class Engine:
    """The `pulumi` command with the environment that it shall see."""

    environment: Mapping[str, str]

    @classmethod
    def here(cls) -> Engine:
        """With the environment of this process, which `./run` has prepared."""
        return cls(dict(os.environ))

    def run(self, *arguments: str, quiet: bool = False) -> subprocess.CompletedProcess[str]:
        """Run one command in the repository's root; the caller looks at the exit code."""
        captured = subprocess.PIPE if quiet else None
        return subprocess.run(
            [self._binary(), *arguments, "--non-interactive"],
            cwd=ROOT, env=dict(self.environment), check=False, text=True, stdout=captured, stderr=captured,
        )  # fmt: skip

    def ask(self, *arguments: str) -> str:
        """Run one command and return what it prints. Raises `EnvironmentFailed` with its own words."""
        done = self.run(*arguments, quiet=True)
        if done.returncode:
            raise EnvironmentFailed(f"pulumi {' '.join(arguments)} failed: {done.stderr.strip()}")
        return done.stdout

    def init(self, stack: str) -> bool:
        """Make a stack on the backend if there is none of this name; True if it was made."""
        known = {item["name"].rsplit("/", 1)[-1] for item in json.loads(self.ask("stack", "ls", "--json"))}
        if stack in known:
            return False
        self.ask("stack", "init", stack, "--no-select")
        return True

    def up(self, stack: str) -> int:
        """Apply a stack with the policy pack; its exit code."""
        return self.run("up", "--yes", "--stack", stack, "--policy-pack", str(PACK), "--suppress-permalink").returncode

    def outputs(self, stack: str) -> dict[str, Any]:
        """The outputs of a stack, secrets hidden."""
        found: dict[str, Any] = json.loads(self.ask("stack", "output", "--json", "--stack", stack))
        return found

    def _binary(self) -> str:
        found = shutil.which("pulumi", path=self.environment.get("PATH"))
        if found is None:
            raise EnvironmentFailed('pulumi is not on PATH: start through `./run …`, or eval "$(./run env)" first')
        return found

    def locks(self, stack: str) -> Iterator[BackendLock]:
        """Locks that the file backend holds for a stack."""
        for path in sorted((self._state() / "locks").glob(f"**/{PROJECT}/{stack}/*.json")):
            record = json.loads(path.read_text())
            yield BackendLock(path, record["pid"], record["hostname"], record["timestamp"])

    def _state(self) -> Path:
        url = urlsplit(self.environment.get("PULUMI_BACKEND_URL", ""))
        if url.scheme != "file":
            raise EnvironmentFailed(
                "PULUMI_BACKEND_URL names no local folder (file://…): only its locks can be judged from here; "
                "for another backend see `pulumi cancel`"
            )
        return Path(url.netloc + url.path) / ".pulumi"

    def drop_pending_creates(self, stack: str) -> list[str]:
        """Remove interrupted creates from the state; what they made is found again by the provider."""
        path = next(iter(self._state().glob(f"stacks/{PROJECT}/{stack}.json")), None)
        if path is None or not _pending(json.loads(path.read_text())["checkpoint"].get("latest") or {}):
            return []
        document = json.loads(self.ask("stack", "export", "--stack", stack))
        dropped = _pending(document["deployment"])
        kept = [item for item in document["deployment"]["pending_operations"] if item["type"] != "creating"]
        document["deployment"]["pending_operations"] = kept
        self._import(stack, document)
        return dropped

    def _import(self, stack: str, document: dict[str, Any]) -> None:
        done = subprocess.run(
            [self._binary(), "stack", "import", "--stack", stack, "--non-interactive"],
            cwd=ROOT, env=dict(self.environment), input=json.dumps(document), text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise EnvironmentFailed(f"pulumi stack import failed: {done.stderr.strip()}")


def _pending(deployment: Mapping[str, Any]) -> list[str]:
    """URNs of interrupted creates."""
    operations = deployment.get("pending_operations") or []
    return [item["resource"]["urn"] for item in operations if item["type"] == "creating"]
