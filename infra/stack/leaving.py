"""Says what has become of everything that a tenant was given, from files and the claims store; asks no cloud.

Less knowledge never gives a better verdict: what nobody recorded is not known, and then nothing is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from interlock.model.evidence.steps import SANITISING, SeenStep, steps_of
from interlock.model.evidence.values import moment, moment_text
from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.store.history import GivenObject, HistoryRecord, SeenRecord, SettledThing, Settlement, Stay
from interlock.store.records import StackRecord
from interlock.vocabulary import nodes
from policies.edges.residue import cleaned_by
from policies.facts.guards import assumption

from .handing_over import UNLISTED, Demand, Handover, Lacking
from .kept_evidence import seen_record
from .leaving_document import (
    Fate,
    FreeAgain,
    LeavingReport,
    LeavingVerdict,
    ReportedThing,
    WaitingFor,
)
from .leaving_words import GROUPS, OF_KIND, group_of, group_of_entry, name_of, waiting_for, words_of

_SETTLE = "`interlock settle`"
NO_HISTORY = "what it was given: the claims store has no record of it"


@dataclass(frozen=True)
class KnownOfTenant:
    """What was read. `request`: what the tenant's file says. `handover`: of what its lock released."""

    site: Site
    tenant: str
    stack: str
    owner: str
    request: Literal["present", "gone", "absent"]
    lock: Lock | None
    record: StackRecord | None
    history: HistoryRecord | None
    handover: Handover | None
    now: datetime

    def report(self) -> LeavingReport:
        """The whole of it."""
        things = sorted((*self._identities(), *self._objects()), key=lambda one: (GROUPS.index(one.group), one.name))
        not_known = tuple(self._not_known())
        left = self._stays[-1].left if self._stays and self.record is None else ""
        return LeavingReport(
            site=self.site.name,
            tenant=self.tenant,
            stack=self.stack,
            owner=self.owner,
            made_at=moment_text(self.now),
            verdict=self._verdict(things, not_known),
            request=self.request,
            lock_serial=self.lock.serial if self.lock else None,
            given_since=self._stays[0].since if self._stays else "",
            left_at=left,
            nothing_left_at=self._nothing_left,
            free_again=self._free_again(things),
            not_known=not_known,
            things=tuple(things),
        )

    @property
    def _stays(self) -> tuple[Stay, ...]:
        return self.history.stays if self.history else ()

    @property
    def _settlements(self) -> tuple[Settlement, ...]:
        return self.history.settlements if self.history else ()

    @cached_property
    def _nothing_left(self) -> str:
        return max((one.at for one in self._settlements if one.nothing_left), default="")

    @cached_property
    def _held(self) -> dict[str, str]:
        """Identity -> when it was last known to be held."""
        found = dict[str, str]()
        for stay in self._stays:
            for identity, at in stay.identities.items():
                found[identity] = max(at, found.get(identity, ""))
        return found

    @cached_property
    def _settled(self) -> dict[str, tuple[str, SettledThing]]:
        """Identity -> its last settlement."""
        return {thing.identity: (one.at, thing) for one in self._settlements for thing in one.things}

    @cached_property
    def _demands(self) -> dict[str, Demand]:
        found = self.handover.demands if self.handover else ()
        return {one.identity: one for one in found if one.identity != UNLISTED}

    @cached_property
    def _lacking(self) -> dict[str, list[Lacking]]:
        found = dict[str, list[Lacking]]()
        for one in self.handover.lacking() if self.handover else ():
            found.setdefault(one.demand.identity, []).append(one)
        return found

    @property
    def _verdict_needs(self) -> bool:
        """Whether state and cloud were seen empty after the last object was deleted."""
        return bool(self._stays) and bool(self._nothing_left) and self._nothing_left >= self._stays[-1].left

    def _verdict(self, things: list[ReportedThing], not_known: tuple[str, ...]) -> LeavingVerdict:
        if self.request == "present":
            return "present"
        states = {one.state for one in things}
        if states & {"in use", "kept", "to be deleted", "cleaning"} or self.record is not None:
            return "leaving"
        if "not known" in states or not_known or not self._verdict_needs:
            return "not known"
        return "complete"

    def _not_known(self) -> Iterator[str]:
        if self.history is None or not self._stays:
            yield NO_HISTORY
            return
        if any(not stay.since for stay in self._stays):
            yield "which objects it had: an earlier version, which did not record them, made them"
        if self.record is None and not self._stays[-1].left:
            yield "whether its objects are deleted: the claims store has neither its claims nor their end"
        if self.record is None and self._stays[-1].left and not self._verdict_needs:
            yield "whether the cloud holds anything of it: nobody looked since; `interlock settle` does"

    def _identities(self) -> Iterator[ReportedThing]:
        in_lock = self.lock.footprint.exclusive if self.lock else ()
        applied = {name for entry in self.record.entries for name in entry.held} if self.record else set[str]()
        for identity in sorted({*in_lock, *applied, *self._held, *self._settled, *self._demands}):
            if identity in self._demands:
                yield self._cleaning(self._demands[identity], applied=identity in applied)
            elif identity in applied:
                yield self._thing(identity, "in use", note="" if self.request == "present" else "it may be in use")
            elif identity in in_lock:
                yield self._of_lock(identity)
            else:
                yield self._past(identity)
        for one in self.handover.demands if self.handover else ():
            if one.identity == UNLISTED:
                why = "the site file does not list it: list it until it is settled"
                yield self._thing(UNLISTED, "cleaning", name=str(one), group=group_of_entry(one),
                                  waits=(WaitingFor(what="listed", who="a person", why=why),))  # fmt: skip

    def _of_lock(self, identity: str) -> ReportedThing:
        if self.request == "present":
            return self._thing(identity, "in use", note="its lock has it; it is not applied")
        if isinstance(nodes.parse(identity), nodes.HeldLoginKey):
            return self._thing(identity, "cleaning", waits=(
                WaitingFor(what="no server is left that may let it in", who=_SETTLE, why=""),
            ))  # fmt: skip
        return self._thing(identity, "cleaning", waits=(WaitingFor(what="settled", who=_SETTLE, why=""),))

    def _cleaning(self, demand: Demand, *, applied: bool) -> ReportedThing:
        lacking = self._lacking.get(demand.identity, [])
        open_steps = {one.step for one in lacking}
        assert self.handover is not None  # it has the demand
        seen = [one for one in self.handover.counted(demand) if one.step not in open_steps]
        steps = tuple(seen_record(self.handover, one) for one in seen)
        waits = [waiting_for(one) for one in lacking]
        if applied:
            waits.insert(0, WaitingFor(what="deleted", who="the operator, by `pulumi up`", why=""))
        waits = waits or [WaitingFor(what="settled", who=_SETTLE, why="")]
        return self._thing(demand.identity, "cleaning", name=str(demand), steps=steps, waits=tuple(waits))

    def _past(self, identity: str) -> ReportedThing:
        """What neither the lock nor the store has any more."""
        held, known = self._held.get(identity, ""), self._settled.get(identity)
        if known and known[0] >= held:
            at, thing = known
            return self._settled_thing(identity, at, thing)
        if held and not steps_of(identity):
            return self._thing(identity, "free", at=held, note="nothing has to be seen of it")
        behind = self._behind(identity)
        of_device = self._settled.get(behind) if behind else None
        if held and of_device and of_device[0] >= held and behind:
            steps = tuple(one for one in of_device[1].steps if one.step == SeenStep.UNWIRED)
            if steps:
                note = f"seen with {name_of(self.site, behind)}, which is plugged there"
                return self._thing(identity, "free", at=of_device[0], steps=steps, note=note)
        return self._thing(identity, "not known", note="nothing records that it was settled")

    def _settled_thing(self, identity: str, at: str, thing: SettledThing) -> ReportedThing:
        steps = thing.steps
        name = words_of(thing.about) if thing.about else ""
        if missing := [step for step in steps_of(identity) if step not in {one.step for one in steps}]:
            note = f"nothing records that it was seen {', '.join(missing)}"
            return self._thing(identity, "not known", name=name, steps=steps, note=note)
        if wrong := self._not_erased(identity, steps):
            return self._thing(identity, "not known", name=name, steps=steps, note=wrong)
        return self._thing(identity, "free", at=at, name=name, steps=steps)

    def _not_erased(self, identity: str, steps: tuple[SeenRecord, ...]) -> str:
        """Why cleaning that was seen counts for nothing now."""
        if not {one.step for one in steps} & SANITISING:
            return ""
        held = [assumption(self.site, name) for name in cleaned_by(identity)]
        broken = sorted(str(fact) for state in held for fact in state.broken)
        missing = sorted(str(fact) for state in held for fact in state.missing)
        if broken:
            return f"its cleaning counts for nothing: {', '.join(broken)} is false"
        return f"whether its cleaning counts is not stated: {', '.join(missing)}" if missing else ""

    def _behind(self, identity: str) -> str:
        """The machine or host that is plugged into a switch port; empty for all else, and where nobody knows."""
        node = nodes.parse(identity)
        if not isinstance(node, nodes.HeldSwitchPort):
            return ""
        names = {item.serial: item.name for item in self.site.switches}
        end = self.site.far_end(names.get(node.serial, ""), str(node.number))
        if end is None:
            return ""
        if end.device in self.site.machine:
            return str(nodes.HeldMachine(self.site.machine[end.device].serial))
        return str(nodes.HeldHost(self.site.host[end.device].serial)) if end.device in self.site.host else ""

    def _objects(self) -> Iterator[ReportedThing]:
        last = {(item.kind, item.name): (stay, item) for stay in self._stays for item in stay.objects}
        for stay, item in last.values():
            yield self._object(stay, item)

    def _object(self, stay: Stay, item: GivenObject) -> ReportedThing:
        group, name = OF_KIND.get(item.kind, "others"), f"{item.kind} {item.name}"
        if stay.left:
            seen = f"; state and cloud were seen without it {self._nothing_left}" if self._verdict_needs else ""
            copy = "; a copy was made before, and went with the project" if item.on_delete == "snapshot" else ""
            return self._thing("", "deleted", at=stay.left, name=name, group=group, note=f"not later{copy}{seen}")
        if self.record is None:
            return self._thing("", "not known", name=name, group=group, note="nobody recorded its end")
        if self.request == "present":
            return self._thing("", "in use", name=name, group=group, note="or deleted since, if no plan has it")
        if item.on_delete == "keep":
            waits = WaitingFor(what="say `on_delete: erase`, lock and apply it", who="whoever asks for it", why="")
            note = "kept by `on_delete: keep`; until when, nobody said"
            return self._thing("", "kept", name=name, group=group, note=note, waits=(waits,))
        waits = WaitingFor(what="deleted", who="the operator, by `pulumi up`", why="")
        return self._thing("", "to be deleted", name=name, group=group, waits=(waits,))

    def _thing(
        self,
        identity: str,
        state: Fate,
        *,
        name: str = "",
        group: str = "",
        at: str = "",
        note: str = "",
        steps: tuple[SeenRecord, ...] = (),
        waits: tuple[WaitingFor, ...] = (),
    ) -> ReportedThing:
        return ReportedThing(
            group=group or group_of(identity),
            name=name or name_of(self.site, identity),
            identity=identity,
            state=state,
            at=at,
            note=note,
            steps=steps,
            waits_for=waits,
        )

    def _free_again(self, things: list[ReportedThing]) -> FreeAgain:
        devices = [one for one in things if one.group in ("machines", "hosts")]
        free = [one for one in devices if one.state == "free"]
        unknown = [one for one in devices if one.state == "not known"]
        waiting = [one for one in devices if one not in free and one not in unknown]
        waits = dict.fromkeys(f"{wait.what}: {wait.who}" for one in waiting for wait in one.waits_for)
        limit = self.site.evidence.max_age_h
        seen = [moment(step.at) for one in waiting for step in one.steps]
        until = moment_text(min(seen) + timedelta(hours=limit)) if seen and limit is not None else ""
        return FreeAgain(
            free=len(free),
            waiting=len(waiting),
            not_known=len(unknown),
            since=max((one.at for one in free), default="") if len(free) == len(devices) else "",
            waits_for=tuple(waits),
            settle_before=until,
        )
