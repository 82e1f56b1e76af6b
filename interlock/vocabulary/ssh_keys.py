"""Public ssh keys: which keys a text holds, whatever their comments and however they are written.

A key is its material: the type and the numbers in the body of its line. Two lines with one body are one key, and so are
two bodies that OpenSSH reads as the same numbers. A certificate is the key in it: whoever has that logs in with both.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

#: The type and the body of a key, wherever they stand: behind options, in quotes, on any of several lines.
_KEY = re.compile(r"((?:ssh|rsa|ecdsa|sk)-[a-z0-9@.-]{1,60})[ \t\r\n]+([A-Za-z0-9+/]{20,}={0,2})")
#: The body alone, which says its type itself: its first number is a length below 256. And a type that stands before it.
_BODY = re.compile(r"(?<![A-Za-z0-9+/])AAAA[A-Za-z0-9+/]{16,}={0,2}")
_KIND = re.compile(r"(?:ssh|rsa|ecdsa|sk)-[a-z0-9@.-]{1,60}[ \t\r\n]+$")
_LONGEST_KIND = 80
#: What stands before the key of a host: its names, hashed or with a dot in them. Options of a login have `=` or no dot.
_HOST = re.compile(r"(?:^|\s)[\"']?(?:\|1\|[^\s\"']+|[^\s\"'=/]*\.[^\s\"'=/]+)[ \t]+$")
_LONGEST_NAMES = 4096
#: Types whose body is numbers, which OpenSSH reads without their leading zeros.
_OF_NUMBERS = frozenset({b"ssh-rsa", b"ssh-dss"})
#: Types as lines may call them -> as bodies do: names of signatures, which OpenSSH takes for the key's (sshkey.c).
_CALLED = {"rsa-sha2-256": "ssh-rsa", "rsa-sha2-512": "ssh-rsa"}
_CERTIFICATE = b"-cert-v01@openssh.com"
#: Type of a key -> how many fields stand behind it. In a certificate a nonce stands before them, and more behind.
_FIELDS = {
    b"ssh-rsa": 2, b"ssh-dss": 4, b"ssh-ed25519": 1, b"ecdsa-sha2-nistp256": 2, b"ecdsa-sha2-nistp384": 2,
    b"ecdsa-sha2-nistp521": 2, b"sk-ssh-ed25519@openssh.com": 2, b"sk-ecdsa-sha2-nistp256@openssh.com": 3,
}  # fmt: skip


def fingerprints(text: str) -> tuple[str, ...]:
    """The fingerprint (as `ssh-keygen -l` shows it) of every public key in a text, sorted; empty if there is none."""
    bodies = (body_of(kind, word) for kind, word in _KEY.findall(text))
    return tuple(sorted({_fingerprint(body) for body in bodies if body is not None}))


def login_fingerprints(text: str) -> tuple[str, ...]:
    """The same of a text that may hold keys of hosts as well: lines of `known_hosts` let nobody in.

    What stands before the body decides nothing else: a command may put the type there, or take it away.
    """
    found = (match for match in _BODY.finditer(text) if not _is_of_host(text, _beginning(text, match.start())))
    bodies = (_typed(match.group()) for match in found)
    return tuple(sorted({_fingerprint(body) for body in bodies if body is not None}))


def key_line(body: bytes) -> str:
    """The line of the public key that these bytes are the body of; empty if they are none."""
    fields = _fields(body)
    return f"{fields[0].decode()} {base64.b64encode(body).decode()}" if fields and fields[0] in _FIELDS else ""


def _beginning(text: str, at: int) -> int:
    """Where a key begins whose body stands at a place: at its type, if it has one there."""
    before = text[max(0, at - _LONGEST_KIND) : at]
    found = _KIND.search(before)
    return at - len(before) + found.start() if found else at


def _typed(word: str) -> bytes | None:
    """The body of a key of any type, from its base64; None if it is none."""
    try:
        data = base64.b64decode(word, validate=True)
    except (binascii.Error, ValueError):
        return None
    (kind, *_) = _fields(data, 2) or [b""]
    return data if kind in _FIELDS or _certified(data) else None


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
    named = _CALLED.get(kind, kind).encode()
    return data if data[4 : 4 + length] == named and len(data) > 4 + length else None


def _fingerprint(body: bytes) -> str:
    digest = base64.b64encode(hashlib.sha256(_plain(body)).digest()).decode()
    return f"SHA256:{digest.rstrip('=')}"


def _plain(body: bytes) -> bytes:
    """The body with each number in its shortest form; as it is where its frames do not fit."""
    fields = _certified(body) or _fields(body)
    if not fields:
        return body
    shortest = _shortest if fields[0] in _OF_NUMBERS else bytes
    return b"".join(len(field).to_bytes(4, "big") + field for field in (fields[0], *map(shortest, fields[1:])))


def _certified(body: bytes) -> list[bytes]:
    """The type and the fields of the key that a certificate is about; none if the body is no certificate."""
    (kind, *_) = _fields(body, 1) or [b""]
    if not kind.endswith(_CERTIFICATE):
        return []
    bare = kind.removesuffix(_CERTIFICATE)
    named = next((name for name in (bare, bare + b"@openssh.com") if name in _FIELDS), None)
    found = _fields(body, 2 + _FIELDS[named]) if named else []
    return [named, *found[2:]] if named and found else []


def _shortest(number: bytes) -> bytes:
    digits = number.lstrip(b"\0")
    return b"\0" + digits if digits[:1] >= b"\x80" else digits


def fields_of(body: bytes) -> list[bytes]:
    """The frames of a whole body, the type first; none if they do not fill it."""
    return _fields(body)


def _fields(body: bytes, most: int | None = None) -> list[bytes]:
    """The frames of a body, each with its length of four bytes before it; none if they do not fill it.

    `most`: the first ones, as many, whatever stands behind them; none if there are fewer.
    """
    found, at = list[bytes](), 0
    while at < len(body) and len(found) != most:
        length = int.from_bytes(body[at : at + 4], "big")
        found.append(body[at + 4 : at + 4 + length])
        at += 4 + length
    is_whole = at == len(body) if most is None else len(found) == most and at <= len(body)
    return found if is_whole else []
