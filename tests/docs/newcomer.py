"""A newcomer: a fresh clone, the environment of a plain shell, and the pages read from top to bottom."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import Example
from toolchain.layout import CheckoutLayout
from toolchain.making import STAMP, digest
from toolchain.variables import foreign_path

ROOT = Path(__file__).resolve().parents[2]

#: The pages that need the embedded cloud, in the order in which the newcomer reads them.
ROUTE = (
    "README.md",
    "docs/tutorial.md",
    "docs/how-to/own-cloud.md",
    "docs/how-to/after-a-kill.md",
    "docs/how-to/audit.md",
)

#: What a prepared shell sets; a plain one has none of it.
PREPARED = ("PULUMI_", "OS_", "INTERLOCK_", "PYTEST_", "PYTHON", "VIRTUAL_ENV", "GIT_")


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it said; `err` is empty if both streams were one, as on a terminal."""

    code: int
    out: str
    err: str = ""

    @property
    def text(self) -> str:
        return self.out + self.err


@dataclass(frozen=True)
class Newcomer:
    """A fresh clone in `folder`, and a home of the newcomer's own beside it."""

    folder: Path
    home: Path

    @classmethod
    def arrive(cls, place: Path) -> Newcomer:
        """Clone what git would commit; what takes minutes to recreate is taken over from the root."""
        made = cls(place / "clone", place / "home")
        made.home.mkdir()
        made._copy_files()
        made._commit()
        made._take_over_caches()
        return made

    def run(self, script: str, *, terminal: bool = False) -> Ran:
        """Run a script with `sh`, as a person who says yes to every question of Pulumi."""
        done = subprocess.run(
            ["sh", "-eu", "-c", script], cwd=self.folder, env=self._environment(), check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if terminal else subprocess.PIPE, timeout=550,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr or "")

    def follow(self, example: Example) -> None:
        """Run an example; it must end and print as its page says."""
        ran = self.run(example.block.text, terminal=True)
        assert ran.code == example.block.exit, f"{example.block.place} ended with {ran.code}:\n{ran.text}"
        assert example.missing(ran.text) == [], f"{example.block.place} printed:\n{ran.text}"

    def status(self) -> str:
        """What `git status` has to say."""
        return self.run("git status --porcelain").out

    def _environment(self) -> Mapping[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(PREPARED)}
        # uv's cache stays where it is: it lies below the real home.
        cache = plain.get("UV_CACHE_DIR") or str(Path(plain.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uv")
        return plain | {
            "PATH": foreign_path(CheckoutLayout.here(), os.environ),
            "HOME": str(self.home),
            "UV_CACHE_DIR": cache,
            "PULUMI_SKIP_CONFIRMATIONS": "true",
            "NO_COLOR": "1",
        }

    def _copy_files(self) -> None:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, text=True, capture_output=True,
        )  # fmt: skip
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                target = self.folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, target)

    def _commit(self) -> None:
        ran = self.run("git init -q && git add -A && git -c user.name=n -c user.email=n@example.com commit -qm clone")
        assert ran.code == 0, ran.text

    def _take_over_caches(self) -> None:
        """Packages of the sandbox by a link, Pulumi and uv as copies."""
        old, new = ROOT / ".interlock", self.folder / ".interlock"
        new.mkdir()
        (old / "sandbox-base").mkdir(exist_ok=True)
        (new / "sandbox-base").symlink_to(old / "sandbox-base")
        for name in ("pulumi", "uv"):
            if (old / name).exists():
                shutil.copytree(old / name, new / name, symlinks=True)
        # uv's stamp names the clone it was made in, because of scripts that nobody calls.
        if (new / "uv").exists():
            pins = (self.folder / "toolchain" / "uv.lock").read_bytes()
            (new / "uv" / STAMP).write_text(digest(str(self.folder), pins))
