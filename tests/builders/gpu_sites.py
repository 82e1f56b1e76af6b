"""Small sites with GPU nodes, built by hand in the full form: the pod of `ironic_pod64`, and a GPU hall beside it.

hall-1, unit u: su0u-n01 … su0u-n04, two in each rack su0u-rack01 …; node n of unit u:
  compute1 … compute8 ── leaf-su0u-r1 … r8, port n   (InfiniBand `compute`; with `spines=2` spine-1, spine-2 above them)
  in-band1, in-band2  ── inband-1, two ports for each node   (physical network `inband`)
Names follow `interlock.hardware.gpu`: `su01-n01`, `su01-rack01`, `compute1`.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.gpu import FabricSwitch, GpuHost, HcaPort
from interlock.model.site.inventory import (
    Cable,
    Endpoint,
    Host,
    ImageSpec,
    InfinibandSubnet,
    PartitionKeyPool,
    PhysicalNetwork,
    Placement,
    Rack,
    ShareTypeSpec,
    Site,
    Switch,
    SwitchPortConfig,
    VlanPool,
)
from interlock.model.site.ironic import ServiceNetworks
from interlock.model.site.software import ImageSoftware
from interlock.model.tenant.request import Cluster, Tenant
from interlock.resources import digest_of

from .fitting_software import FITTING
from .pod64 import cable, ironic_pod64, tenant

COMPUTE = InfinibandSubnet(name="compute", prefix="fe80000000000001")
HALL = "hall-1"
RAILS = 8
PER_RACK = 2
#: Interfaces of a node on the in-band network.
IN_BAND = ("in-band1", "in-band2")


def gpu_site(
    units: int = 2, nodes: int = 4, *, node_type: str = "dgx-h100", spines: int = 0, **overrides: object
) -> Site:
    """A site with a GPU hall of so many units and nodes in each; `overrides` replace whole fields of `Site`.

    `spines`: switches that every leaf has a cable to.
    """
    base = ironic_pod64()
    names = [(unit, number) for unit in range(1, units + 1) for number in range(1, nodes + 1)]
    racks = tuple(dict.fromkeys(rack_of(unit, number) for unit, number in names))
    leaves = tuple(_leaf(unit, rail) for unit in range(1, units + 1) for rail in range(1, RAILS + 1))
    assert base.ironic is not None
    service = ServiceNetworks(physical_network="inband", vlans=((3300, 3399),), subnets=("10.91.0.0/16", 26))
    fields: dict[str, object] = {
        "hosts": (*base.hosts, *(_host(unit, number) for unit, number in names)),
        "gpu_nodes": tuple(_node(unit, number, node_type) for unit, number in names),
        "switches": (*base.switches, _in_band_switch(len(names))),
        "fabric_switches": (*leaves, *(_spine(number) for number in range(1, spines + 1))),
        "cables": (*base.cables, *_cables(names), *_to_spines(leaves, spines)),
        "physical_networks": (*base.physical_networks, PhysicalNetwork(name="inband", switches=("inband-1",))),
        "physical_racks": tuple(Rack(name=rack) for rack in racks),
        "placements": tuple(Placement(device=node_name(unit, n), rack=rack_of(unit, n)) for unit, n in names),
        "infiniband": (COMPUTE,),
        "pools": base.pools.model_copy(
            update={
                "cluster": VlanPool(physical_networks=("inband",), vlans=((1500, 1599),)),
                "cluster_subnets": ("10.60.0.0/16", 24),
                "partition_keys": (PartitionKeyPool(infiniband="compute", keys=((1, 99),), reserved=(2,)),),
            }
        ),
        "images": (*base.images, gpu_image()),
        "ironic": base.ironic.model_copy(update={"networks": (*base.ironic.networks, service)}),
    }
    return ironic_pod64(**(fields | overrides))


def storing_gpu_site(**overrides: object) -> Site:
    """The same with file shares: the appliance is at .2 to .9 of each cluster's subnet."""
    types = (ShareTypeSpec(name="nfs", storage_class="nfs-appliance"),)
    found = gpu_site(**({"share_types": types} | overrides))  # type: ignore[arg-type]
    pools = found.pools.model_copy(update={"storage_vips": (2, 9)})
    return Site.model_validate({name: getattr(found, name) for name in Site.model_fields} | {"pools": pools})


def node_name(unit: int, number: int) -> str:
    """`su01-n01`."""
    return f"su{unit:02}-n{number:02}"


def rack_of(unit: int, number: int) -> str:
    """`su01-rack01`: two nodes stand in each."""
    return f"su{unit:02}-rack{(number - 1) // PER_RACK + 1:02}"


def guid_of(unit: int, number: int, rail: int) -> str:
    """The GUID of a compute port; each its own."""
    return f"0002c9{unit:02x}{number:04x}{rail:04x}"


def gpu_image() -> ImageSpec:
    """The image of GPU nodes, with software that fits; no file stands behind it."""
    sha512 = digest_of("dgx-os").removeprefix("sha256:") * 2
    software = ImageSoftware(**FITTING | {"lustre": "none"})
    return ImageSpec(name="dgx-os", file="images/dgx-os.raw", sha512=sha512, software=software)


def cluster(name: str = "train", nodes: int = 2, **overrides: object) -> Cluster:
    """A cluster of DGX H100 with InfiniBand."""
    fields: dict[str, object] = {
        "name": name, "nodes": nodes, "node_type": "dgx-h100", "image": "dgx-os", "fabric": "infiniband",
    }  # fmt: skip
    return Cluster.model_validate(fields | overrides)


def gpu_tenant(id: str, *clusters: Cluster, **overrides: object) -> Tenant:  # noqa: A002
    """A tenant with these clusters, by default one of two nodes, and no vPOD."""
    fields: dict[str, object] = {"vpods": (), "clusters": clusters or (cluster(),), "buckets": ()}
    return Tenant.model_validate(dict(tenant(id)) | fields | overrides)


def _host(unit: int, number: int) -> Host:
    name = node_name(unit, number)
    macs = {port: f"02:00:00:{unit:02x}:{number:02x}:{index:02x}" for index, port in enumerate(IN_BAND, start=1)}
    return Host(
        name=name, serial=f"SN-{name}", role="gpu", provisioning="bare-metal", model="dgx-h100", bmc="bmc",
        interfaces={"inband": IN_BAND}, macs=macs,
    )  # fmt: skip


def _node(unit: int, number: int, node_type: str) -> GpuHost:
    ports = tuple(
        HcaPort(name=f"compute{rail}", use="compute", infiniband="compute", rail=rail, guid=guid_of(unit, number, rail))
        for rail in range(1, RAILS + 1)
    )
    return GpuHost(name=node_name(unit, number), node_type=node_type, hall=HALL, unit=unit, ports=ports)


def _leaf(unit: int, rail: int) -> FabricSwitch:
    return FabricSwitch(
        name=f"leaf-su{unit:02}-r{rail}", infiniband="compute", tier="leaf", ports=64, unit=unit, rail=rail,
        guid=f"0002c9ff{unit:04x}{rail:04x}", serial=f"SN-leaf-{unit}-{rail}",
    )  # fmt: skip


def _spine(number: int) -> FabricSwitch:
    return FabricSwitch(
        name=f"spine-{number}", infiniband="compute", tier="spine", ports=64, guid=f"0002c9fe0000{number:04x}",
        serial=f"SN-spine-{number}",
    )  # fmt: skip


def _to_spines(leaves: tuple[FabricSwitch, ...], spines: int) -> Iterator[Cable]:
    for place, leaf in enumerate(leaves, start=1):
        for number in range(1, spines + 1):
            up = Endpoint(device=leaf.name, interface=str(32 + number))
            yield Cable(a=up, b=Endpoint(device=f"spine-{number}", interface=str(place)), kind="infiniband")


def _in_band_switch(nodes: int) -> Switch:
    ports = len(IN_BAND) * nodes
    return Switch(
        name="inband-1", serial="SN-inband-1", model="unknown", role="tor", port_groups=((100, ports),),
        ports=tuple(SwitchPortConfig(port=port, mode="access") for port in range(1, ports + 1)),
        routed_vlans=(), ip_routing=False, wired_by="neutron", port_names=("swp{}",), mac="02:00:00:00:0a:01",
        quarantine_vlan=4000,
    )  # fmt: skip


def _cables(names: list[tuple[int, int]]) -> Iterator[Cable]:
    for index, (unit, number) in enumerate(names):
        for leg, interface in enumerate(IN_BAND, start=1):
            yield cable(f"{node_name(unit, number)}:{interface}", f"inband-1:{len(IN_BAND) * index + leg}")
        for rail in range(1, RAILS + 1):
            a = Endpoint(device=node_name(unit, number), interface=f"compute{rail}")
            leaf = Endpoint(device=f"leaf-su{unit:02}-r{rail}", interface=str(number))
            yield Cable(a=a, b=leaf, kind="infiniband")
