"""A cloud-init document as a value, and its one text: parts are joined, nobody writes YAML by hand.

Keys and their forms: cloud-init's module reference (`hostname`, `write_files`, `mounts`, `runcmd`). Tests hold every
document of every golden plan against cloud-init's own JSON schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import Any

import yaml
import yaml.emitter
from yaml.emitter import ScalarAnalysis

from .files import GuestFile

#: The first line by which cloud-init knows the format.
HEADER = "#cloud-config"


@dataclass(frozen=True)
class Mount:
    """A line of fstab that cloud-init writes and mounts. `options`: in their order, without spaces."""

    source: str
    point: str
    filesystem: str
    options: tuple[str, ...]

    def canonical(self) -> list[str]:
        """An item of `mounts`: all six fields of fstab; neither dumped nor checked at boot."""
        return [self.source, self.point, self.filesystem, ",".join(self.options), "0", "0"]


@dataclass(frozen=True)
class Part:
    """What one concern asks of the server. Files are there before commands run, and commands run in this order."""

    files: tuple[GuestFile, ...] = ()
    mounts: tuple[Mount, ...] = ()
    #: Each a program with its arguments; no shell reads them.
    commands: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class CloudConfig:
    """The document of one server."""

    hostname: str
    parts: tuple[Part, ...]

    def canonical(self) -> dict[str, Any]:
        """As cloud-init reads it. Keys that say nothing are left out. ValueError if two parts write one file."""
        files = [file for part in self.parts for file in part.files]
        _check_once(file.path for file in files)
        mounts = [mount for part in self.parts for mount in part.mounts]
        _check_once(mount.point for mount in mounts)
        commands = [command for part in self.parts for command in part.commands]
        lists = {
            "write_files": [file.canonical() for file in files],
            "mounts": [mount.canonical() for mount in mounts],
            "runcmd": [list(command) for command in commands],
        }
        return {"hostname": self.hostname, **{key: found for key, found in lists.items() if found}}

    def text(self) -> str:
        """The document: the header and YAML, the same bytes for the same value."""
        return _text_of(self)


@lru_cache(maxsize=128)
def _text_of(config: CloudConfig) -> str:
    """Kept, since PyYAML goes character by character, and one process plans the same server more than once."""
    written = yaml.dump(
        config.canonical(), Dumper=_Writer, sort_keys=False, width=float("inf"), allow_unicode=True,
        default_flow_style=False,
    )  # fmt: skip
    return f"{HEADER}\n{written}"


def _check_once(paths: Iterable[str]) -> None:
    for path in _twice(paths):
        raise ValueError(f"two parts of a cloud-init document are about {path}")


def _twice(paths: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            yield path
        seen.add(path)


class _Writer(yaml.SafeDumper):
    """Block style with indented lists; a text of several lines is a literal block, so that people can read it."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - of PyYAML
        super().increase_indent(flow, False)

    def analyze_scalar(self, scalar: str) -> ScalarAnalysis:
        """As PyYAML does it, character by character, but once for a text that all nodes of a cluster have."""
        return _analysis(scalar)


@lru_cache(maxsize=64)
def _analysis(scalar: str) -> ScalarAnalysis:
    return yaml.emitter.Emitter.analyze_scalar(_Writer(StringIO(), allow_unicode=True), scalar)


def _text(writer: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return writer.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)


_Writer.add_representer(str, _text)
