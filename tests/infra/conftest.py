"""The shipped site in a temporary folder, freshly locked, and the `interlock` command run in this process."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.cli import debugging
from infra.cli import main as cli
from infra.program.gate import Gate
from interlock.store.ledger import Ledger
from interlock.store.places import open_store

STACKS = Path(__file__).parents[2] / "stacks"


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


Interlock = Callable[..., Ended]


@pytest.fixture
def interlock(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Interlock:
    """Runs `interlock …` and catches its exit."""
    # `--debug` of a test before this one lasts as long as the process.
    log = logging.getLogger(debugging.REQUESTS)
    monkeypatch.setattr(log, "level", logging.NOTSET)
    monkeypatch.setattr(log, "handlers", [])

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["interlock", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capsys.readouterr()
        return Ended(int(ended.value.code or 0), told.out, told.err)

    return run


@dataclass(frozen=True)
class Lyon:
    """The site `lyon` in a folder of the test's own."""

    stacks: Path

    @property
    def folder(self) -> Path:
        return self.stacks / "lyon"

    def file(self, name: str) -> Path:
        return self.folder / name

    def replace(self, name: str, old: str, new: str) -> None:
        """Change one place in a file."""
        text = self.file(name).read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        self.file(name).write_text(text.replace(old, new))

    def locks(self) -> dict[str, bytes]:
        """Every lock file, byte for byte."""
        found = sorted(self.folder.rglob("*.lock.json"))
        return {file.relative_to(self.folder).as_posix(): file.read_bytes() for file in found}

    def gate(self) -> Gate:
        return Gate.open("lyon")


@pytest.fixture
def unlocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lyon:
    """The site as it was before the first `interlock lock`."""
    stacks = tmp_path / "stacks"
    shutil.copytree(STACKS / "lyon", stacks / "lyon", ignore=shutil.ignore_patterns("*.lock.json"))
    shutil.copy(STACKS / "fleet.yaml", stacks)
    monkeypatch.setenv("INTERLOCK_STACKS", str(stacks))
    return Lyon(stacks)


@pytest.fixture
def lyon(unlocked: Lyon, interlock: Interlock) -> Lyon:
    """The site, locked."""
    done = interlock("lock")
    assert done.code == 0, done.err
    return unlocked


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The claims store of lyon, empty; no cloud is there."""
    (tmp_path / "clouds.yaml").write_text("clouds: {sandbox: {}}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    return Ledger(open_store("", "lyon"))
