"""Who may sign evidence of a site: a file in OpenSSH's form `allowed_signers`, which the site file names.

`ssh-keygen` reads the same text and decides; what it would pass over without a word, or take for more than one person,
is a fault here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.source import Source
from interlock.vocabulary import Position
from interlock.vocabulary.ssh_keys import body_of, key_line

#: What a signature of evidence is made for: one for Git, or for anything else, is none of evidence.
NAMESPACE = "interlock-evidence"

#: Principals, in quotes where a name has a blank in it, and what stands behind them.
_LINE = re.compile(r'[ \t]*(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))[ \t]+(?P<rest>.*)')
_KEY = re.compile(r"(?P<kind>[a-z0-9@.-]+)[ \t]+(?P<body>[A-Za-z0-9+/]+={0,2})(?:\s.*)?")
_WITH_OPTIONS = re.compile(r'(?P<options>(?:[^\s"]|"[^"]*")+)[ \t]+(?P<rest>.*)')
_OPTION = re.compile(r'(?P<name>[A-Za-z-]+)(?:="(?P<value>[^"]*)")?')
_BETWEEN = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
_DAY = re.compile(r"[0-9]{8}([0-9]{4}([0-9]{2})?)?Z?")
_FORM = 'write `anne namespaces="interlock-evidence" ssh-ed25519 AAAA…`, one line for each key'
_MOMENTS = ("valid-after", "valid-before")


@dataclass(frozen=True)
class Signers:
    """The list of one site: its name in messages, the text as `ssh-keygen` reads it, and everybody on it."""

    name: str
    text: str
    principals: frozenset[str]


def read_signers(file: Path, name: str, stated_at: str) -> Signers:
    """The list. Raises InputErrors with every line that is wrong. `stated_at`: where the site file names it."""
    if not file.is_file():
        hint = f"{_FORM}; or take `signers` out, and nobody has to sign"
        raise InputErrors([InputError(Code.NO_FILE, stated_at, f"there is no file {name}", hint)])
    source = Source.read(file, name)
    principals, faults = set[str](), list[InputError]()
    for number, line in enumerate(source.text.split("\n"), 1):
        if not line.strip() or line.lstrip(" \t").startswith("#"):
            continue
        names, wrong = _principals(line)
        principals |= names
        faults += [InputError(Code.VALUE, str(Position(name, number)), what, hint) for what, hint in wrong]
    if not principals and not faults:
        faults.append(InputError(Code.EMPTY, name, "lists nobody, so no evidence would count", _FORM))
    if faults:
        raise InputErrors(faults)
    return Signers(name, source.text, frozenset(principals))


def _principals(line: str) -> tuple[frozenset[str], list[tuple[str, str]]]:
    """Who is on a line, and everything that is wrong with it, each with what to do."""
    found = _LINE.fullmatch(line.rstrip("\r"))
    if found is None:
        return frozenset(), [("not a line of signers", _FORM)]
    names = (found["plain"] if found["quoted"] is None else found["quoted"]).split(",")
    return frozenset(names), [*_of_names(names), *_of_rest(found["rest"])]


def _of_names(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if not name.strip() or not name.isprintable():
            yield "an empty name among the principals", _FORM
        elif set(name) & set("*?!"):
            yield f"`{name}` is a pattern: whoever has the key could sign as anybody", "name each person"


def _of_rest(rest: str) -> Iterator[tuple[str, str]]:
    if _is_key(rest):
        return
    found = _WITH_OPTIONS.fullmatch(rest)
    if found is None or not _is_key(found["rest"]):
        yield "no public key behind the principals", _FORM
        return
    options = _BETWEEN.split(found["options"])
    names = [option.partition("=")[0].lower() for option in options]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield f"`{twice[0]}` stands twice", "write each option once"
    for option in options:
        yield from _of_option(option)


def _of_option(text: str) -> Iterator[tuple[str, str]]:
    found = _OPTION.fullmatch(text)
    name, value = (found["name"].lower(), found["value"]) if found else ("", None)
    if name == "cert-authority":
        yield "`cert-authority` lets somebody else say who signs", "list each person's own key"
    elif name not in ("namespaces", *_MOMENTS) or value is None:
        known = ", ".join(f'{item}="…"' for item in ("namespaces", *_MOMENTS))
        yield f"`{text}` is no option of a signer", f"there are: {known}"
    elif name in _MOMENTS and not _is_moment(value):
        yield f"`{value}` is no moment", f'write day and time in UTC, as in {name}="20261231" or "20261231235959"'


def _is_moment(text: str) -> bool:
    """True for a day, or a day and a time, that there is; a `Z` says UTC."""
    found = _DAY.fullmatch(text)
    digits = text.rstrip("Z")
    try:
        return found is not None and bool(datetime.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S"))  # noqa: DTZ007
    except ValueError:
        return False


def _is_key(text: str) -> bool:
    """True for one public key, which is no certificate."""
    found = _KEY.fullmatch(text)
    body = body_of(found["kind"], found["body"]) if found else None
    return body is not None and key_line(body) != ""
