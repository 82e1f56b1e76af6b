"""Create, read, update, delete: written once for all kinds.

Adopt before create; nothing that can fail between the creating request and the id; what fails afterwards is
reported together with the id, so that the engine keeps it and the next `up` goes on from there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.resources import KINDS, Effect

from .actuators import ACTUATORS, Actuator, Observed, Phase, Target
from .admitted import AdmissionGate
from .clouds import Cloud
from .errors import Failure, Trouble, refused
from .guards import (
    carries,
    check_absent,
    check_cloud,
    check_data,
    check_fixed,
    check_owner,
    check_tenants,
    keeps_copy,
    known_here,
)
from .keeping import Keeper, kept
from .passed_devices import check_redone
from .pools import ThreadPools
from .references import check_person, target_of
from .removing import Remover, Waiting, pauses
from .state import Declared, as_made, as_made_from, as_seen, differing, immutable, outputs, previewed, recorded_target
from .vipu_let_go import let_go
from .vipu_replacing import check_replaced

#: How often a creation is tried, and for what again: its answer was lost, so it is looked for first; or the quota
#: was full. Neutron counts an object beside the reservation it was made under until its request has ended, so of
#: several requests at once one may be refused although all fit. A quota that does not fit is told by the preflight.
TRIES = 4
TRIED_AGAIN = (Trouble.LOST_ANSWER, Trouble.QUOTA)

#: Seconds to wait before looking again for an object that two answers disagree about: lists may lag behind.
LOOKS_AGAIN = (0.5, 1.0, 2.0)

#: Seconds during which a service may not yet know an object that it has just made.
SETTLING = 5.0


class Partial(Exception):
    """The object exists and has an id, but is not as it should be."""

    def __init__(self, ident: str, inputs: dict[str, Any], values: dict[str, Any], failure: Failure) -> None:
        super().__init__(str(failure))
        self.ident = ident
        self.inputs = inputs
        self.values = values
        self.failure = failure


class Lifecycle:
    """The operations on one cloud, at the pace of that cloud."""

    def __init__(self, cloud: Cloud, gate: AdmissionGate, pools: ThreadPools) -> None:
        self._cloud = cloud
        self._gate = gate
        self._pools = pools
        self._clock = cloud.retry_policy.clock
        self._sleep = cloud.retry_policy.rest
        self._keeper = Keeper(cloud, gate, self._run)
        self._remover = Remover(cloud, self._run)

    async def known(self, item: Declared, ident: str, olds: Mapping[str, Any]) -> None:
        """Raises `Failure` if what the state holds is of another cloud or region, or another person's. Looks only."""
        await self._run(ACTUATORS[item.kind], known_here, self._cloud, ACTUATORS[item.kind], item, ident, olds)
        await self._run(ACTUATORS[item.kind], check_person, self._cloud, item, olds)

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
            seen = await self._ready(actuator, target, ident, settling=SETTLING if new else 0.0)
            seen = await self._conform(actuator, target, seen)
            check_fixed(target, seen)
        except Failure as failure:
            if await self._is_gone(actuator, target, ident):
                hint = "run `pulumi up` again: it is recreated, or found by its marker"
                raise Failure(failure.trouble, failure.message, hint) from failure
            partial = await self._partial(actuator, item, target, ident, failure)
            if item.spec.is_kept and partial.values["broken"]:
                # In the state it would be protected, and the engine refuses to replace what is. It holds no data yet;
                # the next creation finds it by its marker, and deletes it first.
                hint = "correct the cause, then run `pulumi up` again: it deletes this one and creates another"
                raise Failure(failure.trouble, failure.message, hint) from failure
            raise partial from failure
        return ident, self._outputs(item, target, seen)

    async def read(
        self, item: Declared, ident: str, values: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Inputs and outputs as the cloud shows them; None if the object is gone."""
        actuator = ACTUATORS[item.kind]
        item = as_made(item, values)
        target = recorded_target(item, values)
        await self._run(actuator, check_cloud, self._cloud, item, values)
        seen = await self._present(actuator, target, ident)
        if seen is None:
            await self._run(actuator, check_absent, self._cloud, actuator, item, values)
            await self._free(actuator, target)
            return None
        actual = as_seen(target, seen)
        # A fingerprint of before regions were recorded is rewritten by an `up`, which looks at the whole stack first.
        found = self._outputs(item, target, seen) | actual | {"cloud_id": values.get("cloud_id")}
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
            return {**olds, **as_made(item, olds).inputs()}
        self._gate.open()
        actuator = ACTUATORS[item.kind]
        await self._run(actuator, check_cloud, self._cloud, item, olds)
        planned = await self._run(actuator, target_of, self._cloud, item, self._gate.admission)
        target, made = as_made_from(planned, item, olds), as_made(item, olds)
        try:
            seen = await self._ready(actuator, target, ident)
            if seen.unmade:
                target, made = as_made_from(planned, item, olds, unmade=True), item
            check_owner(target, seen)
            seen = await self._conform(actuator, target, seen)
            check_fixed(target, seen)
        except Failure as failure:
            if failure.trouble in (Trouble.REFUSED, Trouble.NOT_FOUND):
                raise
            raise await self._partial(actuator, made, target, ident, failure) from failure
        return self._outputs(made, target, seen)

    async def delete(self, item: Declared, ident: str, olds: Mapping[str, Any], stack: str) -> str:
        """Returns when the object is gone, what people are to be told; mostly nothing. Raises `Failure`."""
        self._gate.open()
        actuator = ACTUATORS[item.kind]
        target = recorded_target(item, olds)
        if said := let_go(self._gate, target):
            return said
        await self._run(actuator, check_cloud, self._cloud, item, olds)
        seen = await self._present(actuator, target, ident)
        if seen is None:
            await self._run(actuator, check_absent, self._cloud, actuator, item, olds)
            await self._let_go(actuator, target)
            return await self._keeper.left(actuator, target, ident)
        check_owner(target, seen)
        target = target.after(seen)
        created = self._gate.previewed.creates
        recreated = item.name in created
        await self._run(actuator, check_data, self._cloud, actuator, target, seen, recreated)
        await self._pools.run("identity", check_tenants, self._cloud, target, stack)
        if recreated:
            await self._run(actuator, check_redone, self._cloud, item, ident, self._gate.planned_host(item.name))
            await self._run(actuator, check_replaced, self._cloud, self._gate.admission, created, target, seen)
            await self._run(actuator, actuator.release, self._cloud, ident, target)
        copy = await self._keeper.keep(actuator, target, ident) if keeps_copy(target, seen) else None
        await self._remover.remove(actuator, target, ident)
        await self._let_go(actuator, target)
        return kept(target, ident, copy) if copy is not None else ""

    async def _free(self, actuator: Actuator[Any], target: Target[Any]) -> None:
        """Raises `Failure` if what is gone is not free for others: a refresh would forget who has to see to that."""
        if held := await self._run(actuator, actuator.still_held, self._cloud, target):
            what = f"{target.spec.KIND} {target.name} is deleted, but {held}"
            hint = "run `pulumi destroy`, or `pulumi up --replace` of it, without a refresh: each of them finishes it"
            raise Failure(Trouble.NOT_READY, what, hint)

    async def _let_go(self, actuator: Actuator[Any], target: Target[Any]) -> None:
        """Raises `Failure` if the object is gone and something of it is still in effect: the state keeps it then."""
        if left := await self._run(actuator, actuator.left_behind, self._cloud, target):
            what = f"{target.spec.KIND} {target.name} is deleted, but {left}"
            raise Failure(Trouble.NOT_READY, what, "correct the cause, then run the command again: it looks once more")

    async def _adopt_or_make(self, actuator: Actuator[Any], target: Target[Any]) -> tuple[str, bool]:
        """(id, True if made now)."""
        lost = False
        for attempt in range(1, TRIES + 1):
            found = await self._adoptable(actuator, target, lost=lost)
            if found is not None:
                return found, False
            # Looking takes its time, and another attempt is one more request: not in a run that is cancelled.
            self._gate.open()
            try:
                made = await self._run(actuator, actuator.create, self._cloud, target)
            except Failure as failure:
                if failure.trouble not in TRIED_AGAIN or attempt == TRIES:
                    raise failure.within(f"{target.spec.KIND} {target.name}") from failure
                lost = lost or failure.trouble is Trouble.LOST_ANSWER
                await self._sleep(attempt)
            else:
                return await self._only(actuator, target, made) if lost else (made, True)
        raise AssertionError("the last attempt returns or raises")

    async def _adoptable(self, actuator: Actuator[Any], target: Target[Any], *, lost: bool) -> str | None:
        """The id of the one object that is ours already; None if there is none."""
        what = f"{target.spec.KIND} {target.name}"
        found = await self._ours(actuator, target, lost=lost)
        if not found:
            return None
        if len(found) > 1:
            ids = ", ".join(seen.id for seen in found)
            raise refused(f"{what}: several objects carry its marker: {ids}", "delete all but one")
        (seen,) = found
        if seen.phase is Phase.BROKEN:
            await self._remover.remove(actuator, target, seen.id)
            return None
        if fixed := sorted(differing(target, seen) & immutable(target.spec.KIND)):
            raise refused(
                f"{what}: {seen.id} carries its marker but differs in {', '.join(fixed)}, which cannot be changed",
                "delete that object, then run `pulumi up` again",
            )
        return seen.id

    async def _ours(self, actuator: Actuator[Any], target: Target[Any], *, lost: bool) -> list[Observed]:
        """What is listed under the marker and, read by itself, carries it. Raises `Failure` if nobody can tell.

        A list may lag behind: it may show what is gone or has become another's, and, after a creation whose answer
        was `lost`, not yet show what was made. So it is asked again before anything is made.
        """
        listed: Sequence[str] = ()
        for wait in (*LOOKS_AGAIN, None):
            listed = await self._run(actuator, actuator.find, self._cloud, target)
            looks = [await self._look(actuator, target, ident) for ident in listed]
            ours = [seen for seen in looks if seen is not None and carries(target, seen)]
            if ours or not (listed or lost):
                return ours
            if wait is not None:
                await self._sleep(wait)
        if listed:
            raise Failure(
                Trouble.NOT_READY,
                f"{target.spec.KIND} {target.name}: {', '.join(listed)} is in a list with its marker, "
                "but by its id it cannot be read or carries another marker",
                "the cloud's lists lag behind: run `pulumi up` again in a minute",
            )
        return []

    async def _only(self, actuator: Actuator[Any], target: Target[Any], made: str) -> tuple[str, bool]:
        """(id, True if made now), when an earlier request may have made one, too, that no list showed in time."""
        listed = await self._run(actuator, actuator.find, self._cloud, target)
        if not set(listed) - {made}:
            return made, True
        # The later one goes: nobody else can have seen its id.
        await self._remover.remove(actuator, target, made)
        first = await self._adoptable(actuator, target, lost=False)
        if first is None:
            what = f"{target.spec.KIND} {target.name}: it was deleted meanwhile"
            raise Failure(Trouble.NOT_READY, what, "run `pulumi up` again")
        return first, False

    async def _present(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> Observed | None:
        """The object, or None if it is gone. Raises `Failure` if a list still shows it: one 404 proves nothing."""
        seen = await self._look(actuator, target, ident)
        if seen is None and actuator.VANISHES:
            for wait in (*LOOKS_AGAIN, None):
                listed = await self._run(actuator, actuator.find, self._cloud, target)
                seen = await self._look(actuator, target, ident) if ident in listed else None
                if seen is not None or ident not in listed:
                    return seen
                if wait is not None:
                    await self._sleep(wait)
            what = f"{target.spec.KIND} {target.name}: {ident} is in a list, but cannot be read by its id"
            raise Failure(Trouble.NOT_READY, what, "the cloud's lists lag behind: run the command again in a minute")
        return seen

    async def _is_gone(self, actuator: Actuator[Any], target: Target[Any], ident: str) -> bool:
        try:
            return await self._present(actuator, target, ident) is None
        except Failure:
            return False  # nobody can tell; the next run finds out by its id

    async def _ready(
        self, actuator: Actuator[Any], target: Target[Any], ident: str, *, settling: float = 0.0
    ) -> Observed:
        """The object once it is ready. Raises `Failure` if it is broken, gone (for `settling` s), or takes too long."""
        what, waits = f"{target.spec.KIND} {target.name} ({ident})", pauses()
        waiting = Waiting(self._clock, actuator.PATIENCE)
        while True:
            seen = await self._look(actuator, target, ident)
            if seen is None and waiting.elapsed >= settling:
                raise Failure(Trouble.NOT_FOUND, f"{what} is gone")
            if seen is not None and seen.phase is Phase.READY:
                return seen
            if seen is not None and seen.phase is Phase.BROKEN:
                raise Failure(Trouble.NOT_READY, f"{what} cannot be used: {seen.reason}")
            if self._gate.cancelled:
                raise Failure(Trouble.NOT_READY, f"{what}: cancelled while waiting for it", "run `pulumi up` again")
            if seen is not None and (limit := waiting.too_long(seen)) is not None:
                said = f"{what} is not ready after {limit:.0f} s: {seen.reason}"
                raise Failure(Trouble.NOT_READY, said, "run `pulumi up` again")
            await self._sleep(next(waits))

    async def _conform(self, actuator: Actuator[Any], target: Target[Any], seen: Observed) -> Observed:
        """The object after everything that differs and can be changed was changed."""
        changed = differing(target, seen)
        if not changed:
            return seen
        await self._run(actuator, actuator.update, self._cloud, target, seen, changed)
        left: list[str] = []
        for wait in (*LOOKS_AGAIN, None):
            seen = await self._ready(actuator, target, seen.id)
            left = sorted(differing(target, seen) - immutable(target.spec.KIND) - seen.pending.keys())
            if not left:
                return seen
            if wait is not None:
                await self._sleep(wait)
        why = f": {seen.reason}" if seen.reason else ""
        what = f"{target.spec.KIND} {target.name} ({seen.id}) was changed, and still differs in {', '.join(left)}{why}"
        raise Failure(Trouble.NOT_READY, what, "run `pulumi up` again")

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
