"""Halls whose compute ports are Ethernet: interfaces and cables of each unit, MACs, the full form; no InfiniBand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlock.model.site.full import full_form
from interlock.model.site.inventory import Site
from interlock.model.text.errors import InputErrors
from tests.model.test_halls import document, load, node

RAILS = tuple(f"compute{rail}" for rail in range(1, 9))


def leaf(number: int) -> dict[str, Any]:
    return {"serial": f"L-{number}", "model": "arista-7060x", "role": "tor", "port_groups": [[400, 64]]}


def mac(number: int, rail: int) -> str:
    return f"02:00:00:02:{number:02x}:{rail:02x}"


def roce(unit: int) -> dict[str, Any]:
    """Rail n of a unit is on the switch ports from 8·n of its leaf, one for each of its first eight places."""
    # In the file in the other order than that of rails.
    ports = {name: [f"leaf-{unit}:{8 * rail + 1}-{8 * rail + 8}"] for rail, name in enumerate(RAILS)}
    return {"physical_network": f"roce-su{unit:02}", "ports": dict(reversed(ports.items()))}


def hall(units: int = 2, **fields: Any) -> dict[str, Any]:
    """The small site with nodes 1 and 3 of each unit."""
    places = [f"su{unit:02}-n{number:02}" for unit in range(1, units + 1) for number in (1, 3)]
    nodes = {
        place: {"serial": f"DGX-{index}", "macs": {name: mac(index, rail) for rail, name in enumerate(RAILS, start=1)}}
        for index, place in enumerate(places)
    }
    stated = {"nodes": nodes, "roce": [roce(unit) for unit in range(1, units + 1)], "units": units} | fields
    found = document(**stated)
    del found["halls"]["pod"]["compute"]
    found["switches"] = {f"leaf-{unit}": leaf(unit) for unit in range(1, units + 1)}
    found["physical_networks"] |= {f"roce-su{unit:02}": [f"leaf-{unit}"] for unit in range(1, units + 1)}
    return found


def ends(site: Site, node: str) -> list[str]:
    return [str(site.far_end(node, name)) for name in RAILS]


def test_each_unit_is_on_its_own_physical_network(tmp_path: Path) -> None:
    in_band = {"physical_network": "in-band", "ports": {"eno1": ["band:1-63"]}}
    found = hall(in_band=in_band)
    found["switches"]["band"] = leaf(3)
    found["physical_networks"]["in-band"] = ["band"]
    site = load(tmp_path, found).site
    first, last = site.host["pod-su01-n01"], site.host["pod-su02-n03"]
    assert first.interfaces == {"in-band": ("eno1",), "roce-su01": RAILS}
    assert (last.interfaces["roce-su02"], last.macs["compute8"]) == (RAILS, mac(3, 8))
    # The third place of its unit has the third switch port of each rail.
    assert ends(site, "pod-su02-n03") == [f"leaf-2:{8 * rail + 3}" for rail in range(8)]
    assert ends(site, "pod-su01-n01") == [f"leaf-1:{8 * rail + 1}" for rail in range(8)]
    # Places of in-band ports go on through the units.
    assert [str(site.far_end(f"pod-su0{unit}-n03", "eno1")) for unit in (1, 2)] == ["band:3", "band:35"]
    assert all(node.ports == () for node in site.gpu_nodes)
    # Without a subnet manager there are no appliances of it.
    assert (site.fabric_switches, [item for item in site.devices if item.role == "appliance"]) == ((), [])


def test_storage_may_be_infiniband_beside_it(tmp_path: Path) -> None:
    site = load(tmp_path, hall(1, storage="ib-storage")).site
    assert [port.name for port in site.gpu_nodes[0].ports] == ["storage1", "storage2"]
    assert {item.infiniband for item in site.fabric_switches} == {"ib-storage"}
    assert [item.name for item in site.devices if item.role == "appliance"] == []


def test_in_full_it_is_the_same_hall(tmp_path: Path) -> None:
    short = load(tmp_path / "short", hall())
    back = load(tmp_path / "full", full_form(short.site, short.defaults))
    assert (back.site, back.file.halls) == (short.site, {})


def test_an_inventory_has_the_addresses_of_compute_ports(tmp_path: Path) -> None:
    stated = load(tmp_path / "yaml", hall(1)).site
    lines = [",".join(["place", "serial", *(f"mac {name}" for name in RAILS)])]
    lines += [
        ",".join([f"su01-n{place:02}", f"DGX-{index}", *(mac(index, rail) for rail in range(1, 9))])
        for index, place in enumerate((1, 3))
    ]
    found = hall(1, inventory="nodes.csv", nodes={})
    assert load(tmp_path / "csv", found, "\n".join(lines) + "\n").site == stated


def test_cables_may_be_unknown(tmp_path: Path) -> None:
    entry = {"physical_network": "roce-su01", "ports": {name: [] for name in RAILS}}
    site = load(tmp_path, hall(1, roce=[entry])).site
    assert site.host["pod-su01-n01"].interfaces == {"roce-su01": RAILS}
    assert site.far_end("pod-su01-n01", "compute1") is None


def test_what_compute_ports_are_on_is_told_once_where_nothing_says_it(tmp_path: Path) -> None:
    """Not again of each GUID and MAC address that a node has there."""
    nodes = {"su01-n01": node(1) | {"macs": {}}, "su01-n02": hall()["halls"]["pod"]["nodes"]["su01-n03"]}
    found = document(nodes=nodes)
    del found["halls"]["pod"]["compute"]
    with pytest.raises(InputErrors) as told:
        load(tmp_path, found)
    assert [error.message for error in told.value.errors] == [
        "neither `compute` nor `roce`: what its compute ports are on"
    ]
