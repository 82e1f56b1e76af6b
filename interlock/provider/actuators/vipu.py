"""What all objects of V-IPU have in common: their ids, whose they are, and a controller that is gone.

An id is the uuid of the controller's server, the noun and the planned id, so it is known before anything is made. An
object carries no marker: its controller's server does, which references check. An object that has the planned id and
exactly the planned content is adopted; with other content it is refused and named. A controller's objects are gone with
its server.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import UNANSWERED, Failure, Trouble, refused
from interlock.provider.vipu import asking
from interlock.resources.vipu import VipuObject
from interlock.vocabulary.pair_ids import VipuId

from .base import Actuator, Observed, Target

if TYPE_CHECKING:
    from interlock.vipu.client import ControllerClient
    from interlock.vipu.commands import Noun

V = TypeVar("V", bound=VipuObject)

_FOREIGN = (
    "if nobody needs it, remove it at the controller, then run `pulumi up` again; else choose another name for what "
    "is planned"
)


class VipuActuator(Actuator[V]):
    """A kind of V-IPU. Everything is read by lists: what stands in none is not there."""

    SERVICE: ClassVar[str] = "vipu"
    NOUN: ClassVar[Noun]

    @abstractmethod
    def look(self, controller: ControllerClient, ident: VipuId, target: Target[V] | None) -> Observed | None:
        """An object as its controller has it; None if it has none of this id. Raises `VipuError`."""

    @abstractmethod
    def other_content(self, controller: ControllerClient, target: Target[V]) -> str:
        """In which way the object of the planned id is not what is planned; empty if it is. Raises `VipuError`."""

    @abstractmethod
    def make(self, controller: ControllerClient, target: Target[V]) -> None:
        """Has it made. Raises `VipuError`."""

    def in_the_way(self, controller: ControllerClient, target: Target[V]) -> str:
        """What is at the controller under another id, in place of what is planned; empty if nothing is. Raises
        `VipuError`.
        """
        return ""

    def users(self, controller: ControllerClient, ident: VipuId) -> Iterable[str]:
        """What is on it, in words: while there is any, it cannot go. Raises `VipuError`."""
        return ()

    def ident(self, target: Target[V]) -> VipuId:
        """The id of what is planned."""
        return VipuId(target.one("controller"), self.NOUN, target.spec.name)

    def find(self, cloud: Cloud, target: Target[V]) -> Sequence[str]:
        ident = self.ident(target)
        try:
            return self._found(cloud, ident, target)
        except Failure as failure:
            if failure.trouble in UNANSWERED and _is_gone(cloud, ident.server):
                return []
            raise

    def _found(self, cloud: Cloud, ident: VipuId, target: Target[V]) -> Sequence[str]:
        controller = controller_of(cloud, ident, target)
        with asking():
            if target.folder is not None:
                # Its server may have been made a moment ago.
                cloud.controllers.started(ident.server, controller)
            if self.look(controller, ident, target) is None:
                if target.folder is not None and (why := self.in_the_way(controller, target)):
                    raise refused(f"{self.words(target)} cannot be made: {why}", _FOREIGN)
                return []
            # Without a proof nothing is adopted: it is looked at once more whether it is there.
            why = "" if target.folder is None else self.other_content(controller, target)
        if why:
            raise refused(f"{self.words(target)} is there already: {why}", _FOREIGN)
        return [str(ident)]

    def create(self, cloud: Cloud, target: Target[V]) -> str:
        ident = self.ident(target)
        with asking():
            self.make(controller_of(cloud, ident, target), target)
        return str(ident)

    def read(self, cloud: Cloud, ident: str, target: Target[V] | None = None) -> Observed | None:
        named = VipuId.parse(ident)
        try:
            with asking():
                return self.look(controller_of(cloud, named, target), named, target)
        except Failure as failure:
            if failure.trouble in UNANSWERED and _is_gone(cloud, named.server):
                return None
            raise

    def delete(self, cloud: Cloud, ident: str, target: Target[V]) -> None:
        named = VipuId.parse(ident)
        controller = controller_of(cloud, named, target)
        try:
            with asking():
                if self.look(controller, named, target) is None:
                    return
                self.let_go(controller, named, target)
                if users := sorted(self.users(controller, named)):
                    what = f"{self.words(target)} is in use by {', '.join(users)}"
                    raise Failure(Trouble.IN_USE, what, "remove these at the controller, then run the command again")
                controller.remove(self.NOUN, named.name)
        except Failure as failure:
            if failure.trouble not in UNANSWERED or not _is_gone(cloud, named.server):
                raise

    def let_go(self, controller: ControllerClient, ident: VipuId, target: Target[V]) -> None:
        """Takes off it what goes with it. Raises `VipuError`, or `Failure` if it is not what this stack made."""

    def words(self, target: Target[V]) -> str:
        """An object, for messages."""
        return f"{target.spec.KIND} {target.name}: {self.NOUN} {target.spec.name} of {target.spec.controller}"


def controller_of(cloud: Cloud, ident: VipuId, target: Target[Any] | None) -> ControllerClient:
    """The controller that has an object. Raises `Failure`."""
    if target is None:
        return cloud.controllers.of(ident.server)
    return cloud.controllers.of(ident.server, target.spec.controller, target.spec.address)


def names_in(ids: Sequence[str]) -> tuple[str, ...]:
    """Ids at the controller, of ids of ours."""
    return tuple(VipuId.parse(ident).name for ident in ids)


def differences(pairs: Mapping[str, tuple[object, object]]) -> str:
    """What is there and what is planned, where they differ, in words; empty if nothing does."""
    return "; ".join(f"{name} {_text(there)}, planned {_text(wanted)}" for name, (there, wanted) in pairs.items()
                     if there != wanted)  # fmt: skip


def _text(value: object) -> str:
    if isinstance(value, frozenset):
        value = tuple(sorted(value))
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    return "not said" if value is None else str(value)


def _is_gone(cloud: Cloud, server: str) -> bool:
    """True if Nova has no such server any more: what its controller had is gone with it."""
    return cloud.api("compute").find(f"/servers/{server}") is None
