"""Designs of racks: their ports and links add up."""

from __future__ import annotations

from interlock.hardware import (
    DESIGNS,
    IPU_M2000,
    IPU_POD64,
    PDUS_PER_LOGICAL_RACK,
    POD_DESIGNS,
    PODS,
    POPLAR_R6525,
)


def test_a_pod64_has_64_ipus() -> None:
    assert IPU_POD64.machines.value * IPU_M2000.ipus.value == 64


def test_tor_ports_are_used_up_by_machines_servers_and_uplinks() -> None:
    blocks = {name: last - first + 1 for name, (first, last) in IPU_POD64.tor_ports.value.items()}
    assert (blocks["machines"], blocks["servers"], blocks["uplinks"]) == (16, 8, 8)
    assert blocks["machines"] == IPU_POD64.machines.value * IPU_M2000.rnic_ports_cabled.value
    assert blocks["servers"] == IPU_POD64.max_servers.value * POPLAR_R6525.fabric_ports.value


def test_port_maps_cover_every_port_once() -> None:
    for design in DESIGNS.values():
        for switch, ports in ((design.tor, design.tor_ports), (design.management, design.management_ports)):
            found = [port for first, last in ports.value.values() for port in range(first, last + 1)]
            assert found == list(range(1, switch.ports + 1))


def test_links_to_two_neighbours_are_all_the_links() -> None:
    assert IPU_M2000.ipu_links_per_neighbour.value * 2 == IPU_M2000.ipu_link_ports.value


def test_a_design_has_room_for_as_many_pdus_as_its_port_map_has_ports() -> None:
    for design in DESIGNS.values():
        first, last = design.management_ports.value["pdus"]
        assert design.max_pdus == last - first + 1 == PDUS_PER_LOGICAL_RACK.value


def test_pods_of_designs_have_the_machines_of_the_datasheets() -> None:
    for name in set(PODS) & set(POD_DESIGNS):
        assert POD_DESIGNS[name].machines == PODS[name].machines.value
        assert POD_DESIGNS[name].logical_racks.value == PODS[name].logical_racks.value
        assert POD_DESIGNS[name].gateway.value == PODS[name].gateway.value
