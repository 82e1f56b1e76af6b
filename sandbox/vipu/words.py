"""Words of a command line -> what is asked: flags stand before, between and behind the words of a command."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .commands import COMMANDS, VipuCommand, command_of
from .flags import FLAGS, FlagNotRenamed, VipuFlag, renamed
from .scene import ApiName, OptionValue
from .sources import SIMULATOR, Source

#: Names a file with other spellings of unverified flags.
SPELLINGS = "VIPU_SIMULATOR_FLAGS"


class WordsWrong(Exception):
    """Words that no command has."""


@dataclass(frozen=True)
class Words:
    """What stands on a command line: words, and flags by our own name without dashes."""

    words: tuple[str, ...]
    options: Mapping[str, OptionValue]

    def only(self, names: Sequence[str]) -> dict[str, OptionValue]:
        """Some of the flags."""
        return {name: value for name, value in self.options.items() if f"--{name}" in names}


def spellings(environment: Mapping[str, str]) -> dict[str, str]:
    """Our name -> the operator's. Raises WordsWrong for a file that is none."""
    file = environment.get(SPELLINGS)
    if not file:
        return {}
    try:
        names = json.loads(Path(file).read_text(encoding="utf-8"))
        renamed(FLAGS, names)
    except (OSError, ValueError, TypeError, FlagNotRenamed) as error:
        raise WordsWrong(f"{SPELLINGS}={file}: {error}") from None
    return {str(name): str(other) for name, other in names.items()}


def parsed(arguments: Sequence[str], flags: Sequence[VipuFlag], names: Mapping[str, str] | None = None) -> Words:
    """Raises WordsWrong."""
    named = {(names or {}).get(flag.name, flag.name): flag for flag in flags}
    named |= {flag.short: flag for flag in flags if flag.short}
    words: list[str] = []
    options: dict[str, OptionValue] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            words.append(word)
            continue
        name, joined, value = word.partition("=")
        flag = named.get(name)
        if flag is None:
            raise WordsWrong(f"unknown flag {name}")
        if flag.takes != "nothing" and not joined:
            if not rest:
                raise WordsWrong(f"{name} needs a value")
            value = rest.pop(0)
        if flag.takes == "nothing" and joined:
            raise WordsWrong(f"{name} takes no value")
        options[flag.name.removeprefix("--")] = _value(flag, name, value)
    return Words(tuple(words), options)


def _value(flag: VipuFlag, name: str, text: str) -> OptionValue:
    if flag.takes == "nothing":
        return True
    if flag.takes == "list":
        return tuple(item for item in text.split(",") if item)
    if flag.takes == "number":
        if not (text.isascii() and text.isdecimal()):
            raise WordsWrong(f"{name} {text!r} is no number")
        return int(text)
    return text


def asked_command(words: Words, api: ApiName) -> tuple[VipuCommand, str]:
    """The command of some words, and the id. `vipu` knows the commands of the user API alone. Raises WordsWrong."""
    verb, noun, *ids = (*words.words, "", "")[: max(2, len(words.words))]
    command = command_of(verb, noun)
    if command is None or (api == "user" and command.api == "admin"):
        raise WordsWrong(f"unknown command {' '.join(words.words[:2]) or '(none)'}")
    if len(ids) != (1 if command.takes_id else 0):
        raise WordsWrong(f"{command.words} takes {'one id' if command.takes_id else 'no id'}")
    everywhere = {flag.name for flag in FLAGS if flag.everywhere}
    other = [name for name in words.options if f"--{name}" not in everywhere | set(command.flags)]
    if other:
        raise WordsWrong(f"{command.words} has no flag --{other[0]}")
    return command, ids[0] if ids else ""


def help_of(program: str, api: ApiName, names: Mapping[str, str] | None = None) -> str:
    """What `--help` prints."""
    commands = [item for item in COMMANDS if api == "admin" or item.api == "user"]
    lines = [
        f"{program}: a SIMULATOR of V-IPU's command, for tests. It is not V-IPU and claims no wire compatibility:",
        "it speaks to a simulated controller alone. What is marked (unverified) stands in no public source; look it",
        "up at your installation.",
        "",
        "Commands:",
    ]
    lines += [
        _line(
            item.words + (" ID" if item.takes_id else ""),
            "(flags unverified)" if item.flags_assumed else "",
            item.source,
        )
        for item in commands
    ]
    lines += ["", "Flags:"]
    used = {name for item in commands for name in item.flags}
    for flag in FLAGS:
        if flag.everywhere or flag.name in used:
            spelled = (names or {}).get(flag.name, flag.name)
            lines.append(_line(f"{spelled}{', ' + flag.short if flag.short else ''}", flag.help, flag.source))
    return "\n".join(lines)


def _line(what: str, text: str, source: Source) -> str:
    mark = " (unverified)" if source.unverified else ""
    return f"  {what:<28} {text}{' (of the simulator alone)' if source == SIMULATOR else mark}".rstrip()


def environment() -> Mapping[str, str]:
    """The process's variables."""
    return os.environ
