"""Certificates as they lie in a file: strict JSON, digests of its values, and text that a terminal can show."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from typing import Any


class Malformed(Exception):
    """Not a certificate; the text says where and why, on one line."""


def read(raw: bytes) -> Any:
    """A JSON document, strictly: UTF-8, no key twice, no NaN. Raises Malformed."""
    try:
        text = raw.decode()
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
        if re.search(r"\\u[dD][89a-fA-F]", text):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError:
        raise Malformed("not text: it is no UTF-8, or holds half of a surrogate pair") from None
    except RecursionError:
        raise Malformed("not JSON: nested too deeply") from None
    except ValueError as error:
        raise Malformed(printable(f"not JSON: {error}")) from None
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise Malformed(printable(f"the key {key} stands twice"))
    return found


def _refuse(constant: str) -> None:
    raise Malformed(f"not JSON: {constant} is no number")


def printable(text: str) -> str:
    """On one line, with no character that a terminal acts on; what is very long is cut."""
    text = text if len(text) <= 1000 else text[:1000] + "…"
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def digest(value: object) -> str:
    """`sha256:` and the hash of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
