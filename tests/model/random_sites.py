"""Random small sites in full form: every field of every type, names that need not lead anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

from hypothesis import strategies as st

from interlock.hardware import PRICE_ITEMS
from interlock.hardware.gpu.passing_through import PASSED_DEVICES
from interlock.model.site.bastion import Bastion
from interlock.model.site.controller_readings import ControllerReadings
from interlock.model.site.gpu import FabricSwitch, FabricTier, GpuHost, HcaPort, HcaUse
from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING
from interlock.model.site.inventory import Site
from interlock.model.site.ironic import Ironic, ServiceNetworks
from interlock.model.site.networks import (
    ExternalNetwork,
    FabricProfile,
    InfinibandSubnet,
    PartitionKeyPool,
    PhysicalNetwork,
    Pools,
    SegmentRangeSpec,
    Underlay,
    VlanPool,
)
from interlock.model.site.object_storage import ObjectStorage
from interlock.model.site.offers import (
    Assumption,
    Controller,
    DeviceUse,
    FlavorSpec,
    ImageProperties,
    ImageSpec,
    Limits,
    PriceBook,
    ShareTypeSpec,
    Sharing,
    SharingKind,
)
from interlock.model.site.physical import (
    Cable,
    CableKind,
    Device,
    Endpoint,
    Feed,
    Host,
    HostRole,
    Lag,
    LogicalRack,
    Machine,
    Placement,
    PortMode,
    Rack,
    Room,
    Switch,
    SwitchPortConfig,
    Vrf,
    Vtep,
)
from interlock.model.site.software import ImageSoftware
from interlock.model.site.storage_fabric import StorageFabric
from interlock.model.site.whole_nodes import WholeNode

T = TypeVar("T")

#: Some of them are what YAML takes for something else where nobody quotes them.
NAMES = st.sampled_from(["a", "b-1", "no", "on", "null", "1e3", "0x10", "12", "7.5", "x.y-2", "2026-11-21"])
TEXTS = st.sampled_from(["S-1", "12", "1.0", "yes", "0b1", "1_000", "A"])
MACS = st.integers(0, 255).map(lambda number: f"02:00:00:00:00:{number:02x}")
#: A device is in service, or there is a reason why it is not.
SERVICE_STATES = st.sampled_from([
    {}, {"state": "failed", "state_reason": "RNIC dead, ticket 123"}, {"state": "maintenance", "state_reason": "no"},
])  # fmt: skip
WATTS = st.none() | st.integers(1, 10**6)
KILOGRAMS = st.none() | st.integers(1, 10**7).map(lambda grams: grams / 1000)
GUARD = st.sampled_from([True, False, None])
VLAN = st.integers(1, 4094)
INTERFACES = st.lists(st.sampled_from(["eno1", "1", "ens1f0", "psu-2", "9"]), min_size=1, max_size=3).map(tuple)


def ranges(first: int, last: int) -> st.SearchStrategy[tuple[tuple[int, int], ...]]:
    """One to three ranges between two bounds."""
    pair = st.tuples(st.integers(first, last), st.integers(first, last)).map(lambda ends: (min(ends), max(ends)))
    return st.lists(pair, min_size=1, max_size=3).map(tuple)


def named(build: Callable[[str], st.SearchStrategy[T]]) -> st.SearchStrategy[tuple[T, ...]]:
    """Up to three things of different names."""
    names = st.lists(NAMES, unique=True, max_size=3)
    return names.flatmap(lambda found: st.tuples(*(build(name) for name in found)))


def some(built: Callable[..., T], /, **fields: Any) -> st.SearchStrategy[T]:
    """Values of a type; fields that are no strategy stand for themselves."""
    drawn = {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in fields.items()}
    return st.builds(built, **drawn)


VTEPS = some(
    Vtep, vlan=VLAN, vni=st.integers(1, 2**24 - 1), underlay=NAMES,
    encapsulation=st.sampled_from([None, "vxlan", "geneve"]),
)  # fmt: skip


@st.composite
def port(draw: st.DrawFn, number: int) -> SwitchPortConfig:
    """Every mode, with the words that may stand beside it."""
    mode = draw(st.sampled_from(get_args(PortMode)))
    untagged = draw(st.none() | VLAN) if mode not in ("disabled", "routed") else None
    trunk = mode == "trunk"
    return SwitchPortConfig(
        port=number,
        mode=mode,
        untagged=untagged,
        tagged=draw(st.none() | ranges(1, 4094)) if trunk else (),
        tag_native=draw(GUARD) if trunk and untagged else None,
        translations=tuple(draw(st.dictionaries(VLAN, VLAN, max_size=2)).items()) if trunk else (),
        private_vlan=draw(st.none() | st.just("isolated") | NAMES) if mode == "access" else None,
        filled_by=draw(st.sampled_from([None, "neutron"])) if trunk else None,
    )


@st.composite
def ports(draw: st.DrawFn, count: int) -> tuple[SwitchPortConfig, ...]:
    """Nothing at all, or a record for each port."""
    if draw(st.booleans()):
        return ()
    return tuple(draw(port(number)) for number in range(1, count + 1))


@st.composite
def switches(draw: st.DrawFn, name: str) -> Switch:
    groups = tuple(draw(st.lists(st.tuples(st.sampled_from([1, 10, 100]), st.integers(1, 4)), min_size=1, max_size=2)))
    ids = st.sets(VLAN, max_size=4).map(sorted).map(tuple)
    return Switch(
        name=name,
        serial=draw(TEXTS),
        model=draw(TEXTS),
        role=draw(st.sampled_from(["tor", "management", "spine", "gw-link"])),
        port_groups=groups,
        ports=draw(ports(sum(count for _, count in groups))),
        routed_vlans=draw(st.none() | ids),
        ip_routing=draw(GUARD),
        vrfs=draw(named(lambda vrf: some(Vrf, name=vrf, vlans=ids))),
        vteps=tuple(draw(st.lists(VTEPS, max_size=2))),
    )


def hosts(name: str) -> st.SearchStrategy[Host]:
    found = some(
        Host, name=name, serial=TEXTS, role=st.sampled_from(get_args(HostRole)), logical_rack=st.none() | NAMES,
        model=st.none() | TEXTS, provisioning=st.sampled_from(["hypervisor", "bare-metal"]),
        dedicated_cpus=st.integers(0, 256), huge_pages_gib=st.integers(0, 2048), virtual_functions=st.integers(0, 64),
        shared_cpus=st.integers(0, 256), ram_gib=st.integers(0, 4096),
        interfaces=st.dictionaries(NAMES, INTERFACES, max_size=2),
        macs=st.dictionaries(st.sampled_from(["eno1", "ens1"]), MACS, max_size=2),
    )  # fmt: skip
    return st.builds(lambda host, state: host.model_copy(update=state), found, SERVICE_STATES)


GUIDS = st.none() | st.integers(1, 2**64 - 1).map(lambda number: f"{number:016x}")


def hca_ports(name: str) -> st.SearchStrategy[HcaPort]:
    return some(
        HcaPort, name=name, use=st.sampled_from(get_args(HcaUse)), infiniband=NAMES, rail=st.integers(1, 8), guid=GUIDS
    )


def gpu_nodes(name: str) -> st.SearchStrategy[GpuHost]:
    return some(
        GpuHost, name=name, node_type=TEXTS, hall=NAMES, unit=st.integers(1, 32),
        ports=named(hca_ports),
    )  # fmt: skip


def fabric_switches(name: str) -> st.SearchStrategy[FabricSwitch]:
    place = st.none() | st.integers(1, 32)
    return some(
        FabricSwitch, name=name, infiniband=NAMES, tier=st.sampled_from(get_args(FabricTier)),
        ports=st.integers(1, 144), unit=place, rail=place, guid=GUIDS, serial=st.none() | TEXTS,
    )  # fmt: skip


def racks(name: str) -> st.SearchStrategy[Rack]:
    feed = st.floats(0.01, 1).map(lambda part: round(part, 3))
    return some(
        Rack, name=name, room=st.none() | NAMES, units=st.integers(1, 100), max_weight_kg=KILOGRAMS,
        cooling=st.sampled_from([None, "room-air", "rear-door"]), cooling_limit_w=WATTS,
        feeds=named(lambda feed_name: some(Feed, name=feed_name, capacity_w=st.integers(1, 10**6), derate=feed)),
        pdus=st.dictionaries(NAMES, NAMES, max_size=2),
    )  # fmt: skip


def machines(name: str) -> st.SearchStrategy[Machine]:
    found = some(
        Machine, name=name, serial=TEXTS, logical_rack=NAMES, position=st.integers(1, 16),
        generation=st.sampled_from(["ipu-m2000", "bow-2000"]),
        macs=st.fixed_dictionaries({}, optional={"bmc": MACS, "gw": MACS, "rnic": MACS}),
    )  # fmt: skip
    return st.builds(lambda machine, state: machine.model_copy(update=state), found, SERVICE_STATES)


def placements(device: str) -> st.SearchStrategy[Placement]:
    return some(
        Placement, device=device, rack=NAMES, unit=st.none() | st.integers(1, 60), height_u=st.integers(0, 9),
        nameplate_w=WATTS, weight_kg=KILOGRAMS,
    )  # fmt: skip


def logical_racks(name: str) -> st.SearchStrategy[LogicalRack]:
    return some(
        LogicalRack, name=name, number=st.none() | st.integers(1, 254), design=st.none() | TEXTS,
        topology=st.sampled_from(["mesh", "torus"]), address_plan=st.sampled_from([None, "factory", "pod"]),
        rack=st.none() | NAMES,
    )  # fmt: skip


ENDS = some(Endpoint, device=NAMES, interface=st.sampled_from(["1", "eno1", "ipu-link-up-1", "psu-1"]))
CABLES = some(Cable, a=ENDS, b=ENDS, kind=st.sampled_from(get_args(CableKind)))
LAGS = some(
    Lag, name=NAMES.filter(lambda name: name != "x.y-2"), device=NAMES, interfaces=INTERFACES,
    mode=st.sampled_from(["lacp", "static", "vf-lag"]),
)  # fmt: skip


def vlan_pools() -> st.SearchStrategy[VlanPool]:
    networks = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)
    return some(VlanPool, physical_networks=networks, vlans=ranges(1, 4094))


def key_pools(name: str) -> st.SearchStrategy[PartitionKeyPool]:
    reserved = st.sets(st.integers(1, 0x7FFE), max_size=3).map(sorted).map(tuple)
    return some(PartitionKeyPool, infiniband=name, keys=ranges(1, 0x7FFE), reserved=reserved)


def numbers(last: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.sets(st.integers(1, last), max_size=5).map(sorted).map(tuple)


SUBNETS = st.tuples(st.sampled_from(["10.0.0.0/8", "172.16.0.0/12"]), st.integers(8, 29))
POOLS = some(
    Pools, ipu_data=vlan_pools(), storage=vlan_pools(), management=vlan_pools(),
    bare_metal_control=st.none() | vlan_pools(), control=ranges(1, 2**24 - 1), reserved_vlans=numbers(4094),
    reserved_vnis=numbers(2**24 - 1), ipu_data_subnets=SUBNETS, storage_subnets=SUBNETS, control_subnets=SUBNETS,
    management_subnets=SUBNETS, storage_vips=st.none() | st.sampled_from([(2, 9), (5, 5)]),
    partition_keys=named(key_pools),
)  # fmt: skip
#: VLANs and subnets of clusters come together, or not at all.
CLUSTER_POOL = st.none() | st.tuples(vlan_pools(), SUBNETS)


def _with_clusters(
    found: Pools, cluster: tuple[VlanPool, tuple[str, int]] | None, roce: tuple[VlanPool, tuple[str, int]] | None
) -> Pools:
    """The pool `roce` only where it has a physical network for itself, as a site is asked to say."""
    fields: dict[str, object] = {}
    if cluster is not None:
        fields |= {"cluster": cluster[0], "cluster_subnets": cluster[1]}
    taken = set(cluster[0].physical_networks) if cluster is not None else set[str]()
    if roce is not None and taken.isdisjoint(roce[0].physical_networks):
        fields |= {"roce": roce[0], "roce_subnets": roce[1]}
    return found.model_copy(update=fields)


VLAN_RANGES = ranges(1, 4094).map(lambda found: found[0])
SEGMENTS = st.builds(
    lambda network, found: SegmentRangeSpec(
        network_type="vlan" if network else "vxlan", physical_network=network, minimum=found[0], maximum=found[1]
    ),
    st.none() | NAMES,
    VLAN_RANGES,
)
SERVICE_NETWORKS = some(ServiceNetworks, physical_network=NAMES, vlans=ranges(1, 4094), subnets=SUBNETS)
IRONIC = some(
    Ironic, conductor_group=NAMES, driver=NAMES, poplar_class=st.none() | NAMES, machine_class=st.none() | NAMES,
    networks=st.lists(SERVICE_NETWORKS, max_size=2).map(tuple),
)  # fmt: skip
EXTERNAL = some(
    ExternalNetwork, name=NAMES, physical_network=NAMES, network_type=st.sampled_from(["flat", "vlan"]),
    vlan=st.none() | VLAN, cidr="203.0.113.0/24", gateway="203.0.113.1",
    pool=("203.0.113.10", "203.0.113.250"), address_scope=st.none() | NAMES,
)  # fmt: skip
LIMITS = some(
    Limits, controller_instances=st.integers(1, 99), controller_cores=st.integers(1, 99),
    controller_ram_gib=st.integers(1, 999), machines_per_tenant=st.none() | st.integers(1, 99),
    remote_poplar_oversubscription=st.sampled_from([1.0, 2.5, 3.0, 4.0]),
)  # fmt: skip
VERSIONS = st.none() | st.sampled_from(["3", "1.18.0", "5.4.0-216-generic", "2.6.0+1074"])
AGES = st.sampled_from(["7d", "36h", "30d"])
IMAGE_PROPERTIES = some(
    ImageProperties, os=st.none() | TEXTS, kernel=VERSIONS, driver=VERSIONS, sdk=VERSIONS, vipu=VERSIONS,
    generations=st.lists(st.sampled_from(["ipu-m2000", "bow-2000"]), unique=True).map(tuple),
    disk_gib=st.none() | st.integers(1, 99), boot=st.sampled_from([None, "bios", "uefi"]),
)  # fmt: skip
STATED = st.sampled_from([None, True, False])
IMAGE_SOFTWARE = some(
    # System and kernel stand in one place: here in that of every image.
    ImageSoftware, os=st.none(), kernel=st.none(), driver=VERSIONS,
    open_kernel_module=STATED, persistenced=STATED, cuda=VERSIONS, nccl=VERSIONS,
    ofed=VERSIONS | st.just("inbox"), ofed_kernels=st.sampled_from([None, (), ("5.15", "6.8.0-1021-nvidia")]),
    peermem=STATED, dma_buf=STATED, sharp=STATED, sharp_firmware=VERSIONS, pfc_priority=st.none() | st.integers(0, 7),
    ecn=STATED, secure_boot=STATED, signed_modules=STATED, mig=STATED, mitigations=STATED,
    lustre=VERSIONS | st.just("none"), sysctls=st.sampled_from([None, (), ("vm.swappiness",)]), container_host=STATED,
)  # fmt: skip
PRICES = some(
    PriceBook, currency=st.sampled_from(["EUR", "USD"]),
    prices=st.dictionaries(st.sampled_from(list(PRICE_ITEMS)), st.sampled_from(["0", "1.90", "12", "0.004"])),
)  # fmt: skip


@st.composite
def sharings(draw: st.DrawFn, name: str) -> Sharing:
    kind = draw(st.sampled_from(get_args(SharingKind)))
    audience = draw(st.sampled_from([("*",), ("acme",), ("acme", "on")]))
    guards = {guard: draw(GUARD) for guard in SHARING[kind].guards}
    rule = SHARING[kind].rule
    return Sharing(name=name, kind=kind, node=draw(NAMES), audience=audience, guards=guards, rule=rule)


@st.composite
def assumptions(draw: st.DrawFn) -> tuple[Assumption, ...]:
    return tuple(
        Assumption(id=name, guards={guard: draw(GUARD) for guard in known}) for name, known in ASSUMPTION_GUARDS.items()
    )


WHOLE_NODES = some(
    WholeNode, type=st.sampled_from(["dgx-h100", "gcore-l40s"]), one_time_use=GUARD,
    aliases=st.dictionaries(st.sampled_from(PASSED_DEVICES), st.sampled_from(["a", "b"]), max_size=3),
)  # fmt: skip


def flavors(name: str) -> st.SearchStrategy[FlavorSpec]:
    return some(
        FlavorSpec, name=name, role=st.sampled_from(["poplar", "infra"]), vcpus=st.integers(1, 256),
        ram_gib=st.integers(0, 4096), disk_gib=st.integers(0, 4096),
        extra_specs=st.dictionaries(st.sampled_from(["hw:a", "b"]), TEXTS),
        devices=st.none() | st.sampled_from(get_args(DeviceUse)), whole_node=st.none() | WHOLE_NODES,
    )  # fmt: skip


def profiles(name: str) -> st.SearchStrategy[FabricProfile]:
    mtu, dscp = st.integers(1280, 65535), st.integers(0, 63)
    return some(
        FabricProfile, name=name, pfc_priority=st.integers(0, 7), dscp=dscp, cnp_dscp=st.none() | dscp,
        ecn=st.booleans(), mtu=mtu,
    )  # fmt: skip


def physical_networks(name: str) -> st.SearchStrategy[PhysicalNetwork]:
    members = st.lists(NAMES, max_size=3).map(tuple)
    return some(PhysicalNetwork, name=name, switches=members, mtu=st.none() | st.just(9216), profile=st.none() | NAMES)


#: A key is stated of a shared one alone.
STORAGE_FABRICS = st.builds(
    lambda guids, key: StorageFabric(access="per-tenant" if key is None else "shared", appliance=guids, key=key),
    st.lists(st.integers(1, 2**64 - 1).map(lambda number: f"{number:016x}"), min_size=1, max_size=3).map(tuple),
    st.none() | st.integers(1, 0x7FFE),
)


def prefixes(name: str) -> st.SearchStrategy[InfinibandSubnet]:
    prefix = st.integers(0, 2**64 - 1).map(lambda number: f"{number:016x}")
    return some(InfinibandSubnet, name=name, prefix=prefix, storage=st.none() | STORAGE_FABRICS)


def existing() -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from(["Image/a", "Project/b"]), st.uuids().map(str), max_size=2)


BASTIONS = some(
    Bastion, host=st.sampled_from(["jump.example.net", "192.0.2.10"]), user=st.sampled_from(["", "jump"]),
    prefixes=st.lists(st.sampled_from(["192.0.2.10/32", "198.51.100.0/24"]), max_size=2).map(tuple),
)  # fmt: skip


def sites() -> st.SearchStrategy[Site]:
    """Sites of up to three things in each section."""
    return some(
        Site, name="yard", cloud=TEXTS, domain=TEXTS,
        rooms=named(lambda name: some(Room, name=name, power_w=WATTS, floor_kg_m2=st.none() | st.integers(1, 9999))),
        physical_racks=named(racks), logical_racks=named(logical_racks), machines=named(machines), hosts=named(hosts),
        gpu_nodes=named(gpu_nodes), switches=named(switches), fabric_switches=named(fabric_switches),
        devices=named(lambda name: some(
            Device, name=name, role=st.sampled_from(["pdu", "appliance", "other"]), serial=st.none() | TEXTS,
            model=st.none() | TEXTS,
        )),
        placements=named(placements), cables=st.lists(CABLES, max_size=3).map(tuple),
        lags=st.lists(LAGS, max_size=2).map(tuple), physical_networks=named(physical_networks),
        fabric_profiles=named(profiles),
        underlays=named(lambda name: some(Underlay, name=name, mtu=st.none() | st.just(9000), neutron=st.booleans())),
        infiniband=named(prefixes), pools=st.builds(_with_clusters, POOLS, CLUSTER_POOL, CLUSTER_POOL),
        external=EXTERNAL,
        bastion=st.none() | BASTIONS,
        segment_ranges=st.lists(SEGMENTS, max_size=3).map(tuple), ironic=st.none() | IRONIC, flavors=named(flavors),
        images=named(lambda name: some(
            ImageSpec, name=name, file=TEXTS, sha512="0" * 128, disk_format=st.sampled_from(["raw", "qcow2"]),
            properties=IMAGE_PROPERTIES, software=IMAGE_SOFTWARE,
        )),
        volume_types=st.lists(NAMES, max_size=2).map(tuple),
        share_types=named(lambda name: some(
            ShareTypeSpec, name=name, storage_class=TEXTS, extra_specs=st.dictionaries(TEXTS, TEXTS, max_size=2),
            mount_options=st.sampled_from([(), ("nconnect=16",), ("hard", "vers=4.2")]),
        )),
        s3_role=TEXTS, channel=st.booleans(),
        lustre_server=VERSIONS,
        object_storage=st.none() | some(
            ObjectStorage, kind=st.sampled_from(["swift", "versity"]), endpoint=st.sampled_from(["", "https://s3:7070"]),
        ),
        controller=some(
            Controller, flavor=TEXTS, image=TEXTS, user_api_port=st.integers(1, 65535),
            readings=st.none() | some(ControllerReadings, max_age=AGES, backup=AGES),
        ),
        limits=LIMITS,
        prices=st.none() | PRICES, sharing=named(sharings), assumptions=assumptions(), existing=existing(),
    )  # fmt: skip
