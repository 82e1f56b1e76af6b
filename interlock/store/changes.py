"""What a change makes of the records: the new one from the old one. Nothing here reads or writes a store."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from .records import FootprintRecord, NodeRecord, StackRecord, Taking
from .writer import moment, writer


def entered(taking: Taking, before: StackRecord | None, lineage: str | None) -> StackRecord:
    """The stack's record with what it takes: as the same version is listed already, or as the newest."""
    entries = before.entries if before else ()
    if any(entry.digest == taking.entry.digest for entry in entries):
        entries = tuple(taking.entry if entry.digest == taking.entry.digest else entry for entry in entries)
    else:
        entries = (*entries, taking.entry)
    return StackRecord(
        stack=taking.stack,
        tenant=taking.tenant,
        owner=taking.owner,
        lineage=before.lineage if before and before.lineage == lineage else minted(),
        serial=taking.serial,
        confirmed=before.confirmed if before else False,
        recovered=before.recovered if before else False,
        entries=entries,
        changed=before.changed if before and before.entries == entries else moment(),
        written_by=writer(),
    )


def by(record: StackRecord, **changes: object) -> StackRecord:
    """The record with these changes, in this process's name."""
    return record.model_copy(update={**changes, "written_by": writer()})


def without(entry: FootprintRecord, identities: set[str]) -> FootprintRecord:
    """The entry with these identities released; its version stays, since states and proofs name it."""
    released = {*entry.released, *identities.intersection(entry.footprint.exclusive)}
    return entry.model_copy(update={"released": tuple(sorted(released))})


def unmarked(record: NodeRecord, stack: str, digests: set[str]) -> NodeRecord:
    """The node without these footprints of the stack."""
    left = tuple(digest for digest in record.holders[stack] if digest not in digests)
    others = {name: held for name, held in record.holders.items() if name != stack}
    return NodeRecord(node=record.node, holders={**others, stack: left} if left else others)


def held(entries: Iterable[FootprintRecord]) -> set[str]:
    """The exclusive identities that any of these claims."""
    return {identity for entry in entries for identity in entry.held}


def minted() -> str:
    """A new lineage."""
    return secrets.token_hex(16)
