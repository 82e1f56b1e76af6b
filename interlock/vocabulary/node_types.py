"""The frozen types of node identities, each with the one text that `str` writes; `nodes.parse` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

#: Bits of a P_Key that make it one: the highest says full or limited.
KEY_BITS = 0x7FFF


@lru_cache(maxsize=1 << 16)
def plain(text: str) -> str:
    """A name or serial without the characters that separate the parts of an identity. The same few come often."""
    for character in "%:/@~":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


@dataclass(frozen=True, slots=True)
class SwitchBridge:
    """The one bridge of a switch."""

    serial: str

    def __str__(self) -> str:
        return plain(self.serial)


@dataclass(frozen=True, slots=True)
class HostBridge:
    """The bridge behind one interface of a host: that of the adapter (VFs) or of the vSwitch."""

    serial: str
    interface: str

    def __str__(self) -> str:
        return f"{plain(self.serial)}/{plain(self.interface)}"


@dataclass(frozen=True, slots=True)
class VlanNode:
    """A VLAN inside one bridge; 0: untagged with no VLAN. `group`: as an isolated port or a community meets it."""

    #: Text of the bridge: of a `SwitchBridge` or a `HostBridge`.
    bridge: str
    number: int
    group: str | None = None

    @property
    def is_of_host(self) -> bool:
        """True if the bridge is that of a host's interface, not a switch."""
        return "/" in self.bridge

    def __str__(self) -> str:
        group = "" if self.group is None else f"~{plain(self.group)}"
        return f"L:{self.bridge}{group}:{self.number}"


@dataclass(frozen=True, slots=True)
class OverlayNode:
    """An overlay; Neutron's underlay goes by the cloud's name."""

    underlay: str
    encapsulation: str
    number: int

    def __str__(self) -> str:
        return f"V:{plain(self.underlay)}:{self.encapsulation}:{self.number}"


@dataclass(frozen=True, slots=True)
class Copy:
    """Which VLAN, or which group of a private VLAN, meets a split copy."""

    vlan: int
    group: str | None = None

    def __str__(self) -> str:
        return f"@{self.vlan}" if self.group is None else f"@{self.vlan}~{plain(self.group)}"


@dataclass(frozen=True, slots=True)
class RouterNode:
    """A Neutron router."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"R:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class ExternalNetworkNode:
    """The hub of an external network, or the split copy of it that one router meets."""

    name: str
    router: RouterNode | None = None

    def __str__(self) -> str:
        return f"X:{plain(self.name)}" + ("" if self.router is None else f"@{self.router}")


@dataclass(frozen=True, slots=True)
class SwitchRouterNode:
    """A routing instance of a switch: its default VRF, or the one named; `copy`: as one VLAN meets it."""

    serial: str
    vrf: str | None = None
    copy: Copy | None = None

    def __str__(self) -> str:
        vrf = "" if self.vrf is None else f"/{plain(self.vrf)}"
        return f"R:{plain(self.serial)}{vrf}{self.copy or ''}"


@dataclass(frozen=True, slots=True)
class ServerNode:
    """A server of a plan."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"dev:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A device, as far as one interface of it goes; a hypervisor or a whole device without one.

    `copy`: the split copy of a shared device that one VLAN meets.
    """

    serial: str
    interface: str | None = None
    copy: Copy | None = None

    def __str__(self) -> str:
        interface = "" if self.interface is None else f"/{plain(self.interface)}"
        return f"dev:{plain(self.serial)}{interface}{self.copy or ''}"


@dataclass(frozen=True, slots=True)
class NeutronPortNode:
    """A Neutron port of a plan."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"port:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class SwitchPortNode:
    """A switch port with a device behind it."""

    serial: str
    number: int

    def __str__(self) -> str:
        return f"port:{plain(self.serial)}/{self.number}"


@dataclass(frozen=True, slots=True)
class VolumeNode:
    """A volume of a plan."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"vol:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class AllocationNode:
    """What one V-IPU controller joins."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"I:{plain(self.owner)}:{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class ShareServiceNode:
    """The storage appliance behind the cloud's file shares."""

    cloud: str

    def __str__(self) -> str:
        return f"shares:{plain(self.cloud)}"


@dataclass(frozen=True, slots=True)
class ShareAddressNode:
    """An address of that appliance (VIP), split off from it."""

    cloud: str
    address: str

    def __str__(self) -> str:
        return f"vip:{plain(self.cloud)}:{plain(self.address)}"


@dataclass(frozen=True, slots=True)
class PartitionKeyNode:
    """A P_Key (15 bits) of the InfiniBand subnet with this prefix."""

    prefix: str
    key: int

    def __str__(self) -> str:
        return f"K:{plain(self.prefix)}:{self.key & KEY_BITS:#06x}"


@dataclass(frozen=True, slots=True)
class InfinibandPortNode:
    """An InfiniBand port, by its GUID in lower case."""

    guid: str

    def __str__(self) -> str:
        return f"guid:{plain(self.guid)}"


@dataclass(frozen=True, slots=True)
class NvlinkPartitionNode:
    """A partition of an NVLink domain."""

    domain: str
    number: int

    def __str__(self) -> str:
        return f"N:{plain(self.domain)}:{self.number}"


@dataclass(frozen=True, slots=True)
class GpuNode:
    """A GPU of an NVLink domain."""

    domain: str
    name: str

    def __str__(self) -> str:
        return f"gpu:{plain(self.domain)}/{plain(self.name)}"


@dataclass(frozen=True, slots=True)
class CapabilityNode:
    """Everything that a tenant's project may plug in or call by itself."""

    tenant: str

    def __str__(self) -> str:
        return f"cap:{plain(self.tenant)}"


@dataclass(frozen=True, slots=True)
class ProcessorsNode:
    """The processors of a hypervisor that guests share."""

    serial: str

    def __str__(self) -> str:
        return f"cpu:{plain(self.serial)}"


@dataclass(frozen=True, slots=True)
class ForeignersNode:
    """What no model file describes."""

    cloud: str

    def __str__(self) -> str:
        return f"foreign:{plain(self.cloud)}"


@dataclass(frozen=True, slots=True)
class LostClaimNode:
    """A released VLAN whose physical network nobody recorded."""

    owner: str
    claim: str

    def __str__(self) -> str:
        return f"lost:{plain(self.owner)}:{plain(self.claim)}"


@dataclass(frozen=True, slots=True)
class FormerHolderNode:
    """Whatever a former holder may have left on a device that was cleaned after it; `identity`: the device's."""

    owner: str
    identity: str

    def __str__(self) -> str:
        return f"former:{plain(self.owner)}:{plain(self.identity)}"


@dataclass(frozen=True, slots=True)
class ReferenceNode:
    """An object that neither plan nor site describes."""

    reference: str

    def __str__(self) -> str:
        return f"ref:{plain(self.reference)}"


@dataclass(frozen=True, slots=True)
class OtherTextNode:
    """Text that begins like an identity and is none of ours; it is equal to itself alone."""

    text: str

    def __str__(self) -> str:
        return self.text
