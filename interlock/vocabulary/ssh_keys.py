"""Public ssh keys: which keys a text holds, whatever their comments and however they are written.

A key is its material: the type and the numbers in the body of its line. Two lines with one body are one key, and so are
two bodies that OpenSSH reads as the same numbers.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

#: The type and the body of a key, wherever they stand: behind options, in quotes, on any of several lines.
_KEY = re.compile(r"((?:ssh|ecdsa|sk)-[a-z0-9@.-]{1,60})[ \t\r\n]+([A-Za-z0-9+/]{20,}={0,2})")
#: What stands before the key of a host: its names, hashed or with a dot in them. Options of a login have `=` or no dot.
_HOST = re.compile(r"(?:^|\s)[\"']?(?:\|1\|[^\s\"']+|[^\s\"'=/]*\.[^\s\"'=/]+)[ \t]+$")
_LONGEST_NAMES = 4096
#: Types whose body is numbers, which OpenSSH reads without their leading zeros.
_OF_NUMBERS = frozenset({b"ssh-rsa", b"ssh-dss"})


def fingerprints(text: str) -> tuple[str, ...]:
    """The fingerprint (as `ssh-keygen -l` shows it) of every public key in a text, sorted; empty if there is none."""
    bodies = (body_of(kind, word) for kind, word in _KEY.findall(text))
    return tuple(sorted({_fingerprint(body) for body in bodies if body is not None}))


def login_fingerprints(text: str) -> tuple[str, ...]:
    """The same of a text that may hold keys of hosts as well: lines of `known_hosts` let nobody in."""
    found = (match for match in _KEY.finditer(text) if not _is_of_host(text, match.start()))
    bodies = (body_of(*match.groups()) for match in found)
    return tuple(sorted({_fingerprint(body) for body in bodies if body is not None}))


def _is_of_host(text: str, at: int) -> bool:
    return _HOST.search(text[text.rfind("\n", 0, at) + 1 : at][-_LONGEST_NAMES:]) is not None


def body_of(kind: str, word: str) -> bytes | None:
    """The body of a key of this type, from its base64; None if it is none.

    A key repeats its type, with a length of four bytes before it, at the beginning of its body.
    """
    try:
        data = base64.b64decode(word, validate=True)
    except (binascii.Error, ValueError):
        return None
    length = int.from_bytes(data[:4], "big")
    return data if data[4 : 4 + length] == kind.encode() and len(data) > 4 + length else None


def _fingerprint(body: bytes) -> str:
    digest = base64.b64encode(hashlib.sha256(_plain(body)).digest()).decode()
    return f"SHA256:{digest.rstrip('=')}"


def _plain(body: bytes) -> bytes:
    """The body with each number in its shortest form; as it is where its frames do not fit."""
    fields = _fields(body)
    if not fields or fields[0] not in _OF_NUMBERS:
        return body
    return b"".join(len(field).to_bytes(4, "big") + field for field in (fields[0], *map(_shortest, fields[1:])))


def _shortest(number: bytes) -> bytes:
    digits = number.lstrip(b"\0")
    return b"\0" + digits if digits[:1] >= b"\x80" else digits


def _fields(body: bytes) -> list[bytes]:
    """The frames of a body, each with its length of four bytes before it; none if they do not fill it."""
    found, at = [], 0
    while at < len(body):
        length = int.from_bytes(body[at : at + 4], "big")
        found.append(body[at + 4 : at + 4 + length])
        at += 4 + length
    return found if at == len(body) else []
