"""A world while it is being made: a few switches, hosts and machines, and the plans of tenants, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from typing import Any

from interlock.model.lock.record import Released
from interlock.model.site.completeness import TABLES, Completeness
from interlock.model.site.gpu import GpuHost, HcaPort
from interlock.model.site.guards import ASSUMPTION_GUARDS, SHARING_GUARDS
from interlock.model.site.inventory import (
    Assumption,
    Cable,
    Controller,
    Device,
    Endpoint,
    ExternalNetwork,
    FlavorSpec,
    Host,
    InfinibandSubnet,
    Lag,
    Limits,
    Machine,
    PhysicalNetwork,
    Pools,
    Sharing,
    Site,
    Switch,
    SwitchPortConfig,
    Underlay,
    VlanPool,
)
from interlock.model.site.offers import ImageSpec, ShareTypeSpec, SharingKind
from interlock.model.site.software import ImageSoftware
from interlock.planning.plan import Component, Plan, Planned
from interlock.planning.plan_hash import vpods_above
from interlock.resources import (
    Network,
    Port,
    Project,
    Resource,
    Router,
    RouterInterface,
    SecurityGroup,
    Server,
    Subnet,
    SwitchPort,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
)
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.owners import OwnerId
from tests.builders.fitting_software import FITTING

from .world import OP, World

Guards = dict[str, bool | None]
Ranges = tuple[tuple[int, int], ...]

CONTROLLERS = "site:Project/controllers"
EXTERNAL = "site:Network/external"
#: Pools so wide that no world leaves them: what is looked at is who meets, not which ids were handed out.
_WIDE = VlanPool(physical_networks=("data-1", "data-2", "mgmt"), vlans=((1, 4094),))
_POOLS = Pools(
    ipu_data=_WIDE, storage=_WIDE, management=_WIDE, bare_metal_control=_WIDE, control=((1, 9999),),
    ipu_data_subnets=("10.20.0.0/16", 24), storage_subnets=("10.21.0.0/16", 24),
    control_subnets=("10.30.0.0/16", 24), management_subnets=("10.3.0.0/16", 24),
)  # fmt: skip
_OUTSIDE = ExternalNetwork(
    name="external", physical_network="external", cidr="192.0.2.0/24", gateway="192.0.2.1",
    pool=("192.0.2.10", "192.0.2.250"), address_scope="outside",
)  # fmt: skip
#: What servers, volumes and shares of drafts name; servers take nothing of a host, since drafts give hosts no sizes.
_FLAVORS = (
    FlavorSpec(
        name="poplar",
        role="poplar",
        vcpus=0,
        ram_gib=0,
        disk_gib=0,
        extra_specs={"hw:cpu_policy": "dedicated", "hw:mem_page_size": "1GB"},
    ),
    FlavorSpec(name="controller", role="infra", vcpus=0, ram_gib=0, disk_gib=0),
)
#: What runs on GPU nodes fits, so that the rules about it say nothing of who meets whom.
_SOFTWARE = ImageSoftware(**FITTING | {"lustre": "none"})
_IMAGES = tuple(
    ImageSpec(name=name, file=f"{name}.img", sha512="0" * 128, software=_SOFTWARE)
    for name in ("poplar", "vipu-controller")
)
_VOLUME_TYPES = ("x", "ceph")
_SHARE_TYPES = tuple(ShareTypeSpec(name=name, storage_class="any") for name in ("x", "nfs"))
_CONTROLLER = Controller(flavor="controller", image="vipu-controller", user_api_port=8090)
_LIMITS = Limits(controller_instances=8, controller_cores=32, controller_ram_gib=64)
SHARED: dict[str, SharingKind] = {
    "external": "external-network",
    "vipu-controller": "vipu-controller",
    "appliance": "storage-appliance",
}


def _all_held() -> dict[str, Guards]:
    return {name: dict.fromkeys(guards, True) for name, guards in ASSUMPTION_GUARDS.items()}


def _all_shared() -> dict[str, Guards]:
    return {name: dict.fromkeys(SHARING_GUARDS[kind], True) for name, kind in SHARED.items()}


@dataclass
class SwitchDraft:
    """A switch with its ports by number."""

    name: str
    ports: dict[int, SwitchPortConfig] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    #: Highest number so far; a port whose record is taken away still has its cable.
    last: int = 0

    def made(self) -> Switch:
        """The switch. It routes nothing unless the draft says so."""
        known: dict[str, Any] = {"routed_vlans": (), "ip_routing": False} | self.fields
        return Switch(
            name=self.name, serial=f"SN-{self.name}", model="arista-7060x", role="tor",
            port_groups=((100, max(self.last, 1)),),
            ports=tuple(self.ports[number] for number in sorted(self.ports)), **known,
        )  # fmt: skip


@dataclass
class Draft:
    """Everything of a world, changeable."""

    switches: dict[str, SwitchDraft] = field(default_factory=dict)
    cables: list[Cable] = field(default_factory=list)
    lags: list[Lag] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)
    devices: list[Device] = field(default_factory=list)
    networks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    underlays: list[Underlay] = field(default_factory=list)
    infiniband: list[InfinibandSubnet] = field(default_factory=list)
    gpu_nodes: list[GpuHost] = field(default_factory=list)
    flavors: list[FlavorSpec] = field(default_factory=list)
    external: ExternalNetwork = _OUTSIDE
    assumptions: dict[str, Guards] = field(default_factory=_all_held)
    sharing: dict[str, Guards] = field(default_factory=_all_shared)
    audience: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Declared sharing beside the usual entries.
    declared: list[Sharing] = field(default_factory=list)
    resources: dict[str, list[Planned]] = field(default_factory=dict)
    components: dict[str, list[Component]] = field(default_factory=dict)
    released: dict[str, list[Released]] = field(default_factory=dict)
    former_keys: dict[str, list[str]] = field(default_factory=dict)
    cleaned: dict[str, list[str]] = field(default_factory=dict)
    #: Names that a tenant's request declares open to everybody, and the tenants whose vPODs may meet.
    public: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Name of a public floating IP -> the prefixes stated for it.
    public_from: dict[str, tuple[str, ...]] = field(default_factory=dict)
    one_owner: set[str] = field(default_factory=set)
    #: (table, device) where more may be than is listed; every other table of a draft is complete.
    open_tables: set[tuple[str, str]] = field(default_factory=set)

    def switch(self, name: str, **fields: Any) -> SwitchDraft:
        """A switch, new if there is none of this name."""
        found = self.switches.setdefault(name, SwitchDraft(name))
        found.fields |= fields
        return found

    def port(self, switch: str, mode: str = "access", **fields: Any) -> int:
        """A further port of a switch; its number."""
        draft = self.switch(switch)
        draft.last += 1
        number = draft.last
        draft.ports[number] = SwitchPortConfig(port=number, mode=mode, **fields)  # type: ignore[arg-type]
        return number

    def change_port(self, switch: str, number: int, **fields: Any) -> None:
        """Other settings on a port, if it has a record."""
        ports = self.switches[switch].ports
        if number in ports:
            ports[number] = ports[number].model_copy(update=fields)

    def cable(self, a: tuple[str, str | int], b: tuple[str, str | int], kind: str = "ethernet") -> None:
        """A cable between two ends."""
        ends = [Endpoint(device=device, interface=str(interface)) for device, interface in (a, b)]
        self.cables.append(Cable(a=ends[0], b=ends[1], kind=kind))  # type: ignore[arg-type]

    def link(self, a: str, b: str, here: dict[str, Any], there: dict[str, Any]) -> tuple[int, int]:
        """An uplink; the settings of both ends."""
        ends = self.port(a, **({"mode": "trunk"} | here)), self.port(b, **({"mode": "trunk"} | there))
        self.cable((a, ends[0]), (b, ends[1]))
        return ends

    def bundle(self, device: str, *interfaces: str | int) -> None:
        """Interfaces of a device that are one link, and so what they are cabled to."""
        name = f"bundle-{len(self.lags) + 1}"
        self.lags.append(Lag(name=name, device=device, interfaces=tuple(map(str, interfaces))))

    def hypervisor(self, name: str, switch: str, network: str, tagged: Ranges | None, **fields: Any) -> int:
        """A host with one uplink on a network; the number of its switch port."""
        self.hosts[name] = Host(
            name=name,
            serial=f"SN-{name}",
            role="poplar",
            virtual_functions=8,
            interfaces={network: ("pf0",)},
            bmc="idrac",
        )
        number = self.port(switch, **({"mode": "trunk", "tagged": tagged} | fields))
        self.cable((name, "pf0"), (switch, number))
        return number

    def whole_host(self, name: str, switch: str, **fields: Any) -> int:
        """A host that is given out whole, with one interface."""
        self.hosts[name] = Host(
            name=name,
            serial=f"SN-{name}",
            role="poplar",
            provisioning="bare-metal",
            interfaces={"data-1": ("e0",)},
            bmc="idrac",
        )
        number = self.port(switch, **fields)
        self.cable((name, "e0"), (switch, number))
        return number

    def gpu_node(self, name: str, switch: str, *guids: str | None, **fields: Any) -> int:
        """A GPU node with one Ethernet interface and ports on the first InfiniBand subnet; its switch port's number."""
        subnet = self.infiniband[0].name
        ports = tuple(
            HcaPort(name=f"compute{rail}", use="compute", infiniband=subnet, rail=rail, guid=guid)
            for rail, guid in enumerate(guids, start=1)
        )
        self.gpu_nodes.append(GpuHost(name=name, node_type="dgx-h100", hall="hall-1", unit=1, ports=ports))
        return self.whole_host(name, switch, **fields)

    def machine(
        self, name: str, data: str = "leaf-1", management: str = "mgmt-1", mac: str | None = None
    ) -> tuple[int, int]:
        """An IPU-Machine; the numbers of its switch ports. `mac`: of its RNIC."""
        self.machines[name] = Machine(
            name=name, serial=f"SN-{name}", logical_rack="lrack-1", position=len(self.machines) + 1,
            macs={} if mac is None else {"rnic": mac},
        )  # fmt: skip
        ports = self.port(data), self.port(management)
        self.cable((name, "rnic"), (data, ports[0]))
        self.cable((name, "mgmt"), (management, ports[1]))
        return ports

    def appliance(self, name: str, switch: str, **fields: Any) -> int:
        """Some other device of the operator."""
        self.devices.append(Device(name=name, role="other"))
        number = self.port(switch, **fields)
        self.cable((name, "e0"), (switch, number))
        return number

    def declare(self, node: str, kind: SharingKind, *audience: str, **guards: bool | None) -> None:
        """Something of the operator's that is shared on purpose, with everybody or an audience; `guards` that fail."""
        held = dict.fromkeys(SHARING_GUARDS[kind], True) | guards
        name = f"shared-{len(self.declared) + 1}"
        self.declared.append(
            Sharing(name=name, kind=kind, node=node, rule="SEC-02", audience=audience or ("*",), guards=held)
        )

    def give_up(self, tenant: str, claim: str, value: str) -> None:
        """A claim that was released and is not settled."""
        self.released.setdefault(tenant, []).append(Released(vpod="old", claim=claim, value=value))

    def take_out(self, tenant: str, key: str) -> None:
        """A login key that a tenant took out of its request; servers that were made with it may be there."""
        self.former_keys.setdefault(tenant, []).append(key)

    def clean(self, tenant: str, device: str) -> None:
        """A machine or whole host that a tenant had, that was cleaned after it and is given out again."""
        self.cleaned.setdefault(tenant, []).append(device)

    def add(self, owner: str, name: str, resource: Resource, component: str | None = None) -> str:
        """One more planned resource of a tenant, or of the operator."""
        self.resources.setdefault(owner, []).append(
            Planned(name=name, component=component or self._component(owner), resource=resource)
        )
        return name

    def _component(self, owner: str) -> str:
        return "lyon" if owner == OP else f"{owner}-a"

    def project(self, owner: str) -> str:
        """Reference to the owner's project."""
        return CONTROLLERS if owner == OP else f"{owner}-project"

    def tenant(self, name: str) -> str:
        """A tenant with a project and a vPOD."""
        self.components[name] = [
            Component(name=name, type="TenantProject"),
            Component(name=f"{name}-a", type="VirtualPod", parent=name),
        ]
        return self.add(name, f"{name}-project", Project(name=name), component=name)

    def vlan(self, owner: str, name: str, physical: str, vlan: int | None, **fields: Any) -> str:
        """A VLAN network."""
        known = {"project": self.project(owner)} | fields
        network = Network(name=name, network_type="vlan", physical_network=physical, segmentation_id=vlan, **known)
        return self.add(owner, name, network)

    def vxlan(self, owner: str, name: str, vni: int, **fields: Any) -> str:
        """A VXLAN network."""
        known = {"project": self.project(owner)} | fields
        return self.add(owner, name, Network(name=name, network_type="vxlan", segmentation_id=vni, **known))

    def plug(self, owner: str, name: str, network: str, **fields: Any) -> str:
        """A port on a network."""
        known = {"project": self.project(owner), "address": "10.0.0.9", "vnic_type": "direct"} | fields
        return self.add(owner, name, Port(name=name, network=network, subnet=f"{network}-subnet", **known))

    def filter(self, owner: str, port: str, group: SecurityGroup) -> None:
        """The port is in this security group alone, which stands before it."""
        items = self.resources[owner]
        place = next(index for index, item in enumerate(items) if item.name == port)
        found = items[place]
        within = found.resource.model_copy(update={"security_groups": (group.name,)})
        first = Planned(name=group.name, component=found.component, resource=group)
        items[place : place + 1] = [first, found.model_copy(update={"resource": within})]

    def server(self, owner: str, name: str, host: str, ports: tuple[str, ...], **fields: Any) -> str:
        """A virtual server."""
        known = {"project": self.project(owner), "image": "site:Image/poplar", "flavor": "site:Flavor/poplar"} | fields
        server = Server(name=name, host=host, ports=ports, **known)
        return self.add(owner, name, server)

    def subnet(self, owner: str, network: str, cidr: str, **fields: Any) -> str:
        """A subnet of a network."""
        known = {"project": self.project(owner)} | fields
        name = f"{network}-subnet"
        return self.add(owner, name, Subnet(name=name, network=network, cidr=cidr, **known))

    def router(self, owner: str, name: str, subnets: tuple[str, ...], external: str | None = EXTERNAL) -> str:
        """A router, its gateway and interfaces."""
        project = self.project(owner)
        self.add(owner, name, Router(name=name, project=project, external_network=external))
        for subnet in subnets:
            self.add(owner, f"{name}-{subnet}", RouterInterface(project=project, router=name, subnet=subnet))
        return name

    def switch_port(self, owner: str, switch: str, port: int, vlan: int) -> str:
        """A switch port that a plan puts into a VLAN, with the device that is cabled there."""
        ends = [(item.a, item.b) for item in self.cables] + [(item.b, item.a) for item in self.cables]
        far = next((b for a, b in ends if (a.device, a.interface) == (switch, str(port))), None)
        device, interface = (far.device, far.interface) if far else ("nothing", "none")
        order = SwitchPort(switch=switch, port=port, device=device, interface=interface, vlan=vlan)
        return self.add(owner, f"{owner}-{switch}-{port}-{vlan}", order)

    def controller(self, owner: str, ports: tuple[str, ...], host: str, machines: tuple[str, ...] = ()) -> str:
        """A V-IPU controller in the operator's project, with agents, cluster and allocation if there are machines."""
        name = f"{owner}-a-controller"
        self.components[owner].append(Component(name=name, type="VipuController", parent=f"{owner}-a"))
        server = Server(
            name=name, project=CONTROLLERS, flavor="site:Flavor/controller", image="site:Image/vipu-controller",
            host=host, ports=ports,
        )  # fmt: skip
        self.add(owner, name, server, component=name)
        if machines:
            agents = tuple(self._agent(owner, name, machine) for machine in machines)
            cluster = VipuCluster(name=f"{owner}-a-cluster", controller=name, agents=agents)
            self.add(owner, cluster.name, cluster, component=name)
            allocation = VipuAllocation(
                name=f"{owner}-a-allocation", controller=name, cluster=cluster.name, machines=machines
            )
            self.add(owner, allocation.name, allocation, component=name)
        return name

    def _agent(self, owner: str, controller: str, machine: str) -> str:
        """The agent of a machine; no rule of these worlds asks at which address."""
        found = self.machines[machine]
        agent = VipuAgent(
            name=f"{owner}-a-agent-{machine}", controller=controller, machine=machine, serial=found.serial,
            host=f"10.20.0.{found.position}",
        )  # fmt: skip
        return self.add(owner, agent.name, agent, component=controller)

    def made(self) -> World:
        """The world as it is now."""
        plans = {owner: self._plan(owner) for owner in self.components}
        site = self._site()
        released = {tenant: tuple(entries) for tenant, entries in self.released.items()}
        cleaned = {tenant: tuple(names) for tenant, names in self.cleaned.items()}
        former = {tenant: tuple(keys) for tenant, keys in self.former_keys.items()}
        return World(site, plans, self._plan(OP), released, cleaned, former)

    def _plan(self, owner: str) -> Plan:
        components = self.components.get(owner, [Component(name="lyon", type="Site")])
        above = vpods_above((item.name, item.type, item.parent) for item in components)
        resources = (_stated(item, above.get(item.component)) for item in self._with_subnets(owner))
        return Plan(
            site="lyon", stack=f"lyon-{'site' if owner == OP else owner}", tenant=None if owner == OP else owner,
            owner=OwnerId("0" * 32), site_owner=OwnerId("1" * 32), site_hash="sha256:0", request_hash="sha256:1",
            components=tuple(components), resources=tuple(resources),
            public=self.public.get(owner, ()),
            public_from={name: found for name, found in self.public_from.items() if name in self.public.get(owner, ())},
            separate="no" if owner in self.one_owner else "vpods",
        )  # fmt: skip

    def _with_subnets(self, owner: str) -> Iterator[Planned]:
        """What was added, and a subnet of its own for each network that a port is on and nobody gave one."""
        items = self.resources.get(owner, [])
        named = {item.name: item for item in items}
        for item in items:
            port = item.resource
            if isinstance(port, Port) and port.subnet not in named and port.network in named:
                network = named[port.network]
                project = getattr(network.resource, "project", None)
                cidr = str(IPv4Interface(f"{port.address}/24").network)
                subnet = Subnet(name=port.subnet, project=project, network=network.name, cidr=cidr)
                named[port.subnet] = Planned(name=port.subnet, component=network.component, resource=subnet)
                yield named[port.subnet]
        yield from items

    def _site(self) -> Site:
        networks = {"external": ()} | self.networks
        site = Site(
            name="lyon", cloud="sandbox", machines=tuple(self.machines.values()), hosts=tuple(self.hosts.values()),
            switches=tuple(item.made() for item in self.switches.values()), devices=tuple(self.devices),
            cables=tuple(self.cables), lags=tuple(self.lags),
            physical_networks=tuple(
                PhysicalNetwork(name=name, switches=switches) for name, switches in networks.items()
            ),
            underlays=tuple(self.underlays), infiniband=tuple(self.infiniband), gpu_nodes=tuple(self.gpu_nodes),
            pools=_POOLS,
            external=self.external, segment_ranges=(), flavors=(*self.flavors, *_FLAVORS),
            images=_IMAGES, volume_types=_VOLUME_TYPES, share_types=_SHARE_TYPES,
            controller=_CONTROLLER, limits=_LIMITS,
            sharing=(*self._shared(), *self.declared),
            assumptions=tuple(Assumption(id=name, guards=guards) for name, guards in self.assumptions.items()),
        )  # fmt: skip
        return site.model_copy(update={"complete": tuple(self._complete(site))})

    def _complete(self, site: Site) -> Iterator[Completeness]:
        """What is not said is not there: of ports that have no line the drafts that leave one out are about."""
        for table in TABLES:
            listed = tuple(name for name in site.subjects(table) if (table, name) not in self.open_tables)
            if listed and table != "switch_ports":
                yield Completeness(table=table, devices=listed, seen="2026-11-20", by="the draft")

    def _shared(self) -> Iterator[Sharing]:
        for name, guards in self.sharing.items():
            yield Sharing(
                name=name, kind=SHARED[name], node=name, rule="SEC-03", guards=guards,
                audience=self.audience.get(name, ("*",)),
            )  # fmt: skip


def without_scope(draft: Draft) -> None:
    """The outside stands in no address scope."""
    draft.external = draft.external.model_copy(update={"address_scope": None})


__all__ = ["CONTROLLERS", "EXTERNAL", "SHARED", "Draft", "SwitchDraft", "without_scope"]


def _stated(item: Planned, vpod: str | None) -> Planned:
    """A planned resource with its vPOD and, for a network with the usual name of one, its role."""
    named = next((role for role in NetworkRole if item.name == f"{vpod}-{role}"), None)
    role = named if isinstance(item.resource, Network) else None
    return item.model_copy(update={"vpod": vpod, "role": role})
