"""What the rules are asked about: typed, frozen facts. `site_facts` and `plan_facts` read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from interlock.planning.plan import Plan, UntestedDevice
from interlock.resources.network import NetworkType, VnicType
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.digits import is_number
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


@dataclass(frozen=True)
class PortMode:
    """What a switch port carries. `tagged` None: no list, so 1-4094."""

    known: bool
    untagged: frozenset[int] = frozenset()
    tagged: tuple[tuple[int, int], ...] | None = ()
    #: Whether frames of the native VLAN may bear its tag; None: not stated.
    tag_native: bool | None = None
    #: Native VLANs of a trunk of which nobody states that: whether their frames are without a tag is unknown as well.
    perhaps_tagged: frozenset[int] = frozenset()
    #: (id on the wire, VLAN inside the switch) where they differ.
    translations: tuple[tuple[int, int], ...] = ()
    #: `isolated` or a community of a private VLAN; None: promiscuous.
    private: str | None = None
    #: True for modes that this proof does not follow: the port may join anything.
    unmodelled: bool = False
    #: True for a port with an address instead of VLANs.
    routed: bool = False
    #: The switches on whose trunks a driver puts the VLANs of all networks there, if this port is such a trunk.
    filled: frozenset[str] = frozenset()
    #: Of a bundle whose members are set differently: how each is set.
    members: tuple[PortMode, ...] = ()

    def inside(self, tag: int) -> frozenset[int]:
        """The VLANs inside the switch that frames with this tag on the wire belong to; `tagged` lists VLANs inside."""
        if self.members:
            return frozenset().union(*(member.inside(tag) for member in self.members))
        if not self.translations:
            return frozenset({tag} if self.carries(tag) else ())
        mapped = {vlan for wire, vlan in self.translations if wire == tag and self.carries(vlan)}
        return frozenset(mapped | (set() if self._is_taken(tag) else self._plain(tag)))

    def perhaps_inside(self, tag: int) -> frozenset[int]:
        """Those that it may belong to besides: where the list names a translated VLAN as it is on the wire only, and
        where another VLAN goes by the id of a listed one: the make of the switch decides which has it."""
        if self.members:
            return frozenset().union(*(member.perhaps_inside(tag) for member in self.members)) - self.inside(tag)
        listed = self.carries(tag)
        found = {vlan for wire, vlan in self.translations if wire == tag and listed and not self.carries(vlan)}
        return frozenset(found | (self._plain(tag) if self._is_taken(tag) else set()))

    def filled_with(self, vlans: Mapping[str, frozenset[int]]) -> PortMode:
        """The same with what a driver put there: VLANs by switch. Whoever has no list carries all anyway."""
        members = tuple(member.filled_with(vlans) for member in self.members)
        if not self.filled or self.tagged is None:
            return replace(self, members=members) if members else self
        more = sorted(frozenset().union(*(vlans.get(switch, frozenset()) for switch in self.filled)))
        return replace(self, tagged=(*self.tagged, *((vlan, vlan) for vlan in more)), members=members)

    def natives_of(self, tag: int) -> frozenset[int]:
        """The VLANs of frames without a tag that frames with this one may belong to as well, listed or not: makes of
        switches differ in that, and most take them. A mode that nobody knows joins all of them anyway."""
        if not (self.known and self.untagged):
            return frozenset()
        return frozenset(vlan for vlan in self.untagged if tag == vlan or tag in self.tags_of(vlan))

    def _plain(self, tag: int) -> set[int]:
        """The VLAN of this id, if it passes and goes by its own id."""
        return {tag} - {vlan for _, vlan in self.translations} if self.carries(tag) else set()

    def _is_taken(self, tag: int) -> bool:
        """Another VLAN goes by this id on the wire."""
        return any(wire == tag for wire, _ in self.translations)

    def tags_of(self, vlan: int) -> frozenset[int]:
        """By which ids a VLAN goes on the wire if it goes tagged."""
        if self.members:
            return frozenset().union(*(member.tags_of(vlan) for member in self.members))
        return frozenset(wire for wire, inner in self.translations if inner == vlan) or frozenset({vlan})

    def carries(self, vlan: int) -> bool:
        """True if frames with this tag pass."""
        ranges = ((1, 4094),) if self.tagged is None else self.tagged
        return any(low <= vlan <= high for low, high in ranges)


#: Of an interface that is no number, which no record of a switch is about.
NO_PORT = 0


@dataclass(frozen=True)
class SwitchEnd:
    """One end of a cable at a switch."""

    switch: str
    port: int

    @classmethod
    def at(cls, switch: str, interface: str) -> SwitchEnd:
        """The end at an interface as a cable or a bundle names it."""
        return cls(switch, int(interface) if is_number(interface) else NO_PORT)
