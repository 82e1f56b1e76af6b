"""Compares a site's live cloud with what was proved: the cloud is read once, then compared stack by stack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from infra.break_glass.open_entries import OpenGlass
from infra.program.claiming import version
from infra.program.gate import Gate
from infra.switches.survey import Survey
from interlock.model.site.inventory import Site
from interlock.planning import Plan
from interlock.provider.audit.asked import ONE_BY_ONE, REQUESTS, Asked
from interlock.provider.audit.at_controllers import ControllerNote, notes, strangers
from interlock.provider.audit.buckets import buckets
from interlock.provider.audit.controllers import LISTS_OF_CONTROLLER, ReadController, read_controllers
from interlock.provider.audit.listing import Listed, listed, planned_unread
from interlock.provider.audit.mirror import Mirror
from interlock.provider.audit.partitions import partitions
from interlock.provider.audit.quotas import quotas
from interlock.provider.audit.standing import Expected, StackReader, Standing
from interlock.provider.audit.unmanaged import SegmentPool, Territory, UnmanagedResource, unmanaged
from interlock.provider.clouds import Cloud
from interlock.provider.existing import Comparison, comparisons
from interlock.resources import Admitted
from interlock.store.records import StackRecord
from interlock.switches.findings import DIFFERENCES, FindingKind, SwitchFinding
from interlock.ufm.findings import CableFinding
from policies import Judgement
from policies.judging import Seen
from policies.statement import Statement, statement

from .controllers import controller_places, told_by_hand
from .observed_plan import ObservedPlan, observed_plan
from .words import Words

#: Stands before the controllers that nobody asks.
UNCHECKED = (
    "V-IPU controllers are told by hand (`controller.managed_by` of the site), so nobody asked what they were told"
)


@dataclass(frozen=True)
class Live:
    """What the rules say of a stack as it really is."""

    judgement: Judgement
    #: Facts about packets, identities and calls that are there and were not proved, and the other way round.
    new: tuple[str, ...]
    gone: tuple[str, ...]
    #: Unmanaged resources at the stack that no plan can hold: the rules did not judge them.
    not_expressible: tuple[str, ...]


@dataclass(frozen=True)
class StackAudit:
    """One stack."""

    plan: Plan
    #: The judgement of what is committed.
    judgement: Judgement
    standings: tuple[Standing, ...]
    #: Unmanaged resources at it, and what is its own and not in its plan.
    unmanaged: tuple[UnmanagedResource, ...]
    #: What the claims store says of it.
    record: StackRecord | None
    #: True if the store says that something other than what is committed is applied, or may be.
    is_behind: bool
    #: None: nothing differs, or no plan can hold what is there.
    live: Live | None = None
    #: What its ids mean, for who judges parts of what differs; None: of a report that somebody made by hand.
    words: Words | None = field(default=None, compare=False, repr=False)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Controllers that a person tells what it has for them, and that nobody asked."""
        return told_by_hand(self.plan) if self.is_applied else ()

    @property
    def is_applied(self) -> bool:
        """False if neither the store nor the cloud knows of it: it is committed, and nobody applied it."""
        return self.record is not None or any(item.ids for item in self.standings)

    @property
    def drift(self) -> list[Standing]:
        """What is not as planned."""
        return [item for item in self.standings if item.has_drifted] if self.is_applied else []

    @property
    def made_by_earlier_plans(self) -> list[Standing]:
        """What keeps something that it was made with, where the plan says something else for new ones."""
        return [item for item in self.standings if item.is_other_than_planned and not item.has_drifted]


@dataclass(frozen=True)
class Audit:
    """A whole site."""

    site: str
    cloud: str
    stacks: tuple[StackAudit, ...]
    unmanaged: tuple[UnmanagedResource, ...]
    #: What nobody could read -> why.
    unread: Mapping[str, str]
    requests: int
    objects: int
    #: Objects of `existing:`, each beside what the site file states of it.
    existing: tuple[Comparison, ...] = ()
    #: Where a switch says something else than the site file and the applied plans.
    switches: tuple[SwitchFinding, ...] = ()
    #: Where an InfiniBand subnet is cabled otherwise than the site file says, and nodes that are off.
    cables: tuple[CableFinding, ...] = ()
    #: Where a subnet manager is not set as a guard of A6 says that it is.
    managers: tuple[str, ...] = ()
    #: What V-IPU controllers have that is no finding.
    notes: tuple[ControllerNote, ...] = ()
    #: What is open of changes by hand, at any stack of the site.
    break_glass: tuple[OpenGlass, ...] = ()

    @property
    def unchecked(self) -> str:
        """What was not asked, and why; empty if there is no such thing."""
        names = [name for stack in self.stacks for name in stack.unchecked]
        return f"{UNCHECKED}: {', '.join(names)}" if names else ""

    @property
    def has_drifted(self) -> bool:
        """True if anything is not as it was proved."""
        stacks = any(item.drift or (item.is_applied and item.is_behind) for item in self.stacks)
        others = any(item.has_drifted for item in self.existing) or bool(self.switches or self.managers)
        cables = any(item.is_difference for item in self.cables)
        by_hand = any(item.is_finding for item in self.break_glass)
        return stacks or bool(self.unmanaged) or others or cables or by_hand


#: What reads the switches of a site: `survey_of_audit`, or what a test puts in its place.
ReadSwitches = Callable[[Gate, Container[str], Callable[[str], None]], Survey]


def with_switches(found: Audit, gate: Gate, read: ReadSwitches, say: Callable[[str], None] = lambda _: None) -> Audit:
    """The audit with what the switches say of the stacks that are applied. Raises `InputErrors` for `switches.yaml`."""
    applied = {stack.plan.stack for stack in found.stacks if stack.is_applied}
    survey = read(gate, applied, say)
    differences = tuple(finding for finding in survey.findings if finding.found in DIFFERENCES)
    unknown = {finding.where: str(finding) for finding in survey.findings if finding.found is FindingKind.UNKNOWN}
    unread = {f"switch {name}": f"{error.what}; {error.hint}" for name, error in survey.unread.items()}
    return replace(found, switches=differences, unread={**found.unread, **unread, **unknown})


def audit(gate: Gate, cloud: Cloud, say: Callable[[str], None] = lambda _: None) -> Audit:
    """Read the cloud, and hold every stack of the site against it. `gate` has looked at the store.

    Raises `Failure` if the cloud fails, `Refused` if it is another cloud or region than that of the claims,
    `InputErrors` or `NotPlanned` if a stack has no plan.
    """
    site = gate.workspace.site
    # Wrong input is told before anybody is asked.
    plans = [gate.plan(tenant) for tenant in gate.stacks()]
    if gate.applied is not None:
        gate.applied.check_cloud(cloud.login.fingerprint)
    by_stack = {plan.stack: plan for plan in plans}
    expected = {plan.stack: _expected(gate, plan) for plan in plans}
    kinds = {item.kind for one in expected.values() for item in (*one.resources, *one.stated)}
    found = planned_unread(listed(cloud, say=say), cloud, kinds)
    controllers = read_controllers(cloud, controller_places(expected.values(), found))
    readers = {
        stack: StackReader(Mirror(cloud, found), found, one, controllers=controllers) for stack, one in expected.items()
    }
    standings = {stack: reader.standings() for stack, reader in readers.items()}
    opened: list[UnmanagedResource] = []
    asked = {kind: [one for plan in plans for one in _asked(kind, plan, readers[plan.stack])] for kind in ONE_BY_ONE}
    for one, standing, rights in buckets(cloud, asked["Bucket"]):
        standings[one.stack].append(standing)
        opened += rights
    alone = (partitions(cloud, asked["PartitionKey"]), quotas(cloud, (*asked["Quota"], *asked["ShareQuota"])))
    for one, standing in chain.from_iterable(alone):
        standings[one.stack].append(standing)
    strange = [one for read in controllers.values() for one in strangers(read)]
    beside = (*unmanaged(_territory(site, plans, standings), found), *opened, *strange)
    stated = readers[gate.stack(None)]
    existing = tuple(comparisons(stated.mirror, stated.expected, found.unread))
    return Audit(
        site=site.name,
        cloud=site.cloud,
        stacks=tuple(
            _stack(
                gate,
                Words(plan, by_stack, standings, found, controllers),
                [one for one in beside if one.stack == plan.stack],
            )
            for plan in plans
        ),
        unmanaged=beside,
        unread=_unread(found, existing, standings, controllers.values()),
        requests=found.requests
        + sum(REQUESTS[kind] * len(ones) for kind, ones in asked.items())
        + sum(LISTS_OF_CONTROLLER for read in controllers.values() if not read.unread),
        objects=len(found) + sum(map(len, asked.values())) + sum(read.objects for read in controllers.values()),
        existing=existing,
        notes=tuple(note for read in controllers.values() for note in notes(read)),
    )


def _unread(
    found: Listed,
    existing: Iterable[Comparison],
    standings: Mapping[str, list[Standing]],
    controllers: Collection[ReadController],
) -> dict[str, str]:
    """What nobody could read -> why. Of a controller one line tells, and not one for each object at it."""
    silent = {read.silence for read in controllers if read.unread}
    every = (item for items in standings.values() for item in items)
    return {
        **found.unread,
        **{f"existing {item.object}": item.unknown for item in existing if item.unread},
        **{read.label: read.unread for read in controllers if read.unread},
        **{item.name: item.unread for item in every if item.unread and item.unread not in silent},
    }


def _expected(gate: Gate, plan: Plan) -> Expected:
    planned = (
        Admitted(name=item.name, kind=item.resource.KIND, spec=item.resource.canonical())
        for item in plan.resources
        if item.resource.is_declared
    )
    existing, folder = gate.workspace.site.existing, str(gate.workspace.folder.resolve())
    record = gate.applied.records.get(plan.stack) if gate.applied else None
    persons = record.persons if record else {}
    return Expected(
        plan.stack, plan.owner, plan.site_owner, existing, folder, tuple(planned), stated=gate.stated, persons=persons
    )


def _asked(kind: str, plan: Plan, reader: StackReader) -> Iterator[Asked]:
    for item in reader.expected.resources:
        if item.kind == kind:
            yield Asked(plan.stack, item, reader.ids.get(item.spec.get("project", ""), ""))


def _territory(site: Site, plans: Iterable[Plan], standings: Mapping[str, list[Standing]]) -> Territory:
    known: defaultdict[str, dict[str, str]] = defaultdict(dict)
    open_networks: set[str] = set()
    stacks, planned = dict[str, str](), dict[str, frozenset[tuple[str, str]]]()
    for plan in plans:
        stacks[plan.owner] = plan.stack
        planned[plan.owner] = frozenset((item.resource.KIND, item.name) for item in plan.resources)
        for item in standings[plan.stack]:
            known[item.kind].update(dict.fromkeys(item.ids, plan.stack))
            spec: Any = plan.by_name[item.name].resource
            if item.kind == "Network" and (spec.external or spec.shared):
                open_networks.update(item.ids)
    hosts = frozenset(host.name for host in site.hosts)
    return Territory(stacks, planned, known, frozenset(open_networks), hosts, _pools(site))


def _pools(site: Site) -> tuple[SegmentPool, ...]:
    pools = site.pools
    vlans = (
        SegmentPool(name, "vlan", pool.physical_networks, pool.vlans) for name, pool in pools.vlans_by_name.items()
    )
    return (*vlans, SegmentPool("control", "vxlan", (), pools.control))


def _stack(gate: Gate, words: Words, beside: Iterable[UnmanagedResource]) -> StackAudit:
    plan, standings = words.plan, tuple(words.standings[words.plan.stack])
    judged, seen = gate.look_at(plan)
    applied = gate.applied
    record = applied.records.get(plan.stack) if applied else None
    wanted = version(gate.footprint(plan))
    behind = record is not None and any(entry.digest != wanted for entry in record.entries)
    found = StackAudit(plan, judged.judgement, standings, tuple(beside), record, behind, words=words)
    if not (found.is_applied and (found.drift or found.made_by_earlier_plans or found.unmanaged)):
        return found
    return replace(found, live=_live(gate, seen, observed_plan(words, found.unmanaged)))


def _live(gate: Gate, committed: Seen, real: ObservedPlan | None) -> Live | None:
    if real is None:
        return None
    judged, seen = gate.look_at(real.plan)
    before, after = _facts(statement(committed.model)), _facts(statement(seen.model))
    return Live(judged.judgement, _in_words(after - before), _in_words(before - after), real.not_expressible)


def _in_words(facts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(" ".join(fact) for fact in facts))


def _facts(said: Statement) -> set[tuple[str, ...]]:
    """Everything in a statement that is not about files: relation and what it joins."""
    values = said.model_dump(mode="json", exclude={"owner", "guards", "evidence", "terminals"})
    return {(relation, *row) for relation, value in values.items() for row in _rows(value)}


def _rows(value: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        yield from ((key, *row) for key, inner in value.items() for row in _rows(inner))
    elif isinstance(value, list):
        yield from (row for inner in value for row in ([tuple(inner)] if isinstance(inner, list) else _rows(inner)))
    else:
        yield (str(value),)
