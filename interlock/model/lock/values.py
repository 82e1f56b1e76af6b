"""How values of locks are read: what no reader could take is refused with the file."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import Any

from interlock.vocabulary import Vlan
from interlock.vocabulary.digits import is_number


def without_empty(value: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Without keys that hold nothing: locks that were written before there were any keep their bytes and hashes."""
    return {key: item for key, item in value.items() if key not in names or item}


def prefix(text: str) -> str:
    """A prefix that Python reads, as it stands. Raises ValueError."""
    IPv4Network(text, strict=False)
    return text


def each_its_own(services: dict[str, str]) -> dict[str, str]:
    """As they stand. Raises ValueError where two hosts have one: those who are cleaned there would meet."""
    hosts: dict[str, str] = {}
    for host, text in services.items():
        if not Vlan.parse(text).network:
            raise ValueError(f"{text} names no physical network")
        if (other := hosts.setdefault(text, host)) != host:
            raise ValueError(f"{other} and {host} both have the service VLAN {text}")
    return services


def number(text: str) -> int:
    """A number in decimal. Raises ValueError."""
    if not is_number(text):
        raise ValueError(f"{text} is no number")
    return int(text)
