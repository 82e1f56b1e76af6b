"""The two maps that Pulumi keeps of a resource, and what they mean.

Inputs are the fields of the specification, `owner` (owner id of the stack), and for each reference field that
names resources of the same plan `id_of_<field>` (`interlock.resources.ID_OF`): the id or the list of ids.
Outputs are the inputs and:

==========  ===============================================================================================
`cloud_id`  fingerprint of the cloud on which it lies
`resolved`  reference field -> id or list of ids of everything it refers to, the site's and the cloud's too
`marker`    the marker it carries; empty for kinds that carry none
`broken`    why it cannot be used and will be recreated; empty if it can
==========  ===============================================================================================

and what the actuator computes (`Actuator.OUTPUTS`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from interlock.resources import ID_OF, KINDS, Effect, Resource, canonical_json
from interlock.vocabulary import CloudFingerprint, CloudId
from interlock.vocabulary.owners import OwnerId

from .actuators import ACTUATORS, Ids, Observed, Target
from .codec import UNKNOWN, has_unknown
from .errors import Failure, refused
from .markers import CARRIERS


@dataclass(frozen=True)
class Declared:
    """What a program declares, or what a state holds as inputs."""

    kind: str
    name: str
    spec: Resource
    owner: OwnerId
    #: The inputs that hold ids, as they were given.
    given: Mapping[str, Any]

    @property
    def ids(self) -> dict[str, Any]:
        """Reference field -> id or list of ids."""
        return ids_in(self.given)

    def inputs(self) -> dict[str, Any]:
        """Back in the form of inputs."""
        return self.spec.canonical() | {"owner": self.owner} | dict(self.given)


def ids_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """Reference field -> id or list of ids, out of inputs or outputs."""
    return {key.removeprefix(ID_OF): value for key, value in values.items() if key.startswith(ID_OF)}


def declared(kind: str, name: str, values: Mapping[str, Any]) -> Declared:
    """Inputs (or outputs, of which the computed ones are left out) as a value. Raises `Failure`."""
    fields = {key: value for key, value in values.items() if key in KINDS[kind].model_fields}
    if has_unknown(fields):
        raise refused(f"{kind} {name}: a field of the specification is not known before the apply")
    try:
        spec = KINDS[kind].model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise refused(f"{kind} {name}: {where}: {first['msg']}") from error
    given = {key: value for key, value in values.items() if key.startswith(ID_OF)}
    return Declared(kind, name, spec, OwnerId(str(values.get("owner") or "")), given)


def previewed(item: Declared) -> dict[str, Any]:
    """Outputs of a resource that would be made or changed: all that is known, the rest unknown."""
    computed = ("cloud_id", "resolved", "marker", "broken", *ACTUATORS[item.kind].OUTPUTS)
    return item.inputs() | dict.fromkeys(computed, UNKNOWN)


def outputs(item: Declared, target: Target[Any], cloud: CloudFingerprint, seen: Observed | None) -> dict[str, Any]:
    """Outputs after a create or update; `seen` is None if the object could not be read."""
    return (
        item.inputs()
        # What a look says nothing of, or a failed one, is not forgotten for that.
        | {name: target.recorded.get(name) for name in ACTUATORS[item.kind].OUTPUTS}
        | (dict(seen.outputs) | dict(seen.pending) if seen else {})
        | {
            "cloud_id": str(cloud),
            "resolved": {key: list(ids) if isinstance(ids, tuple) else ids for key, ids in target.refs.items()},
            "marker": target.marker if CARRIERS[item.kind].field else "",
            "broken": _broken(seen),
        }
    )


def not_imported(kind: str, name: str, why: str) -> Failure:
    """What an id alone cannot give: whose the object is, and that it is as a plan says."""
    hint = "it cannot be imported; declare it, and `pulumi up` adopts what carries its marker"
    return refused(f"{kind} {name}: {why}", hint)


def recorded_target(item: Declared, values: Mapping[str, Any], folder: Path | None = None) -> Target[Any]:
    """The target that a state describes, with the ids recorded in it."""
    resolved = values.get("resolved")
    if not isinstance(resolved, Mapping):
        raise not_imported(item.kind, item.name, "the state holds no record of what it refers to")
    refs: dict[str, Ids] = {key: tuple(ids) if isinstance(ids, list) else ids for key, ids in resolved.items()}
    outputs_then = {name: values[name] for name in ACTUATORS[item.kind].OUTPUTS if values.get(name) is not None}
    return Target(item.name, item.owner, item.spec, refs, folder, outputs_then)


def as_made(item: Declared, values: Mapping[str, Any]) -> Declared:
    """What is declared, with what its object keeps as it was made (`Effect.NEW_ONLY`) as the outputs record it."""
    known = {**item.spec.YOUNGER, **values}
    fields = {name: known[name] for name in item.spec.kept_as_made() if name in known}
    ids = {ID_OF + name: values.get(ID_OF + name) for name in fields if ID_OF + name in {*item.given, *values}}
    given = {key: value for key, value in {**item.given, **ids}.items() if value is not None or key not in ids}
    # Validated, not copied: a list of the wire is a tuple of the specification.
    spec = type(item.spec).model_validate(item.spec.canonical() | fields)
    return replace(item, spec=spec, given=given)


def as_made_from(
    target: Target[Any], item: Declared, values: Mapping[str, Any], *, unmade: bool = False
) -> Target[Any]:
    """The target with the ids that the object was made from, where these are the site's and cannot change, and with
    what it keeps as it was made.

    The operator may have put another image under the same name meanwhile; a server stays with the one it has.
    `unmade`: nothing of it runs yet, so it is a new one, and what it keeps is what is planned now.
    """
    before = recorded_target(item, values)
    recorded = before.refs
    spec = item.spec if unmade else as_made(item, values).spec
    fields = frozenset[str]() if unmade else spec.kept_as_made() & spec.reference_fields().keys()
    own = {name: recorded.get(name) for name in fields}
    kept = {
        field: recorded[field]
        for field in (immutable(item.kind) - spec.kept_as_made()) & recorded.keys()
        if field not in item.ids and values.get(field) == item.spec.canonical()[field]
    }
    refs = {name: ids for name, ids in {**target.refs, **kept, **own}.items() if ids is not None or name not in own}
    return replace(target, spec=spec, refs=refs, recorded=before.recorded)


def differing(target: Target[Any], seen: Observed) -> frozenset[str]:
    """Fields in which the object is not as the target says, and `marker` if it does not carry its own."""
    wanted = target.spec.canonical()
    fields = {
        name
        for name, value in seen.fields.items()
        if (wanted[name] or name not in _CHOSEN_BY_CLOUD) and in_order_of(wanted[name], value) != wanted[name]
    }
    references = {
        name
        for name, ids in seen.references.items()
        if name in type(target.spec).model_fields and _as_set(ids) != _as_set(target.refs.get(name))
    }
    unmarked = CARRIERS[target.spec.KIND].field and seen.marker != target.marker
    return frozenset(fields | references | ({"marker"} if unmarked else set()))


def as_seen(target: Target[Any], seen: Observed) -> dict[str, Any]:
    """The specification as the object really is; fields that the cloud does not show as recorded."""
    wanted = target.spec.canonical()
    changed = differing(target, seen)
    actual = dict(wanted)
    for name in changed & seen.fields.keys():
        actual[name] = in_order_of(wanted[name], seen.fields[name])
    for name in changed & seen.references.keys():
        actual[name] = _named(wanted[name], target.refs.get(name), seen.references[name])
    return actual


def immutable(kind: str) -> frozenset[str]:
    """Fields that cannot be changed on an existing object."""
    fixed = (Effect.REPLACE, Effect.FORBIDDEN, Effect.NEW_ONLY)
    return frozenset(name for name, change in KINDS[kind].changes().items() if change.effect in fixed)


def in_order_of(wanted: Any, value: Any) -> Any:
    """A list in the wanted order if it holds the same elements: services return lists in any order."""
    if isinstance(wanted, list) and isinstance(value, list) and len(wanted) == len(value):
        same = sorted(map(canonical_json, wanted)) == sorted(map(canonical_json, value))
        return wanted if same else value
    return value


#: Fields that a cloud fills in where the plan leaves them open (null, or no pools).
_CHOSEN_BY_CLOUD = frozenset({"address", "mtu", "segmentation_id", "physical_network", "pools"})


def _broken(seen: Observed | None) -> str:
    return seen.reason if seen is not None and seen.phase == "broken" else ""


def _as_set(ids: Ids) -> frozenset[str]:
    if ids is None:
        return frozenset()
    return frozenset((ids,)) if isinstance(ids, str) else frozenset(ids)


def _named(wanted: Any, resolved: Ids, actual: Ids) -> Any:
    """Reference field as it really is: the plan's names where the ids are known, else the ids."""
    if isinstance(wanted, list):
        known = dict(zip(resolved or (), wanted, strict=False))
        return [known.get(ident, str(CloudId(ident))) for ident in actual or ()]
    return None if actual is None else str(CloudId(str(actual)))
