"""Stamps: a made thing carries the hash of what it was made from, and is remade when that changes."""

import hashlib
import sys
from pathlib import Path

from sandbox.launcher.layout import REQUIREMENTS, SANDBOX, TEMPLATES

STAMP = "stamp"


def pins() -> str:
    """Hash of the locked packages and the Python that installs them."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes())
    digest.update(f"{sys.version_info.major}.{sys.version_info.minor}".encode())
    return digest.hexdigest()[:16]


def sources() -> str:
    """Hash of the pins, the sandbox's own modules and its configuration templates."""
    digest = hashlib.sha256(pins().encode())
    for path in sorted([*SANDBOX.glob("*/*.py"), *TEMPLATES.iterdir()]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def carries(folder: Path, stamp: str) -> bool:
    """Whether a made folder is there and was made from this."""
    path = folder / STAMP
    return path.is_file() and path.read_text(encoding="utf-8") == stamp


def put(folder: Path, stamp: str) -> None:
    """Mark a folder as completely made."""
    (folder / STAMP).write_text(stamp, encoding="utf-8")
