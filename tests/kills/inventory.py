"""Everything that lies on the cloud, whoever's it is, as the services list it: what is too much or too little shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from interlock.provider.clouds import Cloud
from interlock.provider.markers import split

Inventory = Counter[tuple[str, ...]]


@dataclass(frozen=True)
class _List:
    """Where a service lists a kind, and the members that tell one object from another; ids differ each time."""

    service: str
    path: str
    key: str
    members: tuple[str, ...] = ("name",)
    query: dict[str, str] = field(default_factory=dict)


_ALL = {"all_tenants": "1"}
_ANY = {"is_public": "None"}
_LISTS = (
    _List("identity", "/projects", "projects"),
    _List("identity", "/users", "users"),
    _List("identity", "/roles", "roles"),
    _List("identity", "/role_assignments", "role_assignments", ()),
    _List("identity", "/credentials", "credentials", ("type",)),
    _List("network", "/networks", "networks"),
    _List("network", "/subnets", "subnets", ("name", "cidr")),
    _List("network", "/routers", "routers"),
    _List("network", "/floatingips", "floatingips", ()),
    _List("network", "/ports", "ports", ("name", "device_owner")),
    _List("network", "/security-groups", "security_groups"),
    _List("network", "/subnetpools", "subnetpools"),
    _List("network", "/address-scopes", "address_scopes"),
    _List("network", "/network_segment_ranges", "network_segment_ranges"),
    _List("compute", "/servers/detail", "servers", ("name", "status"), _ALL),
    _List("compute", "/os-keypairs", "keypairs", ()),
    _List("compute", "/flavors/detail", "flavors", query=_ANY),
    _List("compute", "/os-aggregates", "aggregates"),
    _List("baremetal", "/allocations", "allocations", ("state", "resource_class")),
    _List("baremetal", "/nodes/detail", "nodes", ("name", "provision_state", "lessee")),
    _List("image", "/images", "images", ("name", "status")),
    _List("block-storage", "/types", "volume_types", query=_ANY),
    _List("block-storage", "/volumes/detail", "volumes", ("name", "status"), _ALL),
    _List("block-storage", "/backups/detail", "backups", ("name", "status"), _ALL),
    _List("block-storage", "/snapshots/detail", "snapshots", ("name", "status"), _ALL),
    _List("block-storage", "/attachments", "attachments", ("status",), _ALL),
    # Their names have the ids of servers.
    _List("key-manager", "/secrets", "secrets", ("mode", "content_types")),
    _List("shared-file-system", "/types", "share_types", query={"is_public": "all"}),
    _List("shared-file-system", "/shares/detail", "shares", ("name", "status"), _ALL),
)
_AT_ONCE = 5

#: Every project gets one some time after its first network, and it goes with the project.
_BY_NEUTRON = ("security_groups", "default")

#: Every service that has a list.
SERVICES = frozenset(one.service for one in _LISTS)


def inventory(cloud: Cloud, services: Collection[str] = SERVICES) -> Inventory:
    """How often there is what, in these services."""
    _ = cloud.login  # once, before the threads
    lists = [one for one in _LISTS if one.service in services]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda one: _listed(cloud, one), lists)
        return Counter(item for items in found for item in items)


def changed(before: Inventory, after: Inventory) -> Inventory:
    """What came (positive) and what went (negative)."""
    found = after.copy()
    found.subtract(before)
    return Counter({what: count for what, count in found.items() if count})


def _listed(cloud: Cloud, one: _List) -> list[tuple[str, ...]]:
    elements = cloud.api(one.service).items(one.path, one.key, **one.query)
    found = [(one.key, *(_word(element.get(member)) for member in one.members)) for element in elements]
    return [item for item in found if item != _BY_NEUTRON]


def _word(value: Any) -> str:
    """Some names carry the marker, too."""
    return split(str(value))[0] if value is not None else ""
