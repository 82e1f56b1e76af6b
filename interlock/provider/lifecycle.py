"""Create, read, update, delete: written once for all kinds.

Adopt before create; nothing that can fail between the creating request and the id; what fails afterwards is
reported together with the id, so that the engine keeps it and the next `up` goes on from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from interlock.resources import KINDS, Effect

from .actuators import ACTUATORS, Actuator, Observed, Phase, Target
from .admitted import Gate
from .clouds import Cloud
from .errors import Failure, Trouble, refused
from .guards import check_cloud, check_data, check_owner, check_tenants
from .pools import Pools
from .references import target_of
from .state import (
    Declared,
    as_made_from,
    as_seen,
    differing,
    immutable,
    outputs,
    previewed,
    recorded_target,
)

#: How often a creation is tried, and for what again: its answer was lost, so it is looked for first; or the quota
#: was full. Neutron counts an object beside the reservation it was made under until its request has ended, so of
#: several requests at once one may be refused although all fit. A quota that does not fit is told by the preflight.
TRIES = 4
TRIED_AGAIN = (Trouble.LOST_ANSWER, Trouble.QUOTA)

#: Seconds between two looks at an object that is on its way: first and longest.
FIRST_LOOK, LONGEST_LOOK = 0.2, 1.0

#: Seconds that a deletion waits for the last user of an object to let go.
LETTING_GO = 15.0


class Partial(Exception):
    """The object exists and has an id, but is not as it should be."""

    def __init__(self, ident: str, inputs: dict[str, Any], values: dict[str, Any], failure: Failure) -> None:
        super().__init__(str(failure))
        self.ident = ident
        self.inputs = inputs
        self.values = values
        self.failure = failure


class Lifecycle:
    """The operations on one cloud. Time is a parameter so that tests need not wait."""

    def __init__(
        self,
        cloud: Cloud,
        gate: Gate,
        pools: Pools,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._cloud = cloud
        self._gate = gate
        self._pools = pools
        self._clock = clock
        self._sleep = sleep

    async def create(self, item: Declared, *, preview: bool) -> tuple[str, dict[str, Any]]:
        """Id and outputs. Raises `Failure` (nothing was made) or `Partial`."""
        if preview:
            return "", previewed(item)
        self._gate.open()
        actuator = ACTUATORS[item.kind]
        target = await self._run(actuator, target_of, self._cloud, item, self._gate.admission)
        ident, new = await self._adopt_or_make(actuator, target)
        try:
            if new:
                await self._run(actuator, actuator.finish, self._cloud, target, ident)
            seen = await self._conform(actuator, target, await self._ready(actuator, target, ident))
        except Failure as failure:
            raise await self._partial(actuator, item, target, ident, failure) from failure
        return ident, self._outputs(item, target, seen)

    async def read(
        self, item: Declared, ident: str, values: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Inputs and outputs as the cloud shows them; None if the object is gone."""
        actuator = ACTUATORS[item.kind]
        target = recorded_target(item, values)
        await self._run(actuator, check_cloud, self._cloud, item, values)
        seen = await self._look(actuator, target, ident)
        if seen is None:
            return None
        actual = as_seen(target, seen)
        found = self._outputs(item, target, seen) | actual
        if found["marker"]:
            found["marker"] = seen.marker
        # A forbidden field keeps its recorded input: what drifted is put back; only a wish to change is refused.
        changes = KINDS[item.kind].changes()
        inputs = {
            name: item.spec.canonical()[name] if changes[name].effect is Effect.FORBIDDEN else value
            for name, value in actual.items()
        }
        return inputs | {"owner": item.owner} | dict(item.given), found

    async def update(self, item: Declared, ident: str, olds: Mapping[str, Any], *, preview: bool) -> dict[str, Any]:
        """Outputs. Raises `Failure` (nothing was changed) or `Partial`."""
        if preview:
            return {**olds, **item.inputs()}
        self._gate.open()
        actuator = ACTUATORS[item.kind]
        await self._run(actuator, check_cloud, self._cloud, item, olds)
        target = await self._run(actuator, target_of, self._cloud, item, self._gate.admission)
        target = as_made_from(target, item, olds)
        try:
            seen = await self._ready(actuator, target, ident)
            check_owner(target, seen)
            seen = await self._conform(actuator, target, seen)
            _check_fixed(target, seen)
        except Failure as failure:
            if failure.trouble in (Trouble.REFUSED, Trouble.NOT_FOUND):
                raise
            raise await self._partial(actuator, item, target, ident, failure) from failure
        return self._outputs(item, target, seen)

    async def delete(self, item: Declared, ident: str, olds: Mapping[str, Any], stack: str) -> None:
        """Returns when the object is gone. Raises `Failure`."""
        self._gate.open()
        actuator = ACTUATORS[item.kind]
        target = recorded_target(item, olds)
        await self._run(actuator, check_cloud, self._cloud, item, olds)
        seen = await self._look(actuator, target, ident)
        if seen is None:
            return
        check_owner(target, seen)
        check_data(target, seen)
        await self._pools.run("identity", check_tenants, self._cloud, target, stack)
        await self._remove(actuator, target, ident)

    async def _adopt_or_make(self, actuator: Actuator[Any], target: Target[Any]) -> tuple[str, bool]:
        """(id, True if made now)."""
        for attempt in range(1, TRIES + 1):
            found = await self._adoptable(actuator, target)
            if found is not None:
                return found, False
            try:
                return await self._run(actuator, actuator.create, self._cloud, target), True
            except Failure as failure:
                if failure.trouble not in TRIED_AGAIN or attempt == TRIES:
                    raise failure.within(f"{target.spec.KIND} {target.name}") from failure
            await self._sleep(attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _adoptable(self, actuator: Actuator[Any], target: Target[Any]) -> str | None:
        """The id of the one object that is ours already; None if there is none."""
        found = await self._run(actuator, actuator.find, self._cloud, target)
        if not found:
            return None
        what = f"{target.spec.KIND} {target.name}"
        if len(found) > 1:
            raise refused(f"{what}: several objects carry its marker: {', '.join(found)}", "delete all but one")
        seen = await self._look(actuator, target, found[0])
        if seen is None:
            return None
        if seen.phase is Phase.BROKEN:
            await self._remove(actuator, target, seen.id)
            return None
        fixed = sorted(differing(target, seen) & immutable(target.spec.KIND))
        if fixed:
            raise refused(
                f"{what}: {seen.id} carries its marker but differs in {', '.join(fixed)}, which cannot be changed",
                "delete that object, then run `pulumi up` again",
            )
        return seen.id

    async def _ready(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> Observed:
        """The object once it is ready. Raises `Failure` if it is broken, gone, or takes too long."""
        what = f"{target.spec.KIND} {target.name} ({ident})"
        deadline, wait = self._clock() + actuator.PATIENCE, FIRST_LOOK
        while True:
            seen = await self._look(actuator, target, ident)
            if seen is None:
                raise Failure(Trouble.NOT_FOUND, f"{what} is gone")
            if seen.phase is Phase.READY:
                return seen
            if seen.phase is Phase.BROKEN:
                raise Failure(Trouble.NOT_READY, f"{what} cannot be used: {seen.reason}")
            if self._gate.cancelled:
                raise Failure(Trouble.NOT_READY, f"{what}: cancelled while waiting for it", "run `pulumi up` again")
            if self._clock() > deadline:
                after = f"after {actuator.PATIENCE:.0f} s"
                raise Failure(Trouble.NOT_READY, f"{what} is not ready {after}: {seen.reason}", "run `pulumi up` again")
            await self._sleep(wait)
            wait = min(wait * 1.3, LONGEST_LOOK)

    async def _conform(self, actuator: Actuator[Any], target: Target[Any], seen: Observed) -> Observed:
        """The object after everything that differs and can be changed was changed."""
        changed = differing(target, seen)
        if not changed:
            return seen
        await self._run(actuator, actuator.update, self._cloud, target, seen, changed)
        return await self._ready(actuator, target, seen.id)

    async def _remove(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> None:
        """Deletes, and returns when it is really gone: what it used is free only then."""
        start, wait = self._clock(), FIRST_LOOK
        asked = False
        while True:
            try:
                if not asked:
                    await self._run(actuator, actuator.delete, self._cloud, ident, target)
                    asked = True
                if not actuator.VANISHES or await self._look(actuator, target, ident) is None:
                    self._cloud.markers.pop((target.spec.KIND, ident), None)
                    return
            except Failure as failure:
                # What used it was deleted a moment ago, and the service may not have noticed yet.
                if failure.trouble is not Trouble.IN_USE or self._clock() - start > LETTING_GO:
                    raise failure.within(f"{target.spec.KIND} {target.name} ({ident})") from failure
            if self._clock() - start > actuator.PATIENCE:
                what = f"{target.spec.KIND} {target.name} ({ident}) is still there"
                raise Failure(Trouble.NOT_READY, f"{what} after {actuator.PATIENCE:.0f} s", "run the command again")
            await self._sleep(wait)
            wait = min(wait * 1.3, LONGEST_LOOK)

    async def _look(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> Observed | None:
        seen: Observed | None = await self._run(actuator, actuator.read, self._cloud, ident, target)
        return seen

    async def _partial(
        self, actuator: Actuator[Any], item: Declared, target: Target[Any], ident: str, failure: Failure
    ) -> Partial:
        seen = None
        with contextlib.suppress(Failure):
            seen = await self._look(actuator, target, ident)
        return Partial(ident, item.inputs(), self._outputs(item, target, seen), failure)

    def _outputs(self, item: Declared, target: Target[Any], seen: Observed | None) -> dict[str, Any]:
        return outputs(item, target, self._cloud.login.fingerprint, seen)

    async def _run(self, actuator: Actuator[Any], call: Callable[..., Any], *arguments: Any) -> Any:
        return await self._pools.run(actuator.SERVICE, call, *arguments)


def _check_fixed(target: Target[Any], seen: Observed) -> None:
    """Raises `Failure` if a field that nothing can put back is not as planned."""
    fixed = sorted(differing(target, seen) & immutable(target.spec.KIND))
    if fixed:
        raise Failure(
            Trouble.CONFLICT,
            f"{target.spec.KIND} {target.name} ({seen.id}) differs in {', '.join(fixed)}, which cannot be put back",
            "someone changed it by hand; undo that, or delete the object and run `pulumi refresh` and `pulumi up`",
        )
