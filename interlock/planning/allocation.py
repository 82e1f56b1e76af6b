"""What a tenant is given: first fit, the same for the same inputs, and never a move of what exists.

A claim comes, in this order, from `pins:` (taken as given: the gate judges it), from the previous lock, or
from what is free. Claims given up stay behind as `Released`; nobody gets them before they are settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from interlock.model.lock import Allocation, Lock, Released, VPodAllocation
from interlock.model.site import Site
from interlock.model.tenant import Pins, Tenant, VPod

from .claims import SUBNET_CLAIMS, VLAN_CLAIMS, Claim, Taken, claimed_values, released_claim, taken_by
from .errors import PlanningError
from .hosts import choose_controller_host, choose_host
from .identifiers import (
    choose_data_vlan,
    choose_management_vlan,
    choose_storage_vlan,
    choose_subnet,
    choose_vni,
)
from .machines import choose_machines, grow_machines

#: Claims that a vPOD has once, whatever its size.
SINGLE_CLAIMS = (*VLAN_CLAIMS, "control_vni", *SUBNET_CLAIMS, "controller_host")

Value = int | str | tuple[str, ...]


class Draft:
    """The claims of one vPOD while they are collected; what is set is taken for everybody else at once."""

    def __init__(self, taken: Taken, tenant: str, vpod: VPod) -> None:
        self.taken = taken
        self.tenant = tenant
        self.vpod = vpod
        self.claims: dict[str, Value] = {}
        self.machines: tuple[str, ...] = ()
        self.hosts: tuple[str, ...] = ()

    def set(self, claim: str, value: Value) -> None:
        """Claim a value that the vPOD has once."""
        self.claims[claim] = value
        self._take(claim, str(value))

    def set_machines(self, machines: tuple[str, ...]) -> None:
        """Claim all IPU-Machines."""
        self.machines = machines
        for machine in machines:
            self._take("machines", machine)

    def add_host(self, host: str) -> None:
        """Claim room for the next Poplar server."""
        self.hosts = (*self.hosts, host)
        self._take("hosts", host)

    def number(self, claim: str) -> int | None:
        """The id claimed under this name, if any."""
        value = self.claims.get(claim)
        return value if isinstance(value, int) else None

    def values(self) -> Counter[tuple[str, str]]:
        """How often each (field, value as text) is claimed."""
        singles = [(claim, str(value)) for claim, value in self.claims.items()]
        several = [("machines", name) for name in self.machines] + [("hosts", name) for name in self.hosts]
        return Counter(singles + several)

    def finished(self) -> VPodAllocation:
        """The claims as a lock records them."""
        fields = {"machines": self.machines, "hosts": self.hosts, "flavor": self.vpod.poplar.flavor}
        pools = self.taken.site.pools
        networks = {
            "ipu_data_network": pools.ipu_data.physical_networks[0],
            "storage_network": pools.storage.physical_networks[0],
            "management_network": pools.management.physical_networks[0],
        }
        return VPodAllocation.model_validate(fields | networks | self.claims)

    def _take(self, claim: str, value: str) -> None:
        holder = f"{self.tenant}/{self.vpod.name}"
        self.taken.add(Claim(claim, value, holder, self.vpod.poplar.flavor, self.tenant))


def allocate(
    site: Site, tenant: Tenant, others: Sequence[Lock], previous: Lock | None
) -> tuple[Allocation, tuple[Released, ...]]:
    """The claims of a tenant, and all that it has given up and not settled.

    `others` are the locks of all other tenants of the site. Raises AllocationError where the site has no
    room, PlanningError where pins contradict the request.
    """
    before = previous.allocation.vpods if previous else {}
    released = previous.released if previous else ()
    taken = taken_by(site, [lock for lock in others if lock.id != tenant.id], released, tenant.id)
    drafts = {vpod.name: Draft(taken, tenant.id, vpod) for vpod in tenant.vpods}
    # What is kept, pinned or given up anywhere in this tenant is out of reach of what is new in it.
    for name, draft in drafts.items():
        _keep(draft, tenant.pins.get(name, Pins()), before.get(name))
    given_up = tuple(_given_up(before, drafts))
    for entry in given_up:
        taken.add(released_claim(tenant.id, entry, before[entry.vpod].flavor))
    for draft in drafts.values():
        _complete(site, draft)
    allocation = Allocation(vpods={name: draft.finished() for name, draft in drafts.items()})
    return allocation, merged(released, given_up)


def merged(earlier: Sequence[Released], new: Sequence[Released]) -> tuple[Released, ...]:
    """Both, sorted. A claim stands once; only `hosts` may repeat, for each server takes room of its own."""
    entries = list(earlier)
    entries += [entry for entry in new if entry.claim == "hosts" or entry not in earlier]
    return tuple(sorted(entries, key=lambda entry: (entry.vpod, entry.claim, entry.value)))


def _keep(draft: Draft, pins: Pins, before: VPodAllocation | None) -> None:
    """Claim what is not up to us: what is pinned, and what the previous lock holds."""
    vpod = draft.vpod
    _check_count(vpod.name, "machines", pins.machines, vpod.machines)
    _check_count(vpod.name, "hosts", pins.hosts, vpod.poplar.servers)
    for claim in SINGLE_CLAIMS:
        value = getattr(pins, claim, None) or getattr(before, claim, None)
        if value is not None:
            draft.set(claim, value)
    draft.set_machines(pins.machines or (before.machines[: vpod.machines] if before else ()))
    for host in pins.hosts or (before.hosts[: vpod.poplar.servers] if before else ()):
        draft.add_host(host)


def _check_count(vpod: str, claim: str, pinned: tuple[str, ...] | None, wanted: int) -> None:
    if pinned is not None and len(pinned) != wanted:
        asked = "machines" if claim == "machines" else "Poplar servers"
        raise PlanningError(
            f"vPOD {vpod} asks for {wanted} {asked} and pins {len(pinned)} {claim}",
            f"pin {wanted}, or remove `{claim}` from its pins",
        )


def _given_up(before: dict[str, VPodAllocation], drafts: dict[str, Draft]) -> Iterator[Released]:
    """Claims of the previous lock that no draft holds on to."""
    for name, vpod in before.items():
        kept = drafts[name].values() if name in drafts else Counter()
        for claim, value in claimed_values(vpod):
            if kept[claim, value]:
                kept[claim, value] -= 1
            else:
                yield Released(vpod=name, claim=claim, value=value)


def _complete(site: Site, draft: Draft) -> None:
    """Claim whatever is still missing."""
    if len(draft.machines) < draft.vpod.machines:
        draft.set_machines(_machines(site, draft))
    rack = _rack_of(site, draft.machines)
    while len(draft.hosts) < draft.vpod.poplar.servers:
        draft.add_host(choose_host(site, draft.taken, draft.tenant, draft.vpod, rack, draft.hosts))
    _complete_vlans(site, draft)
    if "control_vni" not in draft.claims:
        draft.set("control_vni", choose_vni(site, draft.taken))
    for claim in SUBNET_CLAIMS:
        if claim not in draft.claims:
            draft.set(claim, choose_subnet(site, draft.taken, claim))
    if "controller_host" not in draft.claims:
        draft.set("controller_host", choose_controller_host(site, draft.taken.controllers))


def _machines(site: Site, draft: Draft) -> tuple[str, ...]:
    vpod, taken = draft.vpod, draft.taken.machines
    if not draft.machines:
        return choose_machines(site, vpod.machines, taken, vpod.name)
    others = {name: holder for name, holder in taken.items() if name not in draft.machines}
    return grow_machines(site, draft.machines, vpod.machines, others, vpod.name)


def _complete_vlans(site: Site, draft: Draft) -> None:
    if "ipu_data_vlan" not in draft.claims:
        draft.set("ipu_data_vlan", choose_data_vlan(site, draft.taken, draft.number("storage_vlan")))
    if "storage_vlan" not in draft.claims:
        draft.set("storage_vlan", choose_storage_vlan(site, draft.taken, draft.number("ipu_data_vlan")))
    if "management_vlan" not in draft.claims:
        draft.set("management_vlan", choose_management_vlan(site, draft.taken))


def _rack_of(site: Site, machines: Sequence[str]) -> str | None:
    """The logical rack of the first machine; None for a pin that the site does not know."""
    machine = site.machine.get(machines[0]) if machines else None
    return machine.logical_rack if machine else None
