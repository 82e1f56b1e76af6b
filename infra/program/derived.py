"""What each lock holds of the boundary, derived from request, claims and site: no verdict rests on a lock's own word.

A footprint in a lock file can be emptied and the file sealed again; whoever can do that can make any digest beside it
as well. Claims, on the other hand, are choices that follow from nothing, so they are read from the file; what they come
to on the wire is computed here (docs/design/semantics.md §9, docs/design/decisions.md 38).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from infra.locking.slices import Slices
from interlock.model.load import Code, InputError, InputErrors, Workspace
from interlock.model.lock.record import Footprint, Lock, SiteLock
from interlock.planning import Plan, PlanningError, plan_tenant, request_hash
from interlock.planning.former_keys import not_in_locks
from policies import footprint
from policies.facts.site import SiteFacts
from policies.footprints.applied import joined
from policies.footprints.boundary import footprint_of
from policies.judging import Read, read

#: Plans that are kept, with what they bring: a run that judges all tenants needs each twice. Later ones are made again,
#: or thousands of tenants would lie in memory at once.
KEPT = 128


@dataclass(frozen=True)
class Planner:
    """Plans tenants from their locks, and reads the plans as facts; the first `KEPT` once each."""

    workspace: Workspace
    facts: SiteFacts
    _plans: dict[str, Plan] = field(default_factory=dict)
    _reads: dict[str, Read] = field(default_factory=dict)

    def plan(self, tenant: str) -> Plan:
        """The plan of a tenant by its lock, fresh or not. Raises PlanningError where they do not fit each other."""
        space, found = self.workspace, self._plans.get(tenant)
        if found is None:
            assert space.site_lock is not None, "whoever plans looks at the site's lock first"
            found = plan_tenant(space.site, space.site_lock, space.tenants[tenant], space.locks[tenant])
            if len(self._plans) < KEPT:
                self._plans[tenant] = found
        return found

    def read(self, plan: Plan) -> Read:
        """What a plan states and brings to the site."""
        name = plan.tenant or ""
        if self._plans.get(name) is not plan:  # not kept, or what an audit saw
            return read(self.facts, plan)
        if name not in self._reads:
            self._reads[name] = read(self.facts, plan)
        return self._reads[name]


class DerivedLocks(Mapping[str, Lock]):
    """The locks of a site's tenants with footprints that were derived now; `unlike` names those whose files differ.

    A lock that is older than its request or its site is judged by both: what follows from the inputs as they are, and
    what its file says of them as they were. Asking for one raises `InputErrors` if the lock fits its request so little
    that no plan follows. Where there is no request, nothing can be derived: such a lock holds no claim (the workspace
    refuses any other), and to empty its footprint is no more than to delete the file.
    """

    def __init__(self, planner: Planner, is_fresh: Callable[[Lock], bool]) -> None:
        self.planner = planner
        self.is_fresh = is_fresh
        self.files = planner.workspace.locks
        self.slices = Slices(planner.workspace.site)
        self.unlike: dict[str, None] = {}
        self._known: dict[str, Lock] = {}

    def __getitem__(self, name: str) -> Lock:
        if name not in self._known:
            self._known[name] = self._derived(self.files[name])
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def notes(self) -> Iterator[str]:
        """A line for each lock whose file says something else than what follows, of those asked for so far."""
        space = self.planner.workspace
        for name in self.unlike:
            file = space.shown(space.lock_file(name))
            yield f"note: {file}: its footprint is not what follows, which is judged: run `interlock lock {name}`"

    def _derived(self, lock: Lock) -> Lock:
        if lock.id not in self.planner.workspace.tenants:
            return lock
        self._require_listed(lock)
        plan = self._plan(lock)
        share = self.planner.read(plan).share
        quick = footprint_of(self.planner.facts, share, lock.released, lock.former_keys, unknown=False)
        if quick == lock.footprint.model_copy(update={"unknown": ()}):
            return lock  # all but the words for readers follows
        self.unlike[lock.id] = None
        found = self._whole(lock, plan)
        if not self.is_fresh(lock):
            found = joined([found, lock.footprint])
        return lock.model_copy(update={"footprint": found}).sealed()

    def _require_listed(self, lock: Lock) -> None:
        """Raises `InputErrors` where what was released is no device of the site: nobody could say whose it is now."""
        space = self.planner.workspace
        names: dict[str, Mapping[str, object]]
        names = {"machines": space.site.machine}
        names |= dict.fromkeys(("hosts", "heads", "controller_host"), space.site.host)
        gone = [entry for entry in lock.released if entry.claim in names and entry.value not in names[entry.claim]]
        if gone:
            position = space.shown(space.lock_file(lock.id))
            named = ", ".join(sorted({entry.value for entry in gone}))
            message = f"`{lock.id}` released {named}, and the site file lists no such device"
            hint = "list it, with its serial, until `interlock settle` has handed it out; if it was renamed, name it so"
            raise InputErrors([InputError(Code.NO_SUCH, position, message, hint)])

    def _whole(self, lock: Lock, plan: Plan) -> Footprint:
        """As `interlock lock` writes it: stores and proofs name a footprint by its very bytes."""
        return footprint(self.slices.around(lock.allocation, lock.released), plan, lock.released, lock.former_keys)

    def _plan(self, lock: Lock) -> Plan:
        try:
            return self.planner.plan(lock.id)
        except PlanningError as error:
            raise InputErrors([self._underivable(lock, error)]) from error

    def _underivable(self, lock: Lock, error: PlanningError) -> InputError:
        space = self.planner.workspace
        position = space.shown(space.lock_file(lock.id))
        is_old = lock.request != request_hash(space.tenants[lock.id])
        message = f"what `{lock.id}` holds beside others cannot be derived from its lock and request: {error.what}"
        hint = f"run `interlock lock {lock.id}`, or restore what its request said when it was locked"
        return InputError(Code.LOCK_OLDER_THAN_REQUEST if is_old else Code.LOCK_EDITED, position, message, hint)


def require_noted_keys(workspace: Workspace, site_lock: SiteLock) -> None:
    """Raises `InputErrors` where a tenant's lock was deleted, or made again, without its former login keys (SEC-05).

    Judged without them, another tenant would get such a key. A tenant that never had a lock has none noted.
    """
    faults = []
    for name, lost in not_in_locks(site_lock, workspace.locks):
        position, keys = workspace.shown(workspace.lock_file(name)), ", ".join(one.fingerprint for one in lost)
        is_there = name in workspace.locks
        what = "does not note former" if is_there else "is not there, and with it went former"
        message = f"the lock of `{name}` {what} ssh key {keys}, which its servers may still let in"
        hint = f"run `interlock lock {name}`, which takes the key over"
        hint = hint if is_there else f"restore it with `git checkout -- {position}`, or {hint}"
        faults.append(InputError(Code.LOCK_EDITED if is_there else Code.LOCK_MISSING, position, message, hint))
    if faults:
        raise InputErrors(faults)
