"""What became of each device of a survey that was recorded: the file that was written, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A file -> its name in messages.
Shown = Callable[[Path], str]


@dataclass(frozen=True)
class RecordedFiles:
    """Device -> the file that was written of it, or why there is none."""

    files: dict[str, Path]
    lacking: dict[str, str]


def recorded_lines(kept: RecordedFiles | None, shown: Shown) -> str:
    """A line for each device, behind the report; nothing where nobody asked for it, or of no device."""
    if kept is None:
        return ""
    lines = [f"evidence of {name}: {shown(file)}; commit it" for name, file in kept.files.items()]
    lines += [f"no evidence of {name}, and none that there was is changed: {why}" for name, why in kept.lacking.items()]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def with_recorded(document: dict[str, Any], kept: RecordedFiles | None, shown: Shown) -> dict[str, Any]:
    """The report for programs, with what was recorded where somebody asked for it."""
    if kept is None:
        return document
    files = {name: shown(file) for name, file in kept.files.items()}
    return document | {"recorded": {"files": files, "without": kept.lacking}}
