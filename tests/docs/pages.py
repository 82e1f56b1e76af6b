"""The pages that people read: those of the root and all below docs/, with their examples, links and headings.

An example's first line says how it is tested, after the language:

    ```sh                 run without a cloud, in a folder like the root (tests/docs/test_commands.py)
    ```sh cloud           run in a fresh clone with the embedded cloud, page by page (tests/e2e/test_demo.py)
    ```sh exit=1          it must end with this exit code; without it, with 0
    ```text output        lines that the example before it prints, in this order; … stands for anything

`./run test`, which runs these tests, and benchmarks, which take minutes each, are left to people.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Every word that may stand after ```; another would be an example that nobody tests.
LANGUAGES = ("sh", "yaml", "text", "json")
TAGS = ("cloud", "output")

_BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>\S.*)\n(?P<text>(?:.*\n)*?)(?P=indent)```$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
#: Lines of examples that no test runs.
_LONG = re.compile(r"\./run test( .+)?|python -m benchmarks\.\w+")
_PREPARE = 'eval "$(./run env)"'
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """An example: where it stands, what its first line says, and its text."""

    page: str
    line: int
    language: str
    tags: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        """`page:line`, for messages and names of tests."""
        return f"{self.page}:{self.line}"

    @property
    def exit(self) -> int:
        """The exit code that it must end with."""
        return next((int(tag.removeprefix("exit=")) for tag in self.tags if tag.startswith("exit=")), 0)

    @property
    def left_to_people(self) -> bool:
        """True for the suite itself and for benchmarks."""
        commands = [line.split("#")[0].strip() for line in self.text.splitlines() if line.strip() != _PREPARE]
        return all(_LONG.fullmatch(command) for command in commands)

    @property
    def unknown(self) -> list[str]:
        """Words of its first line that mean nothing."""
        known = [*LANGUAGES, *TAGS]
        return [word for word in (self.language, *self.tags) if word not in known and not word.startswith("exit=")]


@dataclass(frozen=True)
class Example:
    """A command block, and the lines that the page says it prints."""

    block: Block
    output: tuple[str, ...]

    def missing(self, printed: str) -> list[str]:
        """Lines of the page that were not printed, or not in this order."""
        rest = iter([line.strip() for line in printed.splitlines()])
        return [line for line in self.output if not any(_pattern(line).fullmatch(other) for other in rest)]


def pages() -> list[str]:
    """Every page, by its path from the root."""
    below = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", *below]


def text_of(page: str) -> str:
    """A page as it is committed."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> Iterator[Block]:
    """The examples of a page, in order."""
    text = text_of(page)
    for found in _BLOCK.finditer(text):
        language, *tags = found["info"].split()
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, language, tuple(tags), textwrap.dedent(found["text"]))


def examples(page: str) -> list[Example]:
    """The command blocks of a page that tests run, in order, each with the output that is shown for it."""
    found: list[Example] = []
    for block in blocks(page):
        if block.language == "sh" and not block.left_to_people:
            found.append(Example(block, ()))
        elif "output" in block.tags:
            found[-1] = Example(found[-1].block, (*found[-1].output, *_lines(block)))
    return found


def offline(page: str) -> list[Example]:
    """Those that run without a cloud."""
    return [item for item in examples(page) if "cloud" not in item.block.tags]


def with_cloud(page: str) -> list[Example]:
    """Those that need the embedded cloud."""
    return [item for item in examples(page) if "cloud" in item.block.tags]


def links(page: str) -> Iterator[str]:
    """Targets of the links of a page, examples left out."""
    yield from (found["target"] for found in _LINK.finditer(_BLOCK.sub("", text_of(page))))


def anchors(page: str) -> set[str]:
    """What can stand after `#` in a link to this page, as GitHub makes it from the headings."""
    headings = (found["text"] for found in _HEADING.finditer(_BLOCK.sub("", text_of(page))))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def _lines(block: Block) -> list[str]:
    return [line.strip() for line in block.text.splitlines() if line.strip()]


def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in line.split("…")))
