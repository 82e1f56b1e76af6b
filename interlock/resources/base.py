"""What every planned resource is: a frozen record whose fields say how they may change.

A *reference* is a string that names another object, in one of three schemes:

=====================  ==================================================================
`acme-train-storage`   a resource of the same plan, by its plan name
`site:Flavor/poplar`   an object of the operator's stack `<site>-site`, by kind and plan name
`cloud:Role/reader`    something the cloud itself brings, which no stack of ours makes
=====================  ==================================================================

The reference is part of a resource's digest; the cloud's id behind it is an output of the other
resource and never is (see `interlock.provider`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict

from interlock.vocabulary import Reference, Scheme
from interlock.vocabulary.digests import Digest

M = TypeVar("M")

#: Prefix of the inputs that hold, for a reference field, the id or ids of resources of the same plan. One input
#: per field: the engine takes a whole input for unknown once any part of it comes from a resource that is being
#: replaced, so with all ids in one map a replaced port would look like a replaced project.
ID_OF = "id_of_"


class Frozen(BaseModel):
    """A value: immutable, strict about unknown fields, compared and hashed by content."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Effect(StrEnum):
    """What changing one field does to the object that exists."""

    IN_PLACE = "in place"
    RESTART = "restart"
    REPLACE = "replace"
    FORBIDDEN = "forbidden"
    #: What is there keeps what it was made with; what is made from now on gets the new value.
    NEW_ONLY = "new ones only"


@dataclass(frozen=True)
class Change:
    """Metadata of a field: the effect of a change, and why where that is not obvious."""

    effect: Effect
    reason: str = ""


@dataclass(frozen=True)
class Refers:
    """Metadata of a field: it holds a reference, or a tuple of references, to objects of these kinds."""

    kinds: tuple[str, ...]
    #: The references stand under this key of the field's elements; empty: they are the field itself.
    inside: str = ""

    def named(self, value: Any) -> str | tuple[str, ...] | None:
        """The references in a value of the field, as the type has it or in canonical form."""
        if not self.inside:
            return tuple(value) if isinstance(value, list) else value
        found = (item[self.inside] if isinstance(item, dict) else getattr(item, self.inside) for item in value)
        return tuple(reference for reference in found if reference is not None)


IN_PLACE = Change(Effect.IN_PLACE)
RESTART = Change(Effect.RESTART)
REPLACE = Change(Effect.REPLACE)


def forbidden(reason: str) -> Change:
    """A field that may not change on an existing object, because of `reason`."""
    return Change(Effect.FORBIDDEN, reason)


def new_only(reason: str) -> Change:
    """A field of which an object keeps what it was made with, because of `reason`: a change of it is no difference."""
    return Change(Effect.NEW_ONLY, reason)


class Resource(Frozen):
    """One object to exist on the cloud, a switch or a controller, in the field's own words.

    Subclasses set `KIND`, the last part of the Pulumi type token `interlock:index:<KIND>`.
    """

    KIND: ClassVar[str]
    #: True for kinds that a plan holds although nobody asked for them by name (those reserved with the machines, and
    #: what the site offers): what of them is not declared is listed as not wired, and not in the way of an apply.
    RESERVED: ClassVar[bool] = False
    #: False for kinds that are planned and proved but that nothing can make yet; they are always listed.
    HAS_ACTUATOR: ClassVar[bool] = True
    #: True if the object holds a tenant's data, so that deleting it is guarded by `on_delete`.
    HOLDS_DATA: ClassVar[bool] = False
    #: True if a replacement is created before the old one is deleted. False for what lies on the cloud: what is created
    #: there would be the old object, found by its marker and adopted.
    CREATED_FIRST: ClassVar[bool] = False

    #: Fields that came later -> what they are of an object whose state or plan was written before. Without such a line
    #: an upgrade would change, or recreate, each object for a field that says what was so all along.
    YOUNGER: ClassVar[Mapping[str, Any]] = {}

    @property
    def is_declared(self) -> bool:
        """True if the engine is told of it, so that our provider makes it; False: it is planned and proved only."""
        return self.HAS_ACTUATOR

    @property
    def comes_with_another(self) -> bool:
        """True if it is not declared itself, and made, changed and deleted with another resource of its plan."""
        return False

    @property
    def is_kept(self) -> bool:
        """True if it holds data that no deletion may take: `on_delete: keep`."""
        return self.HOLDS_DATA and getattr(self, "on_delete", "keep") == "keep"

    def refuses_replacement(self) -> str:
        """Why it may not be deleted and made again, whichever field or object below it asks for that; empty: it may."""
        return ""

    def canonical(self) -> dict[str, Any]:
        """The JSON form that plans, digests and provider inputs share."""
        return self.model_dump(mode="json")

    def digest(self) -> str:
        """`sha256:` and the hash of kind and canonical form."""
        return digest_of({"kind": self.KIND, "spec": self.canonical()})

    @classmethod
    def changes(cls) -> dict[str, Change]:
        """Effect of a change, for each field."""
        return {name: _metadata(cls, name, Change) or IN_PLACE for name in cls.model_fields}

    @classmethod
    def kept_as_made(cls) -> frozenset[str]:
        """The fields of which an existing object keeps what it was made with."""
        return frozenset(name for name, change in cls.changes().items() if change.effect is Effect.NEW_ONLY)

    @classmethod
    def change_of(cls, field: str, before: Any, after: Any) -> Change:  # noqa: ARG003
        """Effect of this very change, values in canonical form. Kinds where the direction matters say so."""
        return cls.changes()[field]

    @classmethod
    def reference_fields(cls) -> dict[str, Refers]:
        """The fields that hold references, with the kinds that they may name."""
        found = {name: _metadata(cls, name, Refers) for name in cls.model_fields}
        return {name: refers for name, refers in found.items() if refers is not None}

    def references(self) -> Iterator[tuple[str, str]]:
        """(field, reference) for every reference this resource holds, in field order."""
        for name, refers in self.reference_fields().items():
            yield from ((name, ref) for ref in _as_tuple(refers.named(getattr(self, name))))


def _metadata(cls: type[BaseModel], field: str, kind: type[M]) -> M | None:
    return next((item for item in cls.model_fields[field].metadata if isinstance(item, kind)), None)


def _as_tuple(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def canonical_json(value: object) -> str:
    """The one text form of a JSON value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest_of(value: object) -> str:
    """`sha256:` and the hash of the canonical JSON of `value`."""
    return str(Digest.of(canonical_json(value).encode()))


def is_site_reference(reference: str) -> bool:
    """True if the object belongs to the operator's stack of the site."""
    return Reference.scheme_of(reference) is Scheme.SITE


def is_cloud_reference(reference: str) -> bool:
    """True if the object is something that the cloud itself brings."""
    return Reference.scheme_of(reference) is Scheme.CLOUD
