"""YAML text -> plain Python values, for files from untrusted sources.

The C parser makes nodes, and what it cannot bear is refused before it sees it: nesting that would overflow its
stack, files without end. The values are made of the nodes here, not by PyYAML, whose constructors follow any
alias as often as it is named, keep the last of two equal keys in silence and take tags that nobody needs here.
All limits count nodes and characters, never seconds, so a file is refused on every machine or on none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from interlock.vocabulary import Position

from .errors import Code, InputError, InputErrors


@dataclass(frozen=True)
class FileLimits:
    """How large a file may be: characters, values (keys count too), and values that aliases repeat."""

    characters: int
    values: int
    repeated: int = 20_000


#: A request comes from a tenant: nothing people write comes near, and reading the worst takes less than a second.
REQUEST = FileLimits(characters=1_000_000, values=30_000)
#: A site is the operator's own; the full form of 700 racks has some millions of values.
SITE = FileLimits(characters=64_000_000, values=8_000_000)

DEEPEST = 200
#: No number, date or key of these files is longer.
LONGEST_NUMBER, LONGEST_KEY = 40, 1_000

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What lies beyond U+FFFF as JSON writes it in two escapes, after an even number of backslashes.
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
#: A number to JSON and to YAML 1.2; to YAML 1.1 a text, since it has no point.
_NUMBER = re.compile("-?[0-9]+[eE][-+]?[0-9]+")
_CORE = "tag:yaml.org,2002:"
_STR, _MAP, _SEQ, _MERGE = (f"{_CORE}{kind}" for kind in ("str", "map", "seq", "merge"))
#: Makes numbers and dates of texts; it holds nothing between two calls.
_CONSTRUCTOR = SafeConstructor()


def read_yaml(text: str, name: str, limits: FileLimits = SITE) -> Any:
    """The value of the one document in `text`; messages call the file `name`. Raises InputErrors."""
    _check_text(text, name, limits)
    text = as_yaml(text, name)
    try:
        _check_size(text, name, limits)
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise InputErrors([_syntax(text, name, error)]) from None
    if root is None:
        raise _alone(Code.EMPTY, str(Position(name)), "the file is empty", "fill it, or delete it")
    reading = _Reading(name, limits, aliases="*" in text, is_json=name.endswith(".json"))
    value = reading.value(root, 0)
    if reading.doubled:
        raise InputErrors(reading.doubled)
    if value is None:
        raise _alone(Code.EMPTY, str(Position(name)), "the file is empty", "fill it, or delete it")
    return value


def as_yaml(text: str, name: str) -> str:
    """The text of a file as YAML reads it: the same, but for pairs of escapes in JSON. Lines stay."""
    return _PAIR.sub(_as_one, text) if name.endswith(".json") else text


def _as_one(pair: re.Match[str]) -> str:
    """The one escape that YAML has in place of JSON's two."""
    high, low = (int(half, 16) for half in pair.group(2, 3))
    return f"{pair[1]}\\U{0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00:08x}"


@dataclass
class _Reading:
    """One pass over the nodes of a file."""

    name: str
    limits: FileLimits
    #: Without an alias nothing is read twice, and nothing needs counting.
    aliases: bool
    #: Then what stands without quotes is no text.
    is_json: bool
    doubled: list[InputError] = field(default_factory=list)
    #: Nodes that were read, and how often one was read again: through an alias.
    seen: set[int] = field(default_factory=set)
    repeated: int = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        if self.aliases:
            self._count(node, depth)
        if isinstance(node, yaml.ScalarNode):
            if node.tag != _STR:
                return self._scalar(node)
            if self.is_json and not node.style and _NUMBER.fullmatch(node.value):
                return float(node.value)
            return node.value
        if node.tag == _MAP:
            return self._mapping(node, depth)
        if node.tag == _SEQ:
            return [self.value(item, depth + 1) for item in node.value]
        raise self._tagged(node)

    def _count(self, node: yaml.Node, depth: int) -> None:
        if depth > DEEPEST:  # only an alias inside of what it names leads here
            raise self._error(node, "it contains itself", "an alias may not stand inside of what it names")
        if id(node) in self.seen:
            self.repeated += 1
            if self.repeated > self.limits.repeated:
                message = f"aliases (`*name`) repeat more than {self.limits.repeated} values"
                raise self._error(node, message, "write out what is meant")
        self.seen.add(id(node))

    def _mapping(self, node: yaml.Node, depth: int) -> dict[Any, Any]:
        result = dict[Any, Any]()
        texts = set[str]()
        for key, value in node.value:
            if key.value.__class__ is not str:
                raise self._error(key, "a key that is no text", "a key is one word, and a colon after it")
            if key.tag == _MERGE:
                raise self._error(key, "`<<` is not read here", "write the keys of the other mapping out")
            if len(key.value) > LONGEST_KEY:
                raise self._error(key, f"a key of {len(key.value)} characters", f"{LONGEST_KEY} are possible")
            if key.value in texts:
                self.doubled.append(_doubled(self.name, key))
            texts.add(key.value)
            result[self.value(key, depth + 1)] = self.value(value, depth + 1)
        return result

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        """A value that is no text to YAML; `=` and `<<` are, but not to YAML 1.1."""
        kind = node.tag.removeprefix(_CORE)
        if kind == "null":
            return None
        if kind in ("value", "merge"):
            return node.value
        make = _MAKERS.get(kind)
        if make is None:
            raise self._tagged(node)
        if len(node.value) > LONGEST_NUMBER:
            raise self._error(node, f"a number of {len(node.value)} characters", "put a text in quotes")
        try:
            return make(node)
        except (ValueError, LookupError, AttributeError):  # 2026-13-45, 0x_, `!!int`, !!bool maybe, !!timestamp soon
            hint = "put it in quotes if it is a text"
            raise self._error(node, f"`{node.value}` looks like a {_KINDS[kind]} and is none", hint) from None

    def _tagged(self, node: yaml.Node) -> InputErrors:
        tag = node.tag.replace(_CORE, "!!") if node.tag.startswith(_CORE) else node.tag
        return self._error(node, f"the tag `{tag[:60]}`", "take it out: values here are plain YAML")

    def _error(self, node: yaml.Node, message: str, hint: str) -> InputErrors:
        return _alone(Code.SYNTAX, _at(self.name, node.start_mark), message, hint)


_KINDS = {"int": "number", "float": "number", "bool": "true or false", "timestamp": "date"}
_MAKERS = {
    "int": _CONSTRUCTOR.construct_yaml_int,
    "float": _CONSTRUCTOR.construct_yaml_float,
    "bool": _CONSTRUCTOR.construct_yaml_bool,
    "timestamp": _CONSTRUCTOR.construct_yaml_timestamp,
}


def _check_text(text: str, name: str, limits: FileLimits) -> None:
    if len(text) > limits.characters:
        message = f"{len(text)} characters: {limits.characters} are possible"
        raise _alone(Code.VALUE, str(Position(name)), message, "no file here needs as many")
    if found := _FORBIDDEN.search(text):
        before = text[: found.start()]
        position = str(Position(name, before.count("\n") + 1, len(before) - before.rfind("\n")))
        message = f"the character U+{ord(found[0]):04X}, which YAML does not allow"
        raise _alone(Code.SYNTAX, position, message, "delete it; most editors show it as an escape")


def _check_size(text: str, name: str, limits: FileLimits) -> None:
    """Counts with the parser alone, which does not recurse; only where the text gives reason to."""
    if len(text) <= limits.values and sum(text.count(mark) for mark in "[{-?") < DEEPEST:
        return
    values = depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        values += isinstance(event, yaml.NodeEvent)
        if depth > DEEPEST:
            hint = "no file here needs more than ten levels"
            raise _alone(Code.SYNTAX, _at(name, event.start_mark), "nested too deeply", hint)
        if values > limits.values:
            message = f"more than {limits.values} values"
            raise _alone(Code.VALUE, _at(name, event.start_mark), message, "no file here needs as many")


def _syntax(text: str, name: str, error: yaml.YAMLError) -> InputError:
    mark = getattr(error, "problem_mark", None)
    position = _at(name, mark) if mark else str(Position(name))
    problem = getattr(error, "problem", None) or "it cannot be read"
    if mark and _char_at(text, mark.line, mark.column) == "\t":
        return InputError(Code.SYNTAX, position, "a tab", "YAML is indented with spaces")
    message, hint = _PROBLEMS.get(problem, (f"not YAML: {problem}", "look at this line and the one above"))
    return InputError(Code.SYNTAX, position, message, hint)


#: What the C parser says -> what it means.
_PROBLEMS = {
    "second occurrence": ("an anchor (`&name`) that is there twice", "call one of them otherwise"),
    "found undefined alias": (
        "an alias (`*name`) of nothing",
        "put `&name` before what it stands for, further up, or put the text in quotes",
    ),
    "but found another document": ("a second document after `---`", "a file holds one: make two files of it"),
}


def _char_at(text: str, line: int, column: int) -> str:
    lines = text.split("\n")
    return lines[line][column : column + 1] if line < len(lines) else ""


def _doubled(name: str, key: yaml.Node) -> InputError:
    hint = "YAML would silently keep only the last one: remove one of them"
    return InputError(Code.DUPLICATE_KEY, _at(name, key.start_mark), f"`{key.value}` is there twice", hint)


def _at(name: str, mark: Any) -> str:
    return str(Position(name, mark.line + 1, mark.column + 1))


def _alone(code: Code, position: str, message: str, hint: str) -> InputErrors:
    return InputErrors([InputError(code, position, message, hint)])


def children(node: yaml.Node) -> Iterable[tuple[str | int, yaml.Node | None, yaml.Node]]:
    """(step, key node, value node) of everything directly below a node; of two equal keys both."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (key.value if isinstance(key.value, str) else ""), key, value
    elif isinstance(node, yaml.SequenceNode):
        yield from ((index, None, value) for index, value in enumerate(node.value))
