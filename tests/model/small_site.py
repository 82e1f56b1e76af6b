"""Copies of the short site of tests/errors, for tests that change it."""

from __future__ import annotations

import shutil
from pathlib import Path

BASE = Path(__file__).parents[1] / "errors/base"


def small_fleet(folder: Path) -> Path:
    """A folder `stacks` with the site `yard` and its tenant acme."""
    stacks = folder / "stacks"
    shutil.copytree(BASE, stacks)
    return stacks


def changed(file: Path, old: str, new: str) -> None:
    """Replace a text that must be there."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
