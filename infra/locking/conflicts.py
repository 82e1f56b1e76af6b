"""Claims that two hold at once, over all locks of a site: what a merge of two branches leaves behind.

A lock is made beside the locks that its branch knows, so two branches may give one thing twice. Each conflict
names every holder with its file; the rules find the same by its effect on the wire (TOP-06, ISO-01, ISO-11).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from infra.locking.places import Holder, Places
from interlock.model.lock.record import Lock
from interlock.model.site.inventory import Site
from interlock.planning import AllocationState
from interlock.planning.claims import PARTITION_KEYS, ROOM_CLAIMS, SUBNET_CLAIMS, VLAN_CLAIMS, Claim, claims_of_lock
from interlock.vocabulary import Vlan


@dataclass(frozen=True)
class Conflict:
    """One thing and all who claim it."""

    what: str
    holders: tuple[Holder, ...]

    @property
    def hint(self) -> str:
        """How to end it. Which of them gives way is for people to say."""
        tenants = sorted({holder.claimant.tenant for holder in self.holders})
        if len(tenants) == 1:
            again = f"run `interlock lock {tenants[0]}`"
            return f"pin another for one of them and {again}: without a pin a lock keeps what it has"
        return (
            f"one of {', '.join(tenants)} must change: restore its lock as it was before the merge (or delete "
            "it if it was never applied), or pin others for it, then run `interlock lock` for that tenant"
        )


def conflicts(site: Site, locks: Iterable[Lock], places: Places) -> list[Conflict]:
    """Everything that is claimed twice, by kind and name. Linear in the number of claims."""
    ordered = sorted(locks, key=lambda lock: lock.id)
    stated = (claim.on(site) for lock in ordered for claim in claims_of_lock(lock))
    claims = [claim for claim in stated if claim is not None]
    allocated = AllocationState.of(site, ordered)
    found = [
        *_same_value(claims, "machines", "IPU-Machine"),
        *_same_vlan(allocated, claims),
        *_same_value(claims, "control_vni", "VNI"),
        *_same_value(claims, PARTITION_KEYS, "P_Key"),
        *_overlapping(claims),
        *_overfull(site, allocated, claims),
        *_no_such_host(site, claims),
    ]
    return [Conflict(what, tuple(map(places.holder, holders))) for what, holders in found]


Found = tuple[str, Sequence[Claim]]


def _contended(claims: Sequence[Claim]) -> bool:
    """True if not all of them are of one vPOD: what that gave up and took again is no conflict."""
    return len({(claim.holder.tenant, claim.holder.vpod) for claim in claims}) > 1


def _same_value(claims: Sequence[Claim], field: str, word: str) -> Iterator[Found]:
    held: defaultdict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.field == field:
            held[claim.value].append(claim)
    yield from ((f"{word} {value}", items) for value, items in sorted(held.items()) if _contended(items))


def _same_vlan(allocated: AllocationState, claims: Sequence[Claim]) -> Iterator[Found]:
    """One id on one switch, under whatever names of physical networks; each group of holders once."""
    held: defaultdict[tuple[str, int], list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.field in VLAN_CLAIMS:
            network, vlan = Vlan.parse(claim.value)
            for switch in allocated.layout.switches(network):
                held[switch, vlan].append(claim)
    groups: defaultdict[tuple[int, tuple[Claim, ...]], list[str]] = defaultdict(list)
    for (switch, vlan), items in sorted(held.items()):
        # One vPOD with one id under two of its networks is a conflict too: both would be one wire.
        if _contended(items) or len({item.field for item in items}) > 1:
            groups[vlan, tuple(items)].append(switch)
    yield from ((f"VLAN {vlan} on {', '.join(switches)}", items) for (vlan, items), switches in groups.items())


def _overlapping(claims: Sequence[Claim]) -> Iterator[Found]:
    """Subnets are given out disjoint, so that an address names one server; one sweep over sorted prefixes."""
    subnets = [(IPv4Network(claim.value, strict=False), claim) for claim in claims if claim.field in SUBNET_CLAIMS]
    subnets.sort(key=lambda item: (int(item[0].network_address), item[0].prefixlen, str(item[1].holder)))
    group: list[Claim] = []
    end = -1
    for subnet, claim in subnets:
        if int(subnet.network_address) > end:
            yield from _subnet_conflict(group)
            group = []
        group.append(claim)
        end = max(end, int(subnet.broadcast_address))
    yield from _subnet_conflict(group)


def _subnet_conflict(group: Sequence[Claim]) -> Iterator[Found]:
    if _contended(group) or len({claim.field for claim in group}) > 1:
        yield f"addresses of {group[0].value}", group


def _overfull(site: Site, allocated: AllocationState, claims: Sequence[Claim]) -> Iterator[Found]:
    """Hosts that are given more servers than they hold, or that are given out whole and twice."""
    held: defaultdict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.field in ROOM_CLAIMS:
            held[claim.value].append(claim)
    for host in site.hosts:
        items = held.get(host.name, [])
        room = allocated.hosts.room(host)
        whole = host.is_whole
        lacking = min(room.cpus, room.pages, room.virtual_functions) < 0
        if items and (len(items) > 1 if whole else lacking):
            yield f"host {host.name} ({'given out whole' if whole else 'more servers than it holds'})", items


def _no_such_host(site: Site, claims: Sequence[Claim]) -> Iterator[Found]:
    """Controllers may share a host, so only one that is no host for controllers is wrong."""
    fit = {host.name for host in site.hosts if host.role == "infra"}
    for claim in claims:
        if claim.field == "controller_host" and claim.value not in fit:
            yield f"host {claim.value}, which is none for controllers,", (claim,)
