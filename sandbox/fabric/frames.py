"""Ethernet frames that say where they come from, and what is read off one that arrived.

Every frame ends with a mark: who sent it, in which round, as which of the round's frames. The frames are whole: an ARP
request and an IPv6 neighbour solicitation are what a kernel would send, and the mark is the padding after them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import StrEnum

_MARK = struct.Struct("!8sIHI")
_MAGIC = b"interlok"
_BROADCAST = b"\xff" * 6
#: IEEE's EtherType for local experiments.
_EXPERIMENT, _ARP, _IPV6, _TAG = 0x88B5, 0x0806, 0x86DD, 0x8100
#: The least length of a frame without its checksum, with room for two tags.
_SHORTEST = 68


class Kind(StrEnum):
    """What a frame is."""

    EXPERIMENT = "EtherType 88b5"
    ARP = "ARP request"
    NEIGHBOUR = "IPv6 neighbour solicitation"


@dataclass(frozen=True)
class Probe:
    """One frame to send. `tags`: VLAN tags, the outer one first; empty: untagged."""

    sender: str
    tags: tuple[int, ...] = ()
    kind: Kind = Kind.EXPERIMENT


@dataclass(frozen=True)
class Mark:
    """What the end of a frame says: the round, the number of the host that sent it, the number of the probe."""

    round: int
    host: int
    number: int


def written(probe: Probe, mark: Mark) -> bytes:
    """The frame of a probe, to everybody in its VLAN."""
    source = mac(mark.host)
    target, ether_type, payload = _content(probe.kind, mark.host, source)
    tags = b"".join(struct.pack("!HH", _TAG, tag) for tag in probe.tags)
    frame = target + source + tags + struct.pack("!H", ether_type) + payload
    end = _MARK.pack(_MAGIC, mark.round, mark.host, mark.number)
    return frame.ljust(_SHORTEST - len(end), b"\0") + end


def read(frame: bytes) -> Mark | None:
    """The mark of a frame; None if it is none of these."""
    if len(frame) < _MARK.size:
        return None
    magic, number, host, place = _MARK.unpack(frame[-_MARK.size :])
    return Mark(number, host, place) if magic == _MAGIC else None


def mac(host: int) -> bytes:
    """The address that a host sends from: locally administered."""
    return b"\x02\x49\x4c\x00" + struct.pack("!H", host)


def _content(kind: Kind, host: int, source: bytes) -> tuple[bytes, int, bytes]:
    if kind is Kind.ARP:
        own, asked = struct.pack("!BBH", 10, 200, host), struct.pack("!BBH", 10, 200, 0xFFFE)
        return _BROADCAST, _ARP, struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + source + own + bytes(6) + asked
    if kind is Kind.NEIGHBOUR:
        return _solicitation(host, source)
    return _BROADCAST, _EXPERIMENT, b""


def _solicitation(host: int, source: bytes) -> tuple[bytes, int, bytes]:
    """RFC 4861: to the solicited-node group of the address that is asked for."""
    network = bytes.fromhex("fd00494c") + bytes(10)
    own, asked = network + struct.pack("!H", host), network + b"\xff\xfe"
    group = bytes.fromhex("ff0200000000000000000001ff") + asked[-3:]
    rest = bytes(4) + asked + b"\x01\x01" + source
    length = len(rest) + 4
    pseudo = own + group + struct.pack("!IHBB", length, 0, 0, 58)
    message = struct.pack("!BBH", 135, 0, _checksum(pseudo + b"\x87\0\0\0" + rest)) + rest
    header = struct.pack("!IHBB", 6 << 28, length, 58, 255) + own + group
    return b"\x33\x33" + group[-4:], _IPV6, header + message


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
