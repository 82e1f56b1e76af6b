"""From an earlier plan to a new one: what is created, deleted or changed, and what each change does.

Both are taken in the canonical form of the plan file, so that a plan which was kept as JSON will do. The effect of
a field comes from its type's metadata. What refers to a replaced resource follows it: the object behind the
reference is another one then, although the name is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from interlock.resources import KINDS, Effect, Frozen

from .makeable import WHY_NO_COPY
from .partition_room import without_room
from .plan import Plan

Action = Literal["create", "delete", "replace", "update", "stay", "forbidden"]
Canonical = Mapping[str, Any]
#: (kind, plan name): what makes two planned resources the same one.
Key = tuple[str, str]


class FieldChange(Frozen):
    """One field: before and after in canonical form, what the change does, and why where that is not obvious."""

    field: str
    before: Any
    after: Any
    effect: Effect
    reason: str = ""
    #: Plan name of the replaced resource that this field refers to; empty: the field itself is another.
    follows: str = ""


class ResourceChange(Frozen):
    """One resource. `replace`: deleted and recreated. `stay`: it keeps what it was made with, new ones get what is
    planned. `forbidden`: the apply would be refused."""

    name: str
    kind: str
    action: Action
    fields: tuple[FieldChange, ...] = ()
    #: Why the whole change is forbidden, where no single field is the cause.
    reason: str = ""


def changes_between(before: Canonical | None, plan: Plan) -> tuple[ResourceChange, ...]:
    """All changes from an earlier canonical plan (None: there was none), deletions last."""
    old = {_key(item): item["spec"] for item in before["resources"]} if before else {}
    new = {(item.resource.KIND, item.name): item.resource.canonical() for item in plan.resources}
    changes = (*_made_or_changed(old, new), *_deleted(old, new))
    why = without_room(old, new, {item.name for item in changes if item.action == "replace"})
    return tuple(_cannot(item, why) for item in changes) if why else changes


def recreated_with(plan: Plan, replaced: Iterable[str]) -> set[str]:
    """Plan names of all that is recreated when these are, themselves included."""
    found = set(replaced)
    for item in plan.resources:
        fields = tuple(_following(item.resource.KIND, item.resource.canonical(), found, set()))
        if fields and _action(fields) == "replace":
            found.add(item.name)
    return found


def _cannot(change: ResourceChange, why: Mapping[str, str]) -> ResourceChange:
    """The same, or why it is not made."""
    if change.action not in ("create", "replace") or change.name not in why:
        return change
    return change.model_copy(update={"action": "forbidden", "reason": why[change.name]})


def _key(item: Canonical) -> Key:
    return (item["kind"], item["name"])


def _made_or_changed(old: Mapping[Key, Canonical], new: Mapping[Key, Canonical]) -> Iterator[ResourceChange]:
    """In plan order, where references come before their users, so one pass follows every chain."""
    replaced: set[str] = set()
    for (kind, name), spec in new.items():
        if (kind, name) not in old:
            yield ResourceChange(name=name, kind=kind, action="create")
            continue
        own = tuple(_fields(kind, old[kind, name], spec))
        fields = own + tuple(_following(kind, spec, replaced, {item.field for item in own}))
        if not fields:
            continue
        if _action(fields) == "replace":
            fields += tuple(_refused(kind, spec))
        action = _action(fields)
        if action == "replace":
            replaced.add(name)
            yield _removal(kind, name, old[kind, name], action, fields)
        else:
            yield ResourceChange(name=name, kind=kind, action=action, fields=fields)


def _fields(kind: str, before: Canonical, after: Canonical) -> Iterator[FieldChange]:
    """Fields of the type that differ. A field that an earlier plan did not know yet counts as changed from None,
    unless its type says what it was of such a plan."""
    cls = KINDS[kind]
    known = {**cls.YOUNGER, **before}
    for field in cls.model_fields:
        old, new = known.get(field), after[field]
        if old != new:
            change = cls.change_of(field, old, new) if field in known else cls.changes()[field]
            yield FieldChange(field=field, before=old, after=new, effect=change.effect, reason=change.reason)


def _following(kind: str, spec: Canonical, replaced: set[str], told: set[str]) -> Iterator[FieldChange]:
    """Reference fields behind which another object will stand, as the provider treats them.

    A forbidden reference is replaced too: the object that it names goes, and this one cannot stay without it.
    """
    changes = KINDS[kind].changes()
    for field, refers in KINDS[kind].reference_fields().items():
        found = next((name for name in _names(refers.named(spec[field])) if name in replaced), None)
        if found is None or field in told:
            continue
        effect = changes[field].effect
        if effect is Effect.FORBIDDEN:
            effect = Effect.REPLACE
        yield FieldChange(field=field, before=spec[field], after=spec[field], effect=effect, follows=found)


def _refused(kind: str, spec: Canonical) -> Iterator[FieldChange]:
    """What an object that may not be recreated says of that, at the field that would allow it."""
    refusal = KINDS[kind].model_validate(spec).refuses_replacement()
    if refusal:
        yield FieldChange(field="replaceable", before=False, after=False, effect=Effect.FORBIDDEN, reason=refusal)


def _names(references: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (references,) if isinstance(references, str) else references or ()


#: Worst first: one forbidden field stops the apply, one that replaces takes all others along.
_ACTIONS: tuple[tuple[Effect, Action], ...] = ((Effect.FORBIDDEN, "forbidden"), (Effect.REPLACE, "replace"))


def _action(fields: tuple[FieldChange, ...]) -> Action:
    effects = {item.effect for item in fields}
    mildest: Action = "stay" if effects == {Effect.NEW_ONLY} else "update"
    return next((action for effect, action in _ACTIONS if effect in effects), mildest)


def _deleted(old: Mapping[Key, Canonical], new: Mapping[Key, Canonical]) -> Iterator[ResourceChange]:
    """In reverse order: users go before what they refer to."""
    for kind, name in reversed(tuple(old)):
        if (kind, name) not in new:
            yield _removal(kind, name, old[kind, name], "delete")


def _removal(
    kind: str, name: str, before: Canonical, action: Action, fields: tuple[FieldChange, ...] = ()
) -> ResourceChange:
    """A deletion or a replacement; data goes only if the plan before already said `erase`, or `snapshot` where a copy
    can be kept."""
    kept = before.get("on_delete", "erase")
    allowed = kept == "erase" or (kept == "snapshot" and action == "delete" and kind not in WHY_NO_COPY)
    if kind in KINDS and KINDS[kind].HOLDS_DATA and not allowed:
        reason = f"{action} it: it holds data and says `on_delete: {kept}`"
        return ResourceChange(name=name, kind=kind, action="forbidden", fields=fields, reason=reason)
    return ResourceChange(name=name, kind=kind, action=action, fields=fields)
