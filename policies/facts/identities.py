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
`ref:<reference>`              an object that neither plan nor site describes             boundary
=============================  =========================================================  ==============

"Own, named": a node of the tenant's own that stays in the footprint when one of its premises names it.
"Union only": in no plan and no footprint.
Names of physical networks, networks and segments are never identities.
"""

from __future__ import annotations

from functools import lru_cache
from string import hexdigits

OPERATOR = "op"
WORLD = "world"
FOREIGN = "foreign"
#: Labels that are no tenant's; a tenant may not be called so.
RESERVED_LABELS = frozenset({OPERATOR, WORLD, FOREIGN})


@lru_cache(maxsize=2**16)
def _plain(text: str) -> str:
    """A name or serial without the characters that separate the parts of an identity. The same few come often."""
    for character in "%:/@~":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def switch_bridge(serial: str) -> str:
    """The one bridge of a switch."""
    return _plain(serial)


def vlan_segment(bridge: str, vlan: int) -> str:
    """A VLAN (0: untagged with no VLAN) of a bridge: `switch_bridge` or `host_bridge`."""
    return f"L:{bridge}:{vlan}"


def host_bridge(serial: str, interface: str) -> str:
    """The bridge behind one interface of a host: that of the adapter (VFs) or of the vSwitch."""
    return f"{_plain(serial)}/{_plain(interface)}"


def bridge_and_vlan(segment: str) -> tuple[str, int]:
    """Bridge and VLAN of a VLAN segment's identity; a group of a private VLAN lies in the same bridge."""
    bridge, _, vlan = segment.removeprefix("L:").rpartition(":")
    return bridge.partition("~")[0], int(vlan)


def private_segment(bridge: str, vlan: int, group: str) -> str:
    """What one isolated port (`port-17`) or one community (`group-red`) meets of a VLAN."""
    return f"L:{bridge}~{_plain(group)}:{vlan}"


def private_group(segment: str) -> str | None:
    """The group of a private VLAN that a segment's identity names."""
    _, found, group = segment.rpartition(":")[0].partition("~")
    return group if found else None


def overlay(underlay: str, vni: int, encapsulation: str = "vxlan") -> str:
    """An overlay segment."""
    return f"V:{_plain(underlay)}:{encapsulation}:{vni}"


def external_hub(network: str) -> str:
    """An external network as one node."""
    return f"X:{_plain(network)}"


def external_copy(network: str, router: str) -> str:
    """What one router's filtered gateway meets of an external network."""
    return f"{external_hub(network)}@{router}"


def router(owner: str, name: str) -> str:
    """A Neutron router."""
    return f"R:{_plain(owner)}:{_plain(name)}"


def default_vrf(serial: str) -> str:
    """The routing instance of a switch in which its addresses lie."""
    return f"R:{_plain(serial)}"


def vrf(serial: str, name: str) -> str:
    """Another routing instance of a switch."""
    return f"R:{_plain(serial)}/{_plain(name)}"


def copy_at(node: str, segment: str) -> str:
    """What one segment meets of a shared device's attachment or of a VRF."""
    group, vlan = private_group(segment), bridge_and_vlan(segment)[1]
    return f"{node}@{vlan}" if group is None else f"{node}@{vlan}~{group}"


def part(serial: str, interface: str) -> str:
    """One network device of a machine (`rnic`, `gw`, `bmc`), or another cabled device's interface."""
    return f"dev:{_plain(serial)}/{_plain(interface)}"


def hypervisor(serial: str) -> str:
    """A host as the operator runs it."""
    return f"dev:{_plain(serial)}"


def processors(serial: str) -> str:
    """What guests of one host share even under a sound hypervisor."""
    return f"cpu:{_plain(serial)}"


def server(owner: str, name: str) -> str:
    """A server of a plan."""
    return f"dev:{_plain(owner)}:{_plain(name)}"


def neutron_port(owner: str, name: str) -> str:
    """A Neutron port of a plan."""
    return f"port:{_plain(owner)}:{_plain(name)}"


def switch_port(serial: str, number: int) -> str:
    """A port of a switch, with the device behind it."""
    return f"port:{_plain(serial)}/{number}"


def volume(owner: str, name: str) -> str:
    """A volume of a plan."""
    return f"vol:{_plain(owner)}:{_plain(name)}"


def allocation(owner: str, name: str) -> str:
    """A V-IPU allocation of a plan."""
    return f"I:{_plain(owner)}:{_plain(name)}"


def share_service(cloud: str) -> str:
    """The storage appliance that exports the cloud's file shares."""
    return f"shares:{_plain(cloud)}"


def share_address(cloud: str, address: str) -> str:
    """An address of that appliance (VIP)."""
    return f"vip:{_plain(cloud)}:{_plain(address)}"


GUID_DIGITS = 16
#: Bits of a P_Key that make it one: the highest says full or limited.
KEY_BITS = 0x7FFF
#: The P_Key that every port of a subnet is in.
DEFAULT_KEY = 0x7FFF


def partition_key(prefix: str, key: int) -> str:
    """A P_Key of the InfiniBand subnet with this prefix."""
    return f"K:{_plain(prefix)}:{key & KEY_BITS:#06x}"


def infiniband_port(guid: str) -> str:
    """An InfiniBand port."""
    return f"guid:{_plain(guid.lower())}"


def is_guid(name: str) -> bool:
    """True for 16 hexadecimal digits."""
    return len(name) == GUID_DIGITS and all(digit in hexdigits for digit in name)


def nvlink_partition(domain: str, partition: int) -> str:
    """An NVLink partition."""
    return f"N:{_plain(domain)}:{partition}"


def gpu(domain: str, name: str) -> str:
    """A GPU of an NVLink domain."""
    return f"gpu:{_plain(domain)}/{_plain(name)}"


def capability(tenant: str) -> str:
    """Everything that a tenant's project may plug in or call by itself."""
    return f"cap:{_plain(tenant)}"


def fabric(serial: str) -> str:
    """A switch that does not keep its VLANs apart; an InfiniBand subnet or NVLink domain likewise."""
    return f"fabric:{_plain(serial)}"


def cloud_api(cloud: str) -> str:
    """A cloud that does not keep its projects apart."""
    return f"cloud:{_plain(cloud)}"


def foreigners(cloud: str) -> str:
    """Whatever else there is on the cloud."""
    return f"foreign:{_plain(cloud)}"


def unresolved(reference: str) -> str:
    """An object that is referred to and that no model file describes."""
    return f"ref:{_plain(reference)}"


def lost_claim(owner: str, claim: str) -> str:
    """A released claim of which nobody knows where it lies."""
    return f"lost:{_plain(owner)}:{_plain(claim)}"


def machine_identity(serial: str) -> str:
    """The exclusive identity of a machine."""
    return f"machine:{serial}"


def mac_identity(address: str) -> str:
    """The exclusive identity of a MAC address, however it is written."""
    return f"mac:{_plain(address.lower().replace('-', ':'))}"


def host_identity(serial: str) -> str:
    """The exclusive identity of a bare-metal host."""
    return f"host:{serial}"


def port_identity(serial: str, number: int) -> str:
    """The exclusive identity of a switch port."""
    return f"switch-port:{serial}:{number}"


_SEGMENT = "segment:"


def segment_identity(segment: str) -> str:
    """The exclusive identity of a claimed VLAN or VNI."""
    return f"{_SEGMENT}{segment}"


def claimed_segment(identity: str) -> str | None:
    """The VLAN or VNI of an exclusive identity; None if it is another kind."""
    return identity.removeprefix(_SEGMENT) if identity.startswith(_SEGMENT) else None


def is_wire(node: str) -> bool:
    """True for VLANs and overlays: what E1-E4 join to wire segments."""
    return node.startswith(("L:", "V:"))


def is_boundary(node: str) -> bool:
    """True unless the node is an object of a plan's own (those stay only where a premise names them)."""
    kind, _, rest = node.partition(":")
    if kind in ("vol", "I"):
        return False
    own_kinds = {"dev", "port"} if "/" not in rest else set()
    return not (kind in own_kinds and ":" in rest) and not (kind == "R" and ":" in rest) and "@" not in node
