"""Signatures of entries, made and judged by OpenSSH's `ssh-keygen`, by the site's list of who may sign.

The namespace is one of its own: a signature of evidence is none of an entry, and the other way round.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from infra.access.keygen import ToolFailed, run_tool
from interlock.model.evidence.signers import Signers
from interlock.model.evidence.values import moment
from interlock.store.break_glass import GlassClosing, GlassEntry, GlassOpening, SignedBy
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind

NAMESPACE = "interlock-break-glass"
_SIGNATURE, _LIST = "signature.sig", "signers"


class SignerNotListed(InterlockError):
    """A key that the site's list has for nobody."""

    kind = ErrorKind.INPUT


def signer_of(signers: Signers, key: Path, now: datetime) -> str:
    """Whose key it is, by the list. Raises `SignerNotListed`, and `EnvironmentFailed` if `ssh-keygen` fails."""
    probe = b"who"
    made = _made(probe, key)
    for name in sorted(signers.principals):
        if not _wrong(signers, name, probe, made, now):
            return name
    raise SignerNotListed(
        f"{signers.name} lists the key {key} for nobody who may sign break-glass entries now",
        f'name a listed key; a line that has `namespaces=` needs `namespaces="interlock-evidence,{NAMESPACE}"`',
        place=signers.name,
    )


def sign(record: GlassOpening | GlassClosing, key: Path) -> SignedBy:
    """What the record's author signs. Raises `EnvironmentFailed`."""
    return SignedBy(name=record.by, signature=_made(record.signable, key))


def why_unsigned(entry: GlassEntry, signers: Signers | None) -> str:
    """Why an entry is not signed by whom it names; empty if it is, or where nobody has to sign."""
    if signers is None:
        return ""
    opening, closing = entry.opening, entry.closing
    wrong = _unsigned("its opening", opening, opening.written, entry.signed, signers)
    if closing is not None and not wrong:
        wrong = _unsigned("its closing", closing, closing.at, entry.closing_signed, signers)
    return wrong


def _unsigned(
    what: str, record: GlassOpening | GlassClosing, at: str, signed: SignedBy | None, signers: Signers
) -> str:
    if signed is None:
        return f"{what} is not signed"
    if signed.name != record.by:
        return f"{what} names {record.by}, and is signed by {signed.name}"
    if signed.name not in signers.principals:
        return f"{what} is signed by {signed.name}, whom {signers.name} does not list"
    wrong = _wrong(signers, signed.name, record.signable, signed.signature, moment(at))
    return f"{what} has no good signature of {signed.name}{wrong}" if wrong else ""


def _made(data: bytes, key: Path) -> str:
    return run_tool("ssh-keygen", "-Y", "sign", "-q", "-n", NAMESPACE, "-f", key, stdin=data)


def _wrong(signers: Signers, name: str, data: bytes, signature: str, at: datetime) -> str:
    """What `ssh-keygen` says against a signature, in brackets; empty if it is good."""
    time = at.astimezone(UTC).strftime("%Y%m%d%H%M%S")
    with tempfile.TemporaryDirectory(prefix="interlock-signature-") as made:
        folder = Path(made)
        (folder / _LIST).write_bytes(signers.text.encode())
        (folder / _SIGNATURE).write_text(signature)
        given = ("-n", NAMESPACE, "-I", name, "-s", _SIGNATURE, "-f", _LIST, f"-Overify-time={time}")
        try:
            run_tool("ssh-keygen", "-Y", "verify", *given, stdin=data, folder=folder)
        except ToolFailed as failed:
            return f" (ssh-keygen: {failed.first or failed.what})"
    return ""
