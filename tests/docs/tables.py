"""Tables in Markdown, of which the last column may be written by hand and is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

#: Stands where a person has yet to write a meaning; a test finds it.
UNWRITTEN = "TODO"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells hold no line breaks."""
    lines = [_row(head), _row(["---"] * len(head))]
    return "\n".join([*lines, *(_row(row) for row in rows)])


def kept(old: str) -> Mapping[str, str]:
    """First cell -> last cell of every row in a text."""
    lines = (line for line in old.splitlines() if line.startswith("| "))
    cells = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines)
    return {row[0]: row[-1] for row in cells if len(row) > 1}


def explained(head: Sequence[str], rows: Iterable[Sequence[str]], old: str) -> str:
    """A table with one more column, whose words are those that stood there before."""
    words = kept(old)
    return table(head, ([*row, words.get(row[0], UNWRITTEN)] for row in rows))


def code(text: object) -> str:
    """A text in code style."""
    return f"`{text}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
