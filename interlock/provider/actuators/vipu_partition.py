"""Partitions of V-IPU. Users of the allocation can write them, so what is deleted is compared once more first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from interlock.hardware import IPU_M2000
from interlock.provider.errors import refused
from interlock.resources import Resource, VipuPartition
from interlock.vipu.errors import VipuError, VipuTrouble
from interlock.vocabulary.pair_ids import VipuId

from .base import Observed, Phase, Target
from .vipu import VipuActuator, differences

if TYPE_CHECKING:
    from interlock.vipu.answers import SaidPartition
    from interlock.vipu.client import ControllerClient
    from interlock.vipu.commands import Noun

_IPUS = IPU_M2000.ipus.value
_ROOM = (
    "what users made, have them remove; what was taken out of the request goes after the new one is made, so take that "
    "out, apply it, and ask for the new one then; where one of these is made smaller, run `pulumi up` again"
)
_PHASES = {"ACTIVE": Phase.READY, "ERROR": Phase.BROKEN}


class VipuPartitionActuator(VipuActuator[VipuPartition]):
    """Partitions. One in ERROR is broken: it is recreated where its request allows that."""

    KIND: ClassVar[type[Resource]] = VipuPartition
    NOUN: ClassVar[Noun] = "partition"
    PATIENCE: ClassVar[float] = 600.0

    def look(
        self, controller: ControllerClient, ident: VipuId, target: Target[VipuPartition] | None
    ) -> Observed | None:
        found = controller.partitions().get(ident.name)
        if found is None:
            return None
        fields = {name: there for name, (there, _) in _content(found, target).items()}
        references = (
            {}
            if found.allocation is None
            else {"allocation": str(VipuId(ident.server, "allocation", found.allocation))}
        )
        reason = f"it is {found.state}{f': {found.reason}' if found.reason else ''}"
        phase = _PHASES.get(found.state, Phase.PENDING)
        return Observed(str(ident), "", fields, references, phase=phase, reason=reason)

    def other_content(self, controller: ControllerClient, target: Target[VipuPartition]) -> str:
        return _other(controller.partitions()[target.spec.name], target)

    def make(self, controller: ControllerClient, target: Target[VipuPartition]) -> None:
        spec = target.spec
        line = controller.lines.partition(
            spec.name,
            allocation=VipuId.parse(target.one("allocation")).name,
            ipus=spec.ipus,
            gcds=spec.gcds,
            replicas=spec.replicas,
            reconfigurable=spec.reconfigurable,
            sync_type=spec.sync_type,
            routing=spec.routing,
        )
        try:
            controller.create_partition(line)
        except VipuError as error:
            if error.trouble is VipuTrouble.SERVICE and (why := _no_room(controller, target)):
                what, hint = f"{error.what}; {why}", _ROOM
                raise VipuError(error.trouble, error.place, what, hint, is_final=error.is_final) from error
            raise

    def let_go(self, controller: ControllerClient, ident: VipuId, target: Target[VipuPartition]) -> None:
        found = controller.partitions().get(ident.name)
        if found is not None and (why := _other(found, target)):
            what = f"{self.words(target)} is not the one that this stack made: {why}"
            hint = "a user removed that and made this: if nobody needs it, remove it, then run the command again"
            raise refused(what, hint)


def _no_room(controller: ControllerClient, target: Target[VipuPartition]) -> str:
    """What else is in the allocation, where that leaves no room; empty if it does, or if nobody can tell."""
    allocation, own = VipuId.parse(target.one("allocation")).name, target.spec.name
    try:
        found = controller.allocations().get(allocation)
        others = [item for item in controller.partitions_in(allocation) if item.id != own]
    except VipuError:
        return ""  # what failed first is what is told
    if found is None or sum(item.ipus for item in others) + target.spec.ipus <= len(found.agents) * _IPUS:
        return ""
    there = ", ".join(f"{item.id} ({item.ipus} IPUs)" for item in sorted(others, key=lambda item: item.id))
    return f"of {len(found.agents) * _IPUS} IPUs of allocation {allocation} others have too many: {there}"


def _content(found: SaidPartition, target: Target[VipuPartition] | None) -> dict[str, tuple[Any, Any]]:
    """Field -> what is there, and what is planned."""
    spec = None if target is None else target.spec
    there = {
        "ipus": found.ipus, "gcds": found.gcds, "replicas": found.replicas, "reconfigurable": found.reconfigurable,
        "sync_type": found.sync_type, "routing": found.routing,
    }  # fmt: skip
    if spec is None or spec.routing == "default":
        # The controller's own choice, and then it says what it chose.
        del there["routing"]
    return {name: (value, getattr(spec, name, None)) for name, value in there.items()}


def _other(found: SaidPartition, target: Target[VipuPartition]) -> str:
    allocation = VipuId.parse(target.one("allocation")).name
    return differences({**_content(found, target), "allocation": (found.allocation or allocation, allocation)})
