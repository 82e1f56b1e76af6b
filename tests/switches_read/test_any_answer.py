"""Whatever stands at any place of an answer: it is read or refused, and never read as what it does not say."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from interlock.switches.answers import AnswerMisread, CommandRefused, SwitchAnswer
from interlock.switches.commands import COMMANDS, Command
from interlock.switches.observed import ObservedPort, ObservedSwitch
from interlock.switches.reading import READERS
from tests.switches_read.answers import answers, document

Path = tuple[str | int, ...]
OTHERS: tuple[Any, ...] = (None, True, -1, 5000, "", "x", [], {}, [None], {"x": None}, "1-4094", "untagged", 1e300)
CASES = [(platform, command) for platform, commands in COMMANDS.items() for command in commands]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every value below a document."""
    below: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))
    for step, item in below:
        yield (*path, step)
        yield from places(item, (*path, step))


def altered(whole: Any, path: Path, other: Any) -> Any:
    """The document with another value at a place."""
    changed = copy.deepcopy(whole)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = other
    return changed


def without(whole: Any, path: Path) -> Any:
    """The document without a place."""
    changed = copy.deepcopy(whole)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return changed


def read(platform: Any, command: Command, changed: Any) -> ObservedSwitch | None:
    given = answers(platform) | {command: SwitchAnswer(json.dumps(changed))}
    try:
        return READERS[platform]("tor-1", given)
    except (AnswerMisread, CommandRefused):
        return None


@pytest.mark.parametrize(("platform", "command"), CASES, ids=lambda value: getattr(value, "text", value))
def test_any_value_anywhere(platform: str, command: Command) -> None:
    """No other exception than the two, and every VLAN that is read is one."""
    whole, count = document(command), 0
    for path in places(whole):
        for other in OTHERS:
            found = read(platform, command, altered(whole, path, other))
            count += 1
            if found is not None:
                assert all(map(sound, found.ports.values())), (path, other)
    assert count > 20


def sound(port: ObservedPort) -> bool:
    ids = [port.access_vlan, port.native_vlan, *(vlan for pair in port.allowed or () for vlan in pair)]
    return all(vlan is None or 0 <= vlan <= 4094 for vlan in ids)


@pytest.mark.parametrize(("platform", "command"), CASES, ids=lambda value: getattr(value, "text", value))
def test_what_is_missing_is_not_made_up(platform: str, command: Command) -> None:
    """Without one part of an answer each port says what it said, or less. Members of a list are what the list says."""
    whole = document(command)
    before = READERS[platform]("tor-1", answers(platform)).ports  # type: ignore[index]
    for path in places(whole):
        found = read(platform, command, without(whole, path))
        if found is None or isinstance(path[-1], int) or path[-2:-1] in (("vlan",), ("neighbor",)):
            continue
        for name, port in found.ports.items():
            was = vars(before[name])
            for field, value in vars(port).items():
                assert value in (None, was[field]) or is_less(value, was[field]), (path, name, field, value)


def is_less(value: Any, was: Any) -> bool:
    """True if a neighbour says less of itself, and all else that was said is the same."""
    if not (isinstance(value, tuple) and isinstance(was, tuple) and len(value) == len(was)):
        return False
    pairs = [(one, other) for new, old in zip(value, was, strict=True) for one, other in zip_fields(new, old)]
    return all(one in (None, other) for one, other in pairs)


def zip_fields(new: Any, old: Any) -> Iterator[tuple[Any, Any]]:
    return zip(vars(new).values(), vars(old).values(), strict=True)
