"""Figures that circulate and are wrong: the catalogue has the right ones. One test for each."""

from __future__ import annotations

from interlock.hardware import (
    BOW_2000,
    COOLING_METHODS,
    IPU_M2000,
    IPUS_PER_LOGICAL_RACK,
    MACHINES,
    MAX_LOGICAL_RACKS,
    PDUS_PER_LOGICAL_RACK,
    cooling_verdict,
    load_of,
    max_machines,
)


def test_a_bow_2000_is_440_mm_wide_not_40() -> None:
    assert (BOW_2000.width.value, BOW_2000.width.unit) == (440, "mm")


def test_1024_are_logical_racks_not_machines() -> None:
    assert MAX_LOGICAL_RACKS.value == 1024
    assert max_machines() == 16384
    assert MAX_LOGICAL_RACKS.value * IPUS_PER_LOGICAL_RACK.value == 65536


def test_gw_links_leave_on_qsfp28_and_ipu_links_on_osfp() -> None:
    for machine in MACHINES.values():
        assert (machine.gw_link_connector.value, machine.ipu_link_connector.value) == ("QSFP28", "OSFP")


def test_the_rnic_of_a_bow_2000_is_a_network_port_not_a_disk() -> None:
    """A shifted table printed the RNIC in the row of the internal SSD."""
    assert (BOW_2000.rnic_connector.value, BOW_2000.rnic_speed.value) == ("QSFP", 100)
    assert BOW_2000.rnic_speed.unit == "Gb/s"


def test_generations_are_not_mixed_up() -> None:
    assert IPU_M2000.fp16.value < 1 < BOW_2000.fp16.value


def test_two_pdus_not_one() -> None:
    assert PDUS_PER_LOGICAL_RACK.value == 2
    assert all(machine.power_inputs.value == 2 for machine in MACHINES.values())


def test_six_nodes_of_14_3_kw_draw_85_8_kw_not_72() -> None:
    """The sum alone; test_gpu_errata has it from the figures of the node."""
    assert load_of([(f"node-{number}", 14300) for number in range(6)]).known == 85800


def test_six_nodes_of_10_2_kw_draw_61_2_kw_and_pass_no_air_cooling_by_rule_of_thumb() -> None:
    load = load_of([(f"node-{number}", 10200) for number in range(6)])
    assert load.known == 61200
    air = [method for method in COOLING_METHODS if method.endswith("air")]
    assert [cooling_verdict(load, method).outcome for method in air] == ["error", "error"]
