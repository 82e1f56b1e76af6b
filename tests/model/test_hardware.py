"""The catalogue: its arithmetic, and a source for every figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from interlock.hardware import DESIGNS, IPU_M2000, IPU_POD64, POPLAR_R6525, Fact


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


def test_every_figure_has_a_source() -> None:
    found = [fact for design in DESIGNS.values() for fact in facts(design)]
    assert len(found) > 15
    assert all(fact.source for fact in found)


def facts(record: object) -> Iterator[Fact[object]]:
    """Every figure below a record of the catalogue."""
    for field in fields(record):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        if isinstance(value, Fact):
            yield value
        elif hasattr(value, "__dataclass_fields__"):
            yield from facts(value)
