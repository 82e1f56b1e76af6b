"""Places in files that people write."""

from __future__ import annotations

from dataclasses import dataclass

from .digits import is_number


@dataclass(frozen=True, slots=True)
class Position:
    """`file:line:column`, counted from 1. The name of a file may hold colons."""

    file: str
    line: int = 1
    column: int = 1

    @classmethod
    def named(cls, text: str) -> Position | None:
        """From a text with line and column; None for every other text."""
        file, _, rest = text.rpartition(":")
        name, colon, line = file.rpartition(":")
        return cls(name, int(line), int(rest)) if colon and is_number(line) and is_number(rest) else None

    @classmethod
    def parse(cls, text: str) -> Position:
        """From any text: a file without lines counts as its first one."""
        return cls.named(text) or cls(text)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
