"""From files to a proof: load, plan, prove. The program, `interlock` and the demo all come through here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from infra.locking.index import IndexedReader
from infra.program import claiming
from infra.reports.finding_places import FindingPlaces
from interlock.model.fleet import default_site
from interlock.model.load import (
    Code,
    InputError,
    InputErrors,
    Workspace,
    load_workspace,
    require_fresh_lock,
    require_fresh_site_lock,
)
from interlock.model.lock.files import LockReader, read_locks
from interlock.model.lock.record import Footprint, Lock, SiteLock
from interlock.model.site.service_networks import service_networks
from interlock.model.tenant.request import Tenant
from interlock.model.text.validation import nearest
from interlock.model.waivers import Waiver
from interlock.planning import (
    Plan,
    PlanningError,
    SiteHashes,
    plan_site,
    request_hash,
    stated_existing,
)
from interlock.resources import Admission, Admitted
from interlock.store.records import Taking
from interlock.vocabulary import InterlockError, StackName
from interlock.vocabulary.digests import Digest
from interlock.vocabulary.errors import ErrorKind
from policies import RULES, Judgement, Proof, admission, prove
from policies.facts.site import SiteFacts
from policies.findings.waivers import NotWaivable, not_waivable, without_rule
from policies.footprints.neighbours import Neighbours
from policies.judging import Seen, judged, operators_part, seen_by

from .claiming import Applied
from .derived import DerivedLocks, Planner, require_noted_keys
from .places import PROOFS, index_of, stacks
from .site_objects import SiteStanding, standing


class NotPlanned(InterlockError):
    """A request that cannot be fulfilled.

    Codes: PL-001 it contradicts itself or the site, PL-002 no room, PL-003 only if something moves.
    """

    kind = ErrorKind.INPUT

    def __init__(self, position: str, error: PlanningError) -> None:
        super().__init__(error.what, error.hint, place=position, code=error.CODE)


@dataclass(frozen=True)
class Judged:
    """A plan, and what the rules say of it."""

    plan: Plan
    judgement: Judgement


@dataclass(frozen=True)
class Gate:
    """One site with all its requests and locks, and what follows. Where a tenant is None: the operator."""

    workspace: Workspace
    #: What the operator's store holds; None: nobody looked.
    applied: Applied | None = None

    @classmethod
    def open(cls, site: str, locks: LockReader = read_locks) -> Gate:
        """Load a site's folder, named from `places.stacks()`. Raises `InputErrors`."""
        return cls(load_workspace(stacks(), site, locks))

    def with_applied(self) -> Gate:
        """The same, looking at what is applied as well. Raises `StoreFailed` if the store cannot be read."""
        site = self.workspace.site
        return replace(self, applied=Applied.read(site.claims, site.name, site.region))

    @classmethod
    def indexed(cls, site: str) -> Gate:
        """As `open`, with the locks read through their index: the same result, sooner where there are many."""
        return cls.open(site, IndexedReader(index_of(site)))

    @cached_property
    def hashes(self) -> SiteHashes:
        """The hashes of the site and its slices, each made once."""
        return SiteHashes(self.workspace.site)

    @cached_property
    def facts(self) -> SiteFacts:
        """The site as the proof reads it."""
        return SiteFacts(self.workspace.site)

    def stack(self, tenant: str | None) -> str:
        """Name of a stack of this site."""
        return str(StackName(self.workspace.site.name, tenant))

    def stacks(self) -> Iterator[str | None]:
        """The operator's stack, then every tenant's, by id."""
        yield None
        yield from sorted(self.workspace.tenants)

    def tenant(self, name: str) -> Tenant:
        """A tenant's request. Raises `InputErrors`, naming the nearest, if there is none of this name."""
        if name in self.workspace.tenants:
            return self.workspace.tenants[name]
        file = self.workspace.shown(self.workspace.folder / "tenants" / f"{name}.yaml")
        hint = nearest(name, self.workspace.tenants)
        if name in self.workspace.locks:
            hint = "its lock holds no claim any more: delete it, or restore the file"
        raise InputErrors([InputError(Code.NO_FILE, file, f"there is no tenant `{name}`", hint)])

    def plan(self, tenant: str | None) -> Plan:
        """The plan of one stack.

        Raises `InputErrors` if there is no such tenant, or a lock is missing or older than its inputs, and
        `NotPlanned` if the request cannot be had.
        """
        # A wrong name is told first: new locks would not mend it.
        request = None if tenant is None else self.tenant(tenant)
        hashes = self.hashes
        if request is None:
            with self.placed(None):
                self.standing.require_unchanged()
            return self._operators_plan
        self._fresh_site_lock()
        with self.placed(tenant):
            require_fresh_lock(self.workspace, request.id, request_hash(request), hashes.slice_hash)
            return self._planner.plan(request.id)

    @cached_property
    def _planner(self) -> Planner:
        return Planner(self.workspace, self.facts)

    @cached_property
    def held(self) -> DerivedLocks:
        """The locks of all tenants with what they hold, derived; every verdict and every claim rests on these alone.

        Raises `InputErrors` as `plan` does where the site's own lock is missing or old, and where it notes former login
        keys that their tenant's lock has not.
        """
        require_noted_keys(self.workspace, self._fresh_site_lock())
        return DerivedLocks(self._planner, self._is_fresh)

    def _fresh_site_lock(self) -> SiteLock:
        """The site's own lock. Raises `NotPlanned` before it says that a lock is old: a new one would not mend that."""
        with self.placed(None):
            stated_existing(self.workspace.site)
        return require_fresh_site_lock(self.workspace, self.hashes.whole)

    def _is_fresh(self, lock: Lock) -> bool:
        made_for = (request_hash(self.workspace.tenants[lock.id]), self.hashes.slice_hash(lock.allocation))
        return (lock.request, lock.site) == made_for

    @cached_property
    def _operators_plan(self) -> Plan:
        kept = self.standing.kept
        with self.placed(None):
            return plan_site(self.workspace.site, self._fresh_site_lock(), kept) if kept else self._planned_site

    @cached_property
    def _planned_site(self) -> Plan:
        """As the site file has it: without what is kept."""
        site_lock = self._fresh_site_lock()
        with self.placed(None):
            return plan_site(self.workspace.site, site_lock)

    @cached_property
    def standing(self) -> SiteStanding:
        """What of the operator's stack tenants' applied stacks use; nothing is known of it if nobody looked."""
        records = self.applied.records if self.applied is not None else {}
        return standing(records, self._planned_site, self.workspace.site.existing)

    @contextmanager
    def placed(self, tenant: str | None) -> Iterator[None]:
        """Give a planning error the place of the request that it is about."""
        try:
            yield
        except PlanningError as error:
            raise NotPlanned(self.workspace.position(*error.path, tenant=tenant), error) from error

    def judge(self, tenant: str | None) -> Judged:
        """One stack's plan, and what the rules say of it beside everybody else."""
        return self.look(tenant)[0]

    def look(self, tenant: str | None) -> tuple[Judged, Seen]:
        """The same with the model that it was made of, for whoever asks more: a certificate, the steps of a witness."""
        return self.look_at(self.plan(tenant))

    def look_at(self, plan: Plan) -> tuple[Judged, Seen]:
        """The same of another plan for a stack of this site, such as what really is there."""
        own = self._planner.read(plan)
        seen = seen_by(self.facts, plan, self.neighbours, self._applied_of(plan), own=own)
        return Judged(plan, judged(seen, plan, waivers=self.waivers(plan.tenant), suggest=True)), seen

    def prove(self, tenant: str | None) -> Proof:
        """The proof of one stack, beside every lock there is: what is applied rests on no index. Raises `NotProved`."""
        site, plan, waivers = self.workspace.site, self.plan(tenant), self.waivers(tenant)
        return prove(site, plan, self.locks, applied=self._applied_of(plan), waivers=waivers, suggest=True)

    def footprint(self, plan: Plan) -> Footprint:
        """What others could collide with in a plan of this site, and in what its owner released."""
        return (self.held[plan.tenant] if plan.tenant else self.operators).footprint

    def _applied_of(self, plan: Plan) -> Footprint | None:
        return None if self.applied is None else self.applied.of(plan.stack, self.footprint(plan))

    def taking(self, proof: Proof) -> Taking | None:
        """What a proved stack takes in the operator's store; None if nobody looked at it."""
        if self.applied is None:
            return None
        plan, locks = proof.plan, (*self.held.values(), self.operators)
        known = self.applied.versions(locks, self.workspace.site.name)
        return claiming.taking(self.facts, proof, self._serial(plan), self.footprint(plan), known)

    def _serial(self, plan: Plan) -> int:
        if plan.tenant:
            return self.workspace.locks[plan.tenant].serial
        return self._fresh_site_lock().serial

    def waivers(self, tenant: str | None) -> tuple[Waiver, ...]:
        """Those of a tenant's request, or of the site file.

        Raises `InputErrors` for each that nobody may have, and for each of a rule that there is not.
        """
        waivers = (self.workspace.site if tenant is None else self.tenant(tenant)).waivers
        faults = [self._not_waivable(tenant, error) for error in not_waivable(waivers, RULES)]
        faults += [
            InputError(Code.NO_SUCH, self._of_waiver(tenant, rule), f"there is no rule `{rule}`", hint)
            for rule, hint in without_rule(waivers, RULES).items()
        ]
        if faults:
            raise InputErrors(faults)
        return waivers

    def _not_waivable(self, tenant: str | None, error: NotWaivable) -> InputError:
        position = self._of_waiver(tenant, error.waiver.rule)
        hint = "remove it; to share a device, declare it under `sharing` of the site, and the declaration is proved"
        return InputError(Code.VALUE, position, error.what, hint)

    def _of_waiver(self, tenant: str | None, rule: str) -> str:
        return self.workspace.position("waivers", rule, tenant=tenant)

    @property
    def explained_by(self) -> str:
        """The folder that `interlock explain` has to be told; empty where that is what it takes by itself."""
        folder = self.workspace.folder.relative_to(stacks()).as_posix()
        try:
            usual = os.environ.get("INTERLOCK_SITE") or default_site(stacks())
        except InputErrors:
            return folder
        return "" if folder == usual else folder

    def places(self, plan: Plan) -> FindingPlaces:
        """Where what findings about a plan are about stands."""
        return FindingPlaces(self.workspace, plan)

    @cached_property
    def neighbours(self) -> Neighbours:
        """The same by what they mention: each stack is judged beside those that it can meet."""
        return Neighbours.of(self.facts, self.locks)

    @cached_property
    def stated(self) -> tuple[Admitted, ...]:
        """What the site states of the objects under `existing:`, whose live fields are compared with it."""
        with self.placed(None):
            lock = self.workspace.site_lock
            return stated_existing(self.workspace.site, lock.services if lock is not None else {})

    @cached_property
    def operators(self) -> Lock:
        """The operator's own plan, as tenants' plans are judged beside it."""
        return operators_part(self.facts, self._operators_plan)

    @cached_property
    def locks(self) -> list[Lock]:
        """The operator's part and the locks of everybody, those without a request included, and what is applied."""
        locks = [*(lock for _, lock in sorted(self.held.items())), self.operators]
        return self.applied.beside(locks, self.workspace.site.name) if self.applied else locks

    def admission(self, proof: Proof) -> Admission:
        """The proof as the provider takes it."""
        site, taken = self.workspace.site, self.taking(proof)
        return admission(
            proof,
            first=claiming.declared(taken, site.claims) if taken else None,
            claims=taken.model_dump(mode="json") if taken else None,
            cloud=site.cloud,
            region=site.region,
            site_folder=str(self.workspace.folder.resolve()),
            existing=site.existing,
            stated=self.stated,
            virtual_functions={host.name: host.virtual_functions for host in site.hosts},
            dedicated_cpus={host.name: host.dedicated_cpus for host in site.hosts},
            huge_pages={host.name: host.huge_pages_gib for host in site.hosts},
            conductor_group=site.ironic.conductor_group if site.ironic else "",
            service_networks={host: network.name for host, network in service_networks(site).items()},
        )


def keep_copy(proof: Proof, admitted: Admission, proofs: Path = PROOFS) -> Path:
    """Write the proof where the policy pack and people find it: `.interlock/proofs/<stack>/<hash>.json`."""
    folder = proofs / proof.plan.stack
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{Digest.parse(proof.plan.hash).hex}.json"
    document = {
        "plan_hash": proof.plan.hash,
        "proof_hash": proof.hash,
        "judgement": proof.judgement.model_dump(mode="json"),
        "admission": admitted.model_dump(mode="json"),
    }
    # Put in place at once: another run of the same stack may be reading.
    draft = path.with_suffix(f".{os.getpid()}.draft")
    draft.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    return draft.replace(path)
