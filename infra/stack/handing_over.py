"""Decides whether what a tenant released was seen unwired and cleaned: by evidence, as each kind of identity needs it.

Only evidence that says what it must counts: of this release, on this serial, after the thing was last in use, younger
than the site's limit, not from the future, the steps in their order, and signed by whoever saw it where the site lists
who may sign (`signatures`).
Steps that clean rest on A9 besides, and those of a whole host on A23. A GPU node is accepted besides: measured after
its cleaning, and found to be as its type has to be (`accepting`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from interlock.model.evidence.accepting import FIGURES
from interlock.model.evidence.file import SUBJECTS
from interlock.model.evidence.reading import FOLDER, Sighting
from interlock.model.evidence.steps import BEFORE_USE, SANITISING, STEPS, SeenStep, steps_of
from interlock.model.evidence.values import age_text, moment, moment_text
from interlock.model.lock.record import Released, Replaced, Settled, Untested
from interlock.model.site.inventory import Site
from interlock.vocabulary import nodes
from policies.edges.residue import cleaned_by, lost_segments, still_held
from policies.facts.guards import assumption
from policies.facts.site import SiteFacts

from .acceptance import acceptance_steps, not_enough, unstated
from .signatures import Signatures

#: Stands for the identity of a device that the site file does not list: nobody can say which serial it has.
UNLISTED = ""
#: The fact that says how old evidence may be.
MAX_AGE = "evidence.max_age"


@dataclass(frozen=True)
class Demand:
    """An identity that is to be handed out, and when it was last in use: evidence has to be of later."""

    identity: str
    #: Keys and values that an entry of evidence for it begins with.
    entry: Mapping[str, str | int]
    #: None: nobody recorded it.
    since: datetime | None
    #: What must have been seen, in this order.
    steps: tuple[SeenStep, ...]

    def __str__(self) -> str:
        subject = next(key for key in self.entry if key in SUBJECTS)
        rest = ", ".join(f"{key} {value}" for key, value in self.entry.items() if key != subject)
        return f"{subject.replace('_', ' ')} {self.entry[subject]}" + (f" ({rest})" if rest else "")


@dataclass(frozen=True)
class Lacking:
    """A step that nobody is known to have seen, and why what was written does not count."""

    demand: Demand
    step: SeenStep
    #: Entries about it that do not count, each with the reason.
    because: tuple[str, ...] = ()
    #: The facts of the site that would decide it.
    missing: tuple[str, ...] = ()
    #: Facts that are false, by which a cleaning step cleans nothing.
    refuted: tuple[str, ...] = ()
    #: Entries that would count if somebody who may had signed them.
    unsigned: tuple[Sighting, ...] = ()

    def __str__(self) -> str:
        if self.refuted:
            facts = ", ".join(self.refuted)
            return f"evidence: {self.demand}: `{self.step}` counts for nothing: {facts} is false"
        if self.missing:
            facts = ", ".join(self.missing)
            return f"evidence: {self.demand}: whether `{self.step}` counts is not provable: {facts} is not stated"
        reasons = "".join(f"; {reason}" for reason in self.because)
        return f"evidence: {self.demand}: nobody is known to have seen it {self.step}{reasons}"

    @property
    def can_be_written(self) -> bool:
        """True if an entry of evidence would settle it, and nothing has to be stated in the site file first."""
        return not (self.missing or self.refuted or self.unsigned) and self.demand.identity != UNLISTED

    def line(self) -> str:
        """What to write into a file of evidence, once it was seen."""
        head = ", ".join(f"{key}: {value}" for key, value in self.demand.entry.items())
        figures = f", {FIGURES[self.step]}" if self.step in FIGURES else ""
        return f"{{{head}, step: {self.step}, at: <when>, by: <who>{figures}}}"


@dataclass(frozen=True)
class Handover:
    """What one tenant released, and what was seen of it."""

    site: Site
    tenant: str
    demands: tuple[Demand, ...]
    seen: tuple[Sighting, ...]
    now: datetime
    #: Of the files that `seen` stands in. None: nobody looked, so none counts where the site lists who may sign.
    signatures: Signatures | None = None

    def lacking(self) -> tuple[Lacking, ...]:
        """Every step that is missing, by identity; empty if all may be handed out."""
        return tuple(found for demand in self.demands for found in self._lacking(demand))

    def cleaned(self) -> tuple[Settled, ...]:
        """What rests on A9 from now on: the devices that were cleaned. Ask only where nothing is lacking."""
        found = []
        for demand in self.demands:
            seen = (one for step in demand.steps if step in SANITISING for one in self._about(demand, step))
            last = [one for one in seen if not self._why_not(one, demand, None) and not self._unsigned(one)]
            if last:
                one = max(last, key=lambda item: item.at)
                found.append(Settled(identity=demand.identity, at=moment_text(one.at), by=one.by))
        return tuple(found)

    def counted(self, demand: Demand) -> tuple[Sighting, ...]:
        """The entry that counts for each step of which there is one: the first, as for what is lacking."""
        found, before = list[Sighting](), None
        for step in demand.steps:
            wrong = {one: self._why_not(one, demand, before) for one in self._about(demand, step)}
            wrong = self._until_it_failed(wrong, before)
            if good := [one for one, why in wrong.items() if not why and not self._unsigned(one)]:
                before = min(good, key=lambda one: one.at)
                found.append(before)
        return tuple(found)

    def _lacking(self, demand: Demand) -> Iterator[Lacking]:
        """Steps in their order, each with the first entry that counts: a later one would leave less time for others."""
        before: Sighting | None = None
        for step in demand.steps:
            if step in SANITISING and (lacks := self._not_erasing(demand, step)) is not None:
                yield lacks
                continue
            if silent := unstated(self.site, demand.identity, step):
                yield Lacking(demand, step, missing=silent)
                continue
            if demand.identity == UNLISTED:
                yield Lacking(demand, step, ("the site file does not list it: list it until it is settled",))
                continue
            about = self._about(demand, step)
            wrong = self._until_it_failed({one: self._why_not(one, demand, before) for one in about}, before)
            # Asked only of what counts otherwise: evidence of earlier releases may be signed by nobody any more.
            unsigned = {one: why for one in about if not wrong[one] and (why := self._unsigned(one))}
            good = [one for one in about if not wrong[one] and one not in unsigned]
            if good:
                before = min(good, key=lambda one: one.at)
                continue
            because = tuple(f"{one.position} {wrong[one] or unsigned[one]}" for one in about)
            stated = self.site.evidence.max_age_h is not None
            yield Lacking(demand, step, because, () if stated else (MAX_AGE,), unsigned=(*unsigned,))

    def _until_it_failed(self, wrong: dict[Sighting, str], before: Sighting | None) -> dict[Sighting, str]:
        """What was measured of a GPU node counts for nothing once a later measurement was too little."""
        failed = [one.at for one, why in wrong.items() if why and why == not_enough(self.site, one, before)]
        later = "was seen before a measurement that is not enough"
        return {one: why or (later if failed and one.at <= max(failed) else "") for one, why in wrong.items()}

    def _unsigned(self, one: Sighting) -> str:
        """Why nobody who may has signed an entry; empty if somebody has, or nobody has to."""
        if self.site.evidence.signers is None or one.asked_now:
            return ""
        return "was not looked at: is it signed?" if self.signatures is None else self.signatures.why_not(one, self.now)

    def _not_erasing(self, demand: Demand, step: SeenStep) -> Lacking | None:
        """What keeps a step from cleaning, if it is not known that it does."""
        held = [assumption(self.site, name) for name in cleaned_by(demand.identity)]
        refuted = tuple(str(fact) for state in held for fact in state.broken)
        missing = tuple(str(fact) for state in held for fact in state.missing)
        if refuted:
            return Lacking(demand, step, refuted=refuted)
        return Lacking(demand, step, missing=missing) if missing else None

    def _about(self, demand: Demand, step: SeenStep) -> list[Sighting]:
        """Entries about this identity, or about one of its name with another serial; those of its own release only."""
        name = demand.entry.get("machine") or demand.entry.get("host")
        return [
            one
            for one in self.seen
            if one.step == step and (one.identity == demand.identity or (name and one.name == name))
        ]

    def _why_not(self, one: Sighting, demand: Demand, before: Sighting | None) -> str:
        """Why an entry does not count; empty if it does."""
        limit = self.site.evidence.max_age_h
        if one.identity != demand.identity:
            return "is about another serial"
        if one.released_by != self.tenant:
            return f"is of what {one.released_by} released"
        if one.at > self.now:
            return "is of a time to come"
        if demand.since is None:
            return "cannot be compared: nobody recorded when it was released; `interlock lock` does, then look again"
        if one.at < demand.since:
            return f"is older than the last use, {moment_text(demand.since)}"
        if limit is None:
            return "has no limit of age to be compared with"
        if one.at < self.now - timedelta(hours=limit):
            return f"is older than {age_text(limit)}"
        if before is not None and one.at < before.at:
            return f"comes before it was {before.step}, {moment_text(before.at)}"
        return not_enough(self.site, one, before)


def demands(
    site: Site, released: Collection[Released], freed: Iterable[str], kept: Collection[str], let_go: datetime | None
) -> tuple[Demand, ...]:
    """Every identity that settling hands out, once.

    `freed`: what leaves the lock and the store besides what is `released`. `kept`: what the tenant has all the same.
    `let_go`: when the stack last changed what it has applied; None if nothing of it is known to have been applied.
    """
    facts = SiteFacts(site)
    times: defaultdict[str, list[datetime | None]] = defaultdict(list)
    for entry in released:
        for identity in (*(held for _, held in still_held(facts, entry)), *lost_segments(facts, entry)):
            times[identity].append(_latest((_moment(entry.since), let_go)))
    for identity in freed:
        times[identity] = times[identity] or [let_go]
    wanted = (name for name in sorted(times) if name not in kept and steps_of(name))
    unlisted = sorted({(_LISTS[entry.claim], entry.value) for entry in released if _is_unlisted(site, entry)})
    was = {(_LISTS[entry.claim], entry.serial): entry.value for entry in released if entry.serial}
    # Two vPODs may have released one VLAN, one after the other. A time that nobody recorded may be the latest.
    return (
        *(Demand(UNLISTED, {kind: name, "serial": "?"}, None, _STEPS_OF[kind]) for kind, name in unlisted),
        *(
            Demand(
                name,
                entry_of(site, name, was),
                _last_use(times[name]),
                (*steps_of(name), *acceptance_steps(site, name)),
            )
            for name in wanted
        ),
    )


def tests_before_use(site: Site, replaced: Iterable[Replaced | Untested]) -> tuple[Demand, ...]:
    """What a lock's devices that stand where others stood want before they are used: each its own self-test.

    A GPU node is accepted besides.
    """
    return tuple(
        Demand(
            identity,
            {_LISTS[one.claim]: one.device, "serial": one.serial},
            moment(one.since),
            (BEFORE_USE[type(nodes.parse(identity))], *acceptance_steps(site, identity)),
        )
        for one in replaced
        for identity in (identity_of(one),)
    )


def identity_of(one: Replaced | Untested) -> str:
    """The exclusive identity of the new device."""
    return str(nodes.HeldMachine(one.serial) if one.claim == "machines" else nodes.HeldHost(one.serial))


#: Claim on devices -> what evidence calls one.
_LISTS = {"machines": "machine", "hosts": "host"}
_STEPS_OF = {"machine": STEPS[nodes.HeldMachine].steps, "host": STEPS[nodes.HeldHost].steps}


def _is_unlisted(site: Site, entry: Released) -> bool:
    """True for a device that left the site file before it was settled: under another name it may come back unseen."""
    return (entry.claim == "machines" and entry.value not in site.machine) or (
        entry.claim == "hosts" and entry.value not in site.host
    )


def entry_of(site: Site, identity: str, was: Mapping[tuple[str, str], str] | None = None) -> dict[str, str | int]:
    """What an entry of evidence says of an identity besides the step.

    `was`: (kind, serial) -> the name of a device that stands nowhere on the site any more, or under another one.
    """
    was = was or {}
    machines = {item.serial: item.name for item in site.machines}
    hosts = {item.serial: item.name for item in site.hosts}
    match nodes.parse(identity):
        case nodes.HeldMachine(serial):
            return {"machine": machines.get(serial, was.get(("machine", serial), "?")), "serial": serial}
        case nodes.HeldHost(serial):
            return {"host": hosts.get(serial, was.get(("host", serial), "?")), "serial": serial}
        case nodes.HeldSwitchPort(serial, number):
            return {"switch_port": number, **_switch(site, serial)}
        case nodes.HeldSegment(segment):
            return _segment(site, segment)
        case nodes.ShareAddressNode(_, address):
            return {"storage_vip": address}
        case nodes.PartitionKeyNode(prefix, key):
            names = {item.prefix: item.name for item in site.infiniband}
            return {"partition_key": f"{key:#06x}", "infiniband": names.get(prefix, "?")}
        case nodes.InfinibandPortNode(guid):
            return {"guid": guid}
        case nodes.NvlinkPartitionNode(domain, number):
            return {"nvlink_partition": number, "domain": domain}
        case nodes.GpuNode(domain, name):
            return {"gpu": name, "domain": domain}
        case _:
            raise TypeError(f"{identity} is nothing that can be handed out")


def first_lacking(handover: Handover) -> frozenset[tuple[str, SeenStep]]:
    """(identity, step) that is to be seen next, of each identity that lacks any."""
    found: dict[str, SeenStep] = {}
    for one in handover.lacking():
        found.setdefault(one.demand.identity, one.step)
    return frozenset(found.items())


def file_of(tenant: str) -> str:
    """Where evidence for a tenant's release is best written, below the site's folder."""
    return f"{FOLDER}/{tenant}.yaml"


def _switch(site: Site, serial: str) -> dict[str, str | int]:
    names = {item.serial: item.name for item in site.switches}
    return {"switch": names.get(serial, "?"), "serial": serial}


def _segment(site: Site, segment: str) -> dict[str, str | int]:
    match nodes.parse(segment):
        case nodes.VlanNode(bridge, number):
            bridges = {str(nodes.SwitchBridge(item.serial)): item.serial for item in site.switches}
            return {"vlan": number, **_switch(site, bridges.get(bridge, bridge))}
        case nodes.OverlayNode(_, _, number):
            return {"vni": number}
        case _:
            raise TypeError(f"{segment} is no segment")


def _moment(text: str) -> datetime | None:
    return moment(text) if text else None


def _last_use(times: Collection[datetime | None]) -> datetime | None:
    """The latest; None if nobody recorded one of them, for that may be later."""
    return None if None in times else _latest(times)


def _latest(times: Iterable[datetime | None]) -> datetime | None:
    """The latest that is known."""
    return max((time for time in times if time is not None), default=None)
