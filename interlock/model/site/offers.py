"""What a site offers and on which terms: flavours, images, storage, prices, limits, declared sharing."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from interlock.model.text.validation import FileModel
from interlock.resources import Frozen
from interlock.resources.vipu import ManagedBy

from .controller_readings import ControllerReadings
from .physical import Generation
from .rests import RestsOnEvidence
from .software import ImageSoftware
from .whole_nodes import WholeNode

TcpPort = Annotated[int, Field(ge=1, le=65535)]
#: `network`: whole network functions, whose holder sends any frame; `other`: processors that reach no network.
DeviceUse = Literal["network", "other"]
#: `gpu`: servers that take a GPU node whole.
FlavorRole = Literal["poplar", "infra", "gpu"]
SharingKind = Literal[
    "external-network", "vipu-controller", "storage-appliance", "object-store", "routed-back-end",
    "private-vlan-back-end", "bastion", "monitoring", "name-and-time", "metadata", "registry",
]  # fmt: skip


class Sharing(Frozen):
    """An operator's object that is shared on purpose: it stays one only while every guard is known to hold."""

    name: str
    kind: SharingKind
    #: Device, host or network that is shared; the entry's own name where the file does not say.
    node: str
    #: Tenant ids, or ("*",) for any.
    audience: tuple[str, ...]
    #: Guard -> True holds, False does not, None not stated.
    guards: dict[str, bool | None]
    #: Rule that answers for what tenants can do through it, where Sep no longer looks.
    rule: str


class Assumption(Frozen):
    """A premise of the proof (A1, A2 …) with its guard facts."""

    id: str
    guards: dict[str, bool | None]
    #: Guards that rest on evidence; each is None above until a moment is given (`Site.as_of`).
    evidence: dict[str, RestsOnEvidence] = {}

    def as_of(self, now: datetime) -> Assumption:
        """With what evidence says at this moment."""
        if not self.evidence:
            return self
        held = {guard: rests.value(now) for guard, rests in self.evidence.items()}
        return self.model_copy(update={"guards": self.guards | held})


class FlavorSpec(Frozen):
    """A flavour of the site. `role` says on which hosts it may be used; sizes in MiB and GiB."""

    name: str
    role: FlavorRole
    vcpus: int
    ram_gib: int
    disk_gib: int
    extra_specs: dict[str, str] = {}
    #: False: only tenants whose servers are of it may use it.
    public: bool = True
    #: What the devices are that it hands out, if it does; None: not stated.
    devices: DeviceUse | None = None
    #: Of a flavour of the role `gpu`: the node that a server of it takes whole.
    whole_node: WholeNode | None = None

    @property
    def all_extra_specs(self) -> dict[str, str]:
        """What is stated, and what hands out a whole node."""
        return self.extra_specs | (self.whole_node.extra_specs if self.whole_node is not None else {})


BootMode = Literal["bios", "uefi"]


class ImageProperties(Frozen):
    """What the operator states of what is in an image; None, or nothing: not stated, and then it is not compared."""

    os: str | None = None
    kernel: str | None = None
    #: Version of the IPU driver.
    driver: str | None = None
    #: Version of the Poplar SDK, and the models of IPU-Machine that it supports.
    sdk: str | None = None
    generations: tuple[Generation, ...] = ()
    #: Version of the V-IPU software: the client in a Poplar image, the server in a controller's.
    vipu: str | None = None
    #: Smallest root disk on which it boots.
    disk_gib: int | None = None
    boot: BootMode | None = None


class ImageSpec(Frozen):
    """An image file in the site's folder."""

    name: str
    file: str
    sha512: str
    disk_format: Literal["raw", "qcow2"] = "raw"
    properties: ImageProperties = ImageProperties()
    #: What runs on GPU nodes that boot it.
    software: ImageSoftware = ImageSoftware()


class ShareTypeSpec(Frozen):
    """A Manila share type: the class of storage behind it (interlock.hardware.STORAGE_CLASSES)."""

    name: str
    storage_class: str
    #: Manila's, but for `driver_handles_share_servers`, which is False for all.
    extra_specs: dict[str, str] = {}
    #: NFS options of whoever mounts a share of it, in order.
    mount_options: tuple[str, ...] = ()


class Controller(FileModel):
    """How V-IPU controllers run."""

    flavor: str = Field(description="an `infra` flavour")
    image: str = Field(description="one of `images`")
    user_api_port: TcpPort = Field(description="TCP port of V-IPU's user API, the only one that tenants reach")
    managed_by: ManagedBy = Field(
        default="hand",
        description="who tells controllers of agents, clusters, allocations, users and partitions: `interlock` by "
        "V-IPU's commands, `hand` a person",
    )
    readings: ControllerReadings | None = Field(
        default=None,
        description="wants a reading of each controller (`interlock controllers --record`), and a backup of its state",
    )


class Limits(Frozen):
    """Limits of the operator's own project, in which controllers run, and of every tenant."""

    #: Of controllers in all; 0 where the site has none.
    controller_instances: int = 0
    controller_cores: int = 0
    controller_ram_gib: int = 0
    #: IPU-Machines that one tenant may have; None: no limit.
    machines_per_tenant: int | None = None
    #: Most that the way to a Poplar host in another rack may be oversubscribed (south : north).
    remote_poplar_oversubscription: float = 3.0


class PriceBook(Frozen):
    """Prices per item (interlock.hardware.PRICE_ITEMS), decimal text, in one currency. An absent one is unknown."""

    currency: str
    prices: dict[str, str]
