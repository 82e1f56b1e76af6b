"""What a tenant was given: written by `interlock lock`, committed and reviewed like a package manager's lock.

The plan is a function of the allocation. `footprint` is all that others could collide with
(docs/design/semantics.md, footprints): boundary nodes and the partition that this tenant induces on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from interlock.model.tenant.partitions import Partition
from interlock.resources import Frozen, digest_of
from interlock.vocabulary import CLAIMS_OF, SubnetKey, Vlan
from interlock.vocabulary.owners import OwnerId

from .values import each_its_own, number, prefix, without_empty

#: 2 records the physical networks of a vPOD, its storage VIP and the control VLAN of bare-metal hosts, and hashes
#: only the slice of the site that the lock uses. `interlock lock --upgrade` makes it of format 1.
FORMAT: Final = 2

#: Claims on devices, which are who their serial says.
DEVICES = ("machines", "hosts")

#: Which id or prefix is right, the rules say; what no reader could read is refused with the file.
_Id = Annotated[int, Field(ge=0)]
#: 15 bits of a P_Key; 0x7fff is everybody's, and the sixteenth says what a member is: with it, one key has two names.
_Key = Annotated[int, Field(ge=1, le=0x7FFE)]
_Prefix = Annotated[str, AfterValidator(prefix)]


class VPodAllocation(Frozen):
    """The claims of one vPOD, all exclusive."""

    machines: tuple[str, ...]
    #: Host of each Poplar server, by index.
    hosts: tuple[str, ...]
    #: Flavour of those servers: how much of its host each takes. Empty: not recorded, count the largest.
    flavor: str = ""
    controller_host: str
    #: Physical networks that the three VLANs are ids of: those of the leaf group where the machines stand.
    ipu_data_network: str
    storage_network: str
    management_network: str
    ipu_data_vlan: _Id
    storage_vlan: _Id
    management_vlan: _Id
    #: The control network: VXLAN for servers on hypervisors, a VLAN (with its network) for bare-metal hosts.
    control_vni: _Id | None = None
    control_vlan: _Id | None = None
    control_network: str | None = None
    #: Address of the storage appliance in the storage subnet; None: the vPOD mounts no share.
    storage_vip: str | None = None
    ipu_data_subnet: _Prefix
    storage_subnet: _Prefix
    control_subnet: _Prefix
    management_subnet: _Prefix


class ClusterAllocation(Frozen):
    """The claims of one GPU cluster, all exclusive."""

    #: Whole hosts, in the order of the nodes' numbers.
    hosts: tuple[str, ...]
    #: The number of each, which names its server and address. Empty: 0, 1, 2 … Others stay as they are when one leaves.
    numbers: tuple[_Id, ...] = ()
    #: Physical network of the VLAN of its in-band network.
    cluster_network: str
    cluster_vlan: _Id
    cluster_subnet: _Prefix
    #: The same of its RoCE network, which its nodes' Ethernet compute ports are on; None: it has none.
    roce_network: str | None = None
    roce_vlan: Annotated[int, Field(ge=1)] | None = None
    roce_subnet: _Prefix | None = None
    #: InfiniBand subnet -> 15 bits of the P_Key that it has there.
    partition_keys: dict[str, _Key] = {}
    #: Of a cluster that is released the nodes that it had: it comes back to them if all are free. They are no claim.
    former: tuple[str, ...] = ()
    #: Address of the storage appliance in the in-band subnet; None: the cluster mounts no share.
    storage_vip: str | None = None
    #: Host of each head, by index, and their flavour: how much of its host each takes.
    heads: tuple[str, ...] = ()
    head_flavor: str = ""

    @property
    def numbered(self) -> dict[int, str]:
        """Number of each node -> its host."""
        return dict(zip(self.numbers or range(len(self.hosts)), self.hosts, strict=True))

    @model_validator(mode="after")
    def _is_numbered(self) -> ClusterAllocation:
        """Each node has one number, and what every cluster has at first is not written down."""
        if self.numbers and (len(self.numbers) != len(self.hosts) or list(self.numbers) != sorted(set(self.numbers))):
            raise ValueError("numbers: one for each host, ascending")
        if self.numbers and self.numbers == tuple(range(len(self.hosts))):
            raise ValueError("numbers: left out where they are 0, 1, 2 …")
        if self.former and self.hosts:
            raise ValueError("former: only of a cluster that is released, which has no hosts")
        if len({value is None for value in (self.roce_network, self.roce_vlan, self.roce_subnet)}) > 1:
            raise ValueError("roce_network, roce_vlan, roce_subnet: all of them, or none")
        return self

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        young = ("numbers", "former", "storage_vip", "heads", "head_flavor")
        return without_empty(written(self), (*young, "roce_network", "roce_vlan", "roce_subnet"))


class Allocation(Frozen):
    """Claims by vPOD, and by GPU cluster."""

    vpods: dict[str, VPodAllocation]
    clusters: dict[str, ClusterAllocation] = {}

    @property
    def parts(self) -> dict[str, VPodAllocation | ClusterAllocation]:
        """vPODs, then clusters, by name; no name is in both."""
        return {**self.vpods, **self.clusters}

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(written(self), ("clusters",))


#: Claim -> what reads its value; each raises ValueError where it cannot.
_RELEASED: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(("machines", "hosts", "heads", "controller_host", "storage_vip"), str),
    **{item.vlan: Vlan.parse for item in CLAIMS_OF.values()},
    **{item.vni: number for item in CLAIMS_OF.values() if item.vni},
    **{item.subnet: prefix for item in CLAIMS_OF.values()},
    "partition_keys": SubnetKey.parse,
}


class Released(Frozen):
    """A claim given up; it counts until state, cloud and switch have all let go, and evidence says that it is clean."""

    #: Name of the vPOD or cluster; a tenant has none of both kinds.
    vpod: str
    claim: str
    value: str
    #: When it was given up, in UTC: evidence from before says nothing. Empty: not recorded.
    since: str = ""
    #: Of a Poplar server, or a head of a cluster, its flavour as it was locked last: how much of its host it takes.
    #: Empty: not recorded.
    flavor: str = ""
    #: Of a machine or whole host the serial that was given up: another device under its name is another device.
    #: Empty: not recorded, it is the one that the site states.
    serial: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What was given up, whenever that was."""
        return self.vpod, self.claim, self.value

    @model_validator(mode="after")
    def _is_a_claim(self) -> Released:
        """Nobody looks for a claim of another name, so it would hold nothing."""
        if self.claim not in _RELEASED:
            raise ValueError(f"{self.claim} is no claim")
        if self.serial and self.claim not in DEVICES:
            raise ValueError(f"{self.claim} has no serial")
        _RELEASED[self.claim](self.value)
        return self

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(written(self), ("since", "flavor", "serial"))


class FormerPart(Frozen):
    """What a vPOD or cluster had that a lock gave up whole. It is no claim: those are among what is released.

    A cluster with `state: released` gave up nodes and heads; what it keeps of this is still claimed.
    """

    #: Of that lock. Once it or a younger one was applied, what was given up is given up.
    serial: Annotated[int, Field(ge=1)]
    claims: VPodAllocation | ClusterAllocation


class Replaced(Frozen):
    """A device of the tenant that stands where another stood, and of which nobody has seen a self-test yet (LIF-13).

    The other is among what is released, by its serial. `interlock settle` takes the note away, on evidence.
    """

    vpod: str
    claim: Literal["machines", "hosts"]
    #: Its name, which both have had.
    device: str
    #: Serials of the one before and of the new one.
    before: str
    serial: str
    #: When the lock first said so, in UTC: a self-test from before says nothing.
    since: str


class Untested(Frozen):
    """A device that stands where another stood, whoever has it, and of which nobody has seen a self-test yet.

    Or a GPU node that had left the site file and is back: then both serials are one. The operator's lock keeps it, so
    that a device that its holder gives up owes the test to the next one. `interlock settle` takes the note away, on
    evidence.
    """

    claim: Literal["machines", "hosts"]
    #: The name that both have had.
    device: str
    #: Serials of the one before and of the new one; of a GPU node that came back both are its own.
    before: str
    serial: str
    #: When a lock first said so, in UTC: a self-test from before says nothing.
    since: str


class FormerKey(Frozen):
    """A login key that the plan names no more: servers that were made with it let it in for as long as they are there.

    So is the key of a certificate authority that servers trust. `interlock settle` takes it away, once it is seen that
    no server is left that may have it.
    """

    #: As `ssh-keygen -l` shows it.
    fingerprint: Annotated[str, Field(min_length=1)]
    #: When a lock first said so, in UTC.
    since: str


class Settled(Frozen):
    """An identity that was handed out again because somebody saw it cleaned; that rests on A9 for as long as it lasts.

    Recorded by `interlock settle`, for what is cleaned by steps: a machine, a whole host.
    """

    #: The exclusive identity, as footprints have it.
    identity: str
    #: When the last step was seen, in UTC, and by whom.
    at: str
    by: str


class Premise(Frozen):
    """A half of an edge whose other half may come from another owner; resolved after the union."""

    relation: str
    tuple: tuple[str, ...]


class Footprint(Frozen):
    """A tenant's boundary. Node names are the canonical identities of `policies.facts.identities`."""

    #: The partition induced on the boundary nodes: classes, each sorted, the whole sorted.
    classes: tuple[tuple[str, ...], ...]
    #: Boundary node -> labels that the tenant puts on it.
    labels: dict[str, tuple[str, ...]]
    #: Exclusive identities: machines, switch ports, hosts' slots, addresses on shared media …
    exclusive: tuple[str, ...]
    exposures: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    premises: tuple[Premise, ...] = ()
    #: Edges and labels that rest on a fact nobody stated.
    unknown: tuple[str, ...] = ()


class Lock(Frozen):
    """A lock file. `hash` covers everything else in it."""

    format: Literal[2] = FORMAT
    id: str
    #: Random, minted once; every object on the cloud carries it.
    owner: OwnerId
    serial: int
    #: Hash of the request that this lock was made from, and of the slice of the site that it uses.
    request: str
    site: str
    allocation: Allocation
    released: tuple[Released, ...] = ()
    #: vPODs and clusters that it gave up whole. One that returns before that is applied, or settled, has again what it
    #: had.
    former: dict[str, FormerPart] = {}
    #: Devices that this tenant had and that were given out again on evidence, by identity.
    settled: tuple[Settled, ...] = ()
    #: Name -> serial of the machines and whole hosts in it when it was written. Empty: an earlier version wrote it.
    serials: dict[str, str] = {}
    #: Devices in it that replaced others and were not seen tested.
    replaced: tuple[Replaced, ...] = ()
    #: Login keys that it had, and that servers may still have (SEC-05), by fingerprint.
    former_keys: tuple[FormerKey, ...] = ()
    #: vPOD -> the V-IPU partitions that were asked for: other machines end these, and none that is only now asked for.
    partitions: dict[str, tuple[Partition, ...]] = {}
    footprint: Footprint
    hash: str = ""

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        optional = ("former", "settled", "serials", "replaced", "former_keys", "partitions")
        return without_empty(written(self), optional)

    def sealed(self) -> Lock:
        """The same lock with its hash."""
        return self.model_copy(update={"hash": self.expected_hash()})

    def expected_hash(self) -> str:
        """The hash that a lock with this content must carry."""
        return digest_of(self.model_dump(mode="json", exclude={"hash"}))


class SiteLock(Frozen):
    """The lock of the operator's own stack: its owner id, the hash of the site it was made from, and its devices."""

    format: Literal[2] = FORMAT
    id: Literal["site"] = "site"
    owner: OwnerId
    serial: int
    site: str
    #: Name -> serial of the machines and hosts that the site has, and of those that it had. Empty: an earlier version
    #: wrote it.
    serials: dict[str, str] = {}
    #: Those that replaced others, and GPU nodes that came back, and were not seen tested, by serial.
    untested: tuple[Untested, ...] = ()
    #: Names among `serials` whose devices had left the site file when it was written.
    left: tuple[str, ...] = ()
    #: Whole host -> `<physical network>:<VLAN>` on which it is deployed and cleaned, also of hosts that are gone.
    services: Annotated[dict[str, str], AfterValidator(each_its_own)] = {}
    #: Tenant -> its former login keys, as its own lock has them: whoever deletes that one is not rid of them.
    former_keys: dict[str, tuple[FormerKey, ...]] = {}
    hash: str = ""

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(written(self), ("serials", "untested", "left", "services", "former_keys"))

    def sealed(self) -> SiteLock:
        """The same lock with its hash."""
        return self.model_copy(update={"hash": self.expected_hash()})

    def expected_hash(self) -> str:
        """The hash that a lock with this content must carry."""
        return digest_of(self.model_dump(mode="json", exclude={"hash"}))
