"""The reference stacks: real plans of the site `lyon` and of one tenant, with cloud names and segments of their own.

The tenant has a vPOD (Poplar servers with virtual functions, volumes, a V-IPU controller, their networks), a volume
for each word of `on_delete`, a share, and a bucket. `resized` and `moved` are what it asks for later.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from interlock.model.load import load_site_of_fleet
from interlock.model.site.inventory import Site
from interlock.model.site.networks import VlanPool
from interlock.model.tenant.request import (
    BucketRequest,
    Poplar,
    PublicServers,
    ShareRequest,
    Tenant,
    VolumeRequest,
    Volumes,
    VPod,
)
from interlock.planning import Plan, plan_site, plan_tenant
from interlock.planning.site_plan import S3_ROLE
from interlock.resources import Network, Port, Quota, Resource, RoleAssignment, StoredCredential, Subnet, SwitchPort
from tests.builders.pod64 import locked, pinned, site_locked, tenant
from tests.conftest import ROOT
from tests.support.cloud.fabric import partition
from tests.support.world import whole
from tests.support.world.declared import LUKS

#: Where the site's images lie.
FOLDER = ROOT / "stacks" / "lyon"

#: A node of Ironic: its name, the number of its ports on both switches, the VLANs of its networks and its own.
NODE, NUMBER, DATA, CONTROL, SERVICE_VLAN = "node-kay", 12, 1790, 190, 3092
LEGS = whole.legs(NUMBER, DATA, CONTROL)

#: Kinds whose names are unique on a whole cloud.
_UNIQUE = ("Project", "Role", "Flavor", "Aggregate", "VolumeType", "ShareType", "ServiceUser")

#: Size in GiB of the volumes that grow, in the end; each point of their growing is a GiB.
LARGER = 6

#: Nobody but this tenant may use it, so its plan holds a `FlavorAccess`.
_PRIVATE = "poplar.quarter"


def site() -> Site:
    """`lyon` with what must be one's own on a cloud that others use, too."""
    loaded = load_site_of_fleet(ROOT / "stacks", "lyon").site
    pools = loaded.pools.model_copy(
        update={
            "ipu_data": VlanPool(physical_networks=("fabric100g",), vlans=((1700, 1799),)),
            "storage": VlanPool(physical_networks=("fabric100g",), vlans=((2700, 2799),)),
            "management": VlanPool(physical_networks=("mgmt1g",), vlans=((170, 199),)),
            "control": ((14000, 14999),),
        }
    )
    ranges = tuple(
        item.model_copy(update={"minimum": low, "maximum": low + 49})
        for item, low in zip(loaded.segment_ranges, (3940, 46000), strict=True)
    )
    flavors = tuple(item.model_copy(update={"public": item.name != _PRIVATE}) for item in loaded.flavors)
    external = loaded.external.model_copy(update={"network_type": "vlan", "vlan": 790})
    return loaded.model_copy(
        update={
            "pools": pools,
            "segment_ranges": _of_vlans(ranges),
            "flavors": flavors,
            "external": external,
            "volume_encryption": {"fast": LUKS},
        }
    )


def _of_vlans(ranges: tuple[Any, ...]) -> tuple[Any, ...]:
    """VLANs on the management network: those of the fabric may be taken by others' ranges."""
    return tuple(
        item.model_copy(update={"physical_network": "mgmt1g"}) if item.physical_network else item for item in ranges
    )


def _volume(name: str, on_delete: str, *, size: int, attached: bool = False) -> VolumeRequest:
    place = {"vpod": "train", "server": 0} if attached else {}
    return VolumeRequest.model_validate(
        {"name": name, "size_gib": size, "volume_type": "fast", "on_delete": on_delete} | place
    )


def _request(*, machines: int, servers: int, size: int, more: tuple[VolumeRequest, ...] = (), **fields: Any) -> Tenant:
    disk = Volumes(size_gib=1, volume_type="fast", on_delete="erase")
    poplar = Poplar(servers=servers, flavor=_PRIVATE, image="poplar", volume=disk)
    volumes = (_volume("scratch", "snapshot", size=size, attached=True), _volume("archive", "erase", size=size), *more)
    access = tenant("kay").access
    public = PublicServers(vpod="train", servers=(0,), ssh_from=("198.51.100.0/24",))
    return tenant(
        "kay",
        access=access.model_copy(update={"public": (public,)}),
        vpods=(VPod(name="train", machines=machines, poplar=poplar),),
        volumes=volumes,
        shares=(ShareRequest(name="datasets", size_gib=size, share_type="nfs", vpods=("train",), on_delete="erase"),),
        buckets=(BucketRequest(name="objects", versioning=True, on_delete="erase"),),
        **fields,
    )


def plans() -> dict[str, Plan]:
    """`site`; the tenant as `first`, then `resized`, then `moved`."""
    here = site()
    site_lock = site_locked(here)
    first = _request(machines=2, servers=1, size=1)
    more = (_volume("results", "erase", size=1),)
    resized = _request(machines=4, servers=2, size=LARGER, more=more)
    moved = _request(
        machines=4, servers=2, size=LARGER, more=more,
        pins=pinned(hosts=("poplar-3", "poplar-4"), ipu_data_vlan=1750, controller_host="infra-2"),
    )  # fmt: skip
    found, lock = {"site": plan_site(here, site_lock)}, None
    for name, request in (("first", first), ("resized", resized), ("moved", moved)):
        lock = locked(here, request, previous=lock)
        found[name] = plan_tenant(here, site_lock, request, lock)
    return found


def resources(plan: Plan) -> dict[str, Resource]:
    """What of a plan is made on the cloud, by plan name; of a tenant a whole host besides, which `lyon` has none of."""
    found = {item.name: _renamed(item.resource) for item in plan.resources if item.resource.is_declared}
    if plan.tenant is None:
        return found
    found, host = _with_a_spare_port(found), _whole_host()
    assert not found.keys() & host.keys(), "one of them would take the other's place"
    return _with_room(found) | host | _handed() | _on_infiniband()


def _with_a_spare_port(found: dict[str, Resource]) -> dict[str, Resource]:
    """A port that no server has on the control network, behind its router: what a floating IP may lead to instead."""
    subnet = found["kay-train-control-subnet"]
    assert isinstance(subnet, Subnet)
    spare = Port(
        name="kay-spare", project="kay-project", network="kay-train-control", subnet="kay-train-control-subnet",
        address=str(ip_network(subnet.cidr)[50]),
    )  # fmt: skip
    place = [*found].index("kay-train-control-uplink") + 1
    items = [*found.items()]
    return dict([*items[:place], ("kay-spare", spare), *items[place:]])


def _with_room(found: dict[str, Resource]) -> dict[str, Resource]:
    """A plan's quota is for what it holds: more for the host's networks, subnets and ports, and the spare port."""
    quotas = {name: item for name, item in found.items() if isinstance(item, Quota)}
    fields = ("networks", "subnets", "ports")
    more = {
        name: item.model_copy(update={field: getattr(item, field) + 3 for field in fields})
        for name, item in quotas.items()
    }
    return found | more


def _whole_host() -> dict[str, Resource]:
    """A host on two networks of its own, in the tenant's project."""
    networks = whole.networks("kay", DATA, CONTROL)
    for name in ("kay-project", "kay-operator", "kay-key"):
        del networks[name]
    made = whole.host("kay", NODE, NUMBER, DATA, CONTROL)
    name = f"kay-{NODE}"
    return networks | made | {name: made[name].model_copy(update={"image": "site:Image/poplar"})}


def _handed() -> dict[str, Resource]:
    """The tenant's key for its first server: `lyon` says nothing of `channel`, so its plans have none."""
    key = StoredCredential(
        project="kay-project", credential="kay-train-s3-key", place="kay-train-poplar-0", item="s3"
    )  # fmt: skip
    return {"kay-handed": key}


def _on_infiniband() -> dict[str, Resource]:
    """A partition of two adapters: `lyon` has no InfiniBand."""
    return {"kay-fabric": partition(0x0021, "n0-r0", "n1-r0")}


def _renamed(item: Resource) -> Resource:
    """Without the site's own role for object storage, which the services know by its name."""
    if isinstance(item, RoleAssignment) and item.role == f"site:Role/{S3_ROLE}":
        return item.model_copy(update={"role": "cloud:Role/member"})
    if item.KIND not in _UNIQUE:
        return item
    return item.model_copy(update={"name": f"kills-{item.canonical()['name']}"})


def on_its_vlan(declared: Mapping[str, Resource], name: str, network: Resource) -> dict[str, Resource]:
    """The switch ports on a network, in the VLAN that it has from now on: no plan says one without the other."""
    if not isinstance(network, Network):
        return {}
    return {
        each: item.model_copy(update={"vlan": network.segmentation_id})
        for each, item in declared.items()
        if isinstance(item, SwitchPort) and item.network == name
    }


def dependents(declared: Mapping[str, Resource], name: str) -> list[str]:
    """The names that rest on one, themselves or through others, in the order of the plan."""
    found = [name]
    for each, item in declared.items():
        if each not in found and any(reference in found for _, reference in item.references()):
            found.append(each)
    return found[1:]
