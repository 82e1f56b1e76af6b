"""How the objects of one stack stand: each planned one beside what the lists show of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from interlock.provider.actuators import ACTUATORS, Observed, Phase, Target
from interlock.provider.actuators.s3 import number_of
from interlock.provider.errors import Failure
from interlock.provider.markers import CARRIERS, marker
from interlock.provider.references import target_of
from interlock.provider.state import Declared, as_seen, differing
from interlock.resources import ID_OF, KINDS, Admitted, RoleAssignment, is_cloud_reference, is_site_reference
from interlock.store.refusals import another_person
from interlock.vocabulary import CloudId, Reference, Scheme
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import CredentialId

from .asked import ONE_BY_ONE
from .at_controllers import compared
from .controllers import AT_CONTROLLERS, ReadController
from .listing import Listed
from .mirror import Mirror

#: Kinds that no list shows, and what is known of them instead.
UNLISTED: Mapping[str, str] = {
    "Claims": "they are in the claims store, which is read separately",
    "BucketPolicy": "object storage shows it to keys of the bucket's maker alone; `pulumi refresh` compares it",
}


@dataclass(frozen=True)
class Standing:
    """One planned object."""

    kind: str
    name: str
    #: The objects that it is; one, if all is well.
    ids: tuple[str, ...]
    #: Field -> (planned, seen), both in canonical form; references by plan name where the plan has the object.
    differs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    #: Why it could not be compared, or cannot be used; empty if it was and can.
    reason: str = ""
    #: What to do, where applying the plan again is refused; empty where that puts it back.
    hint: str = ""
    #: Why nobody could read it; empty if somebody could. Then nothing else is known of it.
    unread: str = ""

    @property
    def has_drifted(self) -> bool:
        """False if it is there once, whole and as the plan says; or if nobody can tell. What it keeps as it was made
        may differ: an earlier plan said it."""
        moved = self.differs.keys() - KINDS[self.kind].kept_as_made()
        return not self.unread and (len(self.ids) != 1 or bool(moved) or bool(self.reason))

    @property
    def is_other_than_planned(self) -> bool:
        """True if it has drifted, or was made by an earlier plan that said something else."""
        return self.has_drifted or bool(self.differs)


@dataclass(frozen=True)
class Expected:
    """One stack as its plan has it. It lets nobody do anything: for that there is `Admission`, made from a proof."""

    stack: str
    owner: OwnerId
    site_owner: OwnerId
    existing: Mapping[str, str]
    site_folder: str
    resources: tuple[Admitted, ...]
    stated: tuple[Admitted, ...] = ()
    #: Person -> id, as the claims store has it of those who got a right.
    persons: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> Mapping[tuple[str, str], Admitted]:
        """(kind, name) -> what is planned."""
        return {(item.kind, item.name): item for item in self.resources}


@dataclass
class StackReader:
    """Reads the objects of one stack, in the order of its plan: later ones refer to earlier ones."""

    mirror: Mirror
    found: Listed
    expected: Expected
    #: Plan name -> id.
    ids: dict[str, str] = field(default_factory=dict)
    #: Plan names of what nobody could read, and of what rests on that.
    unread: set[str] = field(default_factory=set)
    #: Uuid of its server -> a V-IPU controller that plans have something told to.
    controllers: Mapping[str, ReadController] = field(default_factory=dict)

    def standings(self) -> list[Standing]:
        """Every planned object that lists show."""
        return list(self._all())

    def _all(self) -> Iterator[Standing]:
        for item in self.expected.resources:
            if item.kind in ACTUATORS and item.kind not in UNLISTED and item.kind not in ONE_BY_ONE:
                standing = self._standing(item.kind, item.name, item.spec)
                if standing.unread:
                    self.unread.add(item.name)
                yield standing

    def _standing(self, kind: str, name: str, spec: Mapping[str, Any]) -> Standing:
        if reason := self.found.unread.get(kind):
            return Standing(kind, name, (), unread=reason)
        if kind in AT_CONTROLLERS:
            return self._at_controller(kind, name, spec)
        item = self._declared(kind, name, spec)
        ids = self._marked(kind, name)
        if CARRIERS[kind].field and len(ids) != 1:
            return Standing(kind, name, ids)
        if lost := [reference for _, reference in _own(item) if reference not in self.ids]:
            if hidden := [reference for reference in lost if reference in self.unread]:
                return Standing(kind, name, ids, unread=f"it refers to {', '.join(hidden)}, which nobody could read")
            return Standing(kind, name, ids, reason=f"it refers to {', '.join(lost)}, which is not there")
        try:
            target = target_of(self.mirror, item, self.expected)
            ids = ids or tuple(self._unmarked(kind, target))
            if another := self._another_person(target):
                return Standing(kind, name, ids, reason=another[0], hint=another[1])
            return self._compared(kind, name, ids, target)
        except Failure as failure:
            return Standing(kind, name, ids, reason=failure.message)

    def _at_controller(self, kind: str, name: str, spec: Mapping[str, Any]) -> Standing:
        """An object of V-IPU, by what its controller said."""
        controller = str(spec["controller"])
        if controller in self.unread:
            return Standing(kind, name, (), unread=f"it refers to {controller}, which nobody could read")
        read = self.controllers.get(self.ids.get(controller, ""))
        if read is None:
            return Standing(kind, name, (), reason=f"it refers to {controller}, which is not there")
        if read.unread:
            return Standing(kind, name, (), unread=read.silence)
        found = compared(read, self.expected.by_name[kind, name])
        if not found.id:
            return Standing(kind, name, ())
        self.ids[name] = found.id
        return Standing(kind, name, (found.id,), found.differs, found.reason, found.hint)

    def _another_person(self, target: Target[Any]) -> tuple[str, str] | None:
        """What is wrong with the user of a right, if the name is another's now, and what to do; else None."""
        if not isinstance(target.spec, RoleAssignment):
            return None
        name = Reference.name_in(target.spec.user, Scheme.CLOUD, "User") or ""
        present = target.one("user")
        recorded = self.expected.persons.get(name, present)
        return None if recorded == present else another_person(name, recorded, present)

    def _compared(self, kind: str, name: str, ids: Sequence[str], target: Target[Any]) -> Standing:
        if len(ids) != 1:
            return Standing(kind, name, tuple(ids))
        seen = ACTUATORS[kind].read(self.mirror, ids[0], target)
        if seen is None:
            return Standing(kind, name, ())
        self.ids[name] = ids[0]
        reason = seen.reason or "it cannot be used" if seen.phase is Phase.BROKEN else ""
        return Standing(kind, name, tuple(ids), self._differing(target, seen), reason)

    def _differing(self, target: Target[Any], seen: Observed) -> dict[str, tuple[Any, Any]]:
        wanted, actual = target.spec.canonical(), as_seen(target, seen)
        fields = sorted(differing(target, seen) - {"marker"})
        return {name: (wanted[name], self._by_name(actual[name])) for name in fields}

    def _by_name(self, value: Any) -> Any:
        """Ids where a reference should be, by the plan name of what they stand for where this plan has it."""
        if isinstance(value, list):
            return [self._by_name(one) for one in value]
        strange = CloudId.named(value)
        if strange is None:
            return value
        names = {ident: name for name, ident in self.ids.items()}
        return names.get(strange.id, value)

    def _marked(self, kind: str, name: str) -> tuple[str, ...]:
        return self.found.marked.get((kind, marker(self.expected.owner, name)), ())

    def _unmarked(self, kind: str, target: Target[Any]) -> Sequence[str]:
        if kind != "S3Credential":
            return ACTUATORS[kind].find(self.mirror, target)
        wanted = (target.one("user"), target.one("project"), target.spec.number)
        return [
            ident
            for ident, item in self.found.of(kind).items()
            if (item["user_id"], item["project_id"], number_of(CredentialId.parse(ident).access)) == wanted
        ]

    def _declared(self, kind: str, name: str, spec: Mapping[str, Any]) -> Declared:
        resource = KINDS[kind].model_validate(spec)
        given: dict[str, Any] = {}
        bare = Declared(kind, name, resource, self.expected.owner, {})
        for where, reference in _own(bare):
            ident = self.ids.get(reference, "")
            if isinstance(getattr(resource, where), tuple):
                given.setdefault(ID_OF + where, []).append(ident)
            else:
                given[ID_OF + where] = ident
        return replace(bare, given=given)


def _own(item: Declared) -> list[tuple[str, str]]:
    """(field, plan name) of each reference to another resource of the same plan."""
    return [
        (where, reference)
        for where, reference in item.spec.references()
        if reference != item.name and not (is_site_reference(reference) or is_cloud_reference(reference))
    ]
