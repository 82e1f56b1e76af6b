"""From the text of an answer to a checked value: half an answer, another form and a refusal are told, never guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from interlock.model.text.errors import shown_safely
from interlock.model.text.values import Range

from .commands import Command
from .observed import joined

#: Characters of a switch's own words that a message quotes.
_MOST_QUOTED = 120
_MAC = re.compile(r"[0-9a-f]{12}")
_RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")
_LAST_VLAN = 4094


class Shape(BaseModel):
    """A part of an answer: strict about the types of what is read, silent about all else that vendors add."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, defer_build=True)


@dataclass(frozen=True)
class SwitchAnswer:
    """What a switch answered to one command."""

    text: str
    #: Exit code of the command; None where the switch sends none.
    exit_code: int | None = 0
    #: What it wrote to stderr.
    complaint: str = ""


Answers = Mapping[Command, SwitchAnswer]


class AnswerMisread(Exception):
    """An answer that is not what the command answers: cut off, of another form, or contradicting itself."""


class CommandRefused(Exception):
    """A switch that does not know the command, or does not allow it."""


S = TypeVar("S", bound=Shape)


def read(shape: type[S], command: Command, answers: Answers) -> S:
    """An answer in its form. Raises `CommandRefused` and `AnswerMisread`."""
    return fitted(shape, command, table(command, answers))


def table(command: Command, answers: Answers) -> dict[str, Any]:
    """The JSON object that an answer is. Raises `CommandRefused` and `AnswerMisread`."""
    answer = answers.get(command)
    if answer is None:
        raise AnswerMisread(f"`{command.text}` was not answered")
    text = answer.text.strip()
    if answer.exit_code not in (0, None) or text.startswith(("%", "Error:")):
        words = quoted(text or answer.complaint) or f"exit code {answer.exit_code}"
        raise CommandRefused(f"`{command.text}` is refused: {words}")
    if not text:
        raise AnswerMisread(f"`{command.text}` was answered with nothing")
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        told = "is cut off" if text[-1] not in "}]" else "is no JSON"
        raise AnswerMisread(f"the answer to `{command.text}` {told}: {quoted(str(error))}") from None
    if not isinstance(found, dict):
        raise AnswerMisread(f"the answer to `{command.text}` is no JSON object")
    if isinstance(errors := found.get("errors"), list) and len(found) == 1:
        raise CommandRefused(f"`{command.text}` is refused: {quoted('; '.join(map(str, errors)))}")
    return found


def fitted(shape: type[S], command: Command, value: Any) -> S:
    """A part of an answer in its form. Raises `AnswerMisread`, naming the first place that does not fit."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the whole"
        told = f"{quoted(place)}: {first['msg'].lower()}"
        raise AnswerMisread(f"the answer to `{command.text}` is of another form: {told}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of two equal keys JSON would keep the last in silence, and a port would have two settings."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def quoted(text: str) -> str:
    """A switch's own words, on one line, short, and without what would move a cursor."""
    line = " ".join(text.split())
    return shown_safely(line if len(line) <= _MOST_QUOTED else f"{line[:_MOST_QUOTED]}…")


def mac(text: str) -> str | None:
    """A MAC address in the form `00:11:22:33:44:55`, from any usual one; None if it is none."""
    digits = re.sub(r"[.:-]", "", text.strip().lower())
    if not _MAC.fullmatch(digits):
        return None
    return ":".join(digits[place : place + 2] for place in range(0, 12, 2))


def mac_or_text(text: str | None) -> str | None:
    """An identifier of LLDP: a MAC address in one form, or a text without the quotes that EOS puts around it."""
    if text is None:
        return None
    return mac(text) or text.strip().strip('"') or None


def vlan_list(text: str) -> tuple[Range, ...]:
    """Ranges from `1,110-199`. Raises `ValueError` for everything else."""
    found = list[Range]()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{quoted(text)} is no list of VLANs")
        found.append((vlan_id(match[1]), vlan_id(match[2] or match[1])))
    return joined(tuple(found))


def vlan_id(text: str) -> int:
    """A VLAN id, 1 to 4094. Raises `ValueError` for everything else."""
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= _LAST_VLAN):
        raise ValueError(f"{quoted(text)} is no VLAN")
    return int(text)
