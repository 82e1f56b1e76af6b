"""One input file: its text, its value, and where in it a value stands.

Loading keeps no positions. Only when a fault has to be shown is the text composed once more into nodes, which
know their lines.
"""

from __future__ import annotations

import codecs
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import yaml

from interlock.vocabulary import Position

from .errors import Code, InputError, InputErrors
from .yaml_reading import SITE, FileLimits, as_yaml, children, read_yaml

Step = str | int
KEY = "[key]"  # pydantic's last step of a path when the key of a mapping is at fault, not its value

#: No file is read further: 64 MiB.
MOST_BYTES = 1 << 26

Below = dict[str, tuple[yaml.Node | None, yaml.Node]]


class Source:
    """A file that was read. `name` is its path relative to the folder that holds `stacks/`."""

    def __init__(self, file: Path, name: str, text: str, *, marked: bool = False) -> None:
        self.file = file
        self.name = name
        self.text = text
        #: Path -> the source that what stands there was read from, and its path in that one.
        self.annexes: dict[tuple[Step, ...], tuple[Source, tuple[Step, ...]]] = {}
        self._marked = marked

    @classmethod
    def read(cls, file: Path, name: str) -> Self:
        """The file's text. Raises InputErrors if it is absent, too large or not UTF-8."""
        try:
            with file.open("rb") as stream:
                data = stream.read(MOST_BYTES + 1)
        except FileNotFoundError:
            raise _alone(Code.NO_FILE, name, "there is no such file", "check the name of the site") from None
        except OSError as error:
            raise _alone(Code.NO_FILE, name, f"cannot be read: {error.strerror}", "") from None
        if len(data) > MOST_BYTES:
            raise _alone(Code.VALUE, f"{name}:1:1", f"more than {MOST_BYTES} bytes", "no file here needs as many")
        return cls(file, name, _decoded(data, name), marked=data.startswith(codecs.BOM_UTF8))

    @property
    def data(self) -> bytes:
        """The file, byte for byte."""
        return (codecs.BOM_UTF8 if self._marked else b"") + self.text.encode()

    def value(self, limits: FileLimits = SITE) -> Any:
        """What the YAML says, as plain Python values. Raises InputErrors on bad syntax or doubled keys."""
        return read_yaml(self.text, self.name, limits)

    def position(self, path: tuple[Step, ...] = (), *, key: bool = False) -> str:
        """`file:line:column` of the value at `path` or of its key; of the nearest node above if absent."""
        if path and path[-1] == KEY:
            path, key = path[:-1], True
        annex = self._annex(path)
        if annex is not None:
            return annex
        node = self._root
        if node is None:
            return str(Position(self.name))
        mark = node.start_mark
        for index, step in enumerate(path):
            found = self._children(node).get(str(step))
            if found is None:
                break
            key_node, node = found
            last = index == len(path) - 1
            mark = key_node.start_mark if last and key and key_node is not None else node.start_mark
        return str(Position(self.name, mark.line + 1, mark.column + 1))

    def has(self, path: tuple[Step, ...]) -> bool:
        """True if the file itself says something at `path`."""
        node = self._root
        for step in path:
            found = None if node is None else self._children(node).get(str(step))
            if found is None:
                return False
            node = found[1]
        return True

    def error(self, code: Code, path: tuple[Step, ...], message: str, hint: str = "") -> InputError:
        """A fault of the value at `path`."""
        return InputError(code, self.position(path, key=code is Code.UNKNOWN_KEY), message, hint)

    def _annex(self, path: tuple[Step, ...]) -> str | None:
        """The position in the file that a part was read from, if that is another one."""
        for length in range(len(path), 0, -1) if self.annexes else ():
            if path[:length] in self.annexes:
                source, inside = self.annexes[path[:length]]
                return source.position((*inside, *path[length:]))
        return None

    def _children(self, node: yaml.Node) -> Below:
        """What is below a node, by step: looked up once, since a file may have thousands of faults."""
        found = self._known.get(id(node))
        if found is None:
            found = {}
            for step, key, value in children(node):
                found.setdefault(str(step), (key, value))
            self._known[id(node)] = found
        return found

    @cached_property
    def _known(self) -> dict[int, Below]:
        return {}

    @cached_property
    def _root(self) -> yaml.Node | None:
        try:
            return yaml.compose(as_yaml(self.text, self.name), Loader=yaml.CSafeLoader)
        except yaml.YAMLError:
            return None


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        byte = data[error.start]
        hint = "save the file as UTF-8"
        raise _alone(Code.NOT_UTF8, str(Position(name, line, column)), f"byte 0x{byte:02x}: not UTF-8", hint) from None


def _alone(code: Code, position: str, message: str, hint: str) -> InputErrors:
    return InputErrors([InputError(code, position, message, hint)])
