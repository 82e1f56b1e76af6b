"""The texts of nodes and exclusive identities, written again from the table of sorts in docs/design/semantics.md."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

#: The P_Key that every port of an InfiniBand subnet is in; the highest bit says full or limited.
DEFAULT_KEY = 0x7FFF
_GUID_DIGITS = 16
#: In the place of an owner: a reference that names nothing in its own plan.
UNRESOLVED = "?"
#: Kinds of nodes that are a plan's own objects; of the others if an owner stands before the name.
_OWN_KINDS, _OWN_IF_NAMED = ("vol", "I"), ("dev", "port", "R")


@lru_cache(maxsize=1 << 16)
def escaped(name: str) -> str:
    """A name or serial inside an identity: what separates its parts is written as in a URL."""
    for character in "%:/@~":
        name = name.replace(character, f"%{ord(character):02X}")
    return name


def identity(kind: str, *parts: str) -> str:
    """`<kind>:<part>:<part>` of parts that are escaped already."""
    return ":".join((kind, *parts))


def named(kind: str, *names: str) -> str:
    """The same of names as they are."""
    return identity(kind, *map(escaped, names))


def plug(serial: str, interface: str) -> str:
    """A device or switch, as far as one interface of it goes."""
    return f"{escaped(serial)}/{escaped(interface)}"


def part(serial: str, interface: str) -> str:
    """One interface of a device, or one part of a machine: `rnic`, `gw`, `bmc`."""
    return identity("dev", plug(serial, interface))


def copy(node: str, vlan: int, group: str = "") -> str:
    """What one VLAN, or one group of a private VLAN, meets of a device or routing instance."""
    return f"{node}@{vlan}" + (f"~{escaped(group)}" if group else "")


def gateway_copy(hub: str, router: str) -> str:
    """What one router meets of an external network."""
    return f"{hub}@{router}"


def vlan_of_switch(serial: str, vlan: int, group: str = "") -> str:
    """A VLAN inside a switch, or what one group of a private VLAN meets of it."""
    return identity("L", escaped(serial) + (f"~{escaped(group)}" if group else ""), str(vlan))


def vlan_of_host(serial: str, interface: str, vlan: int) -> str:
    """A VLAN in the bridge of one interface of a hypervisor; 0: untagged with no VLAN."""
    return identity("L", plug(serial, interface), str(vlan))


def vlan_number(node: str) -> int | None:
    """The id of a VLAN's node; None for any other node."""
    return int(node.rpartition(":")[2]) if node.startswith("L:") else None


def vlan_bridge(node: str) -> str:
    """The bridge of a VLAN's node, without its id."""
    return node.rpartition(":")[0]


def group_of(isolated: str, port: int, role: str) -> str:
    """The group of a private VLAN that a port with this role is in: an isolated one is alone in it."""
    return f"port-{port}" if role == isolated else f"group-{role}"


def is_boundary(node: str) -> bool:
    """True for a node that is no object of a plan's own: two plans can meet there, so a certificate has its version."""
    kind, _, rest = node.partition(":")
    return not ("@" in rest or kind in _OWN_KINDS or (kind in _OWN_IF_NAMED and ":" in rest))


def is_wire(node: str) -> bool:
    """True for a VLAN or an overlay."""
    return node.startswith(("L:", "V:"))


def is_claim(identity: str) -> bool:
    """True for the exclusive identity of a segment."""
    return identity.startswith("segment:")


def is_reference(node: str) -> bool:
    """True for something that is referred to and that neither site nor plan describes."""
    return node.startswith("ref:")


def overlay(underlay: str, encapsulation: str, number: int) -> str:
    """An overlay."""
    return identity("V", escaped(underlay), encapsulation, str(number))


def underlay_of(node: str) -> str | None:
    """What an overlay runs over, as identities write it; None for any other node."""
    return node.split(":")[1] if node.startswith("V:") else None


def instance(serial: str, vrf: str = "") -> str:
    """A routing instance of a switch: its default one, or another by name."""
    return identity("R", plug(serial, vrf) if vrf else escaped(serial))


def declared_as(switch: str, vrf: str) -> str:
    """How a site's declaration of sharing names another routing instance of a switch."""
    return f"{switch}/{vrf}"


def switch_port(serial: str, port: int) -> str:
    """A switch port as a node."""
    return identity("port", plug(serial, str(port)))


def partition_key(prefix: str, key: int) -> str:
    """A P_Key of an InfiniBand subnet."""
    return identity("K", escaped(prefix), f"{key & DEFAULT_KEY:#06x}")


def guid(text: str) -> str:
    """An InfiniBand port."""
    return named("guid", text.lower())


def is_guid(text: str) -> bool:
    """True for 16 hexadecimal digits."""
    return len(text) == _GUID_DIGITS and all(digit in "0123456789abcdefABCDEF" for digit in text)


def mac(address: str) -> str:
    """A MAC address as an exclusive identity."""
    return named("mac", address.lower().replace("-", ":"))


def gpu(domain: str, name: str) -> str:
    """A GPU of an NVLink domain."""
    return identity("gpu", plug(domain, name))


def outside_of(owner: str, network: str) -> str:
    """The name of an external network that only a plan tells of."""
    return f"{owner}/{network}"


def thing(kind: str, owner: str, name: str) -> str:
    """A bucket, share, volume, image, server or allocation, for Auth."""
    return identity("obj", "/".join((kind, _quoted(owner), _quoted(name))))


def is_thing(kind: str, node: str) -> bool:
    """True for an object of this kind."""
    return node.startswith(f"obj:{kind}/")


def account(kind: str, owner: str, name: str) -> str:
    """A user, S3 key or key pair (`login`), for Auth."""
    return identity(kind, "/".join((_quoted(owner), _quoted(name))))


def principal(owner: str) -> str:
    """All who act for an owner; `*` is everybody."""
    return identity("prin", owner if owner == "*" else quote(owner, safe=""))


def _quoted(name: str) -> str:
    # What stands for an unresolved reference is no name.
    return name if name == UNRESOLVED else quote(name, safe="")
