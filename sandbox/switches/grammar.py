"""Tables of commands, and which of them a line is. Words may be shortened as far as they stay unambiguous, as on EOS.

A pattern is words with spaces between. One in angle brackets stands for a value, and a row says for each such word what
it takes; whatever is given for it is handed to the command as text.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sandbox.switches import vlans

INVALID = "% Invalid input"
INCOMPLETE = "% Incomplete command"
AMBIGUOUS = "% Ambiguous command"

Run = TypeVar("Run")

INTERFACE = re.compile(r"(?:ethernet|et)([0-9/]+)", re.IGNORECASE)
NAME = re.compile(r"[^\s|?]{1,32}")


@dataclass(frozen=True)
class Command(Generic[Run]):
    """One command: its pattern, what it does, and what help says of it."""

    pattern: str
    run: Run
    help: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The pattern's words."""
        return tuple(self.pattern.split())


@dataclass(frozen=True)
class Match(Generic[Run]):
    """A command and the values of its line, by the words in angle brackets."""

    command: Command[Run]
    values: Mapping[str, str]


def takes(word: str, token: str) -> bool:
    """Whether a token may stand where the pattern has this word."""
    if word in ("<vlans>", "<vlan>"):
        known = vlans.parsed(token)
        return known is not None and (word == "<vlans>" or len(known) == 1)
    if word == "<interface>":
        return INTERFACE.fullmatch(token) is not None
    if word == "<number>":
        return token.isascii() and token.isdigit()
    if word == "<name>":
        return NAME.fullmatch(token) is not None
    return word.startswith(token.lower())


def find(line: str, commands: Sequence[Command[Run]]) -> Match[Run] | str:
    """The command that a line is, or EOS's words for why it is none."""
    tokens = joined(line.split())
    rows = [row for row in commands if fits(row, tokens)]
    for place, token in enumerate(tokens):
        exact = [row for row in rows if row.words[place] == token.lower()]
        rows = exact or rows  # a word that is written out is no other word's beginning
        if len({row.words[place] for row in rows if not row.words[place].startswith("<")}) > 1:
            return AMBIGUOUS
    for row in rows:
        if len(row.words) == len(tokens):
            pairs = zip(row.words, tokens, strict=True)
            return Match(row, {word: token for word, token in pairs if word.startswith("<")})
    return INCOMPLETE if rows else INVALID


def fits(row: Command[Run], tokens: Sequence[str]) -> bool:
    """Whether a command begins with these tokens."""
    return len(tokens) <= len(row.words) and all(map(takes, row.words, tokens))


def joined(tokens: list[str]) -> list[str]:
    """`Ethernet 1/1` may be written with a space; it is one word here."""
    for place in range(len(tokens) - 1):
        if tokens[place].lower() in ("ethernet", "et") and tokens[place + 1][0].isdigit():
            return [*tokens[:place], tokens[place] + tokens[place + 1], *tokens[place + 2 :]]
    return tokens
