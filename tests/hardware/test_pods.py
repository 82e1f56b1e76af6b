"""What pods compute and remember: sums of machines against the datasheets."""

from __future__ import annotations

from decimal import Decimal

import pytest

from interlock.hardware import (
    BOW_2000,
    IPU_M2000,
    MACHINES,
    NETWORK_IDENTITIES,
    PODS,
    PodModel,
    compute_pflops,
    memory_gb,
    tiles,
)


def test_a_bow_pod64_computes_22_304_pflops() -> None:
    assert compute_pflops(BOW_2000, 16) == Decimal("22.304")


def test_a_bow_pod256_computes_what_its_datasheet_rounds() -> None:
    assert compute_pflops(BOW_2000, 64) == Decimal("89.216")
    assert PODS["bow-pod256"].fp16.value == Decimal("89.23")


def test_memory_of_bow_pods() -> None:
    assert memory_gb(BOW_2000, 16, 256) == Decimal("4153.6")
    assert memory_gb(BOW_2000, 64, 256) == Decimal("16614.4")


def test_a_bow_pod64_has_94208_tiles() -> None:
    assert tiles(BOW_2000, 16) == 64 * 1472 == 94208


def test_memory_that_is_not_sold_is_refused() -> None:
    with pytest.raises(ValueError, match="Bow-2000 with 512 GB: there are 128, 256 GB"):
        memory_gb(BOW_2000, 1, 512)


@pytest.mark.parametrize(
    ("name", "ipus", "logical_racks"),
    [
        ("ipu-pod16", 16, 0), ("ipu-pod64", 64, 1), ("ipu-pod128", 128, 2),
        ("bow-pod16", 16, 0), ("bow-pod64", 64, 1), ("bow-pod256", 256, 4), ("bow-pod1024", 1024, 16),
    ],
)  # fmt: skip
def test_a_pod_has_as_many_ipus_as_its_name_says(name: str, ipus: int, logical_racks: int) -> None:
    pod = PODS[name]
    assert (pod.ipus, pod.logical_racks.value) == (ipus, logical_racks)
    assert pod.machines.value == max(logical_racks * 16, 4)


@pytest.mark.parametrize("pod", PODS.values(), ids=lambda pod: pod.name)
def test_datasheets_agree_with_the_sum_of_their_machines(pod: PodModel) -> None:
    computed = compute_pflops(pod.machine, pod.machines.value)
    assert abs(computed - pod.fp16.value) <= computed * Decimal("0.005")
    if pod.memory is not None:
        remembered = memory_gb(pod.machine, pod.machines.value, 256) / 1000
        assert abs(remembered - pod.memory.value) <= remembered * Decimal("0.02")


@pytest.mark.parametrize("pod", [pod for pod in PODS.values() if pod.logical_racks.value], ids=lambda pod: pod.name)
def test_hosts_are_one_to_four_for_each_logical_rack(pod: PodModel) -> None:
    racks = pod.logical_racks.value
    assert pod.hosts.value == (racks, 4 * racks)
    assert (pod.gateway.value == "none") == (racks == 1)


def test_a_machine_is_three_network_devices_on_two_ports() -> None:
    assert [item.part for item in NETWORK_IDENTITIES] == ["bmc", "gw", "rnic"]
    bmc, gateway, rnic = NETWORK_IDENTITIES
    assert bmc.interface.value == gateway.interface.value == "mgmt"
    assert rnic.interface.value == "rnic"
    assert (bmc.speed.value, rnic.speed.value) == (1, 100)


def test_every_machine_has_four_ipus_of_1472_tiles_and_6_threads_each() -> None:
    for machine in MACHINES.values():
        assert machine.tiles.value == 4 * 1472
        assert machine.threads.value == machine.tiles.value * 6
        assert machine.in_processor_memory.value == 4 * Decimal("0.9")
        assert machine.ipu_links_per_neighbour.value * 2 == machine.ipu_link_ports.value


def test_generations_differ_in_clock_only_by_what_is_known() -> None:
    assert (IPU_M2000.clock.value, BOW_2000.clock.value) == (1325, 1850)
    ratio = BOW_2000.fp16.value / IPU_M2000.fp16.value
    assert abs(ratio - Decimal(1850) / Decimal(1325)) < Decimal("0.001")
