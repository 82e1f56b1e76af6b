"""A site with Ironic: a service network for each whole host, what its ports are attached to, and who wires them."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.model.site.inventory import Site, Switch
from interlock.model.site.ironic import Ironic, ServiceNetworks
from interlock.model.site.physical import WiredBy
from interlock.model.site.service_networks import service_networks
from interlock.planning import Plan, plan_site, plan_tenant
from interlock.planning.wiring import wiring_of
from interlock.resources import BareMetalServer, Network, Port, RouterInterface, Subnet, SwitchPort
from tests.builders.pod64 import bare_metal_pod64, bare_metal_vpod, ironic_pod64, locked, site_locked, tenant

HOSTS = [f"poplar-{number}" for number in range(1, 5)]


def planned(site: Site) -> Plan:
    """Four machines with poplar-1 and poplar-2 as whole hosts."""
    request = tenant("acme", vpods=(bare_metal_vpod(),))
    return plan_tenant(site, site_locked(site), request, locked(site, request))


def wired(tor: WiredBy, management: WiredBy = "neutron", *, ironic: bool = True) -> Site:
    """The site of whole hosts with switches that are wired so."""
    base = ironic_pod64()
    by = {"tor-1": tor, "mgmt-1": management}
    switches = tuple(Switch.model_validate(item.model_dump() | {"wired_by": by[item.name]}) for item in base.switches)
    return ironic_pod64(switches=switches, **({} if ironic else {"ironic": None}))


def with_networks(*networks: ServiceNetworks, **overrides: Any) -> Site:
    """The site with other service networks."""
    return ironic_pod64(ironic=Ironic(conductor_group="lent", networks=networks), **overrides)


def on(network: str, first: int, last: int, prefix: str = "10.90.0.0/24") -> ServiceNetworks:
    """VLANs on a physical network, with subnets of /28."""
    return ServiceNetworks(physical_network=network, vlans=((first, last),), subnets=(prefix, 28))


def test_each_whole_host_has_a_network_of_the_operators_and_no_way_out_of_it() -> None:
    plan = plan_site(ironic_pod64(), site_locked(ironic_pod64()))
    networks = [spec for name in HOSTS if isinstance(spec := plan.by_name[f"service-{name}"].resource, Network)]
    assert [(item.name, item.physical_network, item.segmentation_id) for item in networks] == [
        (f"service-{name}", "mgmt1g", 3200 + number) for number, name in enumerate(HOSTS)
    ]
    assert {(item.project, item.shared, item.external) for item in networks} == {(None, False, False)}
    subnets = [spec for name in HOSTS if isinstance(spec := plan.by_name[f"service-{name}-subnet"].resource, Subnet)]
    assert [item.cidr for item in subnets] == ["10.90.0.0/26", "10.90.0.64/26", "10.90.0.128/26", "10.90.0.192/26"]
    assert {(item.gateway, item.dhcp, item.project) for item in subnets} == {(None, True, None)}
    assert subnets[1].pools == (("10.90.0.68", "10.90.0.126"),)
    assert not any(isinstance(item.resource, RouterInterface) for item in plan.resources)


def test_a_site_without_ironic_or_without_whole_hosts_has_none() -> None:
    assert service_networks(bare_metal_pod64()) == {}
    hypervisors = tuple(item.model_copy(update={"provisioning": "hypervisor"}) for item in ironic_pod64().hosts)
    assert service_networks(ironic_pod64(hosts=hypervisors)) == {}


def test_a_host_gets_the_next_vlan_of_the_first_entry_that_it_reaches() -> None:
    site = with_networks(on("nowhere", 3300, 3309), on("mgmt1g", 3200, 3201), on("mgmt1g", 3210, 3210, "10.91.0.0/24"))
    found = service_networks(site)
    assert {name: (item.vlan, item.cidr, item.interface) for name, item in found.items()} == {
        "poplar-1": (3200, "10.90.0.0/28", "eno1"),
        "poplar-2": (3201, "10.90.0.16/28", "eno1"),
        "poplar-3": (3210, "10.91.0.0/28", "eno1"),
    }


def test_a_host_boots_from_the_interface_that_it_has_there() -> None:
    assert {item.interface for item in service_networks(with_networks(on("fabric100g", 3300, 3309))).values()} == {
        "ens161f0"
    }


def test_no_host_gets_a_vlan_without_a_subnet() -> None:
    assert list(service_networks(with_networks(on("mgmt1g", 3200, 3203, "10.90.0.0/27")))) == HOSTS[:2]
    assert service_networks(with_networks(on("mgmt1g", 3200, 3203, "10.90.0.0/29"))) == {}


def test_a_server_has_a_leg_for_each_port_in_their_order() -> None:
    plan = planned(ironic_pod64())
    server = plan.by_name["acme-train-poplar-1"].resource
    assert isinstance(server, BareMetalServer)
    assert server.resource_class == "poplar"
    assert [(leg.switch, leg.port, leg.port_name, leg.vlan, leg.quarantine_vlan) for leg in server.legs] == [
        ("tor-1", 19, "swp19", 1000, 4000), ("tor-1", 20, "swp20", 2000, 4000), ("mgmt-1", 38, "swp38", 3000, 4000),
    ]  # fmt: skip
    assert [leg.switch_mac for leg in server.legs] == ["02:00:00:00:09:01"] * 2 + ["02:00:00:00:09:02"]
    networks = [spec.network for name in server.ports if isinstance(spec := plan.by_name[name].resource, Port)]
    assert networks == ["acme-train-ipu-data", "acme-train-storage", "acme-train-control"]


@pytest.mark.parametrize(("stated", "model", "expected"), [
    (None, None, "poplar"), (None, "dell-r6525", "dell-r6525"), ("lent-server", "dell-r6525", "lent-server"),
])  # fmt: skip
def test_the_resource_class_is_what_the_site_states_else_the_model(
    stated: str | None, model: str | None, expected: str
) -> None:
    base = ironic_pod64()
    assert base.ironic is not None
    hosts = tuple(item.model_copy(update={"model": model}) for item in base.hosts)
    site = ironic_pod64(hosts=hosts, ironic=base.ironic.model_copy(update={"poplar_class": stated}))
    server = planned(site).by_name["acme-train-poplar-0"].resource
    assert isinstance(server, BareMetalServer)
    assert server.resource_class == expected


@pytest.mark.parametrize("ironic", [True, False])
@pytest.mark.parametrize("tor", ["neutron", "export", "hand"])
def test_ironic_wires_a_port_only_where_neutron_wires_the_switch(tor: WiredBy, *, ironic: bool) -> None:
    plan = planned(wired(tor, ironic=ironic))
    left = {item.resource.wired_by for item in plan.without_actuator() if isinstance(item.resource, SwitchPort)}
    # What Ironic wires is made with its host, so it is not left to anybody.
    assert left == {tor} - {"neutron"}
    ports = [
        spec
        for item in plan.resources
        if isinstance(spec := item.resource, SwitchPort) and spec.device.startswith("poplar")
    ]
    by_driver = "ironic" if ironic else "neutron"
    assert {(port.switch, port.wired_by) for port in ports} == {
        ("tor-1", by_driver if tor == "neutron" else tor), ("mgmt-1", by_driver),
    }  # fmt: skip
    # Neutron gives an address once, and the port of the leg has it.
    assert {port.addresses for port in ports} == {()}
    assert all(port.is_declared == (port.wired_by == "neutron") for port in ports)


@pytest.mark.parametrize("ironic", [True, False])
@pytest.mark.parametrize("tor", ["export", "hand"])
def test_ports_of_whole_hosts_that_ironic_cannot_set_are_printed_to_be_wired(tor: WiredBy, *, ironic: bool) -> None:
    site = wired(tor, ironic=ironic)
    plans = [planned(site)]
    found = {switch.name: switch for switch in wiring_of(site, plans, site.switch, plans).switches}
    of_hosts = [(port.number, port.vlan) for port in found["tor-1"].ports if port.device.startswith("poplar")]
    assert of_hosts == [(17, 1000), (18, 2000), (19, 1000), (20, 2000)]
    assert found["tor-1"].ironic == ()
    assert [port.number for port in found["mgmt-1"].ironic] == ([37, 38] if ironic else [])


def test_ports_of_whole_hosts_that_nobody_has_rest_unless_ironic_sets_them() -> None:
    site = wired("hand")
    plans = [planned(site)]
    found = {switch.name: switch for switch in wiring_of(site, plans, site.switch, plans).switches}
    resting = {name: [port for port in switch.rest if port.device in HOSTS] for name, switch in found.items()}
    assert [(port.number, port.vlan, port.enabled) for port in resting["tor-1"]] == [
        (number, 4000, False) for number in (21, 22, 23, 24)
    ]
    assert resting["mgmt-1"] == []
