"""What a site offers and on which terms, as `site.yaml` states it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema

from interlock.hardware import PRICE_ITEMS
from interlock.model.text.validation import FileModel
from interlock.model.text.values import DiskGiB, MemoryGiB, Positive

from .guards import Guard
from .offers import BootMode, DeviceUse, FlavorRole, SharingKind
from .physical import Generation
from .software_file import ImageSoftwareFile, Version
from .values import Audience, Cipher, ExtraSpecs, MountOption, PciAlias, Price
from .whole_nodes import PassedDevice

#: Why a flavour names no number of devices, and what to do.
_WHY_WHOLE = (
    "parts of a GPU node are not handed out: GPUs of one NVLink domain reach each other, and no rule keeps two tenants "
    "apart there"
)
_PART = (_WHY_WHOLE, "take it out: all GPUs, NVSwitches and InfiniBand adapters of the node are handed out together")


class WholeNodeFile(FileModel):
    """The GPU node that a server of a flavour takes whole. How many devices that are follows from its type."""

    #: What would hand out a part of a node, and why nobody gets that.
    REFUSED: ClassVar[Mapping[str, tuple[str, str]]] = dict.fromkeys(("gpus", "nvswitches", "hcas", "mig"), _PART)

    type: str = Field(description="its node type in the catalogue, as in `dgx-h100`")
    aliases: dict[PassedDevice, PciAlias] = Field(
        description="kind of device, `gpu`, `nvswitch` or `hca` → the alias in `[pci] alias` of nova.conf"
    )
    one_time_use: bool | None = Field(
        default=None,
        description="whether every `device_spec` behind these aliases says `one_time_use`, so that a device stays "
        "reserved after its server until `interlock settle` gives it back; without it, unknown",
    )


class FlavorFile(FileModel):
    """A flavour."""

    role: FlavorRole = Field(
        description="on which hosts it may be used: `poplar`, `infra`, or `gpu` for servers that take a GPU node whole"
    )
    vcpus: Positive = Field(description="threads")
    ram: MemoryGiB = Field(description="memory")
    disk: DiskGiB = Field(description="root disk")
    extra_specs: ExtraSpecs = Field(default_factory=dict, description="Nova's extra specifications")
    public: bool = Field(
        default=True, description="whether every project may use it; if not, tenants whose servers are of it"
    )
    devices: DeviceUse | None = Field(
        default=None,
        description="what the devices are that its extra specifications hand out: `network`, whole network functions, "
        "or `other`, such as GPUs; without it, unknown",
    )
    whole_node: WholeNodeFile | None = Field(
        default=None, description="of the role `gpu`: the node that a server of it takes whole"
    )


class ImagePropertiesFile(FileModel):
    """What is in an image. What is not stated is not compared with anything."""

    os: str | None = Field(default=None, description="its operating system, as in `ubuntu-20.04`")
    kernel: Version | None = Field(default=None, description="version of its kernel")
    driver: Version | None = Field(default=None, description="version of its IPU driver")
    sdk: Version | None = Field(default=None, description="version of its Poplar SDK")
    generations: list[Generation] = Field(
        default_factory=list, description="models of IPU-Machine that its SDK supports"
    )
    vipu: Version | None = Field(
        default=None, description="version of its V-IPU software: the client's, or the server's of a controller"
    )
    disk: DiskGiB | None = Field(default=None, description="smallest root disk on which it boots")
    boot: BootMode | None = Field(default=None, description="firmware that it boots with")


class ImageFile(FileModel):
    """An image, as a file below the site's folder."""

    file: str = Field(description="its file, below the site's folder")
    sha512: Annotated[str, Field(pattern="^[0-9a-f]{128}$")] = Field(description="its checksum, in hexadecimal")
    disk_format: Literal["raw", "qcow2"] = Field(default="raw", description="its format")
    properties: ImagePropertiesFile = Field(
        default_factory=ImagePropertiesFile, description="what is in it, compared with what is asked for"
    )
    software: ImageSoftwareFile = Field(
        default_factory=ImageSoftwareFile, description="what runs on GPU nodes that boot it"
    )


class VolumeEncryptionFile(FileModel):
    """How volumes of one type are encrypted."""

    provider: Literal["luks", "luks2"] = Field(default="luks", description="format of an encrypted volume")
    cipher: Cipher = Field(default="aes-xts-plain64", description="cipher and mode, as dm-crypt has them")
    key_size: Literal[128, 192, 256, 512] = Field(
        default=256, description="size of each volume's key, in bits; XTS uses half of it"
    )
    control_location: Literal["front-end", "back-end"] = Field(
        default="front-end",
        description="who encrypts: `front-end`, the hypervisor, so that storage and its network see ciphertext only; "
        "`back-end`, the storage",
    )


class ShareTypeFile(FileModel):
    """A Manila share type. Its shares are exported by the appliance itself: Manila makes no share servers for it."""

    storage_class: str = Field(description="the class of storage behind it: of the catalogue, by NFS")
    extra_specs: ExtraSpecs = Field(
        default_factory=dict,
        description="Manila's extra specifications, such as `share_backend_name`: which back end answers to the type",
    )
    mount_options: list[MountOption] | None = Field(
        default=None, description="NFS options of servers that mount it; without it, what its class of storage asks for"
    )


class TenantDefaultsFile(FileModel):
    """What a tenant gets that does not say."""

    flavor: str | None = Field(default=None, description="flavour of Poplar servers")
    image: str | None = Field(default=None, description="image of Poplar servers")
    volume_type: str | None = Field(default=None, description="type of volumes")
    share_type: str | None = Field(default=None, description="type of shares")


class LimitsFile(FileModel):
    """Limits of the operator's own project, and of every tenant."""

    controller_instances: Positive | None = Field(
        default=None, description="controllers in all; needed where there are IPU-Machines, as the next two"
    )
    controller_cores: Positive | None = Field(default=None, description="their threads in all")
    controller_ram: MemoryGiB | None = Field(default=None, description="their memory in all")
    machines_per_tenant: Positive | None = Field(
        default=None, description="IPU-Machines that one tenant may have; without it, as many as there are"
    )
    remote_poplar_oversubscription: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        default=3.0,
        description="most that the way to a Poplar host in another rack may be oversubscribed, south to north",
    )


class SharingFile(FileModel):
    """An object shared on purpose."""

    kind: SharingKind = Field(description="what it is: the kind says which guards count, and which rule takes over")
    node: str | None = Field(
        default=None,
        description="device, host, network, VRF (`switch/vrf`) or InfiniBand GUID; without it, the entry's name",
    )
    audience: Audience = Field(description="tenants that may meet it, or `any`")
    guards: dict[str, Guard] = Field(
        default_factory=dict, description="guard → `true`, `false` or `unknown`; an entry without any is no sharing"
    )


def _prices_schema() -> dict[str, Any]:
    items = ", ".join(f"{item} {unit}" for item, unit in PRICE_ITEMS.items())
    return {
        "type": "object",
        "propertyNames": {"enum": ["currency", *PRICE_ITEMS]},
        "required": ["currency"],
        "additionalProperties": {"type": ["string", "number"]},
        "examples": [{"currency": "EUR", "ipu-machine": "1.90"}],
        "description": f"currency, and decimal numbers: {items}",
    }


#: Looked at key by key in `site_offer_checks`, where each fault has a place of its own.
Prices = Annotated[dict[str, Price], WithJsonSchema(_prices_schema())]
