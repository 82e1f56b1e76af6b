"""What the rules are asked about: typed, frozen facts. `site_facts` and `plan_facts` read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from interlock.planning.plan import Plan, UntestedDevice
from interlock.resources.network import NetworkType, VnicType
from interlock.vocabulary import NetworkRole
from policies.about import OpenScope

from .access import NO_ACCESS, AccessFacts, AggregateFact, FlavorAccessFact, FlavorFact, KeypairFact
from .data import (
    AttachmentFact,
    BucketFact,
    BucketPolicyFact,
    CredentialFact,
    ServiceUserFact,
    ShareAccessFact,
    ShareFact,
    VolumeFact,
    VolumeTypeFact,
)
from .fabric import AllocationFact, ClusterFact, NvlinkFact, PartitionFact, PartitionKeyFact, SwitchPortFact
from .plan_references import ReferenceFact
from .rights import FloatingIpFact, ImageFact, RightFact, SecurityGroupFact, StoredCredentialFact, TrunkFact
from .vipu import NO_VIPU, VipuFacts


@dataclass(frozen=True)
class NetworkFact:
    """A network with its segment. `owner` is a label, from the project it lies in."""

    name: str
    owner: str
    #: What the plan states that it is for; None: nothing a rule could rest on.
    role: NetworkRole | None
    vpod: str | None
    kind: NetworkType
    physical_network: str | None
    #: VLAN id or VNI; None on a flat network, or where the cloud would choose it.
    segment: int | None
    external: bool
    shared: bool
    port_security: bool
    #: Largest frame, in bytes; None: that of its physical network.
    mtu: int | None = None

    @property
    def segment_name(self) -> str:
        """The segment in words: `VLAN 1000 on fabric100g`."""
        if self.kind == "vxlan":
            return f"VXLAN {self.segment}"
        number = f"VLAN {self.segment}" if self.kind == "vlan" else "untagged"
        return f"{number} on {self.physical_network}"


@dataclass(frozen=True)
class SubnetFact:
    """Addresses of a network."""

    name: str
    owner: str
    network: str
    cidr: str
    gateway: str | None
    dhcp: bool
    subnet_pool: str | None
    #: (first, last) addresses that Neutron gives out by itself.
    pools: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PortFact:
    """A Neutron port and the server that holds it."""

    name: str
    owner: str
    network: str
    subnet: str
    address: str
    vnic_type: VnicType
    port_security: bool
    server: str | None
    host: str | None
    security_groups: tuple[str, ...] = ()
    #: Prefixes that it may send from besides its own address.
    allowed_address_pairs: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServerFact:
    """A server on its host; `labels` are all who control it: the project's owner, and the key's."""

    name: str
    labels: frozenset[str]
    host: str
    vpod: str | None
    #: Its ports, and the sub-ports of trunks on them.
    ports: tuple[str, ...]
    #: In the operator's project, as a vPOD's V-IPU controller.
    is_controller: bool
    #: A whole host: its root sends any frame that the switch ports behind it take.
    is_bare_metal: bool = False
    #: Image, key and cloud-init document, as the plan refers to them.
    image: str = ""
    keypair: str | None = None
    user_data: str = ""
    #: Fingerprints of the ssh keys in it.
    login_keys: tuple[str, ...] = ()
    #: Flavour of a virtual server, as the plan refers to it; empty for a whole host.
    flavor: str = ""


@dataclass(frozen=True)
class RouterFact:
    """A router, its gateway's network and the subnets it has an interface on."""

    name: str
    owner: str
    external_network: str | None
    subnets: tuple[str, ...]
    #: (owner, subnet) of each interface.
    interfaces: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class VPodFact:
    """A vPOD: its machines are those whose switch ports it sets, its hosts those it takes as bare metal."""

    name: str
    machines: tuple[str, ...]
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class SegmentRangeFact:
    """Ids that the cloud may give out by itself; VXLAN has no physical network."""

    name: str
    kind: str
    physical_network: str | None
    minimum: int
    maximum: int


@dataclass(frozen=True)
class PlanFacts:
    """One plan. `owner` is the label of everything in the stack's own project."""

    owner: str
    #: False for the operator's own stack.
    is_tenant: bool
    networks: tuple[NetworkFact, ...]
    subnets: tuple[SubnetFact, ...]
    ports: tuple[PortFact, ...]
    servers: tuple[ServerFact, ...]
    routers: tuple[RouterFact, ...]
    switch_ports: tuple[SwitchPortFact, ...]
    vpods: tuple[VPodFact, ...]
    clusters: tuple[ClusterFact, ...] = ()
    allocations: tuple[AllocationFact, ...] = ()
    partitions: tuple[PartitionFact, ...] = ()
    vipu: VipuFacts = NO_VIPU
    keys: tuple[PartitionKeyFact, ...] = ()
    nvlinks: tuple[NvlinkFact, ...] = ()
    volume_types: tuple[VolumeTypeFact, ...] = ()
    volumes: tuple[VolumeFact, ...] = ()
    attachments: tuple[AttachmentFact, ...] = ()
    shares: tuple[ShareFact, ...] = ()
    accesses: tuple[ShareAccessFact, ...] = ()
    buckets: tuple[BucketFact, ...] = ()
    bucket_policies: tuple[BucketPolicyFact, ...] = ()
    users: tuple[ServiceUserFact, ...] = ()
    credentials: tuple[CredentialFact, ...] = ()
    ranges: tuple[SegmentRangeFact, ...] = ()
    trunks: tuple[TrunkFact, ...] = ()
    floating_ips: tuple[FloatingIpFact, ...] = ()
    rights: tuple[RightFact, ...] = ()
    stored_credentials: tuple[StoredCredentialFact, ...] = ()
    images: tuple[ImageFact, ...] = ()
    security_groups: tuple[SecurityGroupFact, ...] = ()
    flavors: tuple[FlavorFact, ...] = ()
    flavor_accesses: tuple[FlavorAccessFact, ...] = ()
    aggregates: tuple[AggregateFact, ...] = ()
    keypairs: tuple[KeypairFact, ...] = ()
    access: AccessFacts = NO_ACCESS
    #: How many resources the plan holds, and (kind, name) of those that the proof has no way to read.
    resources: int = 0
    unread: tuple[tuple[str, str], ...] = ()
    #: (name, kinds) of resources that one name stands for: a reference finds one of them, and hides the others.
    hidden: tuple[tuple[str, tuple[str, ...]], ...] = ()
    #: Resources of which the plan does not state to which vPOD they belong, although they stand in one.
    without_vpod: tuple[str, ...] = ()
    #: (resource, vPOD that it states, vPOD whose part it is) where these are two.
    other_vpod: tuple[tuple[str, str, str | None], ...] = ()
    #: References to what neither this plan nor, of such a kind, the site or the cloud can have.
    unresolved: tuple[ReferenceFact, ...] = ()
    #: References to objects of the site: whether it has them, the plan does not say.
    of_site: tuple[ReferenceFact, ...] = ()
    #: (router, subnet) of interfaces on routers that the plan does not have.
    stray_interfaces: tuple[tuple[str, str], ...] = ()
    #: Address scopes and subnet pools that are shared with every project.
    open_scopes: tuple[OpenScope, ...] = ()
    #: What is to be paid for, where the request states a budget.
    to_pay: Plan | None = None
    #: Whether vPODs are owners too: `separate: vpods` of the request.
    separates_vpods: bool = True
    #: Devices of its vPODs that replaced others and that nobody is known to have tested.
    untested: tuple[UntestedDevice, ...] = ()

    @cached_property
    def network(self) -> dict[str, NetworkFact]:
        """Networks by plan name."""
        return {item.name: item for item in self.networks}

    @cached_property
    def port(self) -> dict[str, PortFact]:
        """Ports by plan name."""
        return {item.name: item for item in self.ports}

    @cached_property
    def subnet(self) -> dict[str, SubnetFact]:
        """Subnets by plan name."""
        return {item.name: item for item in self.subnets}

    @cached_property
    def server(self) -> dict[str, ServerFact]:
        """Servers by plan name."""
        return {item.name: item for item in self.servers}

    @cached_property
    def allocation(self) -> dict[str, AllocationFact]:
        """V-IPU allocations by plan name."""
        return {item.name: item for item in self.allocations}

    def role(self, vpod: str, role: NetworkRole) -> tuple[NetworkFact, ...]:
        """The networks of one vPOD with this role."""
        return tuple(item for item in self.networks if item.vpod == vpod and item.role is role)

    def without_role(self, vpod: str) -> tuple[NetworkFact, ...]:
        """Networks that may have any role in a vPOD: its own, and those of no stated vPOD, that state none."""
        return tuple(item for item in self.networks if self.lacks_role(item) and item.vpod in (vpod, None))

    def lacks_role(self, network: NetworkFact) -> bool:
        """True of a network that has to say what it is for and does not: those of vPODs, and all others of tenants."""
        if network.vpod is not None:
            return network.role is None
        return self.is_tenant and not network.external

    def ports_on(self, network: str) -> tuple[PortFact, ...]:
        """Ports of one network."""
        return tuple(item for item in self.ports if item.network == network)
