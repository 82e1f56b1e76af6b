"""`tenants/<id>.yaml` as a tenant writes it; `tenant_expansion` makes the full form of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from interlock.model.site.physical import Generation
from interlock.model.text.names import AccountName, DisplayName, PartName, UserName
from interlock.model.text.validation import FileModel
from interlock.model.text.values import MOST_NUMBER, GiB, MaybeCertifiedKey, MaybePublicKey, Positive, Prefix
from interlock.model.text.yaml_reading import REQUEST, FileLimits
from interlock.model.waivers import WaiverFile
from interlock.resources.storage import OnDelete

from .bucket_file import BucketFile
from .cluster_file import ClusterFile
from .data_words import KEPT_DATA, ROTATE
from .partitions import Routing, SyncType
from .people_file import ACCOUNTS, KeyHolderFile
from .request import Pins, ServerKind, VPodState
from .values import (
    SEPARATION,
    SERVERS,
    Amount,
    Currency,
    KeyNumbers,
    MountPoint,
    RuleId,
    all_or_listed,
    budget_mapping,
    mapping_of_defaults,
    mapping_of_size,
    separation,
)

Index = Annotated[int, Field(ge=0, le=MOST_NUMBER)]

_ENCRYPTED = "Whether its type has to be one that the site encrypts; by default what the request says for all."


class SizedFile(FileModel):
    """Something with a size; the size alone, as in `100GiB`, is short for `{size: 100GiB}`."""

    STAND_INS: ClassVar[Mapping[str, Any]] = {"size": "1GiB"}

    size: GiB = Field(description="Whole GiB, with a unit that is a power of 1024.")
    on_delete: OnDelete | None = Field(default=None, description=KEPT_DATA)


class VolumeFile(SizedFile):
    """The volume of every Poplar server of a vPOD."""

    type: str | None = Field(default=None, description="A volume type of the site; by default the site's.")
    encrypted: bool | None = Field(default=None, description=_ENCRYPTED)


class OwnVolumeFile(VolumeFile):
    """A volume beside those of the servers."""

    vpod: str | None = Field(
        default=None, description="vPOD at one of whose servers it is attached; by default at none."
    )
    server: Index | None = Field(
        default=None, description="Which Poplar server of the vPOD, from 0; only to say if it has several."
    )


class ShareFile(SizedFile):
    """A file share, mounted by NFS."""

    type: str | None = Field(default=None, description="A share type of the site; by default the site's.")
    vpods: list[str] | None = Field(default=None, description="vPODs that mount it; by default all.")
    clusters: list[str] | None = Field(default=None, description="GPU clusters that mount it; by default all.")
    access: Literal["rw", "ro"] = Field(default="rw", description="Whether they may write to it.")
    mount: MountPoint | None = Field(
        default=None, description="Where their servers mount it, an absolute path; by default `/mnt/` and its name."
    )


class PoplarFile(FileModel):
    """The Poplar servers of a vPOD."""

    servers: Positive = Field(default=1, description="How many.")
    kind: ServerKind = Field(
        default="vm", description="Virtual servers, or whole hosts without a hypervisor, which have no flavour."
    )
    flavor: str | None = Field(default=None, description="A flavour of the site; by default the site's.")
    image: str | None = Field(default=None, description="An image of the site; by default the site's.")
    volume: Annotated[VolumeFile | None, BeforeValidator(mapping_of_size)] = Field(
        default=None, description="A volume at each of them, as in `100GiB`; by default none."
    )


class PartitionFile(FileModel):
    """A V-IPU partition of a vPOD."""

    ipus: Positive = Field(description="A power of two.")
    gcds: Positive = Field(default=1, description="Graph compile domains, of equal size.")
    replicas: Positive | None = Field(
        default=None, description="Replicas in all, a multiple of the GCDs; by default one in each."
    )
    reconfigurable: bool = Field(
        default=False, description="Whether devices of any size can be opened in it; needs c2-compatible."
    )
    sync_type: SyncType = Field(default="c2-compatible", description="How its IPUs keep step.")
    routing: Routing = Field(default="default", description="How traffic runs on the IPU-Links; rings need a torus.")
    replaceable: bool = Field(
        default=False,
        description="Whether it may be deleted and made again, which ends what runs on it, when anything of it or of "
        "its vPOD's machines changes: V-IPU resizes nothing.",
    )


class VPodFile(FileModel):
    """A vPOD: `machines:` or `ipus:`, exactly one of them."""

    machines: int | None = Field(
        default=None, le=MOST_NUMBER, description="IPU-Machines: 1, 2, 4, 8, 16, or whole logical racks of 16."
    )
    ipus: int | None = Field(
        default=None, le=MOST_NUMBER, description="The same, counted in IPUs: 4 are one IPU-Machine."
    )
    generation: Generation | None = Field(
        default=None, description="Generation of all its machines; by default any, and one for all."
    )
    poplar: PoplarFile = Field(
        default_factory=PoplarFile, description="Its Poplar servers; by default one, as the site has it."
    )
    partitions: dict[PartName, PartitionFile] = Field(
        default_factory=dict, description="Partitions to make on it, by name; by default the tenant makes them."
    )
    s3_keys: KeyNumbers = Field(default=[1], description=f"Numbers of its S3 keys that are valid. {ROTATE}")
    state: VPodState = Field(
        default="present",
        description="`released`: its machines, servers, networks and partitions are given up; volumes of its servers "
        "stay, and are paid.",
    )


class PublicFile(FileModel):
    """Servers of one vPOD, or heads of one cluster, that have a floating IP."""

    servers: Annotated[list[Index] | None, BeforeValidator(all_or_listed), SERVERS] = Field(
        default=None,
        description="Which Poplar servers of the vPOD or heads of the cluster, from 0, or `all`; by default all.",
    )
    ssh_from: list[Prefix] | None = Field(
        default=None,
        description="Prefixes from which they are reached, besides the site's bastion; by default those of "
        "`access.ssh_from`.",
    )


class AccessFile(FileModel):
    """Who may look, and who may log in."""

    members: list[UserName] = Field(
        default_factory=list,
        description="Users of the cloud who may look at everything and change nothing: `alice` in the site's Keystone "
        "domain, `alice@ops` in another; a name with an `@` in it needs its domain behind it.",
    )
    ssh_public_key: MaybePublicKey = Field(
        default=None,
        description="The line of a file like id_ed25519.pub: one key that every server carries; another one "
        "reaches new servers only. Only with `ca` it may be left out.",
    )
    ssh_from: list[Prefix] = Field(
        default_factory=list,
        description="Prefixes from which ssh is open, of every server that says nothing else; by default from none.",
    )
    public: dict[PartName, Annotated[PublicFile, BeforeValidator(mapping_of_defaults)]] = Field(
        default_factory=dict,
        description="vPOD or cluster → which of its Poplar servers or heads have a floating IP, so that they are "
        "reached from outside; nobody gets in without.",
    )
    ca: MaybeCertifiedKey = Field(
        default=None,
        description="Public key of the tenant's certificate authority, as `interlock access ca` prints it: servers "
        "trust what it signs. By default they have none.",
    )
    accounts: list[AccountName] | None = Field(
        default=None,
        min_length=1,
        description=f"Accounts on the servers that certificates can open; by default `{ACCOUNTS[0]}`.",
    )
    people: list[KeyHolderFile] = Field(
        default_factory=list,
        description="Who gets certificates. No server and no plan rests on it: a change takes effect at once.",
    )


class BudgetFile(FileModel):
    """Most that the tenant wants to pay."""

    per_month: Amount = Field(description="A decimal amount; decimals stand in quotes.")
    currency: Currency = Field(description="That of the site's price book.")


class TenantFile(FileModel):
    """What one tenant asks of a site. The name of the file is the tenant's id."""

    LIMITS: ClassVar[FileLimits] = REQUEST
    STAND_INS: ClassVar[Mapping[str, Any]] = {"name": "–", "access": {}}

    name: DisplayName = Field(description="A name for people.")
    state: Literal["present", "gone"] = Field(
        default="present", description="`gone`: everything is given up; data as `on_delete` says."
    )
    separate: Annotated[Literal["vpods", "no"], BeforeValidator(separation), SEPARATION] = Field(
        default="vpods", description="Whether the tenant's own vPODs are kept apart as well."
    )
    on_delete: OnDelete = Field(
        default="keep", description="What happens to data that is asked for no longer, where nothing else is said."
    )
    encrypted: bool = Field(
        default=False, description="Whether volumes have to be encrypted, where nothing else is said."
    )
    access: AccessFile = Field(description="Members, and the key that servers are entered with.")
    vpods: dict[PartName, VPodFile] = Field(
        default_factory=dict, description="vPODs by name; only who is gone may have neither vPODs nor clusters."
    )
    clusters: dict[PartName, ClusterFile] = Field(
        default_factory=dict, description="GPU clusters by name; a vPOD cannot have the same."
    )
    volumes: dict[PartName, Annotated[OwnVolumeFile, BeforeValidator(mapping_of_size)]] = Field(
        default_factory=dict, description="Volumes beside those of the servers, by name."
    )
    shares: dict[PartName, Annotated[ShareFile, BeforeValidator(mapping_of_size)]] = Field(
        default_factory=dict, description="File shares by name."
    )
    buckets: dict[PartName, Annotated[BucketFile, BeforeValidator(mapping_of_defaults)]] = Field(
        default_factory=dict, description="S3 buckets by name."
    )
    budget: Annotated[BudgetFile | None, BeforeValidator(budget_mapping)] = Field(
        default=None, description="Most to pay, as in `5000 EUR per month`; by default no limit."
    )
    waivers: dict[RuleId, WaiverFile] = Field(
        default_factory=dict, description="Rules that the operator lets pass for this tenant, by id."
    )
    pins: dict[str, Pins] = Field(
        default_factory=dict, description="Claims to take as given, by vPOD; by cluster its `hosts` and `heads`."
    )
