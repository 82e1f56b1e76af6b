"""What `pulumi destroy` does with a stack as its files state it: what goes, in which order, and what is in the way.

The engine deletes an object when everything that refers to it, or comes after it, is gone; what has no such tie goes
at the same time. So the order is that of steps, and all of one step go side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from interlock.resources import BareMetalServer, Frozen, Server

from .makeable import WHY_NO_COPY
from .origins import request_path
from .plan import CLUSTER_NODE, Plan, Planned

#: What happens to one object. `backed up`: a copy is made first and stays. `not ours`: nothing here made it, so
#: nothing here deletes it.
Ending = Literal["deleted", "emptied", "backed up", "refused", "not ours"]


class Removed(Frozen):
    """One resource: how it ends, and what its deletion does besides where that is not obvious."""

    name: str
    kind: str
    ending: Ending
    detail: str = ""


class InTheWay(Frozen):
    """One resource whose data keep it, and with it the whole stack."""

    name: str
    kind: str
    why: str
    #: Dotted path in the request that decides it, such as `volumes.scratch.on_delete`; empty: no line does.
    where: str
    fix: str


class Removal(Frozen):
    """The end of a stack. `steps`: in the order of deletion; all of one step go side by side."""

    stack: str
    refused: tuple[InTheWay, ...]
    steps: tuple[tuple[Removed, ...], ...]
    #: What nothing here made: `interlock wiring` or a person sets it back.
    left: tuple[Removed, ...]
    #: IPU-Machines, and hosts that the tenant had whole: nobody's until they are seen clean.
    released: tuple[str, ...]


#: Kind -> what its deletion does besides deleting it.
DETAILS: Mapping[str, str] = {
    "SwitchPort": "goes once its switch, read back, has it at rest",
    "BareMetalServer": "undeployed, cleaned by Ironic, its switch ports read back; takes as long as cleaning takes",
    "PartitionKey": "its ports are left in the default partition alone, once the nodes are undeployed",
    "S3Credential": "the key is dead from then on",
    "StoredCredential": "what waits for the server goes; a key that it has fetched stays in it",
    "VipuPartition": "what runs on its IPUs ends at once",
    "VipuAllocation": "with it go partitions that users made",
    "VipuUser": "its key is dead from then on",
    "VipuCluster": "the IPU-Links of its machines are nobody's from then on",
    "VipuAgent": "the controller no longer asks the machine",
    "Server": "Nova ends the guest at once; what it holds only in memory is lost",
    "Project": "last, and only when nothing is left in it, backups included",
}

#: Of a switch port that Ironic wires.
WITH_ITS_HOST = "Ironic sets it at rest when its host is undeployed"
#: Kind -> what becomes of one that another resource brings.
WITH_ANOTHER = {
    "SwitchPort": WITH_ITS_HOST,
    "StoredCredential": "it is on the host's disks, which are cleaned when the host is undeployed",
}


def removal_of(plan: Plan) -> Removal:
    """The end of a stack that is applied as `plan` says. Pure: no cloud is asked."""
    made = tuple(item for item in plan.resources if item.resource.is_declared or item.resource.comes_with_another)
    step = _steps(made)
    count = max(step.values(), default=0)
    ordered = tuple(
        tuple(_removed(item) for item in made if step[item.name] == number) for number in range(1, count + 1)
    )
    return Removal(
        stack=plan.stack,
        refused=tuple(entry for item in made for entry in _in_the_way(plan, item)),
        steps=ordered,
        left=tuple(
            Removed(name=item.name, kind=item.resource.KIND, ending="not ours") for item in plan.without_actuator()
        ),
        released=tuple(_released(plan)),
    )


def _steps(made: tuple[Planned, ...]) -> dict[str, int]:
    """Name -> step. A plan lists what is referred to first, so one pass backwards sees every user before it."""
    step = {item.name: 1 for item in made}
    for item in reversed(made):
        for name in (*(reference for _, reference in item.resource.references()), *item.after):
            if name in step:
                step[name] = max(step[name], step[item.name] + 1)
    return step


def _removed(item: Planned) -> Removed:
    kind = item.resource.KIND
    of_another = WITH_ANOTHER.get(kind, "") if item.resource.comes_with_another else None
    detail = DETAILS.get(kind, "") if of_another is None else of_another
    return Removed(name=item.name, kind=kind, ending=_ending(item), detail=detail)


def _ending(item: Planned) -> Ending:
    if not item.resource.HOLDS_DATA:
        return "deleted"
    on_delete = getattr(item.resource, "on_delete", "keep")
    if item.resource.is_kept or (on_delete == "snapshot" and item.resource.KIND in WHY_NO_COPY):
        return "refused"
    return "backed up" if on_delete == "snapshot" else "emptied"


def _in_the_way(plan: Plan, item: Planned) -> Iterator[InTheWay]:
    if _ending(item) != "refused":
        return
    kept = item.resource.is_kept
    why = "it holds data, and `on_delete: keep` is what was applied" if kept else WHY_NO_COPY[item.resource.KIND]
    yield InTheWay(
        name=item.name,
        kind=item.resource.KIND,
        why=why,
        where=request_path(plan, item, "on_delete") or "",
        fix="say `on_delete: erase`, run `interlock lock` and `pulumi up`; the next destroy takes the data",
    )


def _released(plan: Plan) -> Iterator[str]:
    vpods = dict.fromkeys(item.vpod for item in plan.resources if item.vpod is not None)
    for vpod in vpods:
        yield from plan.machines(vpod)
    for item in plan.resources:
        if isinstance(item.resource, BareMetalServer):
            yield item.resource.node
        elif isinstance(item.resource, Server) and plan.component[item.component].type == CLUSTER_NODE:
            yield item.resource.host
