"""Pulumi's command line, run for a stack of this project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.cli.exits import EnvironmentFailed
from infra.program.places import DEMO_PASSPHRASE, PACK, ROOT, SANDBOX, STATE, stacks
from infra.stack import foreground

from .backend import FileBackend, PendingOperations, interrupted


@dataclass(frozen=True)
class Engine:
    """The `pulumi` command with the environment that it shall see, and the folder of its project."""

    environment: Mapping[str, str]
    folder: Path = ROOT

    @classmethod
    def of_the_demo(cls, sandbox: Path = SANDBOX) -> Engine:
        """On this sandbox, with the local state and the public passphrase, whatever this shell is set to."""
        mine = {name: value for name, value in os.environ.items() if name != "PULUMI_CONFIG_PASSPHRASE_FILE"}
        demo = {
            "PULUMI_BACKEND_URL": f"file://{STATE}",
            "PULUMI_CONFIG_PASSPHRASE": DEMO_PASSPHRASE,
            "OS_CLIENT_CONFIG_FILE": str(sandbox / "clouds.yaml"),
        }
        return cls(mine | demo)

    @classmethod
    def here(cls) -> Engine:
        """With the environment of this process, which `./run` has prepared, on the project that the stacks lie in."""
        beside = stacks().parent
        return cls(dict(os.environ), beside if (beside / "Pulumi.yaml").is_file() else ROOT)

    @property
    def backend(self) -> FileBackend:
        """The local backend. Raises `EnvironmentFailed` if it is another."""
        return FileBackend.at(self.environment.get("PULUMI_BACKEND_URL", ""), self.folder)

    def ask(self, *arguments: str, given: str | None = None) -> str:
        """Run one command and return what it prints. Raises `EnvironmentFailed` with its own words."""
        done = subprocess.run(
            self._command(*arguments), cwd=self.folder, env=dict(self.environment), input=given,
            check=False, text=True, capture_output=True,
        )  # fmt: skip
        if done.returncode:
            raise EnvironmentFailed(f"pulumi {' '.join(arguments)} failed: {done.stderr.strip()}")
        return done.stdout

    def init(self, stack: str) -> bool:
        """Make a stack on the backend if there is none of this name; True if it was made."""
        if self.has(stack):
            return False
        # A committed `encryptionsalt` is kept byte for byte if the passphrase is the one it was made with.
        self.ask("stack", "init", stack, "--no-select")
        return True

    def has(self, stack: str) -> bool:
        """True if the backend has a stack of this name."""
        return stack in {item["name"].rsplit("/", 1)[-1] for item in json.loads(self.ask("stack", "ls", "--json"))}

    def last_changes(self, stack: str) -> dict[str, int]:
        """How many resources the last update created, updated, left the same …; empty if there was none."""
        updates = json.loads(self.ask("stack", "history", "--json", "--page-size", "1", "--stack", stack))
        found: dict[str, int] = updates[0].get("resourceChanges", {}) if updates else {}
        return found

    def up(self, stack: str) -> int:
        """Apply a stack with the policy pack; its exit code."""
        command = self._command("up", "--yes", "--stack", stack, "--policy-pack", str(PACK), "--suppress-progress")
        return foreground.run(command, self.folder, self.environment)

    def agrees(self, stack: str) -> bool:
        """True if the program, the state and what is really there say the same; reads only."""
        command = self._command("preview", "--refresh", "--expect-no-changes", "--suppress-progress", "--stack", stack)
        done = subprocess.run(
            command, cwd=self.folder, env=dict(self.environment), check=False, text=True, capture_output=True
        )
        return done.returncode == 0

    def outputs(self, stack: str) -> dict[str, Any]:
        """The outputs of a stack, secrets hidden."""
        found: dict[str, Any] = json.loads(self.ask("stack", "output", "--json", "--stack", stack))
        return found

    def drop_pending(self, stack: str) -> PendingOperations:
        """Remove interrupted operations from the state, which ones.

        The provider finds again what creates made. All others have their object in the state; left where they are,
        they make the next `up` warn of them at length, and then it forgets them by itself.
        """
        if not self.backend.may_have_pending(stack):
            return PendingOperations()
        document = json.loads(self.ask("stack", "export", "--stack", stack))
        dropped = interrupted(document["deployment"])
        if dropped != PendingOperations():
            del document["deployment"]["pending_operations"]
            self.ask("stack", "import", "--stack", stack, given=json.dumps(document))
        return dropped

    def _command(self, *arguments: str) -> list[str]:
        found = shutil.which("pulumi", path=self.environment.get("PATH"))
        if found is None:
            raise EnvironmentFailed('pulumi is not on PATH: use `./run …`, or eval "$(./run env)" first')
        return [found, *arguments, "--non-interactive"]
