"""Objects of `existing:`: what the site file states of them, held against what the cloud shows. Nothing is believed.

An object is read by the actuator of its kind and compared as a planned one would be; which fields count is in
`interlock.resources.existing.STATED`. What the service does not show is unknown, and unknown is no pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.resources import KINDS, Admitted, Effect, Network, Resource, canonical_json, is_site_reference
from interlock.resources.existing import STATED, ExistingKind
from interlock.vocabulary import ExistingObject, Reference

from .actuators import ACTUATORS, Ids, Observed, Phase, Target
from .clouds import Cloud
from .errors import UNANSWERED, Failure, Trouble, refused
from .markers import owner_of, split
from .references import Known, marker_of, others, site_object
from .state import Declared, as_seen, differing

#: What changing such a field would do to the object is not done for another id behind it.
_FIXED = (Effect.REPLACE, Effect.FORBIDDEN)


@dataclass(frozen=True)
class Comparison:
    """One object of `existing:`."""

    object: ExistingObject
    id: str
    #: Field -> (stated, seen).
    differs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    #: What else is wrong with it: it is not there, belongs to somebody else, cannot be used.
    reasons: tuple[str, ...] = ()
    #: What nobody could read, and why: not known to be as stated.
    unread: tuple[str, ...] = ()

    @property
    def has_drifted(self) -> bool:
        """True if something is not as stated; what nobody could read is neither."""
        return bool(self.differs or self.reasons)

    @property
    def wrong(self) -> str:
        """What is not as stated, in words."""
        fields = (
            f"{name} is {canonical_json(seen)}, and the site states {canonical_json(stated)}"
            for name, (stated, seen) in self.differs.items()
        )
        return "; ".join((*fields, *self.reasons))

    @property
    def unknown(self) -> str:
        """What nobody knows of it, in words."""
        return "; ".join(self.unread)


def comparisons(cloud: Cloud, known: Known, unread: Mapping[str, str] | None = None) -> Iterator[Comparison]:
    """Every object of `existing:`. Raises `Failure` if the cloud fails.

    `unread`: kind -> why its list could not be read, where `cloud` answers from lists.
    """
    for item in known.stated:
        named = ExistingObject(item.kind, item.name)
        ident = known.existing[str(named)]
        if unread and item.kind in unread:
            yield Comparison(named, ident, unread=(unread[item.kind],))
            continue
        try:
            yield _compared(cloud, known, item, Comparison(named, ident))
        except Failure as failure:
            if failure.trouble in (*UNANSWERED, Trouble.UNAUTHORIZED):
                raise
            yield Comparison(named, ident, unread=(failure.message,))


def _compared(cloud: Cloud, known: Known, item: Admitted, bare: Comparison) -> Comparison:
    spec: Resource = KINDS[item.kind].model_validate(item.spec)
    target = Target(item.name, known.site_owner, spec, dict(_refs(cloud, known, spec)))
    seen = ACTUATORS[item.kind].read(cloud, bare.id, target)
    if seen is None:
        return Comparison(bare.object, bare.id, reasons=(f"there is no {item.kind} of this id",))
    stated = STATED[item.kind]
    reasons = (*_not_ours_to_use(cloud, known, seen), *_subnets_beside(cloud, known, spec, bare.id))
    return Comparison(
        bare.object, bare.id, _differing(target, seen, stated), reasons, tuple(_hidden(target, seen, stated))
    )


def _refs(cloud: Cloud, known: Known, spec: Resource) -> Iterator[tuple[str, Ids]]:
    """The ids behind references; empty for an object of the site that is not there (yet), which nothing refers to."""
    for name, refers in spec.reference_fields().items():
        value = getattr(spec, name)
        if value is None:
            yield name, None
            continue
        found = Reference.parse(value)
        try:
            yield name, site_object(cloud, known, found.kind or refers.kinds[0], found.name)
        except Failure as failure:
            if failure.trouble is not Trouble.NOT_FOUND:
                raise
            yield name, ""


def _differing(target: Target[Any], seen: Observed, stated: ExistingKind) -> dict[str, tuple[Any, Any]]:
    wanted, actual = target.spec.canonical(), as_seen(target, seen)
    changed = differing(target, seen)
    found = {name: (wanted[name], actual[name]) for name in stated.fields if name in changed}
    for name in stated.at_least:
        lacks = {key: value for key, value in wanted[name].items() if seen.fields[name].get(key) != value}
        if lacks:
            found[name] = (lacks, {key: seen.fields[name].get(key) for key in lacks})
    return found


def _hidden(target: Target[Any], seen: Observed, stated: ExistingKind) -> Iterator[str]:
    for name in (*stated.fields, *stated.at_least):
        if name not in seen.fields and name not in seen.references:
            yield f"{ACTUATORS[target.spec.KIND].SERVICE} does not show {name}"


def _not_ours_to_use(cloud: Cloud, known: Known, seen: Observed) -> Iterator[str]:
    """Objects that somebody takes away again, or may change."""
    if owner_of(seen.marker):
        yield f"it carries {seen.marker}: a stack of ours made it and would delete it, so it is not `existing`"
    if seen.phase is not Phase.READY:
        yield f"it cannot be used: {seen.reason}"
    project = seen.references.get("project")
    if isinstance(project, str):
        owner = owner_of(marker_of(cloud, "Project", project))
        if owner not in ("", known.site_owner):
            yield f"it lies in project {project} of another stack, whose members may change it"


def _subnets_beside(cloud: Cloud, known: Known, spec: Resource, ident: str) -> Iterator[str]:
    """Subnets of the external network that the site does not state: routers would get addresses of these as well."""
    if not isinstance(spec, Network):
        return
    stated = {
        known.existing[str(ExistingObject(item.kind, item.name))] for item in known.stated if item.kind == "Subnet"
    }
    for raw in cloud.api("network").items("/subnets", "subnets", network_id=ident):
        ours = owner_of(split(raw["description"])[1]) == known.site_owner
        if raw["network_id"] == ident and raw["id"] not in stated and not ours:
            yield f"it has the subnet {raw['cidr']} ({raw['id']}), which the site does not state"


def moved(
    item: Declared, recorded: Mapping[str, Any], known: Known, cloud: Cloud | None
) -> dict[str, tuple[str, str, str]]:
    """Reference field -> (reference, id in the state, id now) where another object of the site stands behind it.

    Of `existing:` each; of the site's own objects, looked up where a `cloud` is given, those behind a field that can be
    changed in place: anything else stays with what it was made from (see `state.as_made_from`).
    """
    found: dict[str, tuple[str, str, str]] = {}
    resolved, changes = recorded.get("resolved"), type(item.spec).changes()
    for name, refers in item.spec.reference_fields().items():
        if not isinstance(resolved, Mapping) or recorded.get(name) != item.spec.canonical()[name]:
            continue  # the field itself changes, and its ids with it
        fixed = changes[name].effect in _FIXED
        named = _as_tuple(others(item, refers.named(getattr(item.spec, name))))
        for reference, ident in zip(named, _as_tuple(resolved.get(name)), strict=False):
            now = _id_now(reference, known, None if fixed else cloud)
            if now is not None and now != ident:
                found[name] = (reference, ident, now)
    return found


def check_moved(item: Declared, moves: Mapping[str, tuple[str, str, str]]) -> None:
    """Raises `Failure` for another id behind a field that cannot be changed on the object that is there."""
    for name, (reference, before, now) in moves.items():
        if type(item.spec).changes()[name].effect in _FIXED:
            what = f"{item.kind} {item.name}: {name} is {reference}, which was {before} and is now {now}"
            raise refused(
                f"{what} under `existing:`; that cannot be changed on the object that is there",
                f"put {before} back; for another object, give it a name of its own in the site file, and "
                "recreate what is to use it",
            )


def _id_now(reference: str, known: Known, cloud: Cloud | None) -> str | None:
    if not is_site_reference(reference):
        return None
    named = Reference.parse(reference)
    listed = known.existing.get(str(ExistingObject(named.kind, named.name)))
    if listed is not None or cloud is None:
        return listed
    return site_object(cloud, known, named.kind, named.name)


def _as_tuple(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
