"""The ids behind references, each checked before anything is changed.

An id of the own plan comes from outside (it is an output of another resource, and no part of any digest), so
the object is read and must carry the marker of this stack's owner and the referenced plan name. One id swapped
for another tenant's is refused here. References to the site and the cloud carry no id: they are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from interlock.resources import (
    ID_OF,
    Admitted,
    RoleAssignment,
    RouterInterface,
    S3Credential,
    is_cloud_reference,
    is_site_reference,
)
from interlock.store.refusals import another_person
from interlock.vocabulary import ExistingObject, Person, Reference, Scheme, StackName
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import CredentialId, VipuId
from interlock.vocabulary.references import OPERATOR_USER

from .actuators import ACTUATORS, Ids, Target
from .actuators.vipu import VipuActuator
from .clouds import Cloud
from .errors import Failure, Trouble, refused
from .markers import marker
from .state import Declared


class Known(Protocol):
    """What a stack may refer to: an `Admission`, or what says the same for whoever only reads."""

    @property
    def stack(self) -> str:
        """Name of the stack."""

    @property
    def site_owner(self) -> OwnerId:
        """Owner id of the site's stack, whose objects it may refer to."""

    @property
    def existing(self) -> Mapping[str, str]:
        """Kind/name -> id of objects that were there before the site's stack."""

    @property
    def stated(self) -> tuple[Admitted, ...]:
        """What the site file states of these objects."""

    @property
    def site_folder(self) -> str:
        """Folder of the site's files."""

    @property
    def by_name(self) -> Mapping[tuple[str, str], Admitted]:
        """(kind, name) -> a resource of the stack."""


def target_of(cloud: Cloud, item: Declared, admission: Known) -> Target[Any]:
    """What the object is to be, all references resolved and checked. Raises `Failure`."""
    kinds = item.spec.reference_fields()
    refs: dict[str, Ids] = {}
    for field, refers in kinds.items():
        value = others(item, refers.named(getattr(item.spec, field)))
        ids = _given(item.ids.get(field))
        look = _Look(cloud, item, admission, field, refers.kinds, ids)
        refs[field] = None if value is None else look.one(value) if isinstance(value, str) else look.all(value)
    return Target(item.name, item.owner, item.spec, refs, Path(admission.site_folder))


def exchanged(cloud: Cloud, item: Declared, admission: Known, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(input, reason) for each id that is given and stands for another object than its reference names.

    `known` are ids that this process has seen the engine use, by plan name. An id that is neither unknown nor
    among them did not come out of the resource it should come from, so the cloud is asked whose it is.
    """
    for field, refers in item.spec.reference_fields().items():
        look = _Look(cloud, item, admission, field, refers.kinds, iter(()))
        given = item.ids.get(field)
        ids = given if isinstance(given, list) else [given]
        named = others(item, refers.named(getattr(item.spec, field)))
        for reference, ident in zip(own(named), ids, strict=False):
            if not isinstance(ident, str) or known.get(reference) == ident:
                continue
            try:
                look.confirm(reference, ident)
            except Failure as failure:
                yield ID_OF + field, f"{failure.message}; {failure.hint}"


def others(item: Declared, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
    """The references of a field without those to the object itself, which has no id before it is made."""
    return tuple(name for name in value if name != item.name) if isinstance(value, tuple) else value


def own(value: str | tuple[str, ...] | None) -> list[str]:
    """The references to resources of the same plan among those of a field."""
    values = (value,) if isinstance(value, str) else value or ()
    return [name for name in values if not (is_site_reference(name) or is_cloud_reference(name))]


class _Look:
    """Resolves the references of one field."""

    def __init__(
        self,
        cloud: Cloud,
        item: Declared,
        admission: Known,
        field: str,
        kinds: tuple[str, ...],
        ids: Iterator[str],
    ) -> None:
        self._cloud = cloud
        self._item = item
        self._admission = admission
        self._field = field
        self._kinds = kinds
        self._ids = ids

    def all(self, references: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.one(reference) for reference in references)

    def one(self, reference: str) -> str:
        if is_site_reference(reference):
            return site_object(self._cloud, self._admission, *parts(reference))
        if is_cloud_reference(reference):
            return cloud_object(self._cloud, *parts(reference))
        return self._own(reference)

    def _own(self, reference: str) -> str:
        ident = next(self._ids, None)
        if ident is None:
            raise refused(f"{self._where} refers to {reference}, and no id of it was handed over")
        return self.confirm(reference, ident)

    @property
    def _where(self) -> str:
        return f"{self._item.kind} {self._item.name}: {self._field}"

    def confirm(self, reference: str, ident: str) -> str:
        """The id, if it stands for the resource of this plan that the reference names. Raises `Failure`."""
        kind = next((kind for kind in self._kinds if (kind, reference) in self._admission.by_name), None)
        if kind is None:
            raise refused(f"{self._where} refers to {reference}, which the proof does not hold")
        found = self._marker(kind, reference, ident)
        if found != marker(self._item.owner, reference):
            raise refused(
                f"{self._where} refers to {reference}, but object {ident} carries {found or 'no marker'!r}",
                "an id was exchanged, or the object was replaced by hand: run `pulumi refresh`, then `pulumi up`",
            )
        return ident

    def _marker(self, kind: str, reference: str, ident: str) -> str:
        if kind == RouterInterface.KIND:
            return self._of_interface(reference, ident)
        if isinstance(found := ACTUATORS[kind], VipuActuator):
            return self._of_controller(kind, found.NOUN, reference, ident)
        if kind != S3Credential.KIND:
            return marker_of(self._cloud, kind, ident)
        # A key carries nothing: it is ours if its user is the one that the proof gives it.
        planned = self._admission.by_name[kind, reference].spec["user"]
        carried = marker_of(self._cloud, "ServiceUser", CredentialId.parse(ident).user)
        return marker(self._item.owner, reference) if carried == marker(self._item.owner, planned) else carried

    def _of_controller(self, kind: str, noun: str, reference: str, ident: str) -> str:
        """An object of V-IPU carries nothing: it is ours if its id is the planned one, at our controller's server."""
        planned, given = self._admission.by_name[kind, reference].spec, VipuId.parse(ident)
        carried = marker_of(self._cloud, "Server", given.server)
        own = carried == marker(self._item.owner, planned["controller"])
        is_planned = (given.noun, given.name) == (noun, planned["name"])
        return marker(self._item.owner, reference) if own and is_planned else carried

    def _of_interface(self, reference: str, ident: str) -> str:
        """An interface carries nothing: it is ours if router and subnet are those that the proof gives it."""
        planned = self._admission.by_name[RouterInterface.KIND, reference].spec
        seen = ACTUATORS[RouterInterface.KIND].read(self._cloud, ident)
        for field, kind in (("router", "Router"), ("subnet", "Subnet")):
            found = "" if seen is None else marker_of(self._cloud, kind, str(seen.references[field]))
            if found != marker(self._item.owner, planned[field]):
                return found
        return marker(self._item.owner, reference)


def marker_of(cloud: Cloud, kind: str, ident: str) -> str:
    """The marker that an object carries; empty if it carries none or is gone. Asked once per process."""
    key = (kind, ident)
    if key not in cloud.markers:
        seen = ACTUATORS[kind].read(cloud, ident)
        if seen is None:
            return ""
        cloud.markers[key] = seen.marker
    return cloud.markers[key]


def site_object(cloud: Cloud, admission: Known, kind: str, name: str) -> str:
    """The id of an object of the site's stack, or of one listed under `existing:`. Raises `Failure`."""
    return cloud.once(
        f"{Scheme.SITE} {kind}", admission.site_owner, name, lambda: _site_object(cloud, admission, kind, name)
    )


def _site_object(cloud: Cloud, admission: Known, kind: str, name: str) -> str:
    named = ExistingObject(kind, name)
    listed = admission.existing.get(str(named))
    if listed is not None:
        if ACTUATORS[kind].read(cloud, listed) is None:
            raise Failure(
                Trouble.NOT_FOUND, f"existing {named} is not on the cloud: {listed}", "correct its id under `existing:`"
            )
        return listed
    mark = marker(admission.site_owner, name)
    found = ACTUATORS[kind].search(cloud, mark, cloud.login.project)
    if len(found) == 1:
        return found[0]
    stack = StackName.parse(admission.stack).of_site
    what = f"{len(found)} objects carry {mark}" if found else "it is not on the cloud"
    raise Failure(Trouble.NOT_FOUND, f"{Reference.site(kind, name)}: {what}", f"apply stack {stack} first")


def cloud_object(cloud: Cloud, kind: str, name: str) -> str:
    """The id of something that the cloud brings, by its exact name; of a person in the domain named with it.

    Raises `Failure`.
    """
    if Reference.cloud(kind, name) == OPERATOR_USER:
        return cloud.login.user
    lists = {"Role": ("/roles", "roles"), "User": ("/users", "users")}
    if kind not in lists:
        raise refused(f"{Reference.cloud(kind, name)}: only roles and users can be named so")
    return cloud.once(f"{Scheme.CLOUD} {kind}", "", name, lambda: _cloud_object(cloud, kind, name, *lists[kind]))


def _cloud_object(cloud: Cloud, kind: str, name: str, path: str, key: str) -> str:
    called, scope, where = name, {}, ""
    if kind == "User":
        person = Person.parse(name)
        called, scope = person.name, {"domain_id": cloud.domain(person.domain)}
        where = f" in domain {person.domain}"
    found = [item for item in cloud.api("identity").items(path, key, name=called, **scope) if item["name"] == called]
    if len(found) != 1:
        what = f"knows no {called}" if not found else f"knows {len(found)} called {called}"
        hint = "correct the name in the file; a user of another domain is written <name>@<domain>" if where else ""
        raise Failure(
            Trouble.NOT_FOUND,
            f"{Reference.cloud(kind, name)}: Keystone {what}{where}",
            hint or "correct the name in the file",
        )
    return str(found[0]["id"])


def persons(cloud: Cloud, resources: Iterable[Admitted]) -> dict[str, str]:
    """Person -> id, of all whom role assignments name. Raises `Failure` for one whom Keystone does not know."""
    users = {str(item.spec["user"]) for item in resources if item.kind == RoleAssignment.KIND} - {OPERATOR_USER}
    named = (Reference.name_in(user, Scheme.CLOUD, "User") for user in sorted(users))
    return {name: cloud_object(cloud, "User", name) for name in named if name is not None}


def check_person(cloud: Cloud, item: Declared, values: Mapping[str, Any]) -> None:
    """Raises `Failure` if the user of an existing right was deleted and recreated under the same name.

    `values`: the recorded outputs. The new one may be anybody, and gets nothing by the old one's name.
    """
    user = item.spec.user if isinstance(item.spec, RoleAssignment) else ""
    name = Reference.name_in(user, Scheme.CLOUD, "User")
    recorded = (values.get("resolved") or {}).get("user")
    if name is None or user == OPERATOR_USER or values.get("user") != user or not recorded:
        return
    present = cloud_object(cloud, "User", name)
    if recorded != present:
        raise refused(*another_person(name, str(recorded), present))


def parts(reference: str) -> tuple[str, str]:
    """(kind, name) of `site:Kind/name` or `cloud:Kind/name`."""
    found = Reference.parse(reference)
    return found.kind, found.name


def _given(value: Any) -> Iterator[str]:
    """The ids handed over for a field, in order."""
    if value is None:
        return iter(())
    return iter((value,)) if isinstance(value, str) else iter(str(item) for item in value)
