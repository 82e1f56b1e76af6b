"""Which keys certificates may be about: those that `ssh-keygen` makes, as they are and spoilt."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from interlock.vocabulary.key_strength import objection_to

from .authorities import key_pair, public

KEYS = {
    "ed25519": (("-t", "ed25519"), None),
    "ecdsa-256": (("-t", "ecdsa", "-b", "256"), None),
    "ecdsa-384": (("-t", "ecdsa", "-b", "384"), None),
    "ecdsa-521": (("-t", "ecdsa", "-b", "521"), None),
    "rsa-3072": (("-t", "rsa", "-b", "3072"), None),
    "rsa-2048": (("-t", "rsa", "-b", "2048"), "an RSA key of 2048 bits, and 3072 are the least"),
}


@pytest.mark.parametrize("name", KEYS)
def test_what_ssh_keygen_makes_is_whole(tmp_path: Path, name: str) -> None:
    options, objection = KEYS[name]
    kind, word, _ = public(key_pair(tmp_path, name, *options)).split()
    assert objection_to(kind, word) == objection
    body = base64.b64decode(word)
    # Cut off, with something behind it, under another type, and as base64 that is not its shortest.
    for spoilt in (body[:-1], body + b"\0", body[:40]):
        assert objection_to(kind, base64.b64encode(spoilt).decode()) == ""
    assert objection_to("ssh-ed25519" if kind != "ssh-ed25519" else "ssh-rsa", word) == ""
    assert objection_to(kind, f"{word} ") == ""


def framed(*parts: bytes) -> str:
    """The base64 of a body of these parts."""
    return base64.b64encode(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).decode()


@pytest.mark.parametrize(
    ("kind", "parts", "objection"),
    [
        ("sk-ssh-ed25519@openssh.com", (b"x" * 32, b"ssh:"), None),
        ("sk-ssh-ed25519@openssh.com", (b"x" * 32, b""), ""),
        ("sk-ssh-ed25519@openssh.com", (b"x" * 31, b"ssh:"), ""),
        ("sk-ecdsa-sha2-nistp256@openssh.com", (b"nistp256", b"\x04" + b"x" * 64, b"ssh:"), None),
        ("sk-ecdsa-sha2-nistp256@openssh.com", (b"nistp384", b"\x04" + b"x" * 96, b"ssh:"), ""),
        ("ecdsa-sha2-nistp256", (b"nistp384", b"\x04" + b"x" * 96), ""),
        ("ecdsa-sha2-nistp256", (b"nistp256", b"\x02" + b"x" * 64), ""),
        ("ssh-ed25519", (b"x" * 31,), ""),
        ("ssh-rsa", (b"\x03", b"\x00" + b"\xff" * 384), None),
        ("ssh-rsa", (b"\x01", b"\x00" + b"\xff" * 384), ""),
        ("ssh-rsa", (b"\x03", b"\x00" + b"\xff" * 383 + b"\xfe"), ""),
        ("ssh-rsa", (b"\x03", b"\x7f" + b"\xff" * 383), "an RSA key of 3071 bits, and 3072 are the least"),
        ("ssh-rsa", (b"\x03", b"\x01" + b"\xff" * 2048), "an RSA key of 16385 bits, and OpenSSH reads 16384 at most"),
        ("ssh-dss", (b"\x03",), "a DSA key, which OpenSSH takes no longer"),
        ("ssh-ed25519-cert-v01@openssh.com", (b"x",), "a certificate, not a key"),
        ("ssh-xmss@openssh.com", (b"x" * 64,), ""),
    ],
)
def test_the_form_of_each_type(kind: str, parts: tuple[bytes, ...], objection: str | None) -> None:
    assert objection_to(kind, framed(kind.encode(), *parts)) == objection
