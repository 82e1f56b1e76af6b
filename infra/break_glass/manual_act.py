"""One thing that a person may do by hand: its commands, what follows from it, and who notices it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: What acts do to isolation.
LESS = "takes a way away: nobody meets anybody new by it"
NONE = "none: ways, rights and segments stay as they are"


class FoundBy(StrEnum):
    """Who notices later that it was done."""

    AUDIT = "`interlock audit` and `interlock break-glass close` find it"
    SWITCHES = "`interlock audit` finds it where `switches.yaml` says how the switch is asked"
    CLOSE = "`interlock break-glass close` finds it; to the proof it changes nothing"
    TOLD = "`interlock audit` and `close` find it, where interlock tells the controller; else look yourself"


@dataclass(frozen=True)
class ManualAct:
    """One act. `objects`: the plan names of all that it is about, the first is what it is done to."""

    act: str
    kind: str
    objects: tuple[str, ...]
    commands: tuple[str, ...]
    does: str
    #: What it does to isolation.
    isolation: str
    #: How it is taken back by hand; empty: by the next `pulumi up --refresh` alone.
    back: tuple[str, ...]
    found_by: FoundBy
    #: Where the commands are run, if not on a machine with the operator's `clouds.yaml`.
    where: str = ""


def made_again(stack: str, *objects: tuple[str, str]) -> tuple[str, ...]:
    """The commands that make (kind, name) again before anything else: S3 keys and the rights of their users.

    A refresh of the whole stack fails while they are gone: what rests on them, such as a bucket, is asked by them.
    """
    targets = " ".join(f"--target '**{kind}::{name}'" for kind, name in objects)
    return (f"pulumi refresh --stack {stack} {targets}", f"pulumi up --stack {stack}")
