"""Claims as text: the exclusive values that a lock holds or has released, one line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from interlock.model.lock.record import ClusterAllocation, Lock, Released, VPodAllocation
from interlock.model.site.inventory import Site
from interlock.vocabulary import CLAIMS_OF, Claimant, NetworkRole, SubnetKey, Vlan

#: VLAN claims, each with the field that names the physical network of the id.
NETWORK_OF = {item.vlan: item.network for item in CLAIMS_OF.values()}
VLAN_CLAIMS = tuple(NETWORK_OF)
#: Fields that say what a claim is an id of, how big it is, or what was one; they are none themselves.
NO_CLAIMS = ("flavor", "head_flavor", "numbers", "former", *NETWORK_OF.values())
SUBNET_CLAIMS = tuple(item.subnet for item in CLAIMS_OF.values())
PARTITION_KEYS = "partition_keys"
#: Claims on room of hosts, which several servers of one part may have on one host.
ROOM_CLAIMS = ("hosts", "heads")

#: The networks that every vPOD has; the others are those of GPU clusters.
_OF_CLUSTERS = (NetworkRole.CLUSTER, NetworkRole.ROCE)
OF_VPODS = tuple(item for role, item in CLAIMS_OF.items() if role not in _OF_CLUSTERS)

CLAIMS = tuple(name for name in VPodAllocation.model_fields if name not in NO_CLAIMS)
CLUSTER_CLAIMS = tuple(name for name in ClusterAllocation.model_fields if name not in NO_CLAIMS)

#: What a vPOD or cluster has, as a lock says it.
PartAllocation = VPodAllocation | ClusterAllocation


@dataclass(frozen=True)
class Claim:
    """One value of one field of a vPOD's or cluster's allocation, as text, and who holds it."""

    field: str
    value: str
    holder: Claimant
    #: Flavour of the server, for `hosts` and `heads`; empty where nobody recorded it.
    flavor: str = ""
    #: Of a released device, where its lock recorded it.
    serial: str = ""

    def on(self, site: Site) -> Claim | None:
        """The same by the name that the device has on the site now; None if it stands nowhere there."""
        if not self.serial:
            return self
        known = site.machine_of if self.field == "machines" else site.host_of
        name = known.get(self.serial)
        return None if name is None else replace(self, value=name)


def claims_of_lock(lock: Lock) -> Iterator[Claim]:
    """Every claim of a lock, then everything that it released."""
    for name, part in sorted(lock.allocation.parts.items()):
        yield from claims_of_part(lock.id, name, part)
    for entry in lock.released:
        yield released_claim(lock.id, entry)


def claims_of_part(tenant: str, name: str, part: PartAllocation) -> Iterator[Claim]:
    """Every claim of one vPOD or cluster, in the order of the fields; a tuple is one claim for each element."""
    for claim, value in claimed_values(part):
        yield Claim(claim, value, Claimant(tenant, name), flavor_of_servers(part))


def flavor_of_servers(part: PartAllocation) -> str:
    """Flavour of the virtual servers of a vPOD or cluster; empty if it has none, or nobody recorded it."""
    return part.flavor if isinstance(part, VPodAllocation) else part.head_flavor


def claimed_values(part: PartAllocation) -> Iterator[tuple[str, str]]:
    """(field, value as text) of every claim of a vPOD or cluster.

    A VLAN is `<physical network>:<id>`, a P_Key `<InfiniBand subnet>:0x0001`.
    """
    for claim in CLAIMS if isinstance(part, VPodAllocation) else CLUSTER_CLAIMS:
        value = getattr(part, claim)
        if value is None:
            continue
        if claim in NETWORK_OF:
            yield claim, str(Vlan(getattr(part, NETWORK_OF[claim]), value))
        elif claim == PARTITION_KEYS:
            yield from ((claim, str(SubnetKey(name, key))) for name, key in sorted(value.items()))
        else:
            yield from ((claim, str(item)) for item in (value if isinstance(value, tuple) else (value,)))


def released_claim(tenant: str, entry: Released) -> Claim:
    """A released claim as one that is still taken.

    A server counts by the flavour that its lock recorded, as in CAP-02. Was that one never applied, and what runs is
    larger, the proof knows: it has the footprint that is applied.
    """
    holder = Claimant(tenant, entry.vpod, released=True)
    return Claim(entry.claim, entry.value, holder, entry.flavor, entry.serial)
