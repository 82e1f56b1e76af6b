"""A Pulumi project of a test's own: copies of the stacks, a file backend in a temporary folder, the real CLI."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "policies" / "pack"

PROJECT = """\
name: clusters
main: {program}
stackConfigDir: stacks
runtime:
  name: python
  options:
    virtualenv: {venv}
"""


@dataclass(frozen=True)
class Result:
    """How a command ended, and all it said."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


@dataclass(frozen=True)
class Project:
    """A folder like the repository's root, in which a test may change anything."""

    folder: Path
    clouds_yaml: Path
    more: tuple[tuple[str, str], ...] = ()

    @classmethod
    def make(cls, folder: Path, clouds_yaml: Path, program: Path = ROOT / "infra") -> Project:
        """Copy the stacks and write a Pulumi.yaml that runs `program`."""
        shutil.copytree(ROOT / "stacks", folder / "stacks")
        (folder / "state").mkdir()
        text = PROJECT.format(program=program, venv=ROOT / ".interlock" / "venv")
        (folder / "Pulumi.yaml").write_text(text)
        return cls(folder, clouds_yaml)

    @property
    def environment(self) -> dict[str, str]:
        """What `./run` prepares, with the state and the stacks of this folder."""
        return os.environ | {
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "interlock-demo",
            "OS_CLIENT_CONFIG_FILE": str(self.clouds_yaml),
            "INTERLOCK_STACKS": str(self.folder / "stacks"),
            "NO_COLOR": "1",
            **dict(self.more),
        }

    def with_environment(self, **variables: str) -> Project:
        """The same project with more variables."""
        return replace(self, more=(*self.more, *variables.items()))

    def only_stacks(self) -> Path:
        """The folder of stacks, empty: for a project whose sites are not the shipped ones."""
        shutil.rmtree(self.folder / "stacks")
        (self.folder / "stacks").mkdir()
        return self.folder / "stacks"

    def copy_stacks(self, other: Project) -> None:
        """Take over the stacks of another project, with its locks."""
        shutil.rmtree(self.folder / "stacks")
        shutil.copytree(other.folder / "stacks", self.folder / "stacks")

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command in a process group of its own."""
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *command: str) -> Result:
        """Run a command to its end."""
        process = self.start(*command)
        out, err = process.communicate(timeout=400)
        return Result(process.returncode, out, err)

    def interlock(self, *arguments: str) -> Result:
        """Run the `interlock` command."""
        return self.run(sys.executable, "-P", "-m", "infra.cli", *arguments)

    def pulumi(self, verb: str, stack: str, *arguments: str) -> Result:
        """Run `pulumi VERB --stack STACK`."""
        return self.run("pulumi", verb, "--stack", stack, "--non-interactive", "--color", "never", *arguments)

    def init(self, *stacks: str) -> None:
        """Make stacks on the backend, side by side: each is a file of its own."""
        command = ("pulumi", "stack", "init", "--no-select", "--non-interactive")
        running = [self.start(*command, stack) for stack in stacks]
        for process in running:
            out, err = process.communicate(timeout=400)
            assert process.returncode == 0, out + err

    def up(self, stack: str, *arguments: str) -> Result:
        """`pulumi up --yes` with the policy pack."""
        return self.plain_up(stack, "--policy-pack", str(PACK), *arguments)

    def plain_up(self, stack: str, *arguments: str) -> Result:
        """`pulumi up --yes` without the pack, where what it would judge is not the test's subject."""
        return self.pulumi("up", stack, "--yes", *arguments)

    def unchanged(self, stack: str, *arguments: str) -> Result:
        """A preview, which must have nothing to do: it asks what an `up` asks before the first change."""
        return self.must(self.pulumi("preview", stack, "--expect-no-changes", *arguments))

    def destroy(self, stack: str) -> Result:
        """Everything of a stack goes, where that is not the test's subject: without the engine's look ahead."""
        return self.must(self.pulumi("destroy", stack, "--yes", "--skip-preview"))

    def refresh(self, stack: str, *arguments: str) -> Result:
        """Reads everything of a stack once; `refresh` without the option does so twice, for a preview of it."""
        return self.must(self.pulumi("refresh", stack, "--yes", "--skip-preview", *arguments))

    def must(self, result: Result) -> Result:
        """The result, which must be a success."""
        assert result.code == 0, result.text
        return result

    def state(self, stack: str) -> dict[str, Any]:
        """The deployment of a stack, as the backend's file has it."""
        text = (self.folder / "state" / ".pulumi" / "stacks" / "clusters" / f"{stack}.json").read_text()
        deployment: dict[str, Any] = json.loads(text)["checkpoint"]["latest"]
        return deployment

    def output(self, stack: str, *arguments: str) -> dict[str, Any]:
        """The outputs of a stack."""
        shown = self.must(self.run("pulumi", "stack", "output", "--json", "--stack", stack, *arguments))
        found: dict[str, Any] = json.loads(shown.out)
        return found

    def objects(self, stack: str) -> dict[str, dict[str, Any]]:
        """The cloud objects in a stack's state, by logical name."""
        resources = self.state(stack).get("resources") or []
        ours = (item for item in resources if item["type"].startswith("interlock:index:"))
        return {item["urn"].rsplit("::", 1)[-1]: item for item in ours}

    def edit(self, file: str, old: str, new: str) -> None:
        """Change one place in a file below `stacks/`."""
        path = self.folder / "stacks" / file
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new))


def changes(result: Result) -> dict[str, int]:
    """The numbers in the summary of `up`, `refresh` or `destroy`: {"created": 3, "unchanged": 40} …"""
    counted: dict[str, int] = {}
    for line in _summary(result.out):
        words = line.split()
        # Of replacements the sign stands right before the number: `+-2 replaced`.
        counted[words[-1]] = int(words[-2].lstrip("+-~"))
    return counted


def _summary(text: str) -> Iterator[str]:
    # An `up` has two: of its preview and of the update.
    _, _, last = text.rpartition("\nResources:\n")
    for line in last.splitlines():
        if not line.strip():
            return
        if line.split()[-1] in ("created", "updated", "deleted", "replaced", "unchanged"):
            yield line
