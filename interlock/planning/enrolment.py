"""What has to be enrolled at Ironic for a site: a node for each whole host and each IPU-Machine, with its ports.

The form is that of the file which `openstack baremetal create` reads: python-ironicclient, `v1/create_resources.py`.
Nothing in it is secret: how a BMC is reached, and who may, is added by the operator and never read by us.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from interlock.model.site.inventory import Endpoint, Site
from interlock.model.site.ironic import Ironic
from interlock.model.site.physical import Host, Machine
from interlock.model.site.service_networks import NOTHING, ServiceNetwork, service_networks
from interlock.resources import Frozen
from interlock.vocabulary.digits import is_number

MIB_PER_GIB = 1024
#: Traits of nodes. An IPU-Machine boots no ramdisk, so Ironic can neither deploy nor clean it.
HOST_TRAIT, INVENTORY_TRAIT = "CUSTOM_INTERLOCK_WHOLE_HOST", "CUSTOM_INTERLOCK_INVENTORY_ONLY"
INVENTORY = "IPU-Machine: for power and inventory only. It boots no ramdisk: leave it `manageable`, never provide it."
WHOLE_HOST = "Whole host, lent to tenants by interlock."
#: Network devices of an IPU-Machine -> the interface of it, as cables name it, that they are behind.
PARTS = {"rnic": "rnic", "gw": "mgmt", "bmc": "mgmt"}


class LocalLink(Frozen):
    """The switch port behind an interface, as Ironic and Neutron's driver are told of it."""

    switch_id: str
    switch_info: str
    port_id: str


class EnrolledPort(Frozen):
    """A port of a node."""

    name: str
    address: str
    pxe_enabled: bool
    physical_network: str
    local_link_connection: LocalLink


class EnrolledNode(Frozen):
    """A node. Fields are those of Ironic's API; `ports` are created with it."""

    name: str
    description: str
    driver: str
    network_interface: Literal["neutron"] = "neutron"
    resource_class: str
    conductor_group: str
    automated_clean: bool
    traits: tuple[str, ...]
    properties: dict[str, int | str]
    driver_info: dict[str, str]
    extra: dict[str, str]
    ports: tuple[EnrolledPort, ...]


@dataclass(frozen=True)
class Enrolment:
    """Nodes in the order of the site, hosts first, and what nobody states that is needed: one line for each."""

    nodes: tuple[EnrolledNode, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True)
class Plug:
    """An interface of a device that is to be a port of its node."""

    device: str
    #: As `macs` has it, and as cables name it.
    name: str
    interface: str
    address: str | None
    networks: tuple[str, ...]
    boots: bool = False


def enrolment_of(site: Site, ironic: Ironic, recorded: Mapping[str, str] = NOTHING) -> Enrolment:
    """What is to be enrolled; a port of which something is not stated is left out and listed as lacking.

    `recorded`: the service networks of the operator's lock.
    """
    services = service_networks(site, recorded)
    nodes, lacking = list[EnrolledNode](), list[str]()
    for host in site.whole_hosts:
        service = services.get(host.name)
        if service is None:
            lacking.append(f"{host.name}: no service network is left for it (`ironic.networks`)")
        found, missing = _ports(site, _plugs_of_host(site, host, service))
        nodes.append(_host_node(ironic, host, service, found))
        lacking += missing
    for machine in site.machines:
        found, missing = _ports(site, _plugs_of_machine(site, machine))
        nodes.append(_machine_node(ironic, machine, found))
        lacking += missing
    return Enrolment(tuple(nodes), tuple(lacking))


def _host_node(
    ironic: Ironic, host: Host, service: ServiceNetwork | None, ports: tuple[EnrolledPort, ...]
) -> EnrolledNode:
    networks = {} if service is None else {"cleaning_network": service.name, "provisioning_network": service.name}
    return EnrolledNode(
        name=host.name, description=WHOLE_HOST, driver=ironic.driver, resource_class=ironic.class_of(host),
        conductor_group=ironic.conductor_group, automated_clean=True, traits=(HOST_TRAIT,),
        properties={"memory_mb": host.ram_gib * MIB_PER_GIB} if host.ram_gib else {},
        driver_info=networks, extra={"serial": host.serial}, ports=ports,
    )  # fmt: skip


def _machine_node(ironic: Ironic, machine: Machine, ports: tuple[EnrolledPort, ...]) -> EnrolledNode:
    return EnrolledNode(
        name=machine.name, description=INVENTORY, driver=ironic.driver, resource_class=ironic.class_of(machine),
        conductor_group=ironic.conductor_group, automated_clean=False, traits=(INVENTORY_TRAIT,), properties={},
        driver_info={}, extra={"serial": machine.serial}, ports=ports,
    )  # fmt: skip


def _plugs_of_host(site: Site, host: Host, service: ServiceNetwork | None) -> Iterator[Plug]:
    """Each interface on a physical network, once. It boots from one of them, on its service network."""
    networks: dict[str, list[str]] = {}
    for network in site.physical_networks:
        for interface in site.interfaces_on(host.name, network.name):
            if interface != host.bmc:
                networks.setdefault(interface, []).append(network.name)
    for interface, found in networks.items():
        boots = service is not None and interface == service.interface
        first = (service.physical_network,) if service is not None and boots else ()
        address = host.macs.get(interface)
        yield Plug(host.name, interface, interface, address, (*first, *found), boots=boots)


def _plugs_of_machine(site: Site, machine: Machine) -> Iterator[Plug]:
    for part, interface in PARTS.items():
        pool = site.pools.ipu_data if interface == "rnic" else site.pools.management
        end = site.far_end(machine.name, interface)
        names = pool.physical_networks if pool else ()
        networks = [site.physical_network[name] for name in names if name in site.physical_network]
        reached = tuple(network.name for network in networks if end is not None and end.device in network.switches)
        yield Plug(machine.name, part, interface, machine.macs.get(part), reached)


def _ports(site: Site, plugs: Iterator[Plug]) -> tuple[tuple[EnrolledPort, ...], list[str]]:
    """The ports of which all is known, and a line for each of the others."""
    ports, lacking = list[EnrolledPort](), list[str]()
    for plug in plugs:
        link, missing = _link(site, Endpoint(device=plug.device, interface=plug.interface))
        if plug.address is None:
            missing = ["its MAC address (`macs`)", *missing]
        if not plug.networks:
            missing = [*missing, "a physical network that its switch is on"]
        if missing or link is None or plug.address is None:
            lacking.append(f"{Endpoint(device=plug.device, interface=plug.name)}: not stated: {', '.join(missing)}")
            continue
        ports.append(
            EnrolledPort(
                name=f"{plug.device}-{plug.name}", address=plug.address, pxe_enabled=plug.boots,
                physical_network=plug.networks[0], local_link_connection=link,
            )
        )  # fmt: skip
    return tuple(ports), lacking


def _link(site: Site, plug: Endpoint) -> tuple[LocalLink | None, list[str]]:
    """The switch port at the other end of a cable, or what is not stated of it."""
    end = site.far_end(plug.device, plug.interface)
    if end is None or end.device not in site.switch or not is_number(end.interface):
        return None, [f"a cable from {plug} to a port of a switch"]
    switch = site.switch[end.device]
    port = switch.port_name(int(end.interface))
    missing = [f"the MAC address of {switch.name}"] if switch.mac is None else []
    missing += [f"what {switch.name} calls its port {end.interface} (`port_names`)"] if port is None else []
    if switch.mac is None or port is None:
        return None, missing
    return LocalLink(switch_id=switch.mac, switch_info=switch.name, port_id=port), []
