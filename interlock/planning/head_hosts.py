"""Which hypervisors carry the heads of a GPU cluster: those that it has, else apart from each other, with most room.

They stand on hosts that carry tenants' servers (role `poplar`), with dedicated CPUs and pages of their own and no
virtual function, and reach the cluster's in-band network by an ordinary port.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.model.lock.record import ClusterAllocation, Released
from interlock.model.site.inventory import FlavorSpec, Site
from interlock.model.tenant.request import Cluster, HeadServers
from interlock.vocabulary import Claimant

from .allocation_state import AllocationState
from .claims import Claim, claims_of_part, released_claim
from .errors import AllocationError, NeedsMove, PlanningError
from .host_room import ServerNeed
from .hosts import left_on
from .out_of_service import BRING_BACK, counted

_CLAIM = "heads"
#: What another host costs a cluster.
RECREATES_HEADS = "its heads, and what is on their disks"


@dataclass(frozen=True)
class HeadWish:
    """The heads of one cluster: what is asked for, what is pinned, what it had, and where its network is."""

    holder: Claimant
    cluster: Cluster
    pinned: tuple[str, ...] | None
    before: ClusterAllocation | None
    network: str
    may_move: bool

    @property
    def asked(self) -> tuple[str, ...]:
        """The key of the request that asks for heads."""
        return "clusters", self.cluster.name, "heads"

    @property
    def pinned_by(self) -> tuple[str, ...]:
        """The key of the request that pins them."""
        return "pins", self.cluster.name, "heads"


def take_heads(allocated: AllocationState, wish: HeadWish) -> tuple[str, ...]:
    """Claim a host for each head; returns them by index. What the cluster had and does not keep stays released.

    Raises NeedsMove where a head cannot stay and no move was asked for, AllocationError where no host has room.
    """
    old = _old_claims(wish)
    for claim in old:
        allocated.remove(claim)
    found = () if wish.cluster.heads is None else _taken(allocated, wish, wish.cluster.heads)
    kept = Counter(found)
    for claim in old:
        if kept[claim.value]:
            kept[claim.value] -= 1
        else:
            entry = Released(vpod=wish.cluster.name, claim=_CLAIM, value=claim.value, flavor=claim.flavor)
            allocated.add(released_claim(wish.holder.tenant, entry))
    return found


def head_flavor(site: Site, cluster: Cluster, heads: HeadServers) -> FlavorSpec:
    """The flavour of a cluster's heads; PlanningError if the site has none of that name for tenants' servers."""
    flavor = site.flavor.get(heads.flavor)
    if flavor is None or flavor.role != "poplar":
        known = ", ".join(item.name for item in site.flavors if item.role == "poplar") or "none"
        what = f"cluster {cluster.name}: no flavour {heads.flavor!r} for hosts of role poplar, where heads stand"
        raise PlanningError(what, f"this site has {known}", ("clusters", cluster.name, "heads", "flavor"))
    return flavor


def _old_claims(wish: HeadWish) -> list[Claim]:
    if wish.before is None:
        return []
    claims = claims_of_part(wish.holder.tenant, wish.cluster.name, wish.before)
    return [claim for claim in claims if claim.field == _CLAIM]


def _taken(allocated: AllocationState, wish: HeadWish, heads: HeadServers) -> tuple[str, ...]:
    flavor = head_flavor(allocated.site, wish.cluster, heads)
    need = ServerNeed((wish.network,), flavor, functions=0)
    found = list[str]()

    def take(host: str) -> None:
        found.append(host)
        allocated.add(Claim(_CLAIM, host, wish.holder, flavor.name))

    for host in _wanted(wish, heads):
        if wish.pinned is not None:
            _check_room(allocated, wish, need, host)
        if wish.pinned is not None or _stays(wish, flavor) or _fits(allocated, need, host):
            take(host)
        elif not wish.may_move:
            device = allocated.site.host.get(host)
            why = f"{host} cannot carry what it asks for now" + (f": {counted([device])}" if device else "")
            what = f"cluster {wish.cluster.name} needs other hosts"
            raise NeedsMove(wish.cluster.name, what, why, RECREATES_HEADS, wish.asked)
    while len(found) < heads.count:
        take(_best(allocated, wish, need, found))
    return tuple(found)


def _wanted(wish: HeadWish, heads: HeadServers) -> tuple[str, ...]:
    """Hosts that are not up to us."""
    if wish.pinned is None:
        return wish.before.heads[: heads.count] if wish.before is not None else ()
    if len(wish.pinned) != heads.count:
        what = f"cluster {wish.cluster.name} asks for {heads.count} heads and pins {len(wish.pinned)}"
        raise PlanningError(what, f"pin {heads.count}, or remove `heads` from its pins", wish.pinned_by)
    return wish.pinned


def _stays(wish: HeadWish, flavor: FlavorSpec) -> bool:
    """True if nothing changes for heads that it has: then whether their host still suits is the gate's."""
    before = wish.before
    return before is not None and before.head_flavor == flavor.name and before.cluster_network == wish.network


def _fits(allocated: AllocationState, need: ServerNeed, name: str) -> bool:
    host = allocated.site.host.get(name)
    return host is not None and allocated.hosts.fits(host, need) > 0


def _check_room(allocated: AllocationState, wish: HeadWish, need: ServerNeed, name: str) -> None:
    """Pins are taken as given, but for a host that is full or out of service, if the cluster does not have it."""
    host, had = allocated.site.host.get(name), wish.before.heads if wish.before is not None else ()
    if host is None or name in had or not need.is_met_by(host) or allocated.hosts.fits(host, need):
        return
    idle = counted([host])
    what = f"cluster {wish.cluster.name} pins host {name}, which has no room for one more {_flavor(need)}"
    hint = "pin a host with room, or take `heads` out of its pins"
    raise AllocationError(what, idle or left_on(allocated, [host]), hint, wish.pinned_by)


def _best(allocated: AllocationState, wish: HeadWish, need: ServerNeed, siblings: Sequence[str]) -> str:
    """Apart from the other head, without another tenant, with most CPUs left, first in the site."""
    hosts = [host for host in allocated.layout.hosts.get(wish.network, ()) if need.is_met_by(host)]
    fitting = [host for host in hosts if allocated.hosts.fits(host, need)]
    if fitting:
        tenant, rooms = wish.holder.tenant, allocated.hosts
        return min(
            fitting,
            key=lambda host: (
                siblings.count(host.name),
                bool(rooms.tenants_on(host.name) - {tenant}),
                -rooms.room(host).cpus,
                allocated.layout.host_order[host.name],
            ),
        ).name
    if not hosts:
        raise AllocationError(
            f"cluster {wish.cluster.name}: no hypervisor of role poplar has an interface on {wish.network}, where its "
            "in-band network is and its heads must stand",
            hint=f"state the `interfaces` of such a host on {wish.network} in the site file, or ask for no `heads`",
            path=wish.asked,
        )
    usable, idle = [host for host in hosts if host.in_service], counted(hosts)
    what = f"cluster {wish.cluster.name}: no host on {wish.network} has room for one more head of {_flavor(need)}"
    closest = "; ".join(part for part in (left_on(allocated, usable), idle) if part)
    hint = "ask for a smaller flavour or for fewer heads, settle what was released there, or add a host"
    raise AllocationError(what, closest, hint + (f"; or {BRING_BACK}" if idle else ""), wish.asked)


def _flavor(need: ServerNeed) -> str:
    flavor = need.flavor
    return "" if flavor is None else f"{flavor.name} ({flavor.vcpus} dedicated CPUs, {flavor.ram_gib} pages of 1 GiB)"
