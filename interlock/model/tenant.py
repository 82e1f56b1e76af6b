"""What one tenant asks for, in the tenant's words, with units."""

from __future__ import annotations

from interlock.resources import Frozen
from interlock.resources.storage import OnDelete


class Volumes(Frozen):
    """The volume that every Poplar server of a vPOD gets. Size in GiB."""

    size_gib: int
    volume_type: str
    on_delete: OnDelete


class Poplar(Frozen):
    """The Poplar servers of a vPOD."""

    servers: int
    flavor: str
    image: str
    volume: Volumes | None


class VPod(Frozen):
    """One vPOD: IPU-Machines, Poplar servers, a V-IPU controller of its own."""

    name: str
    #: Number of IPU-Machines (the file may say `ipus:`; 4 IPUs are one machine).
    machines: int
    poplar: Poplar


class BucketRequest(Frozen):
    """An S3 bucket."""

    name: str
    versioning: bool
    on_delete: OnDelete


class Access(Frozen):
    """Who may look, and with which ssh key servers are entered. Members become readers."""

    members: tuple[str, ...]
    ssh_public_key: str
    #: Prefixes from which ssh to Poplar servers is open.
    ssh_from: tuple[str, ...]


class Pins(Frozen):
    """Claims of one vPOD that the lock takes as given; the gate judges them."""

    machines: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None
    ipu_data_vlan: int | None = None
    storage_vlan: int | None = None
    management_vlan: int | None = None
    control_vni: int | None = None
    ipu_data_subnet: str | None = None
    storage_subnet: str | None = None
    control_subnet: str | None = None
    management_subnet: str | None = None


class Tenant(Frozen):
    """A request. `id` is the name of the file, and part of every name on the cloud; `name` is for people."""

    id: str
    name: str
    access: Access
    vpods: tuple[VPod, ...]
    buckets: tuple[BucketRequest, ...]
    #: Pins by vPOD.
    pins: dict[str, Pins] = {}
