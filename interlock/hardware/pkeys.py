"""InfiniBand partition keys: 15 bits that name a partition, and one that makes a member full."""

from __future__ import annotations

from .facts import primary
from .verdicts import OK, PlacementVerdict, fault

_MANAGER = "NVIDIA, MLNX-OS user manual, subnet manager"

#: Keys that tenants may have.
TENANT_KEYS = primary((0x0001, 0x7FFE), "", _MANAGER)

#: The partition that the subnet manager always makes, with every port as full member unless told otherwise.
DEFAULT_KEY = primary(0x7FFF, "", _MANAGER)

#: The bit of a full member. Two limited members do not hear each other.
FULL_MEMBER = primary(0x8000, "", _MANAGER)


def key_verdict(key: int) -> PlacementVerdict:
    """Whether a tenant may have this key, given without the membership bit."""
    first, last = TENANT_KEYS.value
    if first <= key <= last:
        return OK
    if key == DEFAULT_KEY.value:
        return fault(f"0x{key:04x} is the default partition: every port of the subnet is in it")
    return fault(f"0x{key:04x} is no tenant's key: those are 0x{first:04x} to 0x{last:04x}")


def full_member(key: int) -> int:
    """The 16 bits that a full member of this partition carries. ValueError for more than 15 bits."""
    if not 0 <= key <= DEFAULT_KEY.value:
        raise ValueError(f"0x{key:x}: a partition key has 15 bits")
    return FULL_MEMBER.value | key


def hear_each_other(one: int, other: int) -> bool:
    """Whether ports with these 16 bits talk: same partition, and at least one of them a full member."""
    same = (one & DEFAULT_KEY.value) == (other & DEFAULT_KEY.value)
    return same and bool((one | other) & FULL_MEMBER.value)
