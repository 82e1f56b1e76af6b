"""Halls: every row of NVIDIA's tables, counted from the cables; rails, ports, bisection, and sizes that are refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import astuple, replace
from functools import cache

import networkx as nx
import pytest

from interlock.hardware import unit_faults
from interlock.hardware.gpu import (
    HALL_DESIGNS,
    GpuHall,
    HallRow,
    PortRole,
    counts,
    expand,
    fat_tree,
    hall_fault,
    oversubscribed,
    rack_loads,
)

TREES = (PortRole.COMPUTE, PortRole.STORAGE, PortRole.IN_BAND)
#: One of each shape: two tiers with and without UFM, three tiers, two planes, leaves that are not full.
SHAPES = [
    ("h100-superpod", 1),
    ("h100-superpod", 3),
    ("b200-superpod", 16),
    ("b300-superpod", 2),
    ("b300-xdr-superpod", 1),
]


@cache
def hall_of(name: str, units: int) -> GpuHall:
    return expand(HALL_DESIGNS[name], units)


def rows() -> Iterator[tuple[str, HallRow]]:
    for name, design in HALL_DESIGNS.items():
        yield from ((name, row) for row in (design.rows.value if design.rows else ()))


@pytest.mark.parametrize(
    ("name", "row"), list(rows()), ids=lambda item: item if isinstance(item, str) else f"{item.units}"
)
def test_the_cables_of_a_hall_add_up_to_the_makers_row(name: str, row: HallRow) -> None:
    hall = hall_of(name, row.units)
    found = counts(hall, PortRole.COMPUTE)
    links = (found.node_links, found.leaf_spine_links, found.spine_core_links)
    each = HALL_DESIGNS[name].links_per_cable.value
    assert all(count % each == 0 for count in links)
    cables = tuple(count // each for count in links)
    assert (row.units, len(hall.nodes), hall.gpus, found.leaves, found.spines, found.cores, *cables) == astuple(row)


def test_the_tables_are_those_that_were_read() -> None:
    assert Counter(name for name, _ in rows()) == {
        "h100-superpod": 4, "b200-superpod": 6, "b300-superpod": 5, "b300-xdr-superpod": 5
    }  # fmt: skip
    assert [row.node_cables for name, row in rows() if name == "h100-superpod"] == [252, 508, 764, 1020]
    assert [row.leaf_spine_cables for name, row in rows() if name == "h100-superpod"] == [256, 512, 768, 1024]
    assert [row.nodes for name, row in rows() if name == "b300-superpod"] == [64, 128, 256, 512, 1024]


@pytest.mark.parametrize(
    ("ports", "radix", "expected"),
    [
        (256, 64, (8, 4, 0)),
        (512, 64, (16, 8, 0)),
        (768, 64, (24, 16, 0)),
        (2048, 64, (64, 32, 0)),
        (4096, 64, (128, 128, 64)),
        (16384, 64, (512, 512, 256)),
        (8192, 128, (128, 64, 0)),
        (10368, 144, (144, 72, 0)),
    ],
)
def test_fat_trees(ports: int, radix: int, expected: tuple[int, int, int]) -> None:
    found = fat_tree(ports, radix)
    assert (found.leaves, found.spines, found.cores) == expected
    assert found.leaf_spine_links == ports


@pytest.mark.parametrize(
    ("ports", "radix", "words"),
    [
        (100, 64, "do not fill leaves of 32"),
        (0, 64, "do not fill leaves"),
        (2560, 64, "do not spread evenly"),
        (65568, 64, "more than three tiers of 64 ports carry (65536)"),
        (32, 63, "no two equal halves"),
        (32, 0, "no two equal halves"),
    ],
)
def test_what_is_no_even_tree_is_refused(ports: int, radix: int, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        fat_tree(ports, radix)


@pytest.mark.parametrize(("name", "units"), SHAPES)
def test_every_port_has_one_cable_and_is_on_its_switch(name: str, units: int) -> None:
    hall = hall_of(name, units)
    ends = [end for cable in hall.cables for end in (cable.lower, cable.upper)]
    assert len(set(ends)) == len(ends)
    devices = {*(node.name for node in hall.nodes), *(switch.name for switch in hall.switches), *hall.managers}
    assert {end.device for end in ends} == devices
    radix = {fabric.role: fabric.radix.value for fabric in HALL_DESIGNS[name].fabrics}
    for switch in hall.switches:
        ports = [int(end.port) for end in ends if end.device == switch.name]
        assert min(ports) >= 1
        assert max(ports) <= radix[switch.fabric]


@pytest.mark.parametrize(("name", "units"), SHAPES)
def test_rail_n_of_every_node_of_a_unit_is_on_leaves_of_rail_n(name: str, units: int) -> None:
    hall = hall_of(name, units)
    leaves = {switch.name: switch for switch in hall.switches if switch.tier == "leaf"}
    unit_of = {node.name: node.unit for node in hall.nodes}
    rail_of = {(hca.node, hca.name): hca for hca in hall.hcas}
    met: defaultdict[str, set[str]] = defaultdict(set)
    for cable in hall.cables:
        if cable.tier == "node-leaf" and cable.lower.device in unit_of:
            hca = rail_of[cable.lower.device, _without_plane(hall, cable.lower.port, cable.fabric)]
            leaf = leaves[cable.upper.device]
            assert (leaf.unit, leaf.rail, leaf.fabric) == (unit_of[hca.node], hca.rail, hca.fabric)
            if cable.fabric is PortRole.COMPUTE:
                met[cable.lower.device].add(leaf.name)
    planes = HALL_DESIGNS[name].fabric(PortRole.COMPUTE).planes.value
    assert {len(found) for found in met.values()} == {8 * planes}


def _without_plane(hall: GpuHall, port: str, role: PortRole) -> str:
    """`compute3-2` is plane 2 of compute3."""
    planes = HALL_DESIGNS[hall.design].fabric(role).planes.value
    return port if planes == 1 else port.rpartition("-")[0]


@pytest.mark.parametrize(("name", "units"), SHAPES)
@pytest.mark.parametrize("role", TREES)
def test_nothing_blocks_and_every_bundle_is_as_wide(name: str, units: int, role: PortRole) -> None:
    hall = hall_of(name, units)
    fabric = HALL_DESIGNS[name].fabric(role)
    assert oversubscribed(hall, role) == ()
    up = Counter(cable.lower.device for cable in hall.cables_of(role))
    assert {up[switch.name] for switch in hall.switches_of(role) if switch.tier == "leaf"} == {fabric.down}
    for tier in ("leaf-spine", "spine-core"):
        pairs = [(cable.lower.device, cable.upper.device) for cable in hall.cables_of(role) if cable.tier == tier]
        assert len(set(Counter(pairs).values())) <= 1


def test_in_full_units_each_leaf_has_as_many_links_down_as_up() -> None:
    hall = hall_of("b200-superpod", 4)
    down = Counter(cable.upper.device for cable in hall.cables_of(PortRole.COMPUTE) if cable.tier == "node-leaf")
    up = Counter(cable.lower.device for cable in hall.cables_of(PortRole.COMPUTE) if cable.tier == "leaf-spine")
    assert down == up
    assert set(down.values()) == {32}


def test_a_missing_uplink_is_found() -> None:
    hall = hall_of("b200-superpod", 2)
    gone = next(cable for cable in hall.cables if cable.tier == "leaf-spine" and cable.fabric is PortRole.COMPUTE)
    broken = replace(hall, cables=tuple(cable for cable in hall.cables if cable is not gone))
    assert oversubscribed(broken, PortRole.COMPUTE) == (gone.lower.device,)


def graph_of(hall: GpuHall, role: PortRole) -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from((cable.lower.device, cable.upper.device) for cable in hall.cables_of(role))
    return graph


@pytest.mark.parametrize(("name", "units", "hops"), [("h100-superpod", 4, 4), ("b200-superpod", 16, 6)])
def test_nodes_of_a_unit_meet_at_one_switch_and_all_others_above(name: str, units: int, hops: int) -> None:
    hall = hall_of(name, units)
    graph = graph_of(hall, PortRole.COMPUTE)
    first, second, last = hall.nodes[0], hall.nodes[1], hall.nodes[-1]
    assert nx.shortest_path_length(graph, first.name, second.name) == 2
    assert nx.shortest_path_length(graph, first.name, last.name) == hops


def test_planes_share_no_switch() -> None:
    hall = hall_of("b300-superpod", 2)
    graph = graph_of(hall, PortRole.COMPUTE)
    graph.remove_nodes_from([node.name for node in hall.nodes])
    plane = {switch.name: switch.plane for switch in hall.switches}
    assert sorted({plane[name] for name in part} == {1} for part in nx.connected_components(graph)) == [False, True]


@pytest.mark.parametrize(("name", "units"), SHAPES)
def test_fabrics_share_no_switch_and_every_node_is_on_all_four(name: str, units: int) -> None:
    hall = hall_of(name, units)
    names = [switch.name for switch in hall.switches]
    assert len(set(names)) == len(names)
    found: defaultdict[str, set[PortRole]] = defaultdict(set)
    for hca in hall.hcas:
        found[hca.node].add(hca.fabric)
    four = {PortRole.COMPUTE, PortRole.STORAGE, PortRole.IN_BAND, PortRole.OUT_OF_BAND}
    assert {node.name: four for node in hall.nodes} == found


@pytest.mark.parametrize("units", [1, 4])
def test_ufm_takes_leaf_ports_in_place_of_one_node(units: int) -> None:
    hall = hall_of("h100-superpod", units)
    assert (len(hall.nodes), hall.managers) == (32 * units - 1, ("ufm-1", "ufm-2"))
    taken = [cable.upper for cable in hall.cables if cable.lower.device in hall.managers]
    assert {end.device for end in taken} == {f"compute-su{units:02}-leaf{rail}" for rail in range(1, 5)}
    assert {end.port for end in taken} == {"32"}
    assert [node.name for node in hall.nodes if node.name.endswith("-n32")] == [
        f"su{unit:02}-n32" for unit in range(1, units)
    ]


def test_a_hall_of_1023_nodes() -> None:
    hall = hall_of("h100-superpod", 32)
    found = counts(hall, PortRole.COMPUTE)
    assert (len(hall.nodes), hall.gpus) == (1023, 8184)
    assert (found.leaves, found.spines, found.cores) == (256, 256, 128)
    assert (found.node_links, found.leaf_spine_links, found.spine_core_links) == (8188, 8192, 8192)
    assert oversubscribed(hall, PortRole.COMPUTE) == ()


def test_the_same_hall_comes_out_each_time() -> None:
    assert expand(HALL_DESIGNS["h100-superpod"], 2) == expand(HALL_DESIGNS["h100-superpod"], 2)


def test_a_hall_of_h200_has_the_cables_of_one_of_h100() -> None:
    h100, h200 = hall_of("h100-superpod", 2), hall_of("h200-superpod", 2)
    assert h100.cables == h200.cables
    assert HALL_DESIGNS["h200-superpod"].rows is None
    assert (h100.node_type.memory_gb, h200.node_type.memory_gb) == (640, 1128)


@pytest.mark.parametrize(
    ("name", "watts"), [("h100-superpod", 40800), ("b200-superpod", 28600), ("b300-superpod", 56000)]
)
def test_racks_draw_what_their_nodes_do(name: str, watts: int) -> None:
    loads = rack_loads(hall_of(name, 2))
    assert max(load.known for load in loads.values()) == watts
    assert all(load.silent == () for load in loads.values())


def test_nodes_of_a_rack_stand_above_each_other() -> None:
    hall = hall_of("h100-superpod", 1)
    first = [node for node in hall.nodes if node.rack == hall.racks[0]]
    assert [node.lowest_unit for node in first] == [1, 9, 17, 25]
    assert unit_faults(32, [(node.name, node.lowest_unit or 0, 8) for node in first]) == ()
    assert {node.lowest_unit for node in hall_of("b300-superpod", 1).nodes} == {None}


@pytest.mark.parametrize(
    ("name", "units", "near"),
    [
        ("h100-superpod", 0, "1"),
        ("h100-superpod", -4, "1"),
        ("h100-superpod", 12, "8, 16"),
        ("h100-superpod", 10**9, "256"),
        ("b300-superpod", 20, "16, 32"),
    ],
)
def test_a_size_that_cannot_be_built_is_refused_with_the_nearest_that_can(name: str, units: int, near: str) -> None:
    design = HALL_DESIGNS[name]
    fault = hall_fault(design, units)
    assert fault is not None
    assert fault.startswith(f"{name} cannot have {units} units: ")
    assert fault.endswith(f"the nearest that can be built: {near}")
    with pytest.raises(ValueError, match="cannot have"):
        expand(design, units)
    for count in near.split(", "):
        assert hall_fault(design, int(count)) is None


def test_a_fabric_that_a_hall_has_not_is_an_error() -> None:
    with pytest.raises(LookupError, match="h100-superpod has no nvlink-bridge fabric"):
        HALL_DESIGNS["h100-superpod"].fabric(PortRole.NVLINK_BRIDGE)
