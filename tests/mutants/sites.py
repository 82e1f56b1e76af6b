"""Generated workspaces in which nothing is wrong: each a site of one to three racks with two to four tenants.

`workspace_of(seed)` is a function of its seed. What a site has besides racks is drawn as well: a storage appliance,
a monitoring device, a routed back end, whole hosts, overlays, routing instances, InfiniBand, NVLink.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from random import Random

from interlock.model.lock.record import SiteLock
from interlock.model.site.guards import SHARING
from interlock.model.site.inventory import Site, VlanPool
from interlock.model.site.networks import InfinibandSubnet, PartitionKeyPool, Underlay
from interlock.model.site.offers import ShareTypeSpec, Sharing, SharingKind
from interlock.model.site.physical import Cable, Device, Switch, SwitchPortConfig, Vrf, Vtep
from interlock.model.tenant.request import BucketRequest, ShareRequest, Tenant, VolumeRequest, VPod
from interlock.planning import PlanningError, plan_tenant
from interlock.resources import NvlinkPartition, PartitionKey
from interlock.resources.fabric import PartitionMember
from tests.builders.pod64 import bare_metal_vpod, cable, locked, pools, segment_ranges, site_locked, tenant, vpod
from tests.mutants import ground as g
from tests.mutants.ground import Ground
from tests.mutants.workspaces import Workspace, workspace
from tests.policies.workspace import Made, assumptions, full_site, sharing

IDS = ("acme", "globex", "initech", "hooli")
SHAPES = ((1,), (1,), (2,), (1, 1), (1, 1), (2, 1), (1, 1, 1))
#: What a site may have, each with its chance.
EXTRAS = {
    "appliance": 0.7, "monitoring": 0.6, "back end": 0.4, "overlays": 0.5, "instances": 0.5, "infiniband": 0.5,
    "nvlink": 0.5, "metal": 0.5, "volumes": 0.4, "public": 0.3,
}  # fmt: skip
RESERVED_KEY = 0x0100
#: From the seed of a site that has room for one tenant only to that of the site that takes its place.
ANOTHER = 1_000_000


@cache
def workspace_of(seed: int) -> Workspace:
    """The clean workspace of a seed."""
    rng = Random(seed)
    extras = frozenset(name for name, chance in EXTRAS.items() if rng.random() < chance)
    site = site_of(rng, extras)
    found, own = list[Made](), site_locked(site)
    for name in IDS[: rng.randint(2, 4)]:
        found += _tenant(site, own, (_wish(rng, name, extras) for _ in range(4)), found)
    if len(found) < 2:
        # Alone nobody can meet anybody: another site in its place.
        return workspace_of.__wrapped__(seed + ANOTHER)
    return _with_fabrics(workspace(site, found, own), extras)


def site_of(rng: Random, extras: frozenset[str]) -> Site:
    """A site with these extras, every guard known to hold."""
    shape = rng.choice(SHAPES)
    natives = rng.random() < 0.5
    stood = Ground(
        halls=shape, metal=int("metal" in extras), core=len(shape) > 1 and rng.random() < 0.8, natives=natives,
        tag_native=rng.random() < 0.3,
    )  # fmt: skip
    fabrics, managements = ([f"{kind}-h{hall + 1}" for hall in range(len(shape))] for kind in ("fabric", "mgmt"))
    fields: dict[str, object] = {
        "machines": g.machines(stood), "logical_racks": g.logical_racks(stood), "hosts": g.hosts(stood),
        "switches": tuple(_equipped(stood, item, extras) for item in g.switches(stood)),
        "cables": (*g.cables(stood), *_device_cables(extras)),
        "physical_networks": g.physical_networks(stood),
        "pools": _pools(tuple(fabrics), tuple(managements), extras),
        "devices": tuple(Device(name=name, role="appliance", serial=f"S8{name[0]}") for name in _devices(extras)),
        "sharing": (*sharing(), *_declared(extras)),
        "assumptions": assumptions(),
        "share_types": (ShareTypeSpec(name="nfs", storage_class="nfs-appliance"),) if "appliance" in extras else (),
        "underlays": _underlays() if "overlays" in extras else (),
        "infiniband": (InfinibandSubnet(name="ib-1", prefix="fe80000000000000"),) if "infiniband" in extras else (),
        "segment_ranges": segment_ranges()[2:],
    }  # fmt: skip
    return full_site(**fields)


def _underlays() -> tuple[Underlay, ...]:
    return Underlay(name="overlay", neutron=True), Underlay(name="evpn", neutron=False)


def _pools(fabrics: tuple[str, ...], managements: tuple[str, ...], extras: frozenset[str]) -> object:
    keys = PartitionKeyPool(infiniband="ib-1", keys=((0x0001, 0x00FF),), reserved=(RESERVED_KEY,))
    return pools(
        ipu_data=VlanPool(physical_networks=fabrics, vlans=((1000, 1999),)),
        storage=VlanPool(physical_networks=fabrics, vlans=((2000, 2999),)),
        management=VlanPool(physical_networks=managements, vlans=(g.MANAGEMENT,)),
        bare_metal_control=VlanPool(physical_networks=managements, vlans=(g.CONTROL,)) if "metal" in extras else None,
        storage_vips=(200, 209) if "appliance" in extras else None,
        partition_keys=(keys,) if "infiniband" in extras else (),
    )


def _devices(extras: frozenset[str]) -> list[str]:
    return [name for name, extra in (("watch", "monitoring"), ("ceph-router", "back end")) if extra in extras]


def _device_cables(extras: frozenset[str]) -> list[Cable]:
    """`watch` on the first management switch, `ceph-router` on the first leaf."""
    ends = {"watch": "mgmt-r1:45", "ceph-router": "tor-r1:30"}
    return [cable(f"{name}:eth0", ends[name]) for name in _devices(extras)]


def _equipped(stood: Ground, switch: Switch, extras: frozenset[str]) -> Switch:
    """The switch with what the extras put onto it."""
    ports, fields = list(switch.ports), dict[str, object]()
    if switch.name == "mgmt-r1" and "monitoring" in extras:
        ports.append(SwitchPortConfig(port=45, mode="trunk", tagged=(g.MANAGEMENT,)))
    if switch.name == "tor-r1" and "back end" in extras:
        ports.append(SwitchPortConfig(port=30, mode="trunk", tagged=((2000, 2010),)))
    if switch.role == "tor" and "overlays" in extras:
        hall = next(hall for hall, rack in stood.racks if switch.name == f"tor-r{rack}")
        vteps = (
            Vtep(vlan=vlan, vni=10000 * hall + vlan, underlay="evpn", encapsulation="vxlan") for vlan in (1000, 1001)
        )
        fields["vteps"] = tuple(vteps)
    if switch.name == "tor-r1" and "instances" in extras:
        fields["vrfs"] = (Vrf(name="relay", vlans=(2000, 2001)),)
    return switch.model_copy(update={"ports": tuple(ports)} | fields)


def declared(name: str, kind: SharingKind, node: str, *audience: str) -> Sharing:
    """A declaration of which every guard is held, for everybody unless an audience is named."""
    guards: dict[str, bool | None] = dict.fromkeys(SHARING[kind].guards, True)
    whom = audience or ("*",)
    return Sharing(name=name, kind=kind, node=node, audience=whom, guards=guards, rule=SHARING[kind].rule)


def _declared(extras: frozenset[str]) -> list[Sharing]:
    entries = {
        "appliance": declared("files", "storage-appliance", "files"),
        "monitoring": declared("watch", "monitoring", "watch"),
        "back end": declared("ceph", "routed-back-end", "ceph-router"),
        "instances": declared("relay", "name-and-time", "tor-r1/relay"),
    }
    return [entry for extra, entry in entries.items() if extra in extras]


# Tenants.


def _tenant(site: Site, own: SiteLock, wishes: Iterable[Tenant], others: list[Made]) -> list[Made]:
    """A tenant by the first of the wishes for which the site has room; none if it has none at all.

    Its lock is without a footprint: a workspace makes that of the plan as it then is.
    """
    for wish in wishes:
        try:
            lock = locked(site, wish, [item.lock for item in others])
            return [Made(plan_tenant(site, own, wish, lock), lock)]
        except PlanningError:
            continue
    return []


def _wish(rng: Random, name: str, extras: frozenset[str]) -> Tenant:
    pods = tuple(_vpod(rng, pod, extras) for pod in ("train", "serve")[: rng.randint(1, 2)])
    shares = [ShareRequest(name="models", size_gib=100, share_type="nfs", vpods=(pods[0].name,), on_delete="erase")]
    volume = VolumeRequest(name="scratch", size_gib=5, volume_type="ceph", on_delete="erase")
    buckets = [BucketRequest(name="data", versioning=True, on_delete="erase", readers=(pods[-1].name,))]
    if "public" in extras and rng.random() < 0.5:
        buckets.append(BucketRequest(name="www", versioning=False, on_delete="erase", public=True))
    return tenant(
        name, vpods=pods, buckets=tuple(buckets),
        shares=tuple(shares) if "appliance" in extras and rng.random() < 0.8 else (),
        volumes=(volume,) if "volumes" in extras else (),
    )  # fmt: skip


def _vpod(rng: Random, name: str, extras: frozenset[str]) -> VPod:
    size = rng.choice((1, 2, 2, 4, 4))
    if "metal" in extras and rng.random() < 0.3:
        return bare_metal_vpod(name, machines=size, servers=1)
    flavor = rng.choice(("poplar.half", "poplar.half", "poplar.whole"))
    return vpod(name, machines=size, servers=rng.choice((1, 1, 2)), flavor=flavor)


# What no request can ask for yet.


def _with_fabrics(space: Workspace, extras: frozenset[str]) -> Workspace:
    for number, name in enumerate(space.tenants, start=1):
        if "infiniband" in extras:
            space = space.add(name, f"{name}-pkey", own_key(number))
        if "nvlink" in extras:
            gpus = tuple(f"gpu-{number}-{index}" for index in (1, 2))
            item = NvlinkPartition(name=f"p{number}", domain="nvl-1", partition=number, gpus=gpus)
            space = space.add(name, f"{name}-gpus", item)
    return space


def guid(number: int, port: int = 1) -> str:
    """The GUID of a tenant's InfiniBand port, by the tenant's number."""
    return f"{number:08x}{port:08x}"


def own_key(number: int, **members: str) -> PartitionKey:
    """The P_Key of a tenant, by number; by default its one port is a full member."""
    return key(number, **(members or {guid(number): "full"}))


def key(bits: int, **members: str) -> PartitionKey:
    """A P_Key; members as GUID and membership."""
    rows = tuple(PartitionMember.model_validate({"guid": port, "membership": how}) for port, how in members.items())
    return PartitionKey(infiniband="ib-1", key=bits, members=rows)
