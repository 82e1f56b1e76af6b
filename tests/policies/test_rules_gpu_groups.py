"""ISO-22 of GPU nodes: a node is one NVLink domain and one group, in the hands of whoever has it whole.

hall-1: acme has su01-n01 and n02, globex su02-n01 and n02; the other nodes are free. All are DGX H100 unless said.
"""

from __future__ import annotations

from functools import cache

import pytest

from interlock.model.site.inventory import Site
from interlock.planning.plan import Plan
from interlock.resources import NvlinkPartition
from policies import Judgement
from tests.builders.completeness import declared_complete
from tests.builders.gpu_plans import claims, clusters_locked, clusters_planned
from tests.builders.gpu_sites import cluster, gpu_site, gpu_tenant, node_name
from tests.policies.workspace import (
    NA,
    P,
    V,
    added,
    assumptions,
    first,
    judged,
    sharing,
    verdicts,
    with_footprint,
)

EIGHT = tuple(map(str, range(1, 9)))
MINE, THEIRS, FREE = node_name(1, 1), node_name(2, 1), node_name(2, 3)


@cache
def site(node_type: str = "dgx-h100") -> Site:
    return declared_complete(gpu_site(node_type=node_type, sharing=sharing(), assumptions=assumptions()))


def plan(owner: str, number: int, *groups: NvlinkPartition, node_type: str = "dgx-h100") -> Plan:
    """A cluster of both nodes of the unit with this number, and these groups besides."""
    request = gpu_tenant(owner, cluster("train", node_type=node_type))
    found = clusters_planned(request, [claims(number, (number, 1), (number, 2))], site(node_type))
    for index, item in enumerate(groups):
        found = added(found, f"{owner}-gpus-{index}", f"{owner}-train", item)
    return found


def group(node: str, partition: int, *gpus: str) -> NvlinkPartition:
    return NvlinkPartition(name="g", domain=node, partition=partition, gpus=gpus)


def beside(
    mine: tuple[NvlinkPartition, ...] = (), theirs: tuple[NvlinkPartition, ...] = (), node_type: str = "dgx-h100"
) -> Judgement:
    """acme's judgement, its groups beside globex's."""
    request = gpu_tenant("globex", cluster("train", node_type=node_type))
    lock = clusters_locked(request, claims(2, (2, 1), (2, 2)))
    globex = with_footprint(site(node_type), plan("globex", 2, *theirs, node_type=node_type), lock)
    return judged(site(node_type), plan("acme", 1, *mine, node_type=node_type), globex)


def test_whole_nodes_are_groups_of_eight() -> None:
    """Without a fabric manager that was told anything, and with one that was told the same."""
    assert verdicts(beside())["ISO-22"] == P
    assert beside((group(MINE, 0, *EIGHT),), (group(THEIRS, 0, *EIGHT),)).exit_code == 0
    assert beside((group(MINE, 1, *EIGHT),), node_type="dgx-b200").exit_code == 0


def test_a_node_without_nvswitches_has_no_group() -> None:
    assert verdicts(beside(node_type="gcore-l40s"))["ISO-22"] == NA
    found = first(beside((group(MINE, 0, *EIGHT),), node_type="gcore-l40s"))
    assert (found.rule, found.verdict) == ("ISO-22", V)
    assert "has no NVSwitches" in found.message


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (group(MINE, 0, *EIGHT), f"NVLink partition 0 of {MINE} is that of globex, and acme has the whole node"),
        (group(MINE, 3, "1", "3"), f"NVLink partition 3 of {MINE} is that of globex, and acme has the whole node"),
    ],
)
def test_a_group_of_anothers_in_a_node_that_one_has_whole(theirs: NvlinkPartition, words: str) -> None:
    found = beside((), (theirs,))
    assert (first(found).rule, words in first(found).message) == ("ISO-22", True)
    assert verdicts(found)["ISO-02"] == V
    assert verdicts(beside((group(THEIRS, 0, *EIGHT),)))["ISO-02"] == V


def test_a_group_in_a_node_that_nobody_has() -> None:
    """It is the operator's, who gives it out next."""
    assert verdicts(beside((group(FREE, 0, *EIGHT),)))["ISO-02"] == V


@pytest.mark.parametrize(
    ("node_type", "item", "words"),
    [
        ("dgx-h100", group(MINE, 1, "1", "2", "3", "4"), "the GPUs 1, 2, 3, 4 are a part of the node"),
        ("dgx-h100", group(MINE, 3, "1", "3"), "are a part of the node, and nodes are given out whole"),
        ("dgx-h100", group(MINE, 3, "1", "2"), "has no group of the GPUs 1, 2: Fabric Manager has 0: 1, 2, 3, 4"),
        ("dgx-b200", group(MINE, 4, "1", "2"), "are a part of the node"),
        ("dgx-b200", group(MINE, 4, "1", "3"), "has no group of the GPUs 1, 3"),
        ("dgx-a100", group(MINE, 11, "1", "2"), "are a part of the node"),
        ("dgx-h100", group(MINE, 1, *EIGHT), "all GPUs are partition 0 of Fabric Manager, and not 1"),
        ("dgx-b200", group(MINE, 0, *EIGHT), "all GPUs are partition 1 of Fabric Manager, and not 0"),
        ("dgx-h100", group(MINE, 0, *EIGHT, "9"), "has no group of the GPUs 1, 2, 3, 4, 5, 6, 7, 8, 9"),
        ("dgx-h100", group(MINE, 0, *(f"gpu-{number}" for number in EIGHT)), "has no group of the GPUs gpu-1"),
    ],
)
def test_groups_that_are_not_a_whole_node(node_type: str, item: NvlinkPartition, words: str) -> None:
    found = beside((item,), node_type=node_type)
    assert first(found).rule == "ISO-22"
    assert words in first(found).message


def test_a_second_group_of_ones_own_node_takes_its_gpus_twice() -> None:
    found = beside((group(MINE, 0, *EIGHT), group(MINE, 0, *EIGHT)))
    assert first(found).rule == "ISO-22"
