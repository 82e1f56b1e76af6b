"""What an actuator is: how one kind of object is found, made, read, changed and removed.

The contract. An actuator
- MUST make blocking calls only; the lifecycle runs them in the pool of its `SERVICE`;
- MUST find only objects that carry exactly the marker it is given and lie in the project it is given;
- MUST return from `create` as soon as it has the id, and MUST NOT call anything between the creating request
  and that return: whatever else the object needs belongs into `finish` or `update`;
- MUST be able to run `finish`, `update` and `delete` again after any interruption;
- MUST NOT wait (it reports a `Phase`), retry, decide about adoption, or catch a `Failure` it cannot mend;
- MUST NOT report a field that the cloud does not show: an absent field keeps its recorded value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import refused
from interlock.provider.markers import marker
from interlock.resources import Resource
from interlock.vocabulary.owners import OwnerId

R = TypeVar("R", bound=Resource)

#: The id behind a reference field: one, several, or none.
Ids = str | tuple[str, ...] | None


class Phase(StrEnum):
    """Where an object stands on its way."""

    READY = "ready"
    PENDING = "pending"
    #: It will not become ready by itself; it is deleted and recreated.
    BROKEN = "broken"


@dataclass(frozen=True)
class Observed:
    """An object as the cloud shows it. Fields hold canonical JSON values."""

    id: str
    marker: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    #: Reference field -> the ids that stand there now.
    references: Mapping[str, Ids] = field(default_factory=dict)
    #: Computed outputs, see `Actuator.OUTPUTS`.
    outputs: Mapping[str, Any] = field(default_factory=dict)
    phase: Phase = Phase.READY
    #: The service's own words about a `BROKEN` object.
    reason: str = ""
    #: Seconds that this state may last, where that is less than the kind's `PATIENCE`.
    patience: float | None = None
    #: True if it is claimed and nothing of it runs yet: what a plan says of new ones is for it.
    unmade: bool = False
    #: Field -> its value, where the service takes no nearer one yet. The state records it, and the next `up` goes on.
    pending: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Target(Generic[R]):
    """What the object is to be: its specification, and the ids behind its references."""

    name: str
    owner: OwnerId
    spec: R
    refs: Mapping[str, Ids]
    #: Folder of the site's files; None where the stack's program does not run (refresh, destroy).
    folder: Path | None = None
    #: Computed outputs that the state recorded of the object, and what was seen of it since; see `Actuator.OUTPUTS`.
    #: Some of them are secret.
    recorded: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def marker(self) -> str:
        """The marker that the object carries."""
        return marker(self.owner, self.name)

    def after(self, seen: Observed) -> Target[R]:
        """The target with what was just seen of the object in place of what the state recorded."""
        return replace(self, recorded={**self.recorded, **seen.outputs})

    def one(self, reference: str) -> str:
        """The id behind a reference field that must hold one."""
        value = self.refs[reference]
        if not isinstance(value, str):
            raise TypeError(f"{self.name}: {reference} is no single id: {value!r}")
        return value

    def many(self, reference: str) -> tuple[str, ...]:
        """The ids behind a reference field that holds several."""
        value = self.refs.get(reference)
        return (value,) if isinstance(value, str) else value or ()


@dataclass(frozen=True)
class DataCopy:
    """What keeps an object's data after the object is gone."""

    id: str
    #: What it is and how people find it.
    name: str
    phase: Phase
    #: False if the object was changed, or may have been, after the copy was made.
    current: bool
    #: The service's own words about a `BROKEN` copy.
    reason: str = ""


class Actuator(ABC, Generic[R]):
    """One kind of object. Subclasses hold no state."""

    KIND: ClassVar[type[Resource]]
    #: Type of the service in the catalogue, and so the pool, in which it works.
    SERVICE: ClassVar[str]
    #: Seconds that it may take to become ready, or to be gone.
    PATIENCE: ClassVar[float] = 60.0
    #: False if the object is there before and after: a deletion is done when it was asked for.
    VANISHES: ClassVar[bool] = True
    #: True if a deletion that has not begun yet is asked for again: its service takes none in some states.
    ASKS_AGAIN: ClassVar[bool] = False
    #: Computed outputs: name -> what it is.
    OUTPUTS: ClassVar[Mapping[str, str]] = {}
    #: Those of them that are secret.
    SECRET: ClassVar[frozenset[str]] = frozenset()

    def find(self, cloud: Cloud, target: Target[R]) -> Sequence[str]:
        """Ids of what may be adopted: by marker, in the owning project."""
        return self.search(cloud, target.marker, self.project(cloud, target))

    def project(self, cloud: Cloud, target: Target[R]) -> str:
        """The uuid of the project that owns the object; the operator's own where the kind names none."""
        ref = target.refs.get("project")
        return ref if isinstance(ref, str) else cloud.login.project

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        """Ids of all objects that carry exactly this marker in that project. Kinds without a marker have none."""
        return ()

    @abstractmethod
    def create(self, cloud: Cloud, target: Target[R]) -> str:
        """Makes the object and returns its id at once."""

    def finish(self, cloud: Cloud, target: Target[R], ident: str) -> None:
        """What a new object needs beyond its creating request (the data of an image). Runs once, after it."""

    @abstractmethod
    def read(self, cloud: Cloud, ident: str, target: Target[R] | None = None) -> Observed | None:
        """The object, or None if it is gone."""

    def update(self, cloud: Cloud, target: Target[R], seen: Observed, changed: frozenset[str]) -> None:
        """Makes the object as the target says. `changed` names fields that differ, and `marker` if that does."""

    def still_pending(self, name: str, spec: R, values: Mapping[str, Any]) -> str:
        """What people are told of fields that the service does not take yet; empty if there is none.

        `values`: the outputs, which record what holds until then (`Observed.pending`).
        """
        return ""

    @abstractmethod
    def delete(self, cloud: Cloud, ident: str, target: Target[R]) -> None:
        """Starts the deletion; what is not there counts as deleted."""

    def holds_data(self, cloud: Cloud, target: Target[R], seen: Observed) -> bool:
        """True if something of the tenant's is in it. Asked for kinds that can hold data only."""
        return True

    def release(self, cloud: Cloud, ident: str, target: Target[R]) -> None:
        """Lets go of it what this stack made and what holds on to it. Runs only before an object is recreated: what
        is let go takes up the new one by an update of its own."""

    def left_behind(self, cloud: Cloud, target: Target[R]) -> str:
        """What of an object is still in effect although it is gone, or may be; empty if nothing. It may mend that."""
        return ""

    def still_held(self, cloud: Cloud, target: Target[R]) -> str:
        """What keeps an object that is gone from being free for others; empty if nothing. Looks only."""
        return ""

    def holder(self, cloud: Cloud, ident: str, target: Target[R]) -> str:
        """Id of the server that must let go of it before it may be deleted; empty if none holds it. Looks only."""
        return ""

    def detach(self, cloud: Cloud, ident: str, target: Target[R], server: str) -> None:
        """Starts detaching it from the server; `holder` tells when it is detached."""
        raise refused(f"{target.spec.KIND} {target.name}: detaching it from server {server} is not supported")

    def copies(self, cloud: Cloud, target: Target[R], ident: str) -> Sequence[DataCopy]:
        """The copies of its data that this stack made and that outlive it, newest first."""
        return ()

    def copy(self, cloud: Cloud, target: Target[R], ident: str) -> str:
        """Starts a copy of its data, and returns the copy's id at once."""
        raise refused(f"{target.spec.KIND} {target.name}: making a copy of it is not supported")

    def discard(self, cloud: Cloud, target: Target[R], copy: DataCopy) -> None:
        """Removes a copy that is of no use."""
