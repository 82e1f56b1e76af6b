"""`partitions.conf` of OpenSM as frozen types: read, written, changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

Membership = Literal["full", "limited"]

#: Bits of a P_Key that name the partition; the sixteenth says that a member is a full one.
KEY_BITS = 0x7FFF
FULL = 0x8000
DEFAULT_KEY = 0x7FFF
#: Characters of a line at most. OpenSM 3.3.23 reads 4 095 of one and takes the rest for another line; where it cannot
#: make sense of that it gives the file up, and makes every port a full member of the default partition.
LINE = 4000


class PartitionsWrong(ValueError):
    """A partitions.conf that this does not read; says the line."""


@dataclass(frozen=True)
class ConfiguredPartition:
    """A partition as OpenSM is told of it: 15 bits, members by port GUID, and flags of the whole partition."""

    key: int
    name: str
    members: Mapping[int, Membership]
    index0: bool = False
    ip_over_ib: bool = False
    #: What else stands among the flags: `mtu`, `rate`, `sl`, as the codes that OpenSM takes.
    flags: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def line(self) -> str:
        """As it stands in the file; of many members, several lines that OpenSM takes for one partition."""
        words = [f"{self.name}={self.key:#06x}"]
        words += ["indx0"] if self.index0 else []
        words += ["ipoib"] if self.ip_over_ib else []
        words += [f"{name}={value}" for name, value in sorted(self.flags.items())]
        return "\n".join(member_lines(",".join(words), self.members))


def member_lines(head: str, members: Mapping[int, Membership]) -> Iterator[str]:
    """The lines of one partition, each of which OpenSM reads whole. Raises PartitionsWrong for too long a head."""
    entries = [f"{guid:#018x}={membership}" for guid, membership in sorted(members.items())]
    of_a_line = (LINE - len(f"{head} :  ;")) // len("0x0123456789abcdef=limited, ")
    if of_a_line < 1:
        raise PartitionsWrong(f"{head[:40]}… is too long for a line of {LINE} characters")
    for start in range(0, max(1, len(entries)), of_a_line):
        yield f"{head} : {', '.join(entries[start : start + of_a_line])} ;"


def default_line(default: Membership = "limited") -> str:
    """The default partition: everybody is in it, the subnet manager alone is full unless `default` says otherwise."""
    return f"Default={DEFAULT_KEY:#06x} : ALL={default}, SELF=full ;"


def written(partitions: Iterable[ConfiguredPartition], default: Membership = "limited") -> str:
    """The whole file."""
    lines = [item.line for item in sorted(partitions, key=lambda item: (item.key, item.name))]
    return "\n".join([default_line(default), *lines]) + "\n"


_LINE = re.compile(r"(?P<head>[^:]+):(?P<members>[^;]*);")
_NAME = re.compile(r"(?P<name>[^=,]+)=(?P<key>0x[0-9a-fA-F]+)")


def read(text: str) -> tuple[ConfiguredPartition, ...]:
    """The partitions of a file, without the default one. Raises PartitionsWrong.

    Lines that differ in their members alone are one partition.
    """
    found: list[ConfiguredPartition] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.partition("#")[0].strip()
        if not bare or bare.startswith("Default="):
            continue
        match = _LINE.fullmatch(bare)
        if match is None:
            raise PartitionsWrong(f"line {number} is no partition: {bare[:80]}")
        try:
            read_line = _partition(match["head"].strip(), match["members"].strip())
        except ValueError as error:
            raise PartitionsWrong(f"line {number}: {error}") from None
        if found and replace(found[-1], members=read_line.members) == read_line:
            read_line = replace(read_line, members={**found.pop().members, **read_line.members})
        found.append(read_line)
    return tuple(found)


def _partition(head: str, members: str) -> ConfiguredPartition:
    first, *rest = (word.strip() for word in head.split(","))
    named = _NAME.fullmatch(first)
    if named is None:
        raise ValueError(f"{first[:40]} is no `name=key`")
    flags = dict(word.partition("=")[::2] for word in rest if "=" in word)
    return ConfiguredPartition(
        key=int(named["key"], 16) & KEY_BITS,
        name=named["name"],
        members=dict(_member(word.strip()) for word in members.split(",") if word.strip()),
        index0="indx0" in rest,
        ip_over_ib="ipoib" in rest,
        flags={name: int(value) for name, value in flags.items()},
    )


def _member(word: str) -> tuple[int, Membership]:
    guid, _, membership = word.partition("=")
    if membership == "full":
        return int(guid, 16), "full"
    if membership == "limited":
        return int(guid, 16), "limited"
    raise ValueError(f"{word[:40]} is no `GUID=full` or `GUID=limited`")
