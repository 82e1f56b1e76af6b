"""How an object goes: the server that has it lets go of it, it is deleted, and it is really gone when this returns.

The same after any interruption: each step looks first whether it is still needed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from .actuators import Actuator, Observed, Phase, Target
from .clouds import Cloud
from .errors import Failure, Trouble

#: Seconds between two looks at an object that is on its way: first and longest.
FIRST_LOOK, LONGEST_LOOK = 0.2, 1.0

#: Seconds that a deletion waits for the last user of an object to let go by itself.
LETTING_GO = 15.0

#: How often something is asked to go that is broken, or breaks each time.
TIMES = 3

#: Seconds that a server has to let go. Nova asks a guest eight times, for 20 s each, before it gives up
#: (`device_detach_attempts`, `device_detach_timeout` of its section [libvirt]).
TAKING_OFF = 180.0


class Remover:
    """Removes objects of one cloud. `run` is how a blocking call of an actuator is made."""

    def __init__(self, cloud: Cloud, run: Callable[..., Awaitable[Any]]) -> None:
        self._cloud = cloud
        self._run = run
        self._clock = cloud.retry_policy.clock
        self._sleep = cloud.retry_policy.rest

    async def remove(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> None:
        """Returns when the object is really gone: what it used is free only then. Raises `Failure`."""
        try:
            await self._take_off(actuator, target, ident)
            await self._delete(actuator, target, ident)
        except Failure as failure:
            raise failure.within(f"{target.spec.KIND} {target.name} ({ident})") from failure
        self._cloud.markers.pop((target.spec.KIND, ident), None)

    async def _take_off(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> None:
        """Returns when no server has the object: its host would go on to count it after it is gone."""
        start, waits = self._clock(), pauses()
        server = await self._run(actuator, actuator.holder, self._cloud, ident, target)
        if server:
            await self._run(actuator, actuator.detach, self._cloud, ident, target, server)
        while server:
            if self._clock() - start > TAKING_OFF:
                raise Failure(
                    Trouble.NOT_READY,
                    f"server {server} has not detached it after {TAKING_OFF:.0f} s",
                    "make sure that nova-compute on its host is up, then run the command again",
                )
            self._check_wanted(f"server {server} lets go of it")
            await self._sleep(next(waits))
            server = await self._run(actuator, actuator.holder, self._cloud, ident, target)

    async def _delete(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> None:
        start, waits = self._clock(), pauses()
        asked, times = None, 0
        while True:
            try:
                if asked is None:
                    await self._run(actuator, actuator.delete, self._cloud, ident, target)
                    asked, times = self._clock(), times + 1
                seen = await self._seen(actuator, target, ident)
                if seen is None:
                    return
                may_ask = seen.phase is not Phase.PENDING or actuator.ASKS_AGAIN
                if may_ask and self._clock() - asked > LETTING_GO:
                    if seen.phase is Phase.BROKEN and times == TIMES:
                        raise Failure(Trouble.NOT_READY, f"it does not go: {seen.reason}", "run the command again")
                    asked = None  # it stands there untouched: whoever said yes was not the service
            except Failure as failure:
                # What used it was deleted a moment ago, and the service may not have noticed yet.
                if failure.trouble is not Trouble.IN_USE or self._clock() - start > LETTING_GO:
                    raise
            if self._clock() - start > actuator.PATIENCE:
                message = f"it is still there after {actuator.PATIENCE:.0f} s"
                raise Failure(Trouble.NOT_READY, message, "run the command again")
            self._check_wanted("it goes")
            await self._sleep(next(waits))

    def _check_wanted(self, what: str) -> None:
        """Raises `Failure` in a run that is cancelled. What was asked for goes on, and the state keeps the object."""
        if self._cloud.retry_policy.is_cancelled:
            hint = "run the command again: it waits for what has begun"
            raise Failure(Trouble.NOT_READY, f"the run was cancelled while {what}", hint)

    async def _seen(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> Observed | None:
        if not actuator.VANISHES:
            return None
        seen: Observed | None = await self._run(actuator, actuator.read, self._cloud, ident, target)
        return seen


class Waiting:
    """How long an object is waited for: as a whole, and in a state that may last less than that. Seconds."""

    def __init__(self, clock: Callable[[], float], patience: float) -> None:
        self._clock = clock
        self._patience = patience
        self._start = clock()
        self._since: float | None = None

    @property
    def elapsed(self) -> float:
        """Since it began."""
        return self._clock() - self._start

    def too_long(self, seen: Observed) -> float | None:
        """The limit that is exceeded; None while none is."""
        if seen.patience is None:
            self._since = None
            return self._patience if self.elapsed > self._patience else None
        self._since = self._clock() if self._since is None else self._since
        return seen.patience if self._clock() - self._since > seen.patience else None


def pauses() -> Iterator[float]:
    """Seconds to wait between looks at something that is on its way: short at first."""
    wait = FIRST_LOOK
    while True:
        yield wait
        wait = min(wait * 1.3, LONGEST_LOOK)
