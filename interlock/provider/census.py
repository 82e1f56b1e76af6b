"""What lies on a cloud with a marker of ours: a list call or two for each kind, whoever's it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from .clouds import Cloud
from .markers import owner_of, split


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


_EVERYBODYS = {"all_tenants": "1"}
_IN_METADATA = ("metadata", "interlock")

#: Every kind that carries a marker (`markers.CARRIERS`), those of tenants' stacks first. The other kinds lie inside
#: one of these and go with it.
REGISTERS: tuple[Register, ...] = (
    Register("Project", "identity", "/projects", "projects"),
    Register("ServiceUser", "identity", "/users", "users"),
    Register("Network", "network", "/networks", "networks"),
    Register("Subnet", "network", "/subnets", "subnets"),
    Register("Router", "network", "/routers", "routers"),
    Register("SecurityGroup", "network", "/security-groups", "security_groups"),
    Register("Port", "network", "/ports", "ports"),
    Register("Server", "compute", "/servers/detail", "servers", _IN_METADATA, _EVERYBODYS),
    Register("Keypair", "compute", "/os-keypairs", "keypairs", ("name",), inside="keypair"),
    Register("Volume", "block-storage", "/volumes/detail", "volumes", _IN_METADATA, _EVERYBODYS),
    Register("Role", "identity", "/roles", "roles"),
    Register("SegmentRange", "network", "/network_segment_ranges", "network_segment_ranges", ("name",)),
    Register("AddressScope", "network", "/address-scopes", "address_scopes", ("name",)),
    Register("SubnetPool", "network", "/subnetpools", "subnetpools"),
    Register("Flavor", "compute", "/flavors/detail", "flavors", query={"is_public": "None"}),
    Register("Aggregate", "compute", "/os-aggregates", "aggregates", _IN_METADATA),
    Register("Image", "image", "/images", "images", ("interlock",)),
    Register("VolumeType", "block-storage", "/types", "volume_types", query={"is_public": "None"}),
)

#: Lists at once: the calls wait for services, and each service has at most a few of them.
_AT_ONCE = 6


@dataclass(frozen=True)
class Counted:
    """One object of ours."""

    kind: str
    id: str
    owner: str
    #: Plan name.
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.id})"


def census(cloud: Cloud, registers: Iterable[Register] = REGISTERS) -> list[Counted]:
    """Everything that carries a marker, sorted by kind and plan name. Raises `Failure` if a list cannot be had."""
    _ = cloud.login  # once, before the threads
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        lists = list(pool.map(lambda register: list(_listed(cloud, register)), registers))
    found = [item for items in lists for item in items]
    return sorted(found, key=lambda item: (item.kind, item.name, item.id))


def _listed(cloud: Cloud, register: Register) -> Iterator[Counted]:
    for element in cloud.api(register.service).items(register.path, register.key, **register.query):
        item = element[register.inside] if register.inside else element
        mark = marker_of(item, register)
        if mark:
            ident = str(item.get("id") or item["name"])
            yield Counted(register.kind, ident, owner_of(mark), mark.rpartition(":")[2])


def marker_of(item: Mapping[str, Any], register: Register) -> str:
    """The marker that a listed object carries; empty if it carries none."""
    value: Any = item
    for step in register.carrier:
        value = (value or {}).get(step)
    return split(value)[1]
