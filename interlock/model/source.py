"""One input file: its text, its value, and where in it a value stands.

Loading goes through PyYAML's C parser and keeps no positions. Only when a fault has to be shown is the text
composed once more into nodes, which know their lines.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from .errors import Code, InputError, InputErrors

Step = str | int
KEY = "[key]"  # pydantic's last step of a path when the key of a mapping is at fault, not its value

#: Nothing people write comes near; it bounds the work that a hostile request can cause.
MOST = 1_000_000
DEEPEST = 200


class Source:
    """A file that was read. `name` is its path relative to the folder that holds `stacks/`."""

    def __init__(self, file: Path, name: str, text: str) -> None:
        self.file = file
        self.name = name
        self.text = text

    @classmethod
    def read(cls, file: Path, name: str) -> Source:
        """The file's text. Raises InputErrors if it is absent or not UTF-8."""
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            raise _alone(Code.NO_FILE, name, "there is no such file", "check the name of the site") from None
        except OSError as error:
            raise _alone(Code.NO_FILE, name, f"cannot be read: {error.strerror}", "") from None
        return cls(file, name, _decoded(data, name))

    def value(self) -> Any:
        """What the YAML says, as plain Python values. Raises InputErrors on bad syntax or doubled keys."""
        if len(self.text) > MOST:
            raise _alone(Code.VALUE, self.name, f"{len(self.text)} characters: {MOST} are possible", "")
        if _too_deep(self.text):
            raise _alone(
                Code.SYNTAX,
                f"{self.name}:1:1",
                "nested too deeply",
                "no file here needs more than ten levels",
            )
        loader = _Loader(self.text)
        try:
            value = loader.get_single_data()
        except yaml.YAMLError as error:
            raise InputErrors([self._syntax(error)]) from None
        finally:
            loader.dispose()
        if loader.doubled:
            raise InputErrors([self._doubled(mark, key) for mark, key in loader.doubled])
        if value is None:
            raise _alone(Code.EMPTY, f"{self.name}:1:1", "the file is empty", "fill it, or delete it")
        return value

    def position(self, path: tuple[Step, ...] = (), *, key: bool = False) -> str:
        """`file:line:column` of the value at `path` or of its key; of the nearest node above if absent."""
        if path and path[-1] == KEY:
            path, key = path[:-1], True
        node: yaml.Node | None = self._root
        mark = node.start_mark if node is not None else None
        for index, step in enumerate(path):
            key_node, node = _below(node, step)
            if node is None:
                break
            last = index == len(path) - 1
            mark = key_node.start_mark if last and key and key_node is not None else node.start_mark
        return f"{self.name}:1:1" if mark is None else f"{self.name}:{mark.line + 1}:{mark.column + 1}"

    def error(self, code: Code, path: tuple[Step, ...], message: str, hint: str = "") -> InputError:
        """A fault of the value at `path`."""
        return InputError(code, self.position(path, key=code is Code.UNKNOWN_KEY), message, hint)

    @cached_property
    def _root(self) -> yaml.Node | None:
        try:
            return yaml.compose(self.text, Loader=yaml.CSafeLoader)
        except yaml.YAMLError:
            return None

    def _syntax(self, error: yaml.YAMLError) -> InputError:
        mark = getattr(error, "problem_mark", None)
        position = f"{self.name}:{mark.line + 1}:{mark.column + 1}" if mark else f"{self.name}:1:1"
        problem = getattr(error, "problem", None) or "it holds a character that YAML does not allow"
        if mark and self._char_at(mark.line, mark.column) == "\t":
            return InputError(Code.SYNTAX, position, "a tab", "YAML is indented with spaces")
        return InputError(
            Code.SYNTAX, position, f"not YAML: {problem}", "look at this line and the one above"
        )

    def _char_at(self, line: int, column: int) -> str:
        lines = self.text.split("\n")
        return lines[line][column : column + 1] if line < len(lines) else ""

    def _doubled(self, mark: yaml.Mark, key: str) -> InputError:
        position = f"{self.name}:{mark.line + 1}:{mark.column + 1}"
        hint = "YAML would silently keep only the last one: remove one of them"
        return InputError(Code.DUPLICATE_KEY, position, f"`{key}` is there twice", hint)


class _Loader(yaml.CSafeLoader):
    """The C loader, which by itself keeps the last of two equal keys in silence."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.doubled: list[tuple[yaml.Mark, str]] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                self.doubled.append((key.start_mark, key.value))
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else "")
        return super().construct_mapping(node, deep=deep)


def _too_deep(text: str) -> bool:
    """Nesting on one line overflows the C stack of the composer; the parser alone does not recurse."""
    if sum(text.count(mark) for mark in "[{-?") < DEEPEST:
        return False
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                return True
    except yaml.YAMLError:
        pass  # told with its place when the text is loaded
    return False


def _below(node: yaml.Node | None, step: Step) -> tuple[yaml.Node | None, yaml.Node | None]:
    """(key node, value node) one step down, or (None, None)."""
    if isinstance(node, yaml.MappingNode):
        pairs = ((key, value) for key, value in node.value if key.value == str(step))
        return next(pairs, (None, None))
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        byte = data[error.start]
        hint = "save the file as UTF-8"
        raise _alone(
            Code.NOT_UTF8, f"{name}:{line}:{column}", f"byte 0x{byte:02x}: not UTF-8", hint
        ) from None


def _alone(code: Code, position: str, message: str, hint: str) -> InputErrors:
    return InputErrors([InputError(code, position, message, hint)])
