"""Makes wrong files of right ones, the same for the same seed: a cheap stand-in for a fuzzer, a million times over."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

Lines = list[str]

#: What stands where something else ought to: words of these files, and what YAML or a parser may choke on.
TOKENS = (
    "", "~", "null", "true", "no", "0", "-1", "1e9", "9" * 30, "9" * 60, "0x_", "0b1", "1_0", "1:2:3", ".inf", ".nan",
    "2026-13-45", "2027-01-31", "[]", "{}", "[x]", "[[x]]", "{a: b}", "''", '"', "'", '"\\u0000"', '"\\ud800"', "*x",
    "&x", "&x 1", "!!int x", "!x", "<<", "=", "100GiB", "100GB", "1.5TiB", "-1GiB", "1-0", "a-[9-1]", "m-[01-16]",
    "m-[0001-9999]", "10.0.0.1/8", "10.0.0.0/8", "::1", "0.0.0.0/0", "\u202e", "é", "\ufeff", "\t", "#", ": :", "? x",
    "- - -", "|", ">-", "%YAML 1.1", "---", "...", "ssh-ed25519 AAAA", "any", "unknown", "../x", "x" * 200,
    "trunk 1-4094", "access 5", "tor-1:17", "ipu-pod64", "vm", "bare-metal", "keep", "5000 EUR per month", "ISO-07",
)  # fmt: skip

TAGS = ("!!str", "!!int", "!!binary", "!!set", "!!python/name:os.system", "!own", "&anchor", "*anchor")
_WORD = re.compile(r"[^\s,:{}\[\]]+")


def mutated(seed: int, seeds: tuple[bytes, ...]) -> bytes:
    """One of the files with one to five things done to it."""
    random = Random(seed)
    lines = random.choice(seeds).decode().split("\n")
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        lines = random.choice(MUTATIONS)(random, lines) or [""]
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return random.choice(BYTES)(random, data) if random.random() < 0.1 else data


def _delete(random: Random, lines: Lines) -> Lines:
    at = random.randrange(len(lines))
    return lines[:at] + lines[at + random.choice((1, 1, 2, 5)) :]


def _double(random: Random, lines: Lines) -> Lines:
    at = random.randrange(len(lines))
    return [*lines[: at + 1], lines[at], *lines[at + 1 :]]


def _move(random: Random, lines: Lines) -> Lines:
    rest = list(lines)
    rest.insert(random.randrange(len(rest)), rest.pop(random.randrange(len(rest))))
    return rest


def _indent(random: Random, lines: Lines) -> Lines:
    at = random.randrange(len(lines))
    before = random.choice(("  ", "", "\t", "- ", "? "))
    changed = f"{before}{lines[at]}" if before else lines[at].lstrip()
    return [*lines[:at], changed, *lines[at + 1 :]]


def _replace(random: Random, lines: Lines) -> Lines:
    """A word of a line becomes a token, or a word from elsewhere in the file."""
    at = random.randrange(len(lines))
    words = list(_WORD.finditer(lines[at]))
    if not words:
        return lines
    word, line = random.choice(words), lines[at]
    others = _WORD.findall(random.choice(lines))
    new = random.choice(others) if others and random.random() < 0.4 else random.choice(TOKENS)
    return [*lines[:at], f"{line[: word.start()]}{new}{line[word.end() :]}", *lines[at + 1 :]]


def _value(random: Random, lines: Lines) -> Lines:
    """Everything after the first colon of a line becomes a token."""
    at = random.randrange(len(lines))
    key, colon, _ = lines[at].partition(":")
    return [*lines[:at], f"{key}{colon} {random.choice(TOKENS)}", *lines[at + 1 :]]


def _tag(random: Random, lines: Lines) -> Lines:
    at = random.randrange(len(lines))
    key, colon, value = lines[at].partition(":")
    tag = random.choice(TAGS)
    return [*lines[:at], f"{key}{colon} {tag}{value}", *lines[at + 1 :]]


def _insert(random: Random, lines: Lines) -> Lines:
    """A random character somewhere in a line."""
    at = random.randrange(len(lines))
    place = random.randrange(len(lines[at]) + 1)
    ranges = (range(0x80), range(0x3000), range(0xE000, 0x110000))
    character = chr(random.choice(random.choice(ranges)))
    return [*lines[:at], f"{lines[at][:place]}{character}{lines[at][place:]}", *lines[at + 1 :]]


def _add(random: Random, lines: Lines) -> Lines:
    at = random.randrange(len(lines) + 1)
    indent = "  " * random.randrange(4)
    return [*lines[:at], f"{indent}{random.choice(TOKENS)}: {random.choice(TOKENS)}", *lines[at:]]


MUTATIONS: tuple[Callable[[Random, Lines], Lines], ...] = (
    _delete, _double, _move, _indent, _replace, _replace, _replace, _value, _value, _tag, _insert, _add,
)  # fmt: skip


def _truncate(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _flip(random: Random, data: bytes) -> bytes:
    changed = bytearray(data or b" ")
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _splice(random: Random, data: bytes) -> bytes:
    at, size = random.randrange(len(data) + 1), random.randrange(40)
    return data[:at] + random.randbytes(size) + data[at + size :]


BYTES: tuple[Callable[[Random, bytes], bytes], ...] = (_truncate, _flip, _splice)
