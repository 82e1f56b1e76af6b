"""What a difference between state and plan does, field by field, read from the types of the vocabulary."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.resources import ID_OF, KINDS, Effect, StoredCredential
from interlock.resources.asked_names import VIPU_KEY
from interlock.vocabulary import CloudFingerprint

from .codec import has_unknown
from .markers import CARRIERS, marker
from .state import Declared, declared, ids_in
from .vipu_users import ANY, USER_MADE


@dataclass(frozen=True)
class Difference:
    """Changed properties -> True if the object must be replaced for it."""

    changed: Mapping[str, bool]

    @property
    def replaces(self) -> list[str]:
        """Properties that force a replacement."""
        return sorted(name for name, replaces in self.changed.items() if replaces)


def compare(
    kind: str,
    name: str,
    olds: Mapping[str, Any],
    news: Mapping[str, Any],
    moves: Iterable[str] = (),
    present: CloudFingerprint | None = None,
    created: Container[str] = (),
    anew: Iterable[str] = (),
) -> Difference:
    """From recorded outputs to new inputs. A forbidden field that drifted is put back in place or reported by
    the update; a change that the plan wants there was refused by the check. What the object keeps as it was made is
    no difference.

    `moves`: fields that name an object of `existing:` which has another id now; they can be changed in place, but for
    the user of a key of V-IPU.
    `present`: the cloud in use, if known. `created`: what the preview found not to be there. `anew`: fields for which
    it is recreated, though they do not differ.
    """
    item = declared(kind, name, news)
    of_kind = KINDS[kind]
    changes, kept = of_kind.changes(), of_kind.kept_as_made()
    known = {**of_kind.YOUNGER, **olds}
    wanted = {field: value for field, value in item.spec.canonical().items() if field not in kept}
    changed = {
        # Of this very change, as a plan tells it before: the direction may matter.
        field: (of_kind.change_of(field, known[field], value) if field in known else changes[field]).effect
        is Effect.REPLACE
        for field, value in wanted.items()
        if known.get(field) != value
    }
    changed |= dict.fromkeys(moves, False) | dict.fromkeys(anew, True)
    for field in _moved(ids_in(olds), item.ids):
        if field in kept:
            continue
        # Another object behind a forbidden reference: the old one is gone, so this one goes with it.
        replaced = field in changes and changes[field].effect in (Effect.REPLACE, Effect.FORBIDDEN)
        changed[ID_OF + field] = replaced
    key = f"{ID_OF}credential"
    if isinstance(item.spec, StoredCredential) and item.spec.item == VIPU_KEY:
        # A V-IPU user has the same id each time, and a new one has another key than the server was handed. Where the
        # key has a word of its user (`vipu_users`), that decides.
        has_word = olds.get(USER_MADE) not in (None, "", ANY)
        changed |= {key: True} if key in changed or (item.spec.credential in created and not has_word) else {}
    if olds.get("broken"):
        changed["broken"] = True
    if olds.get("owner") != item.owner:
        changed["owner"] = True
    if CARRIERS[kind].field and "marker" in olds and olds["marker"] != marker(item.owner, name):
        changed["marker"] = False
    recorded = CloudFingerprint.recorded(olds.get("cloud_id"))
    if None not in (recorded, present) and recorded != present:
        # Written before regions were recorded: any other difference of the two was refused.
        changed["cloud_id"] = False
    return Difference(changed)


def replaced_for(item: Declared, olds: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields for which the object that `olds` records would be recreated: of its own, and what it stands on."""
    changes = KINDS[item.kind].changes()
    known = {**KINDS[item.kind].YOUNGER, **olds}
    differing = {field for field, value in item.spec.canonical().items() if known.get(field) != value}
    differing |= {*_moved(ids_in(olds), item.ids)}
    return tuple(field for field in changes if field in differing and changes[field].effect is Effect.REPLACE)


def _moved(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Reference fields behind which another object stands, or may stand: one that is recreated is unknown.

    A state of before a field has no ids of it, which is the same as none.
    """
    return [
        field
        for field in sorted(old.keys() | new.keys())
        if (old.get(field) or []) != (new.get(field) or []) or has_unknown(new.get(field))
    ]
