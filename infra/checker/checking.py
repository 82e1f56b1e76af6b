"""Everything of a certificate that does not hold, in order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from .answers import unasked_rules, verdict_faults
from .authority import authority_faults
from .derived_edges import edges
from .form import require_form
from .isolation import audience_faults, class_faults, owner_faults, owners_of, witnesses
from .reading import digest, printable

#: The format that is read, and the version of docs/design/semantics.md that the tables of this package are of.
FORMAT, SEMANTICS = 5, 7


def complaints(found: dict[str, Any], proof: str | None = None, day: str = "") -> Iterator[str]:
    """Everything in a certificate that does not hold; nothing if it is sound, and about this proof.

    `day`, an ISO date: that as of which waivers count, if any is given. Raises Malformed if it is no certificate.
    """
    require_form(found)
    yield from map(printable, _complaints(found, proof, day or found["date"]))


def _complaints(found: dict[str, Any], proof: str | None, day: str) -> Iterator[str]:
    judgement, said = found["judgement"], found["statement"]
    if found["digest"] != digest({key: value for key, value in found.items() if key != "digest"}):
        yield "the digest is not that of the certificate"
    if found["format"] != FORMAT:
        yield f"format {found['format']} is not known"
    if said["semantics"] != SEMANTICS:
        yield f"version {said['semantics']} of the semantics is not that of this checker, which is {SEMANTICS}"
    if found["date"] > day:
        yield f"it is of {found['date']}, after {day}"
    if digest(said) != judgement["statement"]:
        yield "the facts are not those that the judgement rests on"
    if digest(found["boundary"]) != judgement["boundary"]:
        yield "the versions of the boundary nodes are not those of the judgement"
    if proof is not None and proof_of(judgement) != proof:
        yield f"it is about proof {proof_of(judgement)}"
    owners = owners_of(said, found["classes"])
    pairs = edges(said)
    yield from class_faults(pairs, found["classes"])
    yield from owner_faults(said, owners)
    yield from audience_faults(said, found["classes"], owners)
    yield from authority_faults(said, found["holds"])
    yield from witnesses(found, pairs)
    yield from unasked_rules(judgement, "site" if said["owner"] == "op" else "tenant")
    yield from verdict_faults(judgement, day)


def proof_of(judgement: dict[str, Any]) -> str:
    """The hash of the proof that a judgement belongs to."""
    return digest({"plan": judgement["plan_hash"], "judgement": judgement})


def today() -> str:
    """The day in UTC, which waivers go by."""
    return datetime.now(UTC).date().isoformat()
