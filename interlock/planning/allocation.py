"""What a tenant is given: the same for the same inputs, and never a move of what exists unless asked for.

A claim comes, in this order, from `pins:` (taken as given: the gate judges it), from the previous lock, or
from what is free. Claims given up stay behind as `Released`; nobody gets them before they are settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from interlock.model.lock.record import Allocation, Lock, Released, VPodAllocation
from interlock.model.site.inventory import Site
from interlock.model.tenant.request import Cluster, Pins, Tenant, VPod
from interlock.model.text.source import KEY

from .allocation_state import AllocationState
from .claims import (
    ROOM_CLAIMS,
    PartAllocation,
    claimed_values,
    claims_of_part,
    flavor_of_servers,
    released_claim,
)
from .cluster_draft import ClusterDraft
from .draft import Draft
from .errors import PlanningError, asked_by
from .suitability import Wish


def allocate(
    site: Site,
    tenant: Tenant,
    others: Sequence[Lock] | AllocationState,
    previous: Lock | None,
    *,
    move: bool | Collection[str] = False,
) -> tuple[Allocation, tuple[Released, ...]]:
    """The claims of a tenant, and all that it has given up and not settled.

    `others` are the locks of all other tenants of the site, or a `AllocationState` of them, which must not hold this
    tenant's own lock and is left as it came. `move` allows all vPODs and clusters, or those named, to be moved if they
    cannot have what they ask for where they are. Raises NeedsMove where that would be needed and is not allowed,
    AllocationError where the site has no room, PlanningError where the request contradicts pins or limits.
    """
    wanted = tenant.vpods if tenant.state == "present" else ()
    clusters = tenant.clusters if tenant.state == "present" else ()
    _check_limit(site, wanted)
    held = previous.allocation if previous else Allocation(vpods={})
    before = held.parts
    released = previous.released if previous else ()
    allocated = others if isinstance(others, AllocationState) else _taken_by(site, others, tenant.id)
    with allocated.trial():
        _take_before(allocated, tenant.id, before, released, {*_names(wanted), *_names(clusters)})
        drafts = [_draft(allocated, tenant, vpod, held.vpods.get(vpod.name), move) for vpod in wanted]
        of_nodes = [_of_nodes(allocated, tenant, item, held, move) for item in clusters]
        # What is kept or pinned anywhere in this tenant is out of reach of what is new in it.
        every: list[Draft | ClusterDraft] = [*sorted(drafts, key=lambda item: not item.pins_vlans), *of_nodes]
        for part in every:
            with asked_by(*part.asked):
                part.keep()
        for part in every:
            with asked_by(*part.asked):
                part.complete()
        found = Allocation(
            vpods={draft.wish.vpod.name: draft.finished() for draft in drafts},
            clusters={draft.cluster.name: draft.finished() for draft in of_nodes},
        )
    return found, merged(released, tuple(_given_up(before, found.parts)))


def _names(parts: Sequence[VPod] | Sequence[Cluster]) -> Iterator[str]:
    return (part.name for part in parts)


def merged(earlier: Sequence[Released], new: Sequence[Released]) -> tuple[Released, ...]:
    """Both, sorted. A claim stands once; only `hosts` and `heads` may repeat, for each server takes room of its own.

    What is given up again counts as given up now: evidence of the time before says nothing of it. A device whose
    serial is recorded is another one than what is given up without: `devices.next_devices` joins those.
    """
    again = {entry.key for entry in new if entry.claim not in ROOM_CLAIMS}
    entries = [*(entry for entry in earlier if entry.serial or entry.key not in again), *new]
    return tuple(sorted(entries, key=lambda entry: (*entry.key, entry.serial)))


def _taken_by(site: Site, others: Sequence[Lock], tenant: str) -> AllocationState:
    return AllocationState.of(site, [lock for lock in sorted(others, key=lambda item: item.id) if lock.id != tenant])


def _check_limit(site: Site, vpods: Sequence[VPod]) -> None:
    asked, limit = sum(vpod.machines for vpod in vpods), site.limits.machines_per_tenant
    if limit is not None and asked > limit:
        raise PlanningError(
            f"the vPODs ask for {asked} IPU-Machines in all; the site gives a tenant no more than {limit}",
            "ask for fewer, or let the operator raise `machines_per_tenant` under `limits:`",
            ("vpods", KEY),
        )


def _take_before(
    allocated: AllocationState,
    tenant: str,
    before: Mapping[str, PartAllocation],
    released: Sequence[Released],
    wanted: Collection[str],
) -> None:
    """Take all that the tenant held so far, kept or not: nothing of it is free for what is new."""
    for entry in released:
        allocated.add(released_claim(tenant, entry))
    for name, part in before.items():
        for claim in claims_of_part(tenant, name, part):
            entry = Released(vpod=name, claim=claim.field, value=claim.value, flavor=claim.flavor)
            allocated.add(claim if name in wanted else released_claim(tenant, entry))


def _draft(
    allocated: AllocationState, tenant: Tenant, vpod: VPod, before: VPodAllocation | None, move: bool | Collection[str]
) -> Draft:
    return Draft(
        allocated=allocated,
        wish=Wish(tenant.id, vpod, tenant.pins.get(vpod.name, Pins()), before),
        may_move=move if isinstance(move, bool) else vpod.name in move,
        has_share=any(vpod.name in share.vpods for share in tenant.shares),
    )


def _of_nodes(
    allocated: AllocationState, tenant: Tenant, cluster: Cluster, held: Allocation, move: bool | Collection[str]
) -> ClusterDraft:
    return ClusterDraft(
        allocated=allocated,
        tenant=tenant.id,
        cluster=cluster,
        pins=tenant.pins.get(cluster.name, Pins()),
        before=held.clusters.get(cluster.name),
        may_move=move if isinstance(move, bool) else cluster.name in move,
        has_share=any(cluster.name in share.clusters for share in tenant.shares),
    )


def _given_up(before: Mapping[str, PartAllocation], after: Mapping[str, PartAllocation]) -> Iterator[Released]:
    """Claims of the previous lock that the new one does not hold on to."""
    for name, part in before.items():
        kept = Counter(claimed_values(after[name])) if name in after else Counter[tuple[str, str]]()
        flavor = flavor_of_servers(part)
        for claim, value in claimed_values(part):
            if kept[claim, value]:
                kept[claim, value] -= 1
            else:
                yield Released(vpod=name, claim=claim, value=value, flavor=flavor if claim in ROOM_CLAIMS else "")
