"""Writes the locks of one run of `interlock lock`: computed over one allocation state, written at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from infra.locking.slices import Slices
from infra.locking.ways_out import WayOut
from infra.program.claiming import Applied
from infra.program.gate import Gate
from interlock.model.evidence.values import moment_text
from interlock.model.load import dump_lock
from interlock.model.lock.record import Allocation, Footprint, FormerKey, Lock, Released, Settled, SiteLock
from interlock.model.site.service_networks import recorded_of
from interlock.model.tenant.request import Cluster, Tenant, VPod
from interlock.planning import (
    AllocationState,
    NeedsMove,
    Plan,
    PlanningError,
    allocate,
    plan_site,
    plan_tenant,
    request_hash,
)
from interlock.planning.cluster_life import LeavingNodes, leaving_nodes
from interlock.planning.cluster_spans import ClusterSpan, cluster_span
from interlock.planning.devices import next_devices, without_serials
from interlock.planning.former_keys import next_former_keys, noted_of
from interlock.planning.out_of_service import HeldOutOfService, held_out_of_service
from interlock.planning.placing import largest_left, left_in_pieces
from interlock.planning.port_guids import ChangedPorts, changed_ports
from interlock.planning.released_vpods import PaidData, paid_data
from interlock.planning.replacements import Replacement, kept_addresses, replacements
from interlock.planning.resizes import Resize, in_words, listed, resizes_between, resizes_of, with_boards
from interlock.planning.returning import next_former, returns_of, taken_back
from interlock.planning.returning_words import PartReturn
from interlock.planning.site_devices import next_site_devices
from interlock.vocabulary.owners import minted
from policies import footprint

NO_FOOTPRINT = Footprint(classes=(), labels={}, exclusive=())


@dataclass(frozen=True)
class Made:
    """The lock that request and site call for, and the one that there is."""

    name: str
    old: Lock | None
    new: Lock
    #: Plan names of data with `on_delete: keep`, which `pulumi destroy` refuses to delete.
    kept_data: tuple[str, ...] = ()
    #: What it has that failed or is in maintenance, and keeps.
    out_of_service: tuple[HeldOutOfService, ...] = ()
    #: What stands where another device stood.
    replacements: tuple[Replacement, ...] = ()
    #: Machines with another serial, and with the RNIC's address of the unit before.
    kept_addresses: tuple[str, ...] = ()
    #: How far apart the nodes of its clusters are.
    spans: tuple[ClusterSpan, ...] = ()
    #: Nodes of its clusters that this lock gives up.
    leaving: tuple[LeavingNodes, ...] = ()
    #: Ports of nodes that it keeps whose adapters were replaced.
    ports: tuple[ChangedPorts, ...] = ()
    #: What the new claims do to its vPODs.
    resizes: tuple[Resize, ...] = ()
    #: What can be done about those that a failed machine leaves in pieces.
    ways_out: tuple[WayOut, ...] = ()
    #: What stays of its vPODs that are released.
    paid: tuple[PaidData, ...] = ()
    #: Its vPODs and clusters that return, and whether they have again what they had.
    returns: tuple[PartReturn, ...] = ()

    @property
    def is_changed(self) -> bool:
        """True if the file is to be written."""
        return self.new != self.old


class Making:
    """One run over one site. `held`: the claims of every lock of the site, those without a request included.

    `now`: what is given up is given up at that moment. Raises `NotPlanned` if the site itself has no plan.
    """

    def __init__(self, gate: Gate, held: Iterable[Lock], *, move: bool = False, now: datetime | None = None) -> None:
        self.now = moment_text(now or datetime.now(UTC))
        self.gate = gate
        self.site = gate.workspace.site
        self.move = move
        self.held = held = tuple(held)
        self.site_lock = next_site_lock(gate, held, self.now)
        with gate.placed(None):
            plan_site(self.site, self.site_lock)
        self.slices = Slices(self.site)
        self.allocated = AllocationState.of(self.site, held)

    def make(self, name: str) -> Made:
        """The next lock of a tenant; what it claims is taken for all that come after it.

        Equal to the old one, serial included, if nothing changed. Raises `InputErrors` if there is no such
        request, `NotPlanned` if it cannot be had; then the book of what is taken is as before.
        """
        old = self.gate.workspace.locks.get(name)
        if old is not None:
            self.allocated.remove_lock(old)
        kept = old
        try:
            base, returns = self._with_returned(name, old)
            new, plan, resizes = self._made(name, old, base)
            kept = new
            ways_out = tuple(self._ways_out(self.gate.tenant(name), new, plan))
        finally:
            if kept is not None:
                self.allocated.add_lock(kept)
        kept_data = tuple(item.name for item in plan.resources if item.resource.is_kept)
        idle = held_out_of_service(self.site, new.allocation)
        spans = tuple(cluster_span(self.site, *item) for item in sorted(new.allocation.clusters.items()))
        leaving, ports = leaving_nodes(self.gate.tenant(name), base, new), changed_ports(self.site, old, new)
        changed = replacements(self.site, new)
        paid = tuple(paid_data(self.site, self.gate.tenant(name), plan))
        macs = kept_addresses(self.site, old, new)
        return Made(
            name, old, new, kept_data, idle, changed, macs, spans, leaving, ports, resizes, ways_out, paid, returns
        )

    def site_lock_after(self, made: Iterable[Made]) -> SiteLock:
        """The operator's lock once these are written: it notes what former login keys they have."""
        lock = self.site_lock
        noted = noted_of(lock.former_keys, self.held, (one.new for one in made))
        if noted == lock.former_keys:
            return lock
        is_written = lock == self.gate.workspace.site_lock
        return lock.model_copy(update={"former_keys": noted, "serial": lock.serial + is_written}).sealed()

    def _with_returned(self, name: str, old: Lock | None) -> tuple[Lock | None, tuple[PartReturn, ...]]:
        """The old lock, with what it gave up only on paper and what is asked for again; and what returns."""
        tenant = self.gate.tenant(name)
        if old is None or tenant.state != "present":
            return old, ()
        wanted: tuple[VPod | Cluster, ...] = (*tenant.vpods, *tenant.clusters)
        returns = returns_of(old, wanted, self.allocated, lambda: self._applied.newest_serial(self.gate.stack(name)))
        return taken_back(old, [item.name for item in returns if not item.why_not]), returns

    @cached_property
    def _applied(self) -> Applied:
        """Read only where an answer depends on it: a lock follows from files alone otherwise."""
        applied = self.gate.applied or self.gate.with_applied().applied
        if applied is None:
            raise RuntimeError("the store was not read")
        return applied

    def _made(self, name: str, old: Lock | None, base: Lock | None) -> tuple[Lock, Plan, tuple[Resize, ...]]:
        """`base`: the old lock with the claims that the next one starts from."""
        tenant = self.gate.tenant(name)
        with self.gate.placed(name):
            draft, plan = self._planned(tenant, base, *self._allocated(tenant, base))
            resizes = resizes_of(self.site, self.site_lock, tenant, base, plan, draft.allocation)
            _require_allowed(resizes)
        released = draft.released
        serial = old.serial + 1 if old else 1
        draft = draft.model_copy(update={"former": next_former(old, draft.allocation, released, serial)})
        around = self.slices.around(draft.allocation, released)
        mark = footprint(around, plan, released)
        if former := next_former_keys(old, self.site_lock.former_keys.get(name, ()), mark, self.now):
            draft = draft.model_copy(update={"former_keys": former})
            mark = footprint(around, plan, released, former)
        full = draft.model_copy(update={"footprint": mark}).sealed()
        if old is None or full == old:
            return full, plan, resizes
        if not old.serials and without_serials(full).sealed() == old:
            # Nothing is new but what earlier versions did not record.
            return old, plan, resizes
        return full.model_copy(update={"serial": old.serial + 1}).sealed(), plan, resizes

    def _planned(
        self, tenant: Tenant, old: Lock | None, allocation: Allocation, given_up: tuple[Released, ...]
    ) -> tuple[Lock, Plan]:
        """A lock of these claims without its footprint, and its plan."""
        devices = next_devices(self.site, old, allocation, given_up, self.now, self.site_lock.untested)
        released = tuple(one if one.since else one.model_copy(update={"since": self.now}) for one in devices.released)
        draft = Lock(
            id=tenant.id,
            owner=old.owner if old else minted(),
            serial=old.serial if old else 1,
            request=request_hash(tenant),
            site=self.gate.hashes.slice_hash(allocation),
            allocation=allocation,
            released=released,
            settled=old.settled if old else (),
            serials=devices.serials,
            replaced=devices.replaced,
            partitions={
                vpod.name: vpod.partitions for vpod in tenant.vpods if vpod.partitions and vpod.name in allocation.vpods
            },
            footprint=NO_FOOTPRINT,
        )
        return draft, plan_tenant(self.site, self.site_lock, tenant, draft)

    def _allocated(self, tenant: Tenant, old: Lock | None) -> tuple[Allocation, tuple[Released, ...]]:
        """Claims and what is given up.

        A move is named as a way out only where there is a place to move to, and with what it recreates there.
        """
        try:
            return allocate(self.site, tenant, self.allocated, old, move=self.move)
        except NeedsMove as error:
            draft, plan = self._planned(tenant, old, *allocate(self.site, tenant, self.allocated, old, move=True))
            moves = resizes_of(self.site, self.site_lock, tenant, old, plan, draft.allocation)
            for move in moves:
                if move.name == error.vpod:
                    error.means("; ".join((move.head(), *move.lines())))
            raise

    def _ways_out(self, tenant: Tenant, lock: Lock, plan: Plan) -> Iterator[WayOut]:
        """For each vPOD in pieces: another unit, a smaller vPOD, another place."""
        for vpod in tenant.vpods if tenant.state == "present" else ():
            machines = lock.allocation.vpods[vpod.name].machines
            if not left_in_pieces(self.allocated.layout, machines):
                continue
            failed = [name for name in machines if self.site.machine[name].state == "failed"]
            how = (
                f"another unit in the place of {listed(failed)}; write its serial and MAC addresses into the site file"
            )
            # Whichever it is, its serial is another.
            spare = with_boards(self.site, {name: f"not {self.site.machine[name].serial}" for name in failed})
            found = resizes_between(plan.canonical(), plan_tenant(spare, self.site_lock, tenant, lock))
            resize = next((item for item in found if item.name == vpod.name), None)
            yield WayOut(vpod.name, "replace", machines, how, resize)
            if size := largest_left(self.allocated.layout, machines):
                smaller = tuple(
                    one.model_copy(update={"machines": size}) if one is vpod else one for one in tenant.vpods
                )
                shrunk = tenant.model_copy(update={"vpods": smaller})
                yield self._way_out(shrunk, lock, vpod.name, "shrink", f"ask for {size} IPU-Machines", move=False)
            yield self._way_out(tenant, lock, vpod.name, "move", f"`interlock lock {tenant.id} --move`", move=True)

    def _way_out(self, tenant: Tenant, lock: Lock, vpod: str, way: str, how: str, *, move: bool) -> WayOut:
        try:
            given = allocate(self.site, tenant, self.allocated, lock, move={vpod} if move else False)
            draft, plan = self._planned(tenant, lock, *given)
        except PlanningError as error:
            return WayOut(vpod, way, (), how, why_not=error.what)
        machines = draft.allocation.vpods[vpod].machines
        if machines == lock.allocation.vpods[vpod].machines:
            return WayOut(vpod, way, (), how, why_not=f"`pins.{vpod}.machines` names the machines that it has")
        found = resizes_of(self.site, self.site_lock, tenant, lock, plan, draft.allocation)
        resize = next((item for item in found if item.name == vpod), None)
        return WayOut(vpod, way, machines, how, resize)


def _require_allowed(resizes: Iterable[Resize]) -> None:
    """Raise PlanningError for a vPOD whose machines change although an apply would be refused for that.

    Written down, the claims that it gives up would be nobody's, and the way back would need the lock of before.
    """
    for resize in resizes:
        if resize.stopped and resize.before != resize.after:
            raise PlanningError(
                f"vPOD {resize.name} {resize.head()}; that is refused: {in_words(resize.stopped)}",
                "allow it in the request, or leave its machines as they are; nothing was written",
                ("vpods", resize.name, "machines"),
            )


def settled(
    gate: Gate, lock: Lock, cleaned: Iterable[Settled] = (), former_keys: tuple[FormerKey, ...] | None = None
) -> Lock:
    """The same lock without what it gave up, and with what was `cleaned`. Raises as `Gate.plan` does.

    `former_keys`: those that servers may still have; None: as they are.
    """
    kept = lock.former_keys if former_keys is None else former_keys
    plan = gate.plan(lock.id)
    around = Slices(gate.workspace.site).around(lock.allocation, ())
    by_identity = {one.identity: one for one in (*lock.settled, *cleaned)}
    changes = {
        "released": (),
        "former": {},
        "settled": tuple(by_identity[name] for name in sorted(by_identity)),
        "footprint": footprint(around, plan, (), kept),
        "former_keys": kept,
        "serial": lock.serial + 1,
    }
    return lock.model_copy(update=changes).sealed()


def next_site_lock(gate: Gate, held: Iterable[Lock], now: str) -> SiteLock:
    """The lock of the operator's stack; the old one if the site did not change. `now` in UTC."""
    old, wanted = gate.workspace.site_lock, gate.hashes.whole
    devices = next_site_devices(gate.workspace.site, old, held, now)
    services = recorded_of(gate.workspace.site, old.services if old is not None else {})
    if old is not None and old.site == wanted and old.services == services and (old.serials or not devices.untested):
        # An earlier version recorded no devices, and there is nothing to say of them.
        return old
    owner, serial = (old.owner, old.serial + 1) if old is not None else (minted(), 1)
    return SiteLock(
        owner=owner,
        serial=serial,
        site=wanted,
        serials=devices.serials,
        untested=devices.untested,
        left=devices.left,
        services=services,
        former_keys=old.former_keys if old is not None else {},
    ).sealed()


def settled_site_lock(site_lock: SiteLock, tenant: str, free: Iterable[FormerKey]) -> SiteLock:
    """The operator's lock without the keys of a tenant that are free."""
    gone = {one.fingerprint for one in free}
    kept = tuple(one for one in site_lock.former_keys.get(tenant, ()) if one.fingerprint not in gone)
    noted = noted_of({name: keys for name, keys in site_lock.former_keys.items() if name != tenant}, (), ())
    noted |= {tenant: kept} if kept else {}
    if noted == site_lock.former_keys:
        return site_lock
    return site_lock.model_copy(update={"former_keys": noted, "serial": site_lock.serial + 1}).sealed()


def keep(gate: Gate, old: Lock | SiteLock | None, new: Lock | SiteLock) -> None:
    """Write a lock if it changed: the whole file at once, or not at all."""
    if new != old:
        dump_lock(new, gate.workspace.lock_file(new.id))
