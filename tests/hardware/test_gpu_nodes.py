"""GPU nodes: figures agree with each other, ports have roles, and what is not offered is refused by name."""

from __future__ import annotations

import pytest

from interlock.hardware import Fact, feed_verdict, load_of
from interlock.hardware.gpu import (
    INFINIBAND_RATES,
    NODE_TYPES,
    NVLINK_TABLES,
    OFFERED,
    NodeType,
    PortRole,
    cluster_verdict,
    gpu_count_verdict,
)
from interlock.hardware.power import Feed

REFUSED = ("dgx-b300", "gb200-nvl72", "mi300x", "gaudi-3", "gaudi-2", "max-1550")


def value(fact: Fact[int] | None) -> int:
    assert fact is not None
    return fact.value


def test_the_offered_types_are_these() -> None:
    dgx = ("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200")
    gcore = ("gcore-h100-ib", "gcore-h200-ib", "gcore-a100-ib", "gcore-a100", "gcore-l40s")
    assert dgx + gcore == OFFERED
    assert set(NODE_TYPES) == {*OFFERED, *REFUSED}
    assert all(cluster_verdict(name).outcome == "ok" for name in OFFERED)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_offered_is_refused_by_name_with_the_nearest_type_that_is(name: str) -> None:
    found = cluster_verdict(name)
    refusal = NODE_TYPES[name].not_offered
    assert refusal is not None
    assert found.outcome == "error"
    assert name in found.reason
    assert found.reason.endswith(f"the nearest type is {refusal.instead}")
    assert refusal.instead in OFFERED


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("h100", "did you mean dgx-h100?"),
        ("DGX-H200", "did you mean dgx-h200?"),
        ("tpu", "there are dgx-a100, dgx-h100"),
    ],
)
def test_an_unknown_type_is_refused_with_what_there_is(name: str, words: str) -> None:
    found = cluster_verdict(name)
    assert found.outcome == "error"
    assert words in found.reason


def test_a_type_without_compute_ports_gets_no_fabric() -> None:
    found = cluster_verdict("gcore-a100", fabric=True)
    assert found.outcome == "error"
    assert "dgx-a100, gcore-a100-ib would do" in found.reason
    assert "gcore-h100-ib" in cluster_verdict("gcore-l40s", fabric=True).reason
    assert cluster_verdict("gcore-l40s").outcome == cluster_verdict("gcore-a100-ib", fabric=True).outcome == "ok"


@pytest.mark.parametrize(
    ("gpus", "words"), [(7, "; 8 would do"), (12, "; 8 or 16 would do"), (0, "; 8 would do"), (-3, "; 8 would do")]
)
def test_only_whole_nodes_are_given(gpus: int, words: str) -> None:
    found = gpu_count_verdict("dgx-h100", gpus)
    assert found.outcome == "error"
    assert found.reason.endswith(words)
    assert gpu_count_verdict("dgx-h100", 8).outcome == gpu_count_verdict("dgx-h100", 1016).outcome == "ok"
    assert gpu_count_verdict("gb200-nvl72", 72).outcome == "error"


@pytest.mark.parametrize(
    ("name", "switches", "speed", "memory", "cpus"),
    [
        ("dgx-a100", 6, "HDR", 640, 2),
        ("dgx-h100", 4, "NDR", 640, 2),
        ("dgx-h200", 4, "NDR", 1128, 2),
        ("dgx-b200", 2, "NDR", 1440, 2),
    ],
)
def test_a_dgx_has_eight_gpus_and_as_many_compute_ports(
    name: str, switches: int, speed: str, memory: int, cpus: int
) -> None:
    node = NODE_TYPES[name]
    compute = node.ports_for(PortRole.COMPUTE)
    assert compute is not None
    assert value(node.gpus) == value(compute.count) == 8
    assert value(compute.speed) == INFINIBAND_RATES[speed].value
    assert (value(node.nvswitches), node.memory_gb, value(node.host.cpus)) == (switches, memory, cpus)


def test_what_no_source_says_is_unknown() -> None:
    assert NODE_TYPES["dgx-h100"].build.weight is None
    assert NODE_TYPES["dgx-b300"].memory_gb is None
    assert NODE_TYPES["mi300x"].memory_gb is None
    assert NODE_TYPES["gcore-h100-ib"].build.nameplate is None
    without_count = NODE_TYPES["gcore-a100-ib"].ports_for(PortRole.COMPUTE)
    assert without_count is not None
    assert (without_count.count, without_count.bandwidth) == (None, 800)


@pytest.mark.parametrize("name", ["dgx-b200", "dgx-b300"])
def test_the_bridge_to_the_nvswitches_is_no_compute_port(name: str) -> None:
    """Both are a ConnectX-7 on a DGX B200: whoever counts adapters finds twelve and not eight."""
    node = NODE_TYPES[name]
    compute, bridge = node.ports_for(PortRole.COMPUTE), node.ports_for(PortRole.NVLINK_BRIDGE)
    assert compute is not None
    assert bridge is not None
    assert (value(compute.count), value(bridge.count)) == (8, 4)
    assert bridge.bandwidth is None


def test_only_blackwell_nodes_have_that_bridge() -> None:
    bridged = {name for name, node in NODE_TYPES.items() if node.ports_for(PortRole.NVLINK_BRIDGE)}
    assert bridged == {"dgx-b200", "dgx-b300"}


@pytest.mark.parametrize("node", NODE_TYPES.values(), ids=lambda node: str(node.name))
def test_no_role_stands_twice(node: NodeType) -> None:
    roles = [ports.role for ports in node.ports]
    assert len(set(roles)) == len(roles)


@pytest.mark.parametrize("name", ["dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200"])
def test_the_needed_power_supplies_carry_the_node(name: str) -> None:
    build = NODE_TYPES[name].build
    assert build.supplies is not None
    assert build.nameplate is not None
    watts = build.nameplate.known
    assert watts is not None
    assert build.supplies.needed.value * build.supplies.capacity.value >= watts
    assert build.supplies.needed.value < build.supplies.count.value


def test_four_dgx_h100_need_feeds_for_40_8_kw() -> None:
    watts = NODE_TYPES["dgx-h100"].build.nameplate
    assert watts is not None
    rack = load_of((f"node-{number}", watts.known) for number in range(4))
    assert feed_verdict(rack, [Feed("a", 52000), Feed("b", 52000)]).outcome == "ok"
    assert feed_verdict(rack, [Feed("a", 50000), Feed("b", 50000)]).outcome == "error"


@pytest.mark.parametrize("name", NVLINK_TABLES)
def test_every_nvlink_menu_has_each_gpu_alone_and_all_together(name: str) -> None:
    table = NVLINK_TABLES[name]
    everybody = frozenset(range(1, table.gpus.value + 1))
    assert table.partition_of(everybody) is not None
    assert all(table.partition_of(frozenset({gpu})) is not None for gpu in everybody)
    members = [frozenset(gpus) for gpus in table.partitions.value.values()]
    assert len(set(members)) == len(members)
    assert frozenset().union(*members) == everybody


def test_nvlink_menus_are_those_of_the_guide() -> None:
    ampere, hopper, blackwell = (NVLINK_TABLES[name] for name in ("ampere", "hopper", "blackwell"))
    assert [len(table.partitions.value) for table in (ampere, hopper, blackwell)] == [35, 15, 15]
    assert (ampere.sizes, hopper.sizes, blackwell.sizes) == ((1, 2, 4, 8, 16), (1, 2, 4, 8), (1, 2, 4, 8))
    assert (ampere.links.value, hopper.links.value, blackwell.links.value) == (12, 18, 18)
    assert (hopper.partition_of(frozenset({1, 3})), blackwell.partition_of(frozenset({1, 2}))) == (3, 4)
    # Pairs of one generation are none of the other's.
    assert hopper.partition_of(frozenset({1, 2})) is blackwell.partition_of(frozenset({1, 3})) is None
    assert ampere.partitions.value[3] == (1, 2, 3, 4, 9, 10, 11, 12)
    assert (ampere.partitions.value[34], hopper.partitions.value[14], blackwell.partitions.value[15]) == (
        (16,),
        (8,),
        (8,),
    )
