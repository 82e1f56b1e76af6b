"""Canonical node identities: two records with one identity are one node (docs/design/semantics.md, sorts).

=============================  =========================================================  ==============
identity                       what                                                       boundary or own
=============================  =========================================================  ==============
`L:<switch serial>:<vlan>`     a VLAN inside one switch                                   boundary
`L:<host serial>/<if>:<vlan>`  a VLAN inside the bridge of one host interface; 0: flat    boundary
`L:<switch serial>~<g>:<vlan>` the same, as an isolated port or a community meets it      boundary
`V:<underlay>:<encap.>:<vni>`  an overlay; Neutron's underlay goes by the cloud's name    boundary
`X:<network>`                  the hub of an external network                             boundary
`X:<network>@<router>`         the split copy of it that one router meets                 own, named
`R:<owner>:<router>`           a Neutron router                                           own, named
`R:<switch serial>`            the default VRF of a switch                                boundary
`R:<switch serial>/<vrf>`      another VRF of it                                          boundary
`R:<switch serial>…@<vlan>`    the split copy of a VRF that one VLAN meets                union only
`dev:<serial>/<if>@<vlan>`     the split copy of a shared device that one VLAN meets      union only
`dev:<serial>/<part>`          `rnic`, `gw` or `bmc` of a machine; another cabled device  boundary
`dev:<serial>`                 a hypervisor; a shared device as a whole                   boundary
`dev:<owner>:<server>`         a server                                                   own, named
`dev:<serial>/<interface>`     a bare-metal host, as far as this interface of it goes     boundary
`port:<serial>/<n>`            a switch port with a device behind it                      boundary
`port:<owner>:<port>`          a Neutron port                                             own
`vol:<owner>:<volume>`         a volume                                                   own
`I:<owner>:<allocation>`       what one V-IPU controller joins                            own
`shares:<cloud>`               the storage appliance behind the cloud's file shares       boundary
`vip:<cloud>:<address>`        an address of that appliance, split off from it            boundary
`K:<prefix>:<key>`             a P_Key (15 bits) of an InfiniBand subnet                  boundary
`guid:<guid>`                  an InfiniBand port                                         boundary
`N:<domain>:<partition>`       an NVLink partition                                        boundary
`gpu:<domain>/<gpu>`           a GPU                                                      boundary
`cap:<tenant>`                 what a tenant's project may plug in by itself              boundary
`cpu:<serial>`                 the processors of a hypervisor that guests share           boundary
`fabric:<serial>`              all VLANs of a switch, met only where A1 is not held; the  boundary
                               same for P_Keys (A6) and NVLink partitions (A8)
`cloud:<cloud>`                the API of the cloud, met only where A2 is not held        boundary
`foreign:<cloud>`              what no model file describes                               boundary
`lost:<owner>:<claim>`         a released VLAN whose physical network nobody recorded     boundary
`former:<owner>:<device>`      what a former holder may have left on a cleaned device     boundary
`ref:<reference>`              an object that neither plan nor site describes             boundary
=============================  =========================================================  ==============

"Own, named": a node of the tenant's own that stays in the footprint when one of its premises names it.
"Union only": in no plan and no footprint.
Names of physical networks, networks and segments are never identities.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from string import hexdigits

from interlock.vocabulary import nodes
from interlock.vocabulary.nodes import KEY_BITS as KEY_BITS
from interlock.vocabulary.owners import FOREIGN as FOREIGN
from interlock.vocabulary.owners import OPERATOR as OPERATOR
from interlock.vocabulary.owners import RESERVED_LABELS as RESERVED_LABELS
from interlock.vocabulary.owners import WORLD as WORLD


@lru_cache(maxsize=1 << 16)
def switch_bridge(serial: str) -> str:
    """The one bridge of a switch."""
    return str(nodes.SwitchBridge(serial))


@lru_cache(maxsize=1 << 16)
def vlan_segment(bridge: str, vlan: int) -> str:
    """A VLAN (0: untagged with no VLAN) of a bridge: `switch_bridge` or `host_bridge`."""
    return str(nodes.VlanNode(bridge, vlan))


@lru_cache(maxsize=1 << 16)
def host_bridge(serial: str, interface: str) -> str:
    """The bridge behind one interface of a host: that of the adapter (VFs) or of the vSwitch."""
    return str(nodes.HostBridge(serial, interface))


def bridge_and_vlan(segment: str) -> tuple[str, int]:
    """Bridge and VLAN of a VLAN segment's identity; a group of a private VLAN lies in the same bridge."""
    found = vlan_of(segment)
    return found.bridge, found.number


def vlan_of(segment: str) -> nodes.VlanNode:
    """The value of a VLAN segment. Raises TypeError for any other node."""
    found = nodes.parse(segment)
    if not isinstance(found, nodes.VlanNode):
        raise TypeError(f"{segment} is no VLAN of a bridge")
    return found


def private_segment(bridge: str, vlan: int, group: str) -> str:
    """What one isolated port (`port-17`) or one community (`group-red`) meets of a VLAN."""
    return str(nodes.VlanNode(bridge, vlan, group))


def overlay(underlay: str, vni: int, encapsulation: str = "vxlan") -> str:
    """An overlay segment."""
    return str(nodes.OverlayNode(underlay, encapsulation, vni))


def external_hub(network: str) -> str:
    """An external network as one node."""
    return str(nodes.ExternalNetworkNode(network))


def external_copy(network: str, router: str) -> str:
    """What one router's filtered gateway meets of an external network."""
    met_by = nodes.parse(router)
    if not isinstance(met_by, nodes.RouterNode):
        raise TypeError(f"{router} is no Neutron router")
    return str(nodes.ExternalNetworkNode(network, met_by))


def router(owner: str, name: str) -> str:
    """A Neutron router."""
    return str(nodes.RouterNode(owner, name))


def default_vrf(serial: str) -> str:
    """The routing instance of a switch in which its addresses lie."""
    return str(nodes.SwitchRouterNode(serial))


def vrf(serial: str, name: str) -> str:
    """Another routing instance of a switch."""
    return str(nodes.SwitchRouterNode(serial, name))


def copy_at(node: str, segment: str) -> str:
    """What one segment meets of a shared device's attachment or of a VRF."""
    shared, met = nodes.parse(node), vlan_of(segment)
    if not isinstance(shared, nodes.DeviceNode | nodes.SwitchRouterNode):
        raise TypeError(f"{node} has no split copies")
    return str(replace(shared, copy=nodes.Copy(met.number, met.group)))


def shared_by_copies(node: str) -> str:
    """What a split copy is a copy of; any other node is itself."""
    found = nodes.parse(node)
    return str(replace(found, copy=None)) if isinstance(found, nodes.DeviceNode | nodes.SwitchRouterNode) else node


def part(serial: str, interface: str) -> str:
    """One network device of a machine (`rnic`, `gw`, `bmc`), or another cabled device's interface."""
    return str(nodes.DeviceNode(serial, interface))


def hypervisor(serial: str) -> str:
    """A host as the operator runs it."""
    return str(nodes.DeviceNode(serial))


def processors(serial: str) -> str:
    """What guests of one host share even under a sound hypervisor."""
    return str(nodes.ProcessorsNode(serial))


def server(owner: str, name: str) -> str:
    """A server of a plan."""
    return str(nodes.ServerNode(owner, name))


def neutron_port(owner: str, name: str) -> str:
    """A Neutron port of a plan."""
    return str(nodes.NeutronPortNode(owner, name))


def switch_port(serial: str, number: int) -> str:
    """A port of a switch, with the device behind it."""
    return str(nodes.SwitchPortNode(serial, number))


def volume(owner: str, name: str) -> str:
    """A volume of a plan."""
    return str(nodes.VolumeNode(owner, name))


def allocation(owner: str, name: str) -> str:
    """A V-IPU allocation of a plan."""
    return str(nodes.AllocationNode(owner, name))


def share_service(cloud: str) -> str:
    """The storage appliance that exports the cloud's file shares."""
    return str(nodes.ShareServiceNode(cloud))


def share_address(cloud: str, address: str) -> str:
    """An address of that appliance (VIP)."""
    return str(nodes.ShareAddressNode(cloud, address))


GUID_DIGITS = 16
#: The P_Key that every port of a subnet is in.
DEFAULT_KEY = 0x7FFF
#: Part of a GPU node below a hypervisor: its GPUs and NVSwitches, which its one server has.
PASSED_ON = "gpus"


def partition_key(prefix: str, key: int) -> str:
    """A P_Key of the InfiniBand subnet with this prefix."""
    return str(nodes.PartitionKeyNode(prefix, key))


def infiniband_port(guid: str) -> str:
    """An InfiniBand port."""
    return str(nodes.InfinibandPortNode(guid.lower()))


def is_guid(name: str) -> bool:
    """True for 16 hexadecimal digits."""
    return len(name) == GUID_DIGITS and all(digit in hexdigits for digit in name)


def nvlink_partition(domain: str, partition: int) -> str:
    """An NVLink partition."""
    return str(nodes.NvlinkPartitionNode(domain, partition))


def gpu(domain: str, name: str) -> str:
    """A GPU of an NVLink domain."""
    return str(nodes.GpuNode(domain, name))


def capability(tenant: str) -> str:
    """Everything that a tenant's project may plug in or call by itself."""
    return str(nodes.CapabilityNode(tenant))


def fabric(serial: str) -> str:
    """A switch that does not keep its VLANs apart; an InfiniBand subnet or NVLink domain likewise."""
    return str(nodes.FabricNode(serial))


def cloud_api(cloud: str) -> str:
    """A cloud that does not keep its projects apart."""
    return str(nodes.CloudApiNode(cloud))


def operated(place: str, service: str) -> str:
    """What the operator runs for all tenants of a cloud, or on an underlay, if it does not keep them apart."""
    return str(nodes.OperatedNode(place, service))


def foreigners(cloud: str) -> str:
    """Whatever else there is on the cloud."""
    return str(nodes.ForeignersNode(cloud))


def unresolved(reference: str) -> str:
    """An object that is referred to and that no model file describes."""
    return str(nodes.ReferenceNode(reference))


def lost_claim(owner: str, claim: str) -> str:
    """A released claim of which nobody knows where it lies."""
    return str(nodes.LostClaimNode(owner, claim))


def former_holder(owner: str, identity: str) -> str:
    """What a former holder may have left on a device that was cleaned: met only where A9 is not held."""
    return str(nodes.FormerHolderNode(owner, identity))


def machine_identity(serial: str) -> str:
    """The exclusive identity of a machine."""
    return str(nodes.HeldMachine(serial))


def mac_identity(address: str) -> str:
    """The exclusive identity of a MAC address, however it is written."""
    return str(nodes.MacAddress(address.lower().replace("-", ":")))


def host_identity(serial: str) -> str:
    """The exclusive identity of a host that one owner has whole."""
    return str(nodes.HeldHost(serial))


def port_identity(serial: str, number: int) -> str:
    """The exclusive identity of a switch port."""
    return str(nodes.HeldSwitchPort(serial, number))


def login_key_identity(fingerprint: str) -> str:
    """The exclusive identity of a public ssh key."""
    return str(nodes.HeldLoginKey(fingerprint))


def segment_identity(segment: str) -> str:
    """The exclusive identity of a claimed VLAN or VNI."""
    return str(nodes.HeldSegment(segment))


def claimed_segment(identity: str) -> str | None:
    """The VLAN or VNI of an exclusive identity; None if it is another kind."""
    held = nodes.parse(identity)
    return held.segment if isinstance(held, nodes.HeldSegment) else None


def is_wire(node: str) -> bool:
    """True for VLANs and overlays: what E1-E4 join to wire segments."""
    return isinstance(nodes.parse(node), nodes.VlanNode | nodes.OverlayNode)


def is_boundary(node: str) -> bool:
    """True unless the node is an object of a plan's own (those stay only where a premise names them)."""
    match nodes.parse(node):
        case (
            nodes.VolumeNode()
            | nodes.AllocationNode()
            | nodes.ServerNode()
            | nodes.NeutronPortNode()
            | nodes.RouterNode()
        ):
            return False
        case nodes.ExternalNetworkNode(router=nodes.RouterNode()):
            return False
        case nodes.DeviceNode(copy=copy) | nodes.SwitchRouterNode(copy=copy):
            return copy is None
        case _:
            return True
