"""Text on a terminal: lines no wider than it, and progress on one line. Elsewhere neither."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator

#: Colours; they take no room.
_STYLE = re.compile("\033\\[[0-9;]*m")
#: What a line begins with: blanks, the branches of a tree, the mark of a step.
_LEAD = re.compile(r"(?:[ │├└─]|– )*")
#: What stands below a branch where its line goes on.
_BELOW = str.maketrans({"├": "│", "└": " ", "─": " ", "–": " "})
#: Below this a line is left as it is: breaking it would hide more than it shows.
NARROWEST = 40


def print_text(text: str) -> None:
    """Print text for people; on a terminal lines are broken at words where they are wider than it."""
    if sys.stdout.isatty():
        text = fitted(text, shutil.get_terminal_size().columns)
    print(text, end="" if text.endswith("\n") else "\n")


def fitted(text: str, width: int) -> str:
    """The text with no line wider than `width` columns, but for words that are."""
    if width < NARROWEST:
        return text
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def _broken(line: str, width: int) -> Iterator[str]:
    if _columns(line) <= width:
        yield line
        return
    found = _LEAD.match(line)
    lead = found.group() if found else ""
    further = lead.translate(_BELOW) + "    "
    begun, empty = lead, True
    for gap, word in re.findall(r"( *)([^ ]+)", line[len(lead) :]):
        if not empty and _columns(begun + gap + word) > width:
            yield begun
            begun, empty = further, True
        begun, empty = begun + ("" if empty else gap) + word, False
    yield begun


def _columns(text: str) -> int:
    return len(_STYLE.sub("", text))


class Progress:
    """How far a run is, on one line of stderr; says nothing where stderr is no terminal."""

    def __init__(self, word: str) -> None:
        self._word = word
        self._count = 0
        self._shown = False

    def __call__(self, name: str) -> None:
        """Count one more, and name it."""
        self._count += 1
        self.say(f"{self._count} {self._word}: {name}")

    def say(self, text: str) -> None:
        """Show this in place of what is shown."""
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns
            print(f"\r\033[K{text[: width - 1]}", end="", file=sys.stderr, flush=True)
            self._shown = True

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._shown = False
