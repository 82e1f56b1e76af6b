"""Bodies and keys of UFM's REST interface, read and refused as its guide says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .partitions import DEFAULT_KEY, Membership

_KEY = re.compile(r"0x[0-9a-fA-F]{1,4}")
_GUID = re.compile(r"(0x)?[0-9a-fA-F]{16}")
#: What `mtu_limit` and `rate_limit` may be, and the codes by which OpenSM's partitions.conf knows them.
MTU_CODES = MappingProxyType({2: 4, 4: 5})
RATE_CODES = MappingProxyType(
    {2.5: 2, 5: 5, 10: 3, 14: 11, 20: 6, 25: 15, 30: 4, 40: 7, 56: 12, 60: 8, 80: 9, 100: 16, 112: 13, 120: 10}
    | {168: 14, 200: 17, 300: 18}
)


class UfmRefused(Exception):
    """A request that is refused: status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True)
class MemberRequest:
    """What a body of POST or PUT on /resources/pkeys asks for. None: the body does not say."""

    key: int
    members: Mapping[int, Membership]
    index0: bool
    ip_over_ib: bool
    flags: Mapping[str, int]
    name: str | None = None
    #: True if each GUID has a membership of its own.
    each: bool = False


def key_of(text: Any, *, default_too: bool = False) -> int:
    """A key from a body or a path. Raises UfmRefused unless it is strictly between 0x0 and 0x7fff."""
    highest = DEFAULT_KEY if default_too else DEFAULT_KEY - 1
    if not isinstance(text, str) or not _KEY.fullmatch(text) or not 1 <= int(text, 16) <= highest:
        raise UfmRefused(400, f"Invalid pkey {text!r}: a hexadecimal string between 0x0 and 0x7fff, exclusive")
    return int(text, 16)


def guid_of(text: Any) -> int:
    """A GUID from a body or a path. Raises UfmRefused unless it is 16 digits of hex, with or without 0x."""
    if not isinstance(text, str) or not _GUID.fullmatch(text):
        raise UfmRefused(400, f"Invalid guid {text!r}: a hexadecimal string of 16 to 20 characters")
    return int(text, 16)


def members_of(body: Any) -> MemberRequest:
    """The body of POST or PUT on /resources/pkeys. Raises UfmRefused."""
    fields = _object(body)
    guids = fields.get("guids")
    if not isinstance(guids, list) or not guids:
        raise UfmRefused(400, "guids: a list with one GUID at least")
    numbers = [guid_of(guid) for guid in guids]
    memberships = _memberships(fields, len(numbers))
    return MemberRequest(
        key=key_of(fields.get("pkey")),
        members=dict(zip(numbers, memberships, strict=True)),
        index0=_flag(fields, "index0", default=False),
        ip_over_ib=_flag(fields, "ip_over_ib", default=True),
        flags=_flags(fields),
        each="memberships" in fields,
    )


def empty_of(body: Any) -> MemberRequest:
    """The body of POST on /resources/pkeys/add: a partition without members. Raises UfmRefused."""
    fields = _object(body)
    name = fields.get("partition_name")
    if name is not None and not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name)):
        raise UfmRefused(400, f"Invalid partition_name {name!r}")
    return MemberRequest(
        key=key_of(fields.get("pkey")),
        members={},
        index0=_flag(fields, "index0", default=False),
        ip_over_ib=_flag(fields, "ip_over_ib", default=True),
        flags=_flags(fields),
        name=name,
    )


def _object(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise UfmRefused(400, "the body is no JSON object")
    return body


def _memberships(fields: Mapping[str, Any], count: int) -> list[Membership]:
    if "membership" in fields and "memberships" in fields:
        raise UfmRefused(400, "membership and memberships exclude one another")
    named = fields.get("memberships", [fields.get("membership", "full")] * count)
    if not isinstance(named, list) or len(named) != count:
        raise UfmRefused(400, "memberships: as many as guids")
    return [_membership(item) for item in named]


def _membership(value: Any) -> Membership:
    if value == "full":
        return "full"
    if value == "limited":
        return "limited"
    raise UfmRefused(400, f"Invalid membership {value!r}: full or limited")


def _flag(fields: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = fields.get(name, default)
    if not isinstance(value, bool):
        raise UfmRefused(400, f"{name}: true or false")
    return value


def _flags(fields: Mapping[str, Any]) -> dict[str, int]:
    """As partitions.conf has them."""
    found = {}
    if (mtu := fields.get("mtu_limit")) is not None:
        found["mtu"] = _code(MTU_CODES, "mtu_limit", mtu)
    if (rate := fields.get("rate_limit")) is not None:
        found["rate"] = _code(RATE_CODES, "rate_limit", rate)
    if (level := fields.get("service_level")) is not None:
        if type(level) is not int or not 0 <= level <= 15:
            raise UfmRefused(400, f"Invalid service_level {level!r}: 0 to 15")
        found["sl"] = level
    return found


def _code(codes: Mapping[Any, int], name: str, value: Any) -> int:
    if type(value) not in (int, float) or value not in codes:
        raise UfmRefused(400, f"Invalid {name} {value!r}: one of {', '.join(map(str, codes))}")
    return codes[value]
