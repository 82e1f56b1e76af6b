"""A copy of an object's data that outlives the object: made before a deletion that says `on_delete: snapshot`.

The same after any interruption: the copy carries the object's marker, so what an earlier attempt began is found,
waited for, or, if it failed, removed and begun again. A finished copy counts only while the object has not been
touched since.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from .actuators import Actuator, DataCopy, Phase, Target
from .admitted import AdmissionGate
from .clouds import Cloud
from .errors import Failure, Trouble

#: Seconds that a copy may take: backups of terabytes take hours.
PATIENCE = 6 * 3600.0

#: Seconds between two looks at a copy.
LOOK = 1.0

#: Seconds that a copy waits for the last user of the object to let go.
LETTING_GO = 15.0


class Keeper:
    """Makes copies on one cloud. `run` is how a blocking call of an actuator is made."""

    def __init__(self, cloud: Cloud, gate: AdmissionGate, run: Callable[..., Awaitable[Any]]) -> None:
        self._cloud = cloud
        self._gate = gate
        self._run = run
        self._clock = cloud.retry_policy.clock
        self._sleep = cloud.retry_policy.rest

    async def keep(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> DataCopy:
        """A finished copy of the object as it is now. Raises `Failure`; the object is as it was then."""
        start, made, begun = self._clock(), None, 0
        while True:
            copy = _usable(await self._run(actuator, actuator.copies, self._cloud, target, ident), made)
            if copy is not None and copy.phase is Phase.READY:
                return copy
            if copy is not None and copy.phase is Phase.BROKEN:
                if begun:
                    raise _stays(target, ident, f"{copy.name} failed: {copy.reason}")
                await self._run(actuator, actuator.discard, self._cloud, target, copy)
            if copy is None or copy.phase is Phase.BROKEN:
                made = await self._begin(actuator, target, ident, start)
                begun += 1
            if self._gate.cancelled:
                raise _stays(target, ident, "cancelled while its copy is made")
            if self._clock() - start > PATIENCE:
                raise _stays(target, ident, f"its copy is not finished after {PATIENCE:.0f} s")
            await self._sleep(LOOK)

    async def left(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> str:
        """For people: where the last copy of an object is that is gone already, deleted by a run that was cut off
        before it could say so; empty if there is none. That nobody can tell stops no deletion."""
        if getattr(target.spec, "on_delete", "") != "snapshot":
            return ""
        copies: list[DataCopy] = []
        with contextlib.suppress(Failure):
            copies = await self._run(actuator, actuator.copies, self._cloud, target, ident)
        last = next((copy for copy in copies if copy.phase is Phase.READY), None)
        return f"{_what(target, ident)} was gone already; its last copy is {last.name}, {_UNMANAGED}" if last else ""

    async def _begin(self, actuator: Actuator[Any], target: Target[Any], ident: str, start: float) -> str | None:
        """The id of a copy that has begun; None if its answer was lost: it is found by its marker."""
        while True:
            try:
                found: str = await self._run(actuator, actuator.copy, self._cloud, target, ident)
            except Failure as failure:
                if failure.trouble is Trouble.LOST_ANSWER:
                    return None
                in_time = self._clock() - start <= LETTING_GO and not self._gate.cancelled
                if failure.trouble is not Trouble.IN_USE or not in_time:
                    raise failure.within(f"{_what(target, ident)} stays, since it cannot be copied") from failure
            else:
                return found
            await self._sleep(LOOK)


def kept(target: Target[Any], ident: str, copy: DataCopy) -> str:
    """Where the data are, for people."""
    return f"{_what(target, ident)} is gone; its data are in {copy.name}, {_UNMANAGED}"


_UNMANAGED = "which no stack manages: remove it when nobody needs it any more"


def _what(target: Target[Any], ident: str) -> str:
    return f"{target.spec.KIND} {target.name} ({ident})"


def _usable(copies: list[DataCopy], made: str | None) -> DataCopy | None:
    """The newest copy that is under way, has failed, or holds the data as they are; `made` is of this very run."""
    return next((item for item in copies if item.current or item.phase is not Phase.READY or item.id == made), None)


def _stays(target: Target[Any], ident: str, why: str) -> Failure:
    return Failure(
        Trouble.NOT_READY,
        f"{_what(target, ident)} says `on_delete: snapshot` and stays: {why}",
        "correct the cause and run the command again; or say `on_delete: erase`, run `pulumi up`, then try again",
    )
