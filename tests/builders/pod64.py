"""A small IPU-POD64 site and tenants for it, built by hand in the full form, so that no file is read.

mgmt-1 (48×1G + 4×10G)   1-16 management of ipum-01..16 · 37-40 poplar-1..4 · 41-42 infra-1..2 · 43-44 outside
tor-1  (32×100G + 2×10G) 1-16 RNIC of ipum-01..16 · 17-24 poplar-1..4, both legs
ipum-01 = ipum-02 = … = ipum-16: four IPU-Link cables between neighbours, none back to the first
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from interlock.model.lock.record import Allocation, Footprint, Lock, SiteLock
from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import (
    Assumption,
    Cable,
    Controller,
    Endpoint,
    ExternalNetwork,
    FlavorSpec,
    Host,
    ImageSpec,
    Limits,
    Machine,
    PhysicalNetwork,
    Pools,
    PriceBook,
    SegmentRangeSpec,
    ShareTypeSpec,
    Sharing,
    Site,
    Switch,
    SwitchPortConfig,
    VlanPool,
)
from interlock.model.site.ironic import Ironic, ServiceNetworks
from interlock.model.site.physical import MACHINE_PARTS, LogicalRack
from interlock.model.tenant.partitions import Partition
from interlock.model.tenant.request import Access, BucketRequest, Pins, Poplar, Tenant, Volumes, VPod
from interlock.planning import AllocationState, SiteHashes, allocate, request_hash, site_hash
from interlock.resources import digest_of
from interlock.vocabulary.owners import OwnerId

from .completeness import declared_complete

MACHINES = tuple(f"ipum-{position:02}" for position in range(1, 17))
POPLAR_HOSTS = tuple(f"poplar-{number}" for number in range(1, 5))
INFRA_HOSTS = ("infra-1", "infra-2")
KINDS_OF_SHARING: tuple[tuple[str, Literal["external-network", "vipu-controller"]], ...] = (
    ("external", "external-network"),
    ("vipu-controller", "vipu-controller"),
)


def pod64(**overrides: object) -> Site:
    """The site `lyon`; `overrides` replace whole fields of `Site`."""
    fields: dict[str, object] = {
        "name": "lyon",
        "cloud": "sandbox",
        "machines": machines(),
        "hosts": hosts(),
        "switches": (tor(), management_switch()),
        "cables": tuple(cables()),
        "physical_networks": (
            PhysicalNetwork(name="fabric100g", switches=("tor-1",)),
            PhysicalNetwork(name="mgmt1g", switches=("mgmt-1",)),
            PhysicalNetwork(name="external", switches=("mgmt-1",)),
        ),
        "pools": pools(),
        "external": external(),
        "segment_ranges": segment_ranges(),
        "flavors": flavors(),
        "images": images(),
        "volume_types": ("ceph",),
        "controller": Controller(flavor="controller", image="vipu-controller", user_api_port=8090),
        "limits": Limits(controller_instances=8, controller_cores=32, controller_ram_gib=64),
        "sharing": sharing(),
        "assumptions": assumptions(),
    }
    found = Site.model_validate(fields | overrides)
    return found if "complete" in overrides else declared_complete(found)


def machines() -> tuple[Machine, ...]:
    """ipum-01 … ipum-16 in logical rack `lrack-1`."""
    return tuple(
        Machine(name=name, serial=f"SN-{name}", logical_rack="lrack-1", position=position)
        for position, name in enumerate(MACHINES, start=1)
    )


def hosts() -> tuple[Host, ...]:
    """Four Poplar hosts (224 dedicated CPUs, 464 pages, 16 virtual functions) and two infra hosts."""
    poplar = tuple(
        Host(
            name=name, serial=f"SN-{name}", role="poplar", logical_rack="lrack-1", bmc="idrac",
            dedicated_cpus=224, huge_pages_gib=464, virtual_functions=16,
            interfaces={"fabric100g": ("ens161f0", "ens161f1")},
        )
        for name in POPLAR_HOSTS
    )  # fmt: skip
    infra = tuple(
        Host(
            name=name, serial=f"SN-{name}", role="infra", shared_cpus=128, ram_gib=512, bmc="idrac",
            interfaces={"mgmt1g": ("eno1",), "external": ("eno2",)},
        )
        for name in INFRA_HOSTS
    )  # fmt: skip
    return poplar + infra


def tor() -> Switch:
    """RNIC ports without a VLAN until planned, both legs of each Poplar host trunked with the data pools."""
    rnics = tuple(SwitchPortConfig(port=port, mode="access") for port in range(1, 17))
    legs = tuple(
        SwitchPortConfig(port=port, mode="trunk", tagged=((1000, 1999), (2000, 2999))) for port in range(17, 25)
    )
    return Switch(
        name="tor-1", serial="SN-tor-1", model="arista-7060x", role="tor", port_groups=((100, 32), (10, 2)),
        ports=rnics + legs, routed_vlans=(), ip_routing=False,
    )  # fmt: skip


def management_switch() -> Switch:
    """Management ports without a VLAN until planned; infra hosts trunked with the management pool."""
    ports = [SwitchPortConfig(port=port, mode="access") for port in range(1, 17)]
    ports += [SwitchPortConfig(port=port, mode="access", untagged=10) for port in range(37, 41)]
    ports += [SwitchPortConfig(port=port, mode="trunk", tagged=((110, 199),)) for port in (41, 42)]
    ports += [SwitchPortConfig(port=port, mode="access", untagged=100) for port in (43, 44)]
    return Switch(
        name="mgmt-1", serial="SN-mgmt-1", model="arista-7010t", role="management",
        port_groups=((1, 48), (10, 4)), ports=tuple(ports), routed_vlans=(), ip_routing=False,
    )  # fmt: skip


def cables() -> Iterator[Cable]:
    """Every cable of the picture above."""
    for position, name in enumerate(MACHINES, start=1):
        yield cable(f"{name}:rnic", f"tor-1:{position}")
        yield cable(f"{name}:mgmt", f"mgmt-1:{position}")
    for upper, lower in pairwise(MACHINES):
        for link in range(1, 5):
            a = Endpoint(device=upper, interface=f"ipu-link-down-{link}")
            yield Cable(a=a, b=Endpoint(device=lower, interface=f"ipu-link-up-{link}"), kind="ipu-link")
    for number, name in enumerate(POPLAR_HOSTS):
        yield cable(f"{name}:ens161f0", f"tor-1:{17 + 2 * number}")
        yield cable(f"{name}:ens161f1", f"tor-1:{18 + 2 * number}")
        yield cable(f"{name}:eno1", f"mgmt-1:{37 + number}")
    for number, name in enumerate(INFRA_HOSTS):
        yield cable(f"{name}:eno1", f"mgmt-1:{41 + number}")
        yield cable(f"{name}:eno2", f"mgmt-1:{43 + number}")


def cable(a: str, b: str) -> Cable:
    """An Ethernet cable between two ends written `device:interface`."""
    ends = [Endpoint(device=device, interface=port) for device, port in (a.split(":"), b.split(":"))]
    return Cable(a=ends[0], b=ends[1])


def pools(**overrides: object) -> Pools:
    """The pools of the reference design: data 1000-1999, storage 2000-2999, management 110-199."""
    fields: dict[str, object] = {
        "ipu_data": VlanPool(physical_networks=("fabric100g",), vlans=((1000, 1999),)),
        "storage": VlanPool(physical_networks=("fabric100g",), vlans=((2000, 2999),)),
        "management": VlanPool(physical_networks=("mgmt1g",), vlans=((110, 199),)),
        "control": ((5000, 5999),),
        "reserved_vlans": (1, 4095),
        "ipu_data_subnets": ("10.20.0.0/16", 24),
        "storage_subnets": ("10.21.0.0/16", 24),
        "control_subnets": ("10.30.0.0/16", 24),
        "management_subnets": ("10.3.0.0/16", 24),
    }
    return Pools.model_validate(fields | overrides)


def external(**overrides: object) -> ExternalNetwork:
    """The external network, its subnet in an address scope of its own."""
    fields: dict[str, object] = {
        "name": "external",
        "physical_network": "external",
        "cidr": "192.0.2.0/24",
        "gateway": "192.0.2.1",
        "pool": ("192.0.2.10", "192.0.2.250"),
        "address_scope": "outside",
    }
    return ExternalNetwork.model_validate(fields | overrides)


def segment_ranges() -> tuple[SegmentRangeSpec, ...]:
    """What Neutron may hand out by itself: nothing of the pools."""
    return (
        SegmentRangeSpec(network_type="vlan", physical_network="fabric100g", minimum=3500, maximum=3599),
        SegmentRangeSpec(network_type="vlan", physical_network="mgmt1g", minimum=3500, maximum=3599),
        SegmentRangeSpec(network_type="vxlan", physical_network=None, minimum=100000, maximum=199999),
    )


def flavors() -> tuple[FlavorSpec, ...]:
    """Whole and half of a Poplar host, and the controller's."""
    pinned = {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB"}
    return (
        FlavorSpec(
            name="poplar.whole", role="poplar", vcpus=224, ram_gib=464, disk_gib=100,
            extra_specs=pinned | {"hw:numa_nodes": "8"},
        ),
        FlavorSpec(
            name="poplar.half", role="poplar", vcpus=112, ram_gib=232, disk_gib=100,
            extra_specs=pinned | {"hw:numa_nodes": "4", "hw:pci_numa_affinity_policy": "preferred"},
        ),
        FlavorSpec(name="controller", role="infra", vcpus=4, ram_gib=8, disk_gib=20),
    )  # fmt: skip


def images() -> tuple[ImageSpec, ...]:
    """A Poplar and a controller image; no file stands behind them."""
    return tuple(
        ImageSpec(name=name, file=f"images/{name}.raw", sha512=digest_of(name).removeprefix("sha256:") * 2)
        for name in ("poplar", "vipu-controller")
    )


def sharing() -> tuple[Sharing, ...]:
    """The two shared objects of the design, with every guard known to hold."""
    return tuple(
        Sharing(name=name, kind=kind, node=name, rule="SEC-03", audience=("*",), guards=held(SHARING_GUARDS[kind]))
        for name, kind in KINDS_OF_SHARING
    )


def assumptions() -> tuple[Assumption, ...]:
    """Every assumption of the proof, with every guard known to hold."""
    return tuple(Assumption(id=name, guards=held(guards)) for name, guards in ASSUMPTION_GUARDS.items())


def held(guards: Sequence[str]) -> dict[str, bool | None]:
    """These guards, all true."""
    return dict.fromkeys(guards, True)


def ssh_key(of: str) -> str:
    """A public key of its own for each name; nobody has the private one."""
    parts = (b"ssh-ed25519", hashlib.sha256(of.encode()).digest())
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return f"ssh-ed25519 {base64.b64encode(body).decode()} {of}"


def vpod(name: str = "train", machines: int = 4, servers: int = 2, flavor: str = "poplar.half") -> VPod:
    """A vPOD whose servers have a volume of 10 GiB each."""
    volume = Volumes(size_gib=10, volume_type="ceph", on_delete="erase")
    return VPod(
        name=name,
        machines=machines,
        poplar=Poplar(servers=servers, flavor=flavor, image="poplar", volume=volume),
    )


def bare_metal_vpod(name: str = "train", machines: int = 4, servers: int = 2) -> VPod:
    """A vPOD whose servers are whole hosts."""
    poplar = Poplar(servers=servers, kind="bare-metal", flavor="", image="poplar", volume=None)
    return VPod(name=name, machines=machines, poplar=poplar)


def tenant(id: str, machines: int = 4, servers: int = 2, **overrides: object) -> Tenant:  # noqa: A002
    """A tenant with one vPOD `train` and a bucket `data`; `overrides` replace whole fields of `Tenant`."""
    fields: dict[str, object] = {
        "id": id,
        "name": id.capitalize(),
        "access": Access(members=("alice",), ssh_public_key=ssh_key(id), ssh_from=("203.0.113.0/24",)),
        "vpods": (vpod(machines=machines, servers=servers),),
        "buckets": (BucketRequest(name="data", versioning=True, on_delete="erase"),),
    }
    return Tenant.model_validate(fields | overrides)


def pinned(**claims: object) -> dict[str, Pins]:
    """Pins for the vPOD `train`."""
    return {"train": Pins.model_validate(claims)}


def bare_metal_pod64(**overrides: object) -> Site:
    """The same site with hosts that are given out whole: both 100G legs untagged, the 1G one for `control`.

    VLANs 3000-3099 of the management switch are for control networks, and infra hosts reach them.
    """
    whole = tuple(
        item.model_copy(
            update={"provisioning": "bare-metal", "interfaces": dict(item.interfaces) | {"mgmt1g": ("eno1",)}}
        )
        if item.role == "poplar"
        else item
        for item in hosts()
    )
    fields: dict[str, object] = {
        "hosts": whole,
        "switches": (_untagged(tor(), range(17, 25)), _untagged(management_switch(), range(37, 41))),
        "pools": pools(bare_metal_control=VlanPool(physical_networks=("mgmt1g",), vlans=((3000, 3099),))),
    }
    return pod64(**(fields | overrides))


def ironic_pod64(**overrides: object) -> Site:
    """The site of whole hosts whose Ironic deploys them: Neutron wires its switches, all MAC addresses are known.

    Each host boots from its 1G interface, on VLANs 3200-3203.
    """
    base = bare_metal_pod64()
    fields: dict[str, object] = {
        "machines": tuple(
            item.model_copy(
                update={"macs": {part: _mac(kind, item.position) for kind, part in enumerate(MACHINE_PARTS)}}
            )
            for item in base.machines
        ),
        "hosts": tuple(_with_macs(number, item) for number, item in enumerate(base.hosts, start=1)),
        "switches": tuple(
            Switch.model_validate(
                item.model_dump()
                | {
                    "wired_by": "neutron",
                    "port_names": ("swp{}", "swp{}"),
                    "mac": _mac(9, number),
                    "quarantine_vlan": 4000,
                }
            )
            for number, item in enumerate(base.switches, start=1)
        ),
        "pools": base.pools.model_copy(update={"reserved_vlans": (1, 4000)}),
        "logical_racks": (LogicalRack(name="lrack-1"),),
        "ironic": Ironic(
            conductor_group="lent",
            networks=(ServiceNetworks(physical_network="mgmt1g", vlans=((3200, 3203),), subnets=("10.90.0.0/24", 26)),),
        ),
    }
    return bare_metal_pod64(**(fields | overrides))


def _with_macs(number: int, host: Host) -> Host:
    if host.role != "poplar":
        return host
    interfaces = ("ens161f0", "ens161f1", "eno1")
    macs = {interface: _mac(kind, number) for kind, interface in enumerate(interfaces, start=4)}
    return host.model_copy(update={"macs": macs})


def _mac(kind: int, number: int) -> str:
    return f"02:00:00:00:{kind:02x}:{number:02x}"


def _untagged(switch: Switch, ports: range) -> Switch:
    """A switch whose ports of whole hosts are without a VLAN until planned; infra hosts reach both pools."""
    return switch.model_copy(update={"ports": tuple(_of_bare_metal(item, ports) for item in switch.ports)})


def _of_bare_metal(port: SwitchPortConfig, whole: range) -> SwitchPortConfig:
    if port.port in whole:
        return SwitchPortConfig(port=port.port, mode="access")
    if port.tagged == ((110, 199),):
        return port.model_copy(update={"tagged": ((110, 199), (3000, 3099))})
    return port


def storing_pod64(**overrides: object) -> Site:
    """The same site with a storage appliance: one share type, and the last addresses of storage subnets for it."""
    fields: dict[str, object] = {
        "share_types": (ShareTypeSpec(name="nfs", storage_class="nfs-appliance"),),
        "pools": pools(storage_vips=(200, 209)),
    }
    return pod64(**(fields | overrides))


def priced(**prices: str) -> PriceBook:
    """A price book in EUR; items with an underscore for each dash."""
    return PriceBook(currency="EUR", prices={name.replace("_", "-"): price for name, price in prices.items()})


def partition(name: str, ipus: int, **fields: object) -> Partition:
    """A V-IPU partition."""
    return Partition.model_validate({"name": name, "ipus": ipus} | fields)


def given(lock: Lock, vpod: str = "train", **claims: object) -> Lock:
    """The same lock with other claims of one vPOD, sealed again."""
    allocation = lock.allocation.vpods[vpod].model_copy(update=claims)
    vpods = dict(lock.allocation.vpods) | {vpod: allocation}
    return lock.model_copy(update={"allocation": Allocation(vpods=vpods)}).sealed()


def gone(lock: Lock, request: Tenant) -> tuple[Tenant, Lock]:
    """A tenant that is to go, and its lock: nothing allocated any more."""
    leaving = request.model_copy(update={"state": "gone"})
    empty = lock.model_copy(
        update={"allocation": Allocation(vpods={}), "request": request_hash(leaving), "serial": lock.serial + 1}
    )
    return leaving, empty.sealed()


def locked(
    site: Site, tenant: Tenant, others: Sequence[Lock] | AllocationState = (), previous: Lock | None = None
) -> Lock:
    """A sealed lock, its footprint empty and its owner id made from the tenant's id."""
    allocation, released = allocate(site, tenant, others, previous)
    return Lock(
        id=tenant.id,
        owner=OwnerId(owner_of(tenant.id)),
        serial=previous.serial + 1 if previous else 1,
        request=request_hash(tenant),
        site=SiteHashes(site).slice_hash(allocation),
        allocation=allocation,
        released=released,
        partitions={pod.name: pod.partitions for pod in tenant.vpods if pod.partitions},
        footprint=Footprint(classes=(), labels={}, exclusive=()),
    ).sealed()


def site_locked(site: Site) -> SiteLock:
    """A sealed lock of the site."""
    return SiteLock(owner=OwnerId(owner_of(site.name)), serial=1, site=site_hash(site)).sealed()


def owner_of(name: str) -> str:
    """32 hexadecimal digits, the same for the same name."""
    return digest_of(name).removeprefix("sha256:")[:32]
