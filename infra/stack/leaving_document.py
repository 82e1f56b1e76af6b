"""What has become of everything that a tenant was given: the document, as `interlock report` prints it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from interlock.resources import Frozen
from interlock.store.history import SeenRecord

#: What has become of one thing. `free`: an identity that others may be given; `deleted`: an object.
Fate = Literal["in use", "kept", "to be deleted", "cleaning", "free", "deleted", "not known"]
#: `complete` only if nothing is left to do, and nothing is not known.
LeavingVerdict = Literal["present", "leaving", "not known", "complete"]


class WaitingFor(Frozen):
    """Something that is still to be done."""

    what: str = Field(description="the step, or what is to be done")
    who: str = Field(description="who can do it, or say it")
    why: str = Field(description="why what was written does not count; empty: nothing was written")


class ReportedThing(Frozen):
    """One thing that the tenant was given."""

    group: str = Field(description="`machines`, `hosts`, `VLANs`, `keys`, `volumes` …")
    name: str = Field(description="its name, for people")
    identity: str = Field(description="the exclusive identity; empty for an object")
    state: Fate = Field(description="what has become of it")
    at: str = Field(description="since when it is free or deleted, in UTC; empty: it is not, or nobody recorded it")
    note: str = Field(description="what else there is to say; may be empty")
    steps: tuple[SeenRecord, ...] = Field(description="what was seen of it, in order")
    waits_for: tuple[WaitingFor, ...] = Field(description="what is still to be done, in order")


class FreeAgain(Frozen):
    """When the tenant's IPU-Machines and whole hosts can be given to others."""

    free: int = Field(description="machines and hosts that are free")
    waiting: int = Field(description="those that are in use or being cleaned")
    not_known: int = Field(description="those of which nobody knows")
    since: str = Field(description="when the last of them became free, in UTC; empty: not all are")
    waits_for: tuple[str, ...] = Field(description="what the others wait for; no date is known before it is seen")
    settle_before: str = Field(description="when the oldest evidence gets too old to count, in UTC; empty: none does")


class LeavingReport(Frozen):
    """What has become of everything that a tenant was given."""

    version: Literal[1] = Field(default=1, description="raised where a key goes away or changes its meaning")
    site: str = Field(description="name of the site")
    tenant: str = Field(description="id of the tenant")
    stack: str = Field(description="name of its stack")
    owner: str = Field(description="owner id, which its objects on the cloud carried")
    made_at: str = Field(description="when this was made, in UTC")
    verdict: LeavingVerdict = Field(description="`complete` only if nothing is to be done and nothing is not known")
    request: Literal["present", "gone", "absent"] = Field(description="what the request says; `absent`: there is none")
    lock_serial: int | None = Field(description="serial of its lock; null: there is none any more")
    given_since: str = Field(description="when its stack first began to make objects, in UTC; empty: not recorded")
    left_at: str = Field(description="when all its objects were deleted, in UTC; empty: they are not, or not recorded")
    nothing_left_at: str = Field(description="when state and cloud were last seen to hold nothing of it; empty: never")
    free_again: FreeAgain = Field(description="when its machines are free again")
    not_known: tuple[str, ...] = Field(description="what nobody recorded or looked at; a sentence each")
    things: tuple[ReportedThing, ...] = Field(description="everything that it was given, by group")
