"""UFM's JSON -> frozen types. Versions and simulators differ in form; what cannot be read raises `UfmMisread`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from interlock.vocabulary.digits import is_number

Membership = Literal["full", "limited"]

#: Bits of a P_Key; the sixteenth says whether a member is a full one.
KEY_BITS = 0x7FFF
#: Every port of a subnet is in it, and nobody leaves it.
DEFAULT_KEY = 0x7FFF

_GUID = re.compile(r"[0-9a-f]{16}")
_HEX = re.compile(r"0x[0-9a-f]{1,16}")


class UfmMisread(Exception):
    """An answer that does not say what it has to."""


@dataclass(frozen=True)
class FabricMember:
    """A port in a partition. `index0` is None where UFM does not say."""

    guid: str
    membership: Membership
    index0: bool | None


@dataclass(frozen=True)
class FabricPartition:
    """A partition as UFM shows it. `ip_over_ib` is None where UFM does not say."""

    key: int
    members: tuple[FabricMember, ...]
    ip_over_ib: bool | None
    name: str = ""

    @property
    def guids(self) -> frozenset[str]:
        """The GUIDs in it."""
        return frozenset(member.guid for member in self.members)

    @property
    def memberships(self) -> dict[str, Membership]:
        """GUID -> membership."""
        return {member.guid: member.membership for member in self.members}


def guid_of(value: Any) -> str:
    """A GUID as 16 hex digits in lower case, from any form: with `0x`, with colons, in capitals."""
    text = str(value).strip().lower().replace(":", "").removeprefix("0x")
    if not _GUID.fullmatch(text):
        raise UfmMisread(f"{str(value)[:40]!r} is no GUID")
    return text


def key_of(value: Any) -> int:
    """15 bits of a P_Key, from `0x5`, `0x0005`, `0x8005` or a decimal number."""
    text = str(value).strip().lower()
    if not (_HEX.fullmatch(text) or is_number(text)):
        raise UfmMisread(f"{str(value)[:40]!r} is no P_Key")
    return int(text, 16 if text.startswith("0x") else 10) & KEY_BITS


def prefix_of(value: Any) -> str:
    """The prefix of a subnet as 16 hex digits."""
    text = str(value).strip().lower().replace(":", "").removeprefix("0x")
    if not text or len(text) > 16 or not all(digit in "0123456789abcdef" for digit in text):
        raise UfmMisread(f"{str(value)[:40]!r} is no subnet prefix")
    return text.zfill(16)


def is_prefix(text: str) -> bool:
    """True for the prefix of a subnet in the form that `prefix_of` gives; a subnet that no site states has none."""
    return _GUID.fullmatch(text) is not None


def partition_of(key: int, value: Any) -> FabricPartition | None:
    """The partition in an answer about one key; None for an empty answer, which some versions give for *not found*.

    Raises `UfmMisread` if it does not say who is in it: that is unknown, and not nobody.
    """
    if value is None or value == {} or value == []:
        return None
    item = _mapping(value, f"the answer about P_Key {key:#06x}")
    if len(item) == 1 and "guids" not in item:
        # Some versions answer about one key as they do about all.
        ((named, inner),) = item.items()
        if isinstance(inner, Mapping) and key_of(named) == key & KEY_BITS:
            item = inner
    if not isinstance(item.get("guids"), list):
        raise UfmMisread(f"it does not say which GUIDs are in P_Key {key:#06x}")
    members = tuple(sorted((_member(entry) for entry in item["guids"]), key=lambda member: member.guid))
    if len({member.guid for member in members}) != len(members):
        raise UfmMisread(f"it lists a GUID of P_Key {key:#06x} twice")
    return FabricPartition(key & KEY_BITS, members, _flag(item.get("ip_over_ib")), str(item.get("partition") or ""))


def partitions_of(value: Any) -> dict[int, FabricPartition]:
    """Key -> partition, of a list with GUIDs."""
    found = {}
    for named, item in _mapping(value or {}, "the list of P_Keys").items():
        partition = partition_of(key_of(named), item)
        if partition is not None:
            found[partition.key] = partition
    return found


def default_of(value: Any) -> tuple[bool | None, frozenset[str] | None]:
    """(limited unless told otherwise, GUIDs of full members) of the answer about the default partition."""
    if not isinstance(value, Mapping):
        return None, None
    membership = str(value.get("membership", "")).lower()
    limited = {"limited": True, "full": False}.get(membership)
    if not isinstance(value.get("guids"), list):
        return limited, None
    partition = partition_of(DEFAULT_KEY, value)
    assert partition is not None  # it says who is in it
    return limited, frozenset(guid for guid, kind in partition.memberships.items() if kind == "full")


def ports_of(value: Any) -> frozenset[str]:
    """GUIDs of the ports in a list of ports, which some versions page under `data`."""
    items = value.get("data") if isinstance(value, Mapping) else value
    if not isinstance(items, list):
        raise UfmMisread("the list of ports is no list")
    return frozenset(guid_of(_mapping(item, "a port").get("guid")) for item in items)


def _member(value: Any) -> FabricMember:
    item = _mapping(value, "a member of a partition")
    membership = str(item.get("membership")).lower()
    if membership not in ("full", "limited"):
        raise UfmMisread(f"it does not say whether {guid_of(item.get('guid'))} is a full or a limited member")
    return FabricMember(guid_of(item.get("guid")), cast(Membership, membership), _flag(item.get("index0")))


def _flag(value: Any) -> bool | None:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value if isinstance(value, bool) else None


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UfmMisread(f"{what} is {type(value).__name__}, not an object")
    return value
