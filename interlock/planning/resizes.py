"""What a change does to one vPOD: which machines come and go, what restarts, is replaced, goes, and is lost.

One value for all who tell it: `interlock lock` before it writes, `interlock plan --against` before an apply, and the
tests that hold both against what the provider tells Pulumi. All of it follows from `changes_between`, and so from the
effects that the types of `interlock.resources` state: nothing here knows what becomes of a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from interlock.model.lock.record import Allocation, Lock, SiteLock, VPodAllocation
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Tenant, VPod
from interlock.resources import KINDS, Effect, Frozen
from interlock.vocabulary.request_parts import RequestPart

from .differences import Key, ResourceChange, changes_between
from .errors import PlanningError
from .partitions_before import Partitions, partitions_before
from .plan import Plan
from .plan_hash import vpods_above
from .tenant_plan import plan_tenant

Canonical = Mapping[str, Any]
#: What becomes of the machines of a vPOD.
Way = Literal["grows in place", "shrinks in place", "moves", "stays", "is released", "returns"]
#: Resources of one kind that a line names before it only counts.
NAMED = 4

#: Kind -> what is lost when one is deleted or replaced. What holds data says `on_delete`, which decides by itself.
LOST: Mapping[str, str] = {
    "VipuPartition": "what runs on it",
    "VipuAllocation": "partitions that users made in it, where `pulumi up` is not refused for them",
    "Server": "what it holds in memory and on its root disk",
    "BareMetalServer": "what is on its own disks",
}


class Touched(Frozen):
    """One resource that exists and does not stay as it is. `reason`: why no apply does it, where that is so."""

    kind: str
    name: str
    reason: str = ""


class Resize(Frozen):
    """What a change does to one vPOD that was there before and still is."""

    #: Its component, and its name in the request.
    vpod: str
    name: str
    way: Way
    before: tuple[str, ...]
    after: tuple[str, ...]
    restarted: tuple[Touched, ...] = ()
    replaced: tuple[Touched, ...] = ()
    deleted: tuple[Touched, ...] = ()
    refused: tuple[Touched, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """Machines that it did not have."""
        return tuple(name for name in self.after if name not in self.before)

    @property
    def released(self) -> tuple[str, ...]:
        """Machines that it has no more: nobody's until they are seen clean."""
        return tuple(name for name in self.before if name not in self.after)

    @property
    def lost(self) -> tuple[tuple[str, Touched], ...]:
        """(what is lost, of which resource)."""
        return tuple((LOST[item.kind], item) for item in (*self.replaced, *self.deleted) if item.kind in LOST)

    @property
    def stopped(self) -> tuple[Touched, ...]:
        """What stops an apply: it is refused, and something here makes it."""
        return tuple(item for item in self.refused if KINDS[item.kind].HAS_ACTUATOR)

    @property
    def is_quiet(self) -> bool:
        """True if nothing that exists is touched and no machine comes or goes."""
        return self.way == "stays" and not (self.restarted or self.replaced or self.deleted or self.refused)

    def head(self) -> str:
        """`grows in place, 2 → 4 IPU-Machines: given ipum-03, ipum-04`."""
        parts = [f"given {listed(self.given)}"] if self.given else []
        parts += [f"releases {listed(self.released)}"] if self.released else []
        count = f"{len(self.before)} → {len(self.after)} IPU-Machines"
        return f"{self.way}, {count}: {'; '.join(parts)}" if parts else self.way

    def lines(self) -> Iterator[str]:
        """What it does to what exists, worst last; none if it touches nothing."""
        for word, touched in (("restarted", self.restarted), ("replaced", self.replaced), ("deleted", self.deleted)):
            if touched:
                yield f"{word}: {_by_kind(touched)}"
        for what, names in self._losses():
            yield f"lost: {what}: {names}"
        if self.refused:
            yield f"refused: {in_words(self.refused)}"

    def _losses(self) -> Iterator[tuple[str, str]]:
        for what in dict.fromkeys(what for what, _ in self.lost):
            yield what, listed([item.name for said, item in self.lost if said == what])


def in_words(refused: Sequence[Touched]) -> str:
    """`VipuPartition acme-train-partition-a: why`, those of one reason together."""
    reasons = dict.fromkeys(item.reason for item in refused)
    return "; ".join(f"{_by_kind([item for item in refused if item.reason == one])}: {one}" for one in reasons)


def listed(names: Sequence[str]) -> str:
    """All names, or the first and how many more."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def resizes_between(before: Canonical, plan: Plan) -> tuple[Resize, ...]:
    """What becomes of each vPOD that both plans have, by name; those that nothing happens to are left out."""
    changes = changes_between(before, plan)
    old, new = _Sides.of(before), _Sides.of(plan.canonical())
    found = (
        _resize(vpod, _name(plan, vpod), old, new, changes) for vpod in sorted(old.machines) if vpod in new.machines
    )
    return tuple(item for item in found if not item.is_quiet)


def resizes_of(
    site: Site, site_lock: SiteLock, tenant: Tenant, old: Lock | None, plan: Plan, allocation: Allocation
) -> tuple[Resize, ...]:
    """What new claims do to the vPODs of a lock, told before anything is written.

    The lock of before knows of the request its partitions alone, so the request of now is planned for the claims of
    before as well: what else changed in it is `interlock plan --against`'s to tell. None if the claims of before cannot
    be planned on the site as it is now: what they name has left it.
    """
    if old is None or tenant.state != "present":
        return ()
    held, partitions = old.allocation.vpods, partitions_before(tenant, old)
    kept = tuple(_as_held(vpod, old, partitions) for vpod in tenant.vpods if vpod.name in held)
    boards = {name: serial for name, serial in old.serials.items() if name in site.machine}
    were = with_boards(site, boards)
    if were is site and all(allocation.vpods[vpod.name] == held[vpod.name] for vpod in kept):
        return ()
    # A vPOD that is new has no claims of before: it is there in both, and so no change.
    others = tuple(vpod for vpod in tenant.vpods if vpod.name not in held)
    request = tenant.model_copy(update={"vpods": (*kept, *others), **_data_of_before(tenant, held)})
    given = {vpod.name: held.get(vpod.name, allocation.vpods[vpod.name]) for vpod in request.vpods}
    lock = old.model_copy(update={"allocation": allocation.model_copy(update={"vpods": given})})
    try:
        before = plan_tenant(were, site_lock, request, lock)
    except PlanningError:
        return ()
    return resizes_between(before.canonical(), plan)


def _data_of_before(tenant: Tenant, held: Mapping[str, VPodAllocation]) -> dict[str, object]:
    """Volumes and shares of a request that the claims of before have a place for: others cannot have been there."""
    servers = {name: len(claims.hosts) for name, claims in held.items()}
    unmounted = {name for name, claims in held.items() if claims.storage_vip is None}
    shares = (
        item.model_copy(update={"vpods": tuple(name for name in item.vpods if name not in unmounted)})
        for item in tenant.shares
    )
    return {
        "volumes": tuple(
            item for item in tenant.volumes if item.vpod not in servers or (item.server or 0) < servers[item.vpod]
        ),
        "shares": tuple(item for item in shares if item.vpods or item.clusters),
    }


def with_boards(site: Site, serials: Mapping[str, str]) -> Site:
    """The site with these boards in the places of its machines; the same one if they stand there."""
    if all(site.machine[name].serial == serial for name, serial in serials.items()):
        return site
    machines = tuple(item.model_copy(update={"serial": serials.get(item.name, item.serial)}) for item in site.machines)
    # Not a copy: that would have what the site found by name before.
    return Site.model_construct(**{name: getattr(site, name) for name in Site.model_fields} | {"machines": machines})


def _as_held(vpod: VPod, lock: Lock, partitions: Partitions) -> VPod:
    """The request for what a vPOD has."""
    claims = lock.allocation.vpods[vpod.name]
    poplar = {"servers": len(claims.hosts)} | ({"flavor": claims.flavor} if claims.flavor else {})
    # Not those of now: one that is asked for together with more machines says nothing against these.
    had = {"machines": len(claims.machines), "partitions": partitions.get(vpod.name, ())}
    return vpod.model_copy(update=had | {"poplar": vpod.poplar.model_copy(update=poplar)})


class _Sides:
    """What a plan says of its vPODs: which machines they have, and which resource is whose."""

    def __init__(self, machines: Mapping[str, tuple[str, ...]], owner: Mapping[Key, str]) -> None:
        self.machines = machines
        self.owner = owner

    @classmethod
    def of(cls, plan: Canonical) -> _Sides:
        """From the canonical form, so that a plan which was kept as JSON will do."""
        parts = [(item["name"], item["type"], item["parent"]) for item in plan.get("components", ())]
        above = vpods_above(parts)
        pods = {name for name, kind, _ in parts if kind == "VirtualPod"}
        machines: dict[str, dict[str, None]] = {name: {} for name in pods}
        owner: dict[Key, str] = {}
        for item in plan["resources"]:
            vpod = item.get("vpod") or above.get(item["component"], "")
            if vpod not in pods:
                continue
            owner[item["kind"], item["name"]] = vpod
            if item["kind"] == "SwitchPort" and item["spec"]["interface"] == "rnic":
                machines[vpod][item["spec"]["device"]] = None
        return cls({name: tuple(found) for name, found in machines.items()}, owner)


def _resize(vpod: str, name: str, old: _Sides, new: _Sides, changes: Sequence[ResourceChange]) -> Resize:
    sides = (old.owner, new.owner)
    own = [item for item in changes if any(side.get((item.kind, item.name)) == vpod for side in sides)]
    before, after = old.machines[vpod], new.machines[vpod]
    return Resize(
        vpod=vpod,
        name=name,
        way=_way(set(before), set(after)),
        before=before,
        after=after,
        restarted=_touched(own, _restarts),
        replaced=_touched(own, lambda item: item.action == "replace"),
        deleted=_touched(own, lambda item: item.action == "delete"),
        refused=tuple(
            Touched(kind=item.kind, name=item.name, reason=_why(item)) for item in own if item.action == "forbidden"
        ),
    )


def _name(plan: Plan, vpod: str) -> str:
    return RequestPart.parse(plan.tenant or "", vpod).name


def _way(before: set[str], after: set[str]) -> Way:
    if before == after:
        return "stays"
    if not before or not after:
        return "is released" if before else "returns"
    if before < after:
        return "grows in place"
    return "shrinks in place" if after < before else "moves"


def _touched(own: Sequence[ResourceChange], which: Callable[[ResourceChange], bool]) -> tuple[Touched, ...]:
    return tuple(Touched(kind=item.kind, name=item.name) for item in own if which(item))


def _restarts(change: ResourceChange) -> bool:
    return change.action == "update" and any(field.effect is Effect.RESTART for field in change.fields)


def _why(change: ResourceChange) -> str:
    forbidden = (field.reason for field in change.fields if field.effect is Effect.FORBIDDEN)
    return f"cannot {change.reason}" if change.reason else next(forbidden, "")


def _by_kind(touched: Sequence[Touched]) -> str:
    kinds: dict[str, list[str]] = {}
    for item in touched:
        kinds.setdefault(item.kind, []).append(item.name)
    return "; ".join(f"{kind} {listed(names)}" for kind, names in kinds.items())
