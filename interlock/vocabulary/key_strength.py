"""Whether a public ssh key is whole, and strong enough that a certificate may be about it or signed with it.

Sources: RFC 4253 §6.6 (RSA), RFC 5656 §3.1 (ECDSA), RFC 8709 §4 (Ed25519), OpenSSH's PROTOCOL.u2f (keys in hardware);
NIST SP 800-57 part 1, table 2: RSA of 3072 bits is as strong as the curves are.
"""

from __future__ import annotations

import base64
import binascii

from .ssh_keys import body_of, fields_of

LEAST_RSA_BITS = 3072
#: OpenSSH reads no longer ones (`SSHBUF_MAX_BIGNUM`).
MOST_RSA_BITS = 16384

_ED25519_BYTES = 32
#: Curve of an ECDSA key -> bytes of one coordinate.
_COORDINATE = {b"nistp256": 32, b"nistp384": 48, b"nistp521": 66}
_UNCOMPRESSED = 4
_LEAST_EXPONENT = 3


def objection_to(kind: str, word: str) -> str | None:
    """What is wrong with a key of this type, from its base64; None: nothing. Empty: it is no key at all."""
    if kind == "ssh-dss":
        return "a DSA key, which OpenSSH takes no longer"
    if "-cert-v" in kind:
        return "a certificate, not a key"
    if body_of(kind, word) is None or not _is_canonical(word):
        return ""
    fields = fields_of(base64.b64decode(word))
    match fields[:1]:
        case [b"ssh-rsa"] if len(fields) == 3:
            return _rsa(fields[1], fields[2])
        case [b"ssh-ed25519"] if len(fields) == 2:
            return None if len(fields[1]) == _ED25519_BYTES else ""
        case [b"sk-ssh-ed25519@openssh.com"] if len(fields) == 3:
            return None if len(fields[1]) == _ED25519_BYTES and fields[2] else ""
        case [kind_of_curve] if kind_of_curve.startswith(b"ecdsa-sha2-") and len(fields) == 3:
            return None if kind_of_curve.endswith(fields[1]) and _on_curve(fields[1], fields[2]) else ""
        case [b"sk-ecdsa-sha2-nistp256@openssh.com"] if len(fields) == 4:
            return None if fields[1] == b"nistp256" and _on_curve(fields[1], fields[2]) and fields[3] else ""
    return ""


def _rsa(exponent: bytes, modulus: bytes) -> str | None:
    number, power = int.from_bytes(modulus, "big"), int.from_bytes(exponent, "big")
    bits = number.bit_length()
    if bits < LEAST_RSA_BITS:
        return f"an RSA key of {bits} bits, and {LEAST_RSA_BITS} are the least"
    if bits > MOST_RSA_BITS:
        return f"an RSA key of {bits} bits, and OpenSSH reads {MOST_RSA_BITS} at most"
    return None if power >= _LEAST_EXPONENT and power % 2 and number % 2 else ""


def _on_curve(curve: bytes, point: bytes) -> bool:
    """True if the point has the length and the form of one on this curve; that it lies there, sshd looks at."""
    size = _COORDINATE.get(curve, 0)
    return size > 0 and len(point) == 1 + 2 * size and point[0] == _UNCOMPRESSED


def _is_canonical(word: str) -> bool:
    """True if the base64 is that of its bytes: else two texts would be one key."""
    try:
        return base64.b64encode(base64.b64decode(word, validate=True)).decode() == word
    except (binascii.Error, ValueError):
        return False
