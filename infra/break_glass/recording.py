"""Entries written: who answers for them, and who is applying the stack just then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from infra.cli.exits import EnvironmentFailed
from infra.program.break_glass import break_glass_of
from infra.program.gate import Gate
from infra.stack.engine import Engine
from interlock.model.evidence.values import moment_text
from interlock.store.break_glass import GlassEntry, GlassOpening
from interlock.store.writer import user_at_host
from interlock.vocabulary import InterlockError
from interlock.vocabulary.errors import ErrorKind

from .signing import NAMESPACE, sign, signer_of


class NotSigned(InterlockError):
    """A signature is missing, or is wanted of nobody."""

    kind = ErrorKind.INPUT


@dataclass(frozen=True)
class WantedEntry:
    """What an entry is to say."""

    reason: str
    since: datetime
    until: datetime
    now: datetime


def author(gate: Gate, key: Path | None, now: datetime, *, unsigned: bool = False) -> str:
    """Who answers for an entry: a listed signer, where the site lists any; else the user of this machine.

    Raises `NotSigned`, `SignerNotListed`, and `EnvironmentFailed` if `ssh-keygen` fails.
    """
    signers, place = gate.workspace.signers, gate.workspace.position("evidence")
    if signers is None:
        if key is not None:
            raise NotSigned(
                "`--key` signs for nobody: the site lists no `evidence.signers`", "leave it out", place=place
            )
        return user_at_host()
    if key is not None:
        return signer_of(signers, key, now)
    if unsigned:
        return user_at_host()
    raise NotSigned(
        f"the site lists who may sign ({signers.name}), and this is signed by nobody",
        f"add `--key FILE`, with a key that is listed for the namespace {NAMESPACE}; to open without one: `--unsigned`",
        place=place,
    )


def record_opening(gate: Gate, stack: str, wanted: WantedEntry, key: Path | None, *, unsigned: bool) -> GlassEntry:
    """The entry, written. Raises as `author` does, and `StoreFailed`."""
    by = author(gate, key, wanted.now, unsigned=unsigned)

    def made(number: int) -> GlassEntry:
        opening = GlassOpening(
            site=gate.workspace.site.name,
            stack=stack,
            number=number,
            by=by,
            reason=wanted.reason,
            since=moment_text(wanted.since),
            until=moment_text(wanted.until),
            written=moment_text(wanted.now),
        )
        return GlassEntry(opening=opening, signed=None if key is None else sign(opening, key))

    return break_glass_of(gate).add(stack, made)


def applied_by(stack: str) -> list[str]:
    """The processes that hold the stack's state, as far as the backend shows them."""
    try:
        return [f"process {lock.pid} on {lock.host}" for lock in Engine.here().backend.locks(stack) if not lock.dead]
    except EnvironmentFailed:
        return []
