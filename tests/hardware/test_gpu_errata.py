"""Figures about GPU systems that circulate and are wrong: the catalogue has the right ones. One test for each."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from interlock.hardware import COOLING_METHODS, cooling_verdict, load_of
from interlock.hardware.gpu import GPUS, HALL_DESIGNS, INFINIBAND_RATES, NODE_TYPES, PeakRate, PortRole, expand
from interlock.hardware.gpu.hall_designs import H100_RACKS

ROOT = Path(__file__).resolve().parents[2]
DGX = ("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300")


def watts(name: str) -> int:
    nameplate = NODE_TYPES[name].build.nameplate
    assert nameplate is not None
    assert nameplate.known is not None
    return nameplate.known


def rack(name: str, nodes: int) -> int:
    """W of so many nodes."""
    return int(load_of((f"node-{number}", watts(name)) for number in range(nodes)).known)


def test_a_dgx_has_eight_gpus_never_six() -> None:
    assert [node.gpus.value for node in map(NODE_TYPES.__getitem__, DGX) if node.gpus] == [8] * len(DGX)


def test_six_dgx_h100_draw_61_2_kw_not_42() -> None:
    assert rack("dgx-h100", 6) == 61200


def test_racks_of_the_127_node_hall_hold_four_nodes_of_40_8_kw() -> None:
    hall = expand(HALL_DESIGNS["h100-superpod"], 4)
    assert len(hall.racks) == 32
    assert H100_RACKS.value - len(hall.racks) == 6
    assert rack("dgx-h100", 4) == 40800


def test_six_dgx_b200_draw_85_8_kw_not_72() -> None:
    assert rack("dgx-b200", 6) == 85800


def test_two_dgx_b200_are_cooled_by_air() -> None:
    """28.6 kW: what is said to require liquid passes in-row air."""
    cooling = NODE_TYPES["dgx-b200"].build.cooling
    assert cooling is not None
    assert (rack("dgx-b200", 2), cooling.value) == (28600, "air")
    assert cooling_verdict(load_of([("rack", rack("dgx-b200", 2))]), "in-row-air").outcome == "ok"


def test_a_dgx_h100_draws_10_2_kw_and_5_6_kw_are_its_gpus() -> None:
    node = NODE_TYPES["dgx-h100"]
    assert node.gpu.power is not None
    assert node.gpus is not None
    assert node.build.cooling is not None
    assert watts("dgx-h100") == 10200
    assert node.gpus.value * node.gpu.power.value == 5600
    assert node.build.cooling.value == "air"
    assert "direct-to-chip" in COOLING_METHODS


def test_a_gb200_rack_is_grace_blackwell_with_72_gpus_and_36_cpus() -> None:
    node = NODE_TYPES["gb200-nvl72"]
    assert node.gpu.architecture is not None
    assert node.gpus is not None
    assert node.host.cpus is not None
    assert (node.gpu.architecture.value, node.gpus.value, node.host.cpus.value) == ("Blackwell", 72, 36)


def test_384_gb_are_a_superchip_of_two_gpus() -> None:
    memory = GPUS["gb200"].memory
    assert memory is not None
    assert 2 * memory.value == 384


def test_eight_gb200_racks_draw_1_2_mw() -> None:
    assert rack("gb200-nvl72", 8) == 1200000


@pytest.mark.parametrize("rate", [GPUS["h100"].bf16, GPUS["h100"].fp8])
def test_dense_and_sparse_are_two_figures(rate: PeakRate | None) -> None:
    assert rate is not None
    assert rate.sparse.value == 2 * rate.dense.value


def test_1979_tflops_of_an_h100_are_sparse_in_bf16_and_dense_in_fp8() -> None:
    bf16, fp8 = GPUS["h100"].bf16, GPUS["h100"].fp8
    assert bf16 is not None
    assert fp8 is not None
    assert bf16.sparse.value == fp8.dense.value == Decimal(1979)


def test_a_b200_shows_180_gb_not_192() -> None:
    memory = GPUS["b200"].memory
    assert memory is not None
    assert memory.value == 180
    assert NODE_TYPES["dgx-b200"].memory_gb == 1440


def test_no_rate_of_an_l40s_is_there_since_the_known_ones_mix_dense_and_sparse() -> None:
    assert (GPUS["l40s"].bf16, GPUS["l40s"].fp8) == (None, None)


def test_a_gaudi_3_has_no_figure_at_all() -> None:
    """128 and 144 GB are printed; neither is ours. There is no MI250 whose figures could be an MI250X's."""
    gaudi = GPUS["gaudi-3"]
    assert (gaudi.memory, gaudi.bf16, gaudi.fp8, gaudi.power) == (None, None, None, None)
    assert "mi250" not in GPUS


def test_infiniband_rates_are_200_400_800() -> None:
    assert {name: rate.value for name, rate in INFINIBAND_RATES.items()} == {"HDR": 200, "NDR": 400, "XDR": 800}


def test_one_nic_for_each_gpu_and_no_half_of_its_memory_bandwidth() -> None:
    """400 Gb/s are 0.05 TB/s, and 50 % of 3.35 TB/s are what no real system has."""
    for name in ("dgx-h100", "dgx-h200", "dgx-b200", "gcore-h100-ib"):
        node = NODE_TYPES[name]
        compute = node.ports_for(PortRole.COMPUTE)
        assert compute is not None
        assert compute.count is not None
        assert node.gpus is not None
        assert compute.count.value == node.gpus.value
    bandwidth = GPUS["h100"].bandwidth
    assert bandwidth is not None
    assert Decimal(INFINIBAND_RATES["NDR"].value) / 8000 / bandwidth.value < Decimal("0.02")


def test_memory_bandwidth_is_3_35_tb_s_of_an_h100_and_4_8_of_an_h200() -> None:
    h100, h200 = GPUS["h100"].bandwidth, GPUS["h200"].bandwidth
    assert h100 is not None
    assert h200 is not None
    assert (h100.value, h200.value) == (Decimal("3.35"), Decimal("4.8"))


def test_a_transformer_engine_and_fourth_generation_tensor_cores_are_hoppers_not_an_a100s() -> None:
    found = [(GPUS[name].tensor_core_generation, GPUS[name].transformer_engine) for name in ("a100", "h100")]
    assert [(cores.value, engine.value) for cores, engine in found if cores and engine] == [(3, False), (4, True)]


def test_1296_nodes_of_the_xdr_hall_have_10368_gpus_not_9216() -> None:
    design = HALL_DESIGNS["b300-xdr-superpod"]
    assert design.rows is not None
    row = design.rows.value[-1]
    assert (row.nodes, row.gpus, row.node_cables) == (1296, 10368, 10368)


def test_names_that_are_wrong_stand_nowhere() -> None:
    files = [path for room in ("interlock", "policies", "components", "infra") for path in (ROOT / room).rglob("*.py")]
    assert len(files) > 300
    wrong = ("Pixis", "Grace Hopper", "Grace-Hopper", "slave node", "NDR200/")
    assert [path.name for path in files if any(word in path.read_text(encoding="utf-8") for word in wrong)] == []
