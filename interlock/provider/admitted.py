"""The gate: what the proof allows, and whether anything was refused in this process."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from interlock.resources import KINDS, Admission, Effect

from .diffing import replaced_for
from .errors import Failure, Trouble, refused
from .preview_token import NotPreviewed, Previewed, PreviewTokens
from .state import Declared, declared

NO_PROOF = "no proof was handed over; run `pulumi up` on the committed program"

#: A fault of an input: (property, reason).
Fault = tuple[str, str]


class AdmissionGate:
    """One per process. Every change passes here; a failed check closes it for the rest of the process."""

    def __init__(self) -> None:
        self._admission: Admission | None = None
        #: Where this preview is noted; None in an update.
        self._preview: PreviewTokens | None = None
        #: What the preview found: in a preview, so far; in an update, the one before it.
        self.previewed = Previewed()
        self._refused: list[str] = []
        self._cancelled = False

    @property
    def admission(self) -> Admission:
        """The proof in force. Raises `Failure` without one."""
        if self._admission is None:
            raise refused(NO_PROOF)
        return self._admission

    @property
    def has_proof(self) -> bool:
        """True once a proof was handed over; `destroy` and `refresh` run no program that would."""
        return self._admission is not None

    @property
    def previews(self) -> bool:
        """True in a preview: nothing is changed by this process."""
        return self._preview is not None

    def planned_host(self, name: str) -> str | None:
        """The host on which the plan has this server; None if it has no such server, or nobody handed over a proof."""
        found = self._admission.by_name.get(("Server", name)) if self._admission is not None else None
        return None if found is None else str(found.spec["host"])

    def admit(self, admission: Admission, preview_tokens: PreviewTokens, *, preview: bool) -> list[str]:
        """Takes a proof in force; the faults are those of an update whose preview is not of this proof."""
        self._admission = admission
        self._preview = preview_tokens if preview else None
        if preview:
            preview_tokens.note(admission, self.previewed)
            return []
        try:
            self.previewed = preview_tokens.consume(admission)
        except NotPreviewed as error:
            self.refuse([str(error)])
            return [str(error)]
        return []

    def will_create(self, name: str) -> None:
        """A preview finds that an object does not exist yet; the preflight of the update looks at those."""
        self._note(replace(self.previewed, creates=self.previewed.creates | {name}))

    def found_clear(self) -> None:
        """The preflight found nothing in the way; an update that follows at once need not ask all of it again."""
        self._note(replace(self.previewed, clear=time.monotonic()))

    def _note(self, previewed: Previewed) -> None:
        self.previewed = previewed
        if self._preview is not None and self._admission is not None and not self._refused:
            self._preview.note(self._admission, previewed)

    def refuse(self, reasons: Sequence[str]) -> None:
        """Closes the gate for the rest of this process and, in a preview, for the update that would follow."""
        self._refused += reasons
        if reasons and self._preview is not None and self._admission is not None:
            self._preview.fail(self._admission)

    def check(self, kind: str, name: str, news: Mapping[str, Any], olds: Mapping[str, Any]) -> list[Fault]:
        """Faults of one declared resource; any fault closes the gate."""
        faults = list(self._faults(kind, name, news, olds))
        self.refuse([f"{kind} {name}: {reason}" for _, reason in faults])
        return faults

    def open(self) -> None:
        """Raises `Failure` if nothing may be changed any more."""
        if self._cancelled:
            raise Failure(Trouble.REFUSED, "cancelled", "run the command again: what was made is found and kept")
        if self._refused:
            raise refused(f"nothing is changed, because a check failed: {self._refused[0]}")

    def cancel(self) -> None:
        """No new operation starts; those that run finish."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """True after `cancel`."""
        return self._cancelled

    def _faults(self, kind: str, name: str, news: Mapping[str, Any], olds: Mapping[str, Any]) -> Iterable[Fault]:
        if self._admission is None:
            return [("", NO_PROOF)]
        allowed = self._admission.by_name.get((kind, name))
        if allowed is None:
            return [("", f"the proof holds no {kind} named {name}; declare only what the plan lists")]
        try:
            item = declared(kind, name, news)
        except Failure as failure:
            return [("", failure.message)]
        if item.spec.digest() != allowed.digest:
            changed = sorted(key for key, value in item.spec.canonical().items() if value != allowed.spec.get(key))
            return [(field, f"{field} is not what was proved") for field in changed] or [("", "not what was proved")]
        beside = sorted(key for key, value in news.items() if value is not None and key not in item.inputs())
        if beside:
            return [(key, f"{key} is no input of {kind}") for key in beside]
        if item.owner != self._admission.owner:
            return [("owner", f"owner is {item.owner!r}, the proof is for {self._admission.owner!r}")]
        return forbidden_changes(item, olds)


def elsewhere(admission: Admission, cloud: str, region: str) -> list[str]:
    """The fault of a proof for another cloud, or another region, than the provider is set to."""
    if admission.cloud != cloud:
        return [f"the proof is for the cloud {admission.cloud!r}, the provider is set to {cloud!r}"]
    if admission.region != region:
        wanted, given = admission.region or "none", region or "none"
        return [f"the proof states the region {wanted}, the provider is set to {given}"]
    return []


def forbidden_changes(item: Declared, olds: Mapping[str, Any]) -> list[Fault]:
    """Changes of fields that may not change on an existing object, with the reason of each.

    Another object behind the same reference is no such change: the old one was recreated, and what rests on it
    follows (see `diffing`), unless it holds data, or the request does not let it be recreated.
    """
    if not olds:
        return []
    before = declared(item.kind, item.name, olds)
    old, new = before.spec.canonical(), item.spec.canonical()
    faults = []
    for field in old:
        change = KINDS[item.kind].change_of(field, old[field], new[field])
        if change.effect is Effect.FORBIDDEN and old[field] != new[field]:
            faults.append((field, f"{field} cannot change from {old[field]!r} to {new[field]!r}: {change.reason}"))
    refusal = item.spec.refuses_replacement()
    if refusal and (why := replaced_for(item, olds)):
        faults.append((why[0], f"{' and '.join(why)} changed: {refusal}"))
    return faults
