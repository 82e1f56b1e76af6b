"""Requests of tenants: vPODs, servers, volumes, shares and buckets, with units."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interlock.model.site.physical import Generation, Provisioning
from interlock.model.text.names import DeviceName, PinnedNames
from interlock.model.text.validation import FileModel
from interlock.model.text.values import Prefix
from interlock.model.waivers import Waiver
from interlock.resources import Frozen
from interlock.resources.bucket_settings import BucketLifecycle, CorsRule, ObjectLock
from interlock.resources.storage import OnDelete

from .partitions import Partition
from .people_file import ACCOUNTS

ServerKind = Literal["vm", "bare-metal"]
#: Where a server's own volume is mounted.
OWN_VOLUME = "/data"
VlanId = Annotated[int, Field(ge=1, le=4094)]
VxlanId = Annotated[int, Field(ge=1, lt=1 << 24)]


class Volumes(Frozen):
    """The volume that every Poplar server of a vPOD gets. Size in GiB."""

    size_gib: int
    volume_type: str
    on_delete: OnDelete
    encrypted: bool = False


class Poplar(Frozen):
    """The Poplar servers of a vPOD. Bare-metal ones are whole hosts: no flavour (empty) and no volume."""

    servers: int
    kind: ServerKind = "vm"
    flavor: str
    image: str
    volume: Volumes | None


class VPod(Frozen):
    """One vPOD: IPU-Machines, Poplar servers, a V-IPU controller of its own."""

    name: str
    #: Number of IPU-Machines (the file may say `ipus:`; 4 IPUs are one machine).
    machines: int
    #: Generation of all machines; None: any, but one and the same.
    generation: Generation | None = None
    poplar: Poplar
    partitions: tuple[Partition, ...] = ()
    #: Numbers of the S3 keys that are valid, ascending: one, or two while a key is rotated. The last is the one in use.
    s3_keys: tuple[int, ...] = (1,)


def provisioning_of(kind: ServerKind) -> Provisioning:
    """How the hosts of servers of a kind are given out."""
    return "hypervisor" if kind == "vm" else "bare-metal"


Scheduler = Literal["none", "slurm", "kubernetes"]
ClusterFabric = Literal["infiniband", "roce", "none"]
ClusterState = Literal["present", "released"]
VPodState = Literal["present", "released"]


class Roll(Frozen):
    """Another image for a cluster, node by node: those that its tenant drained have it, the others do not yet."""

    image: str
    drained: tuple[str, ...] = ()


class HeadServers(Frozen):
    """The head nodes of a GPU cluster: virtual servers where its people log in and its scheduler runs."""

    count: Literal[1, 2]
    flavor: str
    image: str


class SlurmOptions(Frozen):
    """What of Slurm is not as usual."""

    controllers: Literal[1, 2] = 1
    #: Folder on a file system that both controllers mount; None with one controller.
    state: str | None = None
    #: slurmdbd at the first head.
    accounting: bool = False
    #: `YY.MM`; None: the release that the tests run.
    release: str | None = None
    #: Number of munge's key, which is made where something hands it to the servers; another number is another key.
    munge_key: int = 1


class Cluster(Frozen):
    """One GPU cluster: whole nodes of one type, each as bare metal or below one virtual server."""

    name: str
    nodes: int
    #: In the catalogue of GPU nodes.
    node_type: str
    image: str
    #: What joins GPUs of several nodes: a partition, a VLAN of one leaf group, or (`none`) the in-band network alone.
    fabric: ClusterFabric
    scheduler: Scheduler = "none"
    #: None: none; the first node is the controller of its scheduler.
    heads: HeadServers | None = None
    slurm: SlurmOptions = SlurmOptions()
    #: Numbers of the S3 keys that are valid, as of a vPOD; it has them where its tenant asks for a bucket.
    s3_keys: tuple[int, ...] = (1,)
    #: `vm`: a virtual server on each node, with all its GPUs, NVSwitches and InfiniBand adapters.
    kind: ServerKind = "bare-metal"

    @property
    def provisioning(self) -> Provisioning:
        """How its nodes are given out."""
        return provisioning_of(self.kind)

    #: `released`: its nodes are given up; network, subnet and P_Keys stay its own.
    state: ClusterState = "present"
    #: Nodes that it is not to have.
    without: tuple[str, ...] = ()
    roll: Roll | None = None

    @property
    def nodes_now(self) -> int:
        """Nodes that it is to have now."""
        return self.nodes if self.state == "present" else 0

    @property
    def heads_now(self) -> int:
        """Heads that it is to have now."""
        return self.heads.count if self.heads is not None and self.state == "present" else 0

    def image_of(self, node: str) -> str:
        """What a node of it is deployed with."""
        return self.roll.image if self.roll is not None and node in self.roll.drained else self.image


class VolumeRequest(Frozen):
    """A volume of its own, attached to one Poplar server (by index) of a vPOD, or to none. Size in GiB."""

    name: str
    size_gib: int
    volume_type: str
    vpod: str | None = None
    server: int | None = None
    on_delete: OnDelete
    #: Asked for: its type has to be one that the site encrypts.
    encrypted: bool = False


class ShareRequest(Frozen):
    """A file share that Poplar servers of these vPODs and nodes of these clusters mount by NFS. Size in GiB."""

    name: str
    size_gib: int
    share_type: str
    vpods: tuple[str, ...]
    access: Literal["rw", "ro"] = "rw"
    on_delete: OnDelete
    #: Where servers mount it, if not at the usual place.
    mount: str | None = None
    clusters: tuple[str, ...] = ()

    @property
    def mount_point(self) -> str:
        """Where servers mount it: an absolute path."""
        return self.mount or usual_mount_point(self.name)


def mount_point_of_volume(volume: str) -> str:
    """Where a volume of the request, which has a name, is mounted at its server."""
    return f"/volumes/{volume}"


def usual_mount_point(share: str) -> str:
    """Where a share is mounted whose request does not say."""
    return f"/mnt/{share}"


class BucketRequest(Frozen):
    """An S3 bucket. `readers` and `writers`: vPODs and clusters whose service users may use it, besides the owner's."""

    name: str
    versioning: bool
    on_delete: OnDelete
    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    #: Readable by everybody, without a key: an entry from outside, which the proof lists.
    public: bool = False
    #: What goes by itself; None: nothing.
    lifecycle: BucketLifecycle | None = None
    cors: tuple[CorsRule, ...] = ()
    object_lock: ObjectLock | None = None
    encryption: bool = False
    public_access_block: bool = False


class KeyHolder(Frozen):
    """Somebody who gets certificates for some accounts on some or all servers, from one day to another."""

    name: str
    #: Lines of public keys.
    keys: tuple[str, ...]
    accounts: tuple[str, ...]
    #: None in both: of all vPODs and clusters, those to come included. None in one: of none of that kind.
    vpods: tuple[str, ...] | None = None
    clusters: tuple[str, ...] | None = None
    #: First and last day in UTC, each included; None: no bound.
    since: str | None = None
    until: str | None = None

    @property
    def parts(self) -> tuple[str, ...] | None:
        """Names of the vPODs and clusters whose servers let them in; None: all, those to come included."""
        if self.vpods is None and self.clusters is None:
            return None
        return (*(self.vpods or ()), *(self.clusters or ()))


class PublicServers(Frozen):
    """Poplar servers of one vPOD, or heads of one cluster, that have a floating IP, and from where they are reached.

    `vpod` is the name of either.
    """

    vpod: str
    #: Indices, in ascending order.
    servers: tuple[int, ...]
    #: Besides the site's bastion.
    ssh_from: tuple[str, ...]


class Access(Frozen):
    """Who may look, and with which ssh keys servers are entered. Members become readers."""

    #: Each as the text of a `Person`, the site's domain filled in.
    members: tuple[str, ...]
    #: None: only certificates of `ca` let anybody in.
    ssh_public_key: str | None
    #: Prefixes from which ssh to Poplar servers is open that are not public.
    ssh_from: tuple[str, ...]
    public: tuple[PublicServers, ...] = ()
    #: Public key of the certificate authority that the tenant's servers trust; None: they trust none.
    ca: str | None = None
    #: Accounts on the servers that certificates can open.
    accounts: tuple[str, ...] = ACCOUNTS
    #: Nothing in a plan rests on them.
    people: tuple[KeyHolder, ...] = ()


class Budget(Frozen):
    """Most that the tenant wants to pay per month: decimal text, in the currency of the site's price book."""

    per_month: str
    currency: str


class Pins(FileModel):
    """Claims of one vPOD that the lock takes as given; the gate judges them. Of a cluster only its nodes and heads."""

    machines: PinnedNames | None = Field(default=None, description="The IPU-Machines, in the order of their positions.")
    hosts: PinnedNames | None = Field(
        default=None, description="Host of each Poplar server, by index; of a cluster its nodes."
    )
    heads: PinnedNames | None = Field(default=None, description="Host of each head of a cluster, by index.")
    controller_host: DeviceName | None = Field(default=None, description="Host of the V-IPU controller.")
    ipu_data_vlan: VlanId | None = Field(default=None, description="VLAN between hosts and machines.")
    storage_vlan: VlanId | None = Field(default=None, description="VLAN to the storage.")
    management_vlan: VlanId | None = Field(default=None, description="VLAN of BMCs and gateways.")
    control_vlan: VlanId | None = Field(
        default=None, description="VLAN between bare-metal servers and the V-IPU controller."
    )
    control_vni: VxlanId | None = Field(
        default=None, description="VXLAN id between virtual servers and the V-IPU controller."
    )
    ipu_data_subnet: Prefix | None = Field(default=None, description="Addresses on the data VLAN.")
    storage_subnet: Prefix | None = Field(default=None, description="Addresses on the storage VLAN.")
    control_subnet: Prefix | None = Field(default=None, description="Addresses on the control network.")
    management_subnet: Prefix | None = Field(default=None, description="Addresses on the management VLAN.")


class Tenant(Frozen):
    """A request. `id` is the name of the file, and part of every name on the cloud; `name` is for people."""

    id: str
    name: str
    #: `gone`: everything is to be given up; the claims count until they are settled.
    state: Literal["present", "gone"] = "present"
    #: `vpods`: the tenant's own vPODs are kept apart too.
    separate: Literal["vpods", "no"] = "vpods"
    access: Access
    vpods: tuple[VPod, ...]
    clusters: tuple[Cluster, ...] = ()
    volumes: tuple[VolumeRequest, ...] = ()
    shares: tuple[ShareRequest, ...] = ()
    buckets: tuple[BucketRequest, ...]
    budget: Budget | None = None
    waivers: tuple[Waiver, ...] = ()
    #: Pins by vPOD, and by cluster: of one of those only `hosts`.
    pins: dict[str, Pins] = {}
    #: vPODs that are given up but for the volumes of their servers, as they are asked for when they return.
    released: tuple[VPod, ...] = ()
    #: All vPODs by name in the order of the file, where some are released: whose key a bucket was made with.
    order: tuple[str, ...] = ()


class Default(Frozen):
    """A value that a request did not state: dotted path, value as text, and who chose it."""

    path: str
    value: str
    origin: Literal["interlock", "the site", "the tenant"]
