"""What is taken on a site: every claim of every lock, in force or released, with who holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from interlock.model.lock import Lock, Released, VPodAllocation
from interlock.model.site import Site

VLAN_CLAIMS = ("ipu_data_vlan", "storage_vlan", "management_vlan")
#: Fields that say what a claim is an id of, or how big it is; they are none themselves.
NO_CLAIMS = ("flavor", "ipu_data_network", "storage_network", "management_network", "control_network")
SUBNET_CLAIMS = ("ipu_data_subnet", "storage_subnet", "control_subnet", "management_subnet")


@dataclass(frozen=True)
class Claim:
    """One value of one field of `VPodAllocation`, as text, and who holds it."""

    field: str
    value: str
    holder: str
    #: Flavour of the server, for `hosts`; empty where nobody recorded it.
    flavor: str = ""
    tenant: str = ""


@dataclass
class Taken:
    """Claims by kind of identity; grows while an allocation is being made."""

    site: Site
    #: Machine -> holder.
    machines: dict[str, str] = field(default_factory=dict)
    #: (switch, VLAN id) -> holder: the wire, not the name of a physical network, is what is taken.
    vlans: dict[tuple[str, int], str] = field(default_factory=dict)
    vnis: dict[int, str] = field(default_factory=dict)
    subnets: list[IPv4Network] = field(default_factory=list)
    #: Claims of the fields `hosts` and `controller_host`.
    servers: list[Claim] = field(default_factory=list)
    controllers: list[Claim] = field(default_factory=list)

    def add(self, claim: Claim) -> None:
        """Take one more claim. One that is taken already keeps its first holder."""
        if claim.field == "machines":
            self.machines.setdefault(claim.value, claim.holder)
        elif claim.field in VLAN_CLAIMS:
            for switch in switches_of(self.site, claim.field):
                self.vlans.setdefault((switch, int(claim.value)), claim.holder)
        elif claim.field == "control_vni":
            self.vnis.setdefault(int(claim.value), claim.holder)
        elif claim.field in SUBNET_CLAIMS:
            self.subnets.append(IPv4Network(claim.value, strict=False))
        elif claim.field == "hosts":
            self.servers.append(claim)
        elif claim.field == "controller_host":
            self.controllers.append(claim)

    def vlans_used(self, claim: str) -> set[int]:
        """Ids that are taken on a switch that this claim's physical network reaches."""
        reached = switches_of(self.site, claim)
        return {vlan for switch, vlan in self.vlans if switch in reached}


def taken_by(site: Site, others: Sequence[Lock], own_released: Sequence[Released], tenant: str) -> Taken:
    """Everything that other tenants claim or have released, and what this one has released itself."""
    taken = Taken(site)
    for lock in sorted(others, key=lambda item: item.id):
        for claim in claims_of_lock(lock):
            taken.add(claim)
    for entry in own_released:
        taken.add(released_claim(tenant, entry))
    return taken


def claims_of_lock(lock: Lock) -> Iterator[Claim]:
    """Every claim of a lock, then everything that it released."""
    for name, vpod in sorted(lock.allocation.vpods.items()):
        yield from claims_of_vpod(lock.id, name, vpod)
    flavors = {name: vpod.flavor for name, vpod in lock.allocation.vpods.items()}
    for entry in lock.released:
        yield released_claim(lock.id, entry, flavors.get(entry.vpod, ""))


def claims_of_vpod(tenant: str, name: str, vpod: VPodAllocation) -> Iterator[Claim]:
    """Every claim of one vPOD, in the order of the fields; a tuple is one claim for each element."""
    for claim, value in claimed_values(vpod):
        yield Claim(claim, value, holder=f"{tenant}/{name}", flavor=vpod.flavor, tenant=tenant)


def claimed_values(vpod: VPodAllocation) -> Iterator[tuple[str, str]]:
    """(field, value as text) of every claim of a vPOD."""
    for claim in VPodAllocation.model_fields:
        value = getattr(vpod, claim)
        if claim in NO_CLAIMS or value is None:
            continue
        for item in value if isinstance(value, tuple) else (value,):
            yield claim, str(item)


def released_claim(tenant: str, entry: Released, flavor: str = "") -> Claim:
    """A released claim as one that is still taken."""
    holder = f"{tenant}/{entry.vpod} (released, not settled yet)"
    return Claim(entry.claim, entry.value, holder=holder, flavor=flavor, tenant=tenant)


def physical_network_of(site: Site, claim: str) -> str:
    """The physical network on which the VLAN of this claim lies."""
    pools = {
        "ipu_data_vlan": site.pools.ipu_data,
        "storage_vlan": site.pools.storage,
        "management_vlan": site.pools.management,
    }
    return pools[claim].physical_networks[0]


def switches_of(site: Site, claim: str) -> tuple[str, ...]:
    """The switches on which this claim takes its VLAN id; the physical network's name if none is listed."""
    name = physical_network_of(site, claim)
    listed = next((item.switches for item in site.physical_networks if item.name == name), ())
    return listed or (name,)
