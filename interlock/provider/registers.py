"""Where each service lists all objects of a kind, whoever's they are, and where a listed object carries its marker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from interlock.channel.tickets import TICKET
from interlock.vocabulary.markers import KeypairName, Marker

from .clouds import Cloud
from .markers import marker, split


@dataclass(frozen=True)
class Register:
    """Where a service lists all objects of a kind, of every project."""

    kind: str
    service: str
    path: str
    key: str
    #: Members of the listed object that lead to the text that carries the marker.
    carrier: tuple[str, ...] = ("description",)
    query: Mapping[str, Any] = field(default_factory=dict)
    #: Member of a listed element that holds the object itself; empty: the element is the object.
    inside: str = ""
    #: Key of the object in the answer about it alone; empty: that answer is the object.
    one: str = ""
    #: Microversion that shows all that an actuator reads; empty: the service's usual one.
    microversion: str = ""

    @property
    def collection(self) -> str:
        """First part of the path of one object."""
        return self.path.split("/")[1]

    def objects(self, cloud: Cloud) -> Iterator[dict[str, Any]]:
        """Every listed object as raw JSON; none where the cloud has no such service. Raises `Failure`."""
        if self.service in NOT_EVERYWHERE and not cloud.has(self.service):
            return
        options = {"microversion": self.microversion} if self.microversion else {}
        for element in cloud.api(self.service).pages(self.path, self.key, self.query, **options):
            yield element[self.inside] if self.inside else element


#: Services that a cloud may be without.
NOT_EVERYWHERE = frozenset({"baremetal", "shared-file-system", "key-manager"})

_EVERYBODYS = {"all_tenants": "1"}
_ANY = {"is_public": "None"}
#: Without it Glance leaves out what is `community`.
_EVERY_VISIBILITY = {"visibility": "all"}
_IN_METADATA = ("metadata", "interlock")
_IN_NAME = ("name",)

#: The last microversion of Nova in which a server shows the id of its flavour, not only its name.
SHOWS_FLAVOR_ID = "2.46"

#: Every kind that carries a marker (`markers.CARRIERS`), those of tenants' stacks first; switch ports are among the
#: ports (`kind_of`). The other kinds lie inside one of these and go with it.
REGISTERS: tuple[Register, ...] = (
    Register("Project", "identity", "/projects", "projects", one="project"),
    Register("ServiceUser", "identity", "/users", "users", one="user"),
    Register("Network", "network", "/networks", "networks", one="network"),
    Register("Subnet", "network", "/subnets", "subnets", one="subnet"),
    Register("Router", "network", "/routers", "routers", one="router"),
    Register("SecurityGroup", "network", "/security-groups", "security_groups", one="security_group"),
    Register("Port", "network", "/ports", "ports", one="port"),
    Register("FloatingIp", "network", "/floatingips", "floatingips", one="floatingip"),
    Register(
        "Server", "compute", "/servers/detail", "servers", _IN_METADATA, _EVERYBODYS, one="server",
        microversion=SHOWS_FLAVOR_ID,
    ),
    Register("BareMetalServer", "baremetal", "/allocations", "allocations", ("extra", "interlock")),
    Register("Keypair", "compute", "/os-keypairs", "keypairs", _IN_NAME, inside="keypair", one="keypair"),
    Register("Volume", "block-storage", "/volumes/detail", "volumes", _IN_METADATA, _EVERYBODYS, one="volume"),
    Register("Share", "shared-file-system", "/shares/detail", "shares", _IN_METADATA, _EVERYBODYS, one="share"),
    Register("StoredCredential", "key-manager", "/secrets", "secrets", ("mode",), {"limit": 100}),
    Register("Role", "identity", "/roles", "roles", one="role"),
    Register(
        "SegmentRange", "network", "/network_segment_ranges", "network_segment_ranges", _IN_NAME,
        one="network_segment_range",
    ),
    Register("AddressScope", "network", "/address-scopes", "address_scopes", _IN_NAME, one="address_scope"),
    Register("SubnetPool", "network", "/subnetpools", "subnetpools", one="subnetpool"),
    Register("Flavor", "compute", "/flavors/detail", "flavors", query=_ANY, one="flavor"),
    Register("Aggregate", "compute", "/os-aggregates", "aggregates", _IN_METADATA, one="aggregate"),
    Register("Image", "image", "/images", "images", ("interlock",), _EVERY_VISIBILITY),
    Register("VolumeType", "block-storage", "/types", "volume_types", query=_ANY, one="volume_type"),
    Register(
        "ShareType", "shared-file-system", "/types", "share_types", query={"is_public": "all"}, one="share_type"
    ),
)  # fmt: skip


def plain_id(item: Mapping[str, Any]) -> str:
    """The id of a listed object; Ironic calls it `uuid`, a key pair has its name, Barbican's addresses end with it."""
    if "secret_ref" in item:
        return str(item["secret_ref"]).rpartition("/")[2]
    return str(item.get("id") or item.get("uuid") or item["name"])


def kind_of(item: Mapping[str, Any], register: Register) -> str:
    """The kind of a listed object: among Neutron's ports are those by which it wires switch ports.

    These are bound at a device of the site, by its name. Ironic, which binds the other ones of VNIC type `baremetal`,
    binds them at a node, by its uuid. Who the owner of a port is says nothing here: its project can write that.
    """
    bound_at = str(item.get("binding:host_id") or "")
    wires = item.get("binding:vnic_type") == "baremetal" and bound_at
    return "SwitchPort" if register.kind == "Port" and wires and not _is_uuid(bound_at) else register.kind


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def is_ticket(item: Mapping[str, Any]) -> bool:
    """True of what stands for a stored credential among Barbican's secrets: what waits for it is a part of it."""
    return str(item.get("name") or "").startswith(TICKET)


def marker_of(item: Mapping[str, Any], register: Register) -> str:
    """The marker that a listed object carries; empty if it carries none."""
    if register.kind == "StoredCredential" and not is_ticket(item):
        return ""
    value: Any = item
    for step in register.carrier:
        value = (value or {}).get(step)
    if register.kind == "Keypair":
        # `<name>-<owner id>`, as its actuator names it: whose it is counts only where the owner id is known.
        pair = KeypairName.parse(str(value or ""))
        mark = marker(pair.owner, pair.name)
        return "" if Marker.named(mark) is None else mark
    if register.kind == "Aggregate" and not value:
        # Nova takes metadata only by a second request: until then the name carries the marker.
        value = item["name"]
    return split(value)[1]
