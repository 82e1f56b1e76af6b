"""TOP-17, TOP-18, TOP-19 and TOP-25: a hall as its design has it, and with one thing of its fabrics otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from interlock.hardware.gpu import HALL_DESIGNS
from interlock.model.hall.expansion import expand_halls
from interlock.model.hall.file import HallFile
from interlock.model.site.gpu import FabricSwitch
from interlock.model.site.inventory import Cable, Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Severity
from policies.facts.fat_trees import InfinibandCabling
from policies.rules import RULES
from policies.rules.fat_trees import TOP_17, TOP_18, TOP_19, TOP_25
from policies.rules.rule import Rule
from tests.builders.halls import hall_file, hall_parts, plug, swapped, without
from tests.builders.pod64 import site_locked
from tests.policies.one_rule import answer, said
from tests.policies.workspace import NA, N, P, V, changed, full_site

FABRIC_RULES = (TOP_17, TOP_18, TOP_19, TOP_25)
LEAF = "pod-compute-su01-leaf"


@cache
def plan() -> Plan:
    site = full_site()
    return plan_site(site, site_locked(site))


@cache
def intact() -> Site:
    site = full_site()
    return changed(site, **hall_parts(site))


def cabled(change: Callable[[tuple[Cable, ...]], tuple[Cable, ...]]) -> Site:
    return changed(intact(), cables=change(intact().cables))


def infiniband(a: str, b: str, kind: str = "infiniband") -> Cable:
    return Cable.model_validate({"a": plug(a), "b": plug(b), "kind": kind})


def more(*cables: Cable) -> Site:
    return cabled(lambda known: (*known, *cables))


def with_switches(change: Callable[[FabricSwitch], FabricSwitch | None]) -> Site:
    """InfiniBand switches changed or taken out, with every cable at those that are gone."""
    kept = tuple(item for item in map(change, intact().fabric_switches) if item is not None)
    gone = {item.name for item in intact().fabric_switches} - {item.name for item in kept}
    cables = (item for item in intact().cables if not {item.a.device, item.b.device} & gone)
    return changed(intact(), fabric_switches=kept, cables=tuple(cables))


def ethernet_at_a_leaf() -> Site:
    """A host's Ethernet cable in a free port of an InfiniBand leaf."""
    return more(infiniband("infra-1:eno9", f"{LEAF}1:20", "ethernet"))


def changed_switch(name: str, **fields: object) -> Site:
    return with_switches(lambda item: item.model_copy(update=fields) if item.name == name else item)


def rail_on_two_leaves() -> Site:
    """A second leaf is said to serve rail 1, and a node's first port hangs there."""
    site = changed_switch(f"{LEAF}2", rail=1)
    return changed(site, cables=swapped(site.cables, "pod-su01-n02:compute1", "pod-su01-n02:compute2"))


def storage_on_compute() -> Site:
    """The storage ports are said to be on the subnet of the compute fabric."""
    nodes = (
        node.model_copy(
            update={"ports": tuple(port.model_copy(update={"infiniband": "ib-compute"}) for port in node.ports)}
        )
        for node in intact().gpu_nodes
    )
    return changed(intact(), gpu_nodes=tuple(nodes))


@pytest.mark.parametrize("rule", FABRIC_RULES, ids=lambda rule: rule.id)
def test_a_hall_as_it_is_designed_is_proved(rule: Rule) -> None:
    found = answer(rule, intact(), plan())
    assert (found.verdict, found.findings) == (P, ())
    assert answer(rule, full_site(), plan()).verdict == NA


#: (rule, the site, words of its finding, its verdict).
DEFECTS: tuple[tuple[Rule, Callable[[], Site], str, object], ...] = (
    (
        TOP_17,
        lambda: cabled(lambda known: without(known, f"{LEAF}8:33")),
        "pod-compute-su01-leaf8 and pod-compute-spine001 have 7 cables, not 8",
        V,
    ),
    (
        TOP_17,
        lambda: cabled(lambda known: without(known, *(f"{LEAF}8:{port}" for port in range(33, 41)))),
        "pod-compute-su01-leaf8 has cables to 3 switches above it, not to 4",
        V,
    ),
    (
        TOP_17,
        lambda: with_switches(lambda item: None if item.name == "pod-compute-spine004" else item),
        "ib-compute has 8 leaves, 3 spines, 0 cores; a fat tree of 8 leaves has 8 leaves, 4 spines, 0 cores",
        V,
    ),
    (
        TOP_17,
        lambda: changed_switch("pod-compute-spine004", ports=40),
        "switches of ib-compute have 40 and 64 ports: there is no fat tree of these",
        V,
    ),
    (
        TOP_17,
        lambda: more(infiniband(f"{LEAF}5:30", f"{LEAF}6:30")),
        "joins switches that are no neighbours in the tree of ib-compute",
        V,
    ),
    (
        TOP_17,
        lambda: with_switches(lambda item: item if item.tier != "leaf" or item.infiniband != "ib-compute" else None),
        "ib-compute, with 0 leaves of 64 ports, is no fat tree",
        V,
    ),
    (
        TOP_18,
        lambda: cabled(lambda known: swapped(known, "pod-su01-n02:compute3", "pod-su01-n02:compute4")),
        "pod-su01-n02:compute3, rail 3 of unit 1, leads to pod-compute-su01-leaf4, which serves rail 4 of unit 1",
        V,
    ),
    (
        TOP_18,
        lambda: cabled(lambda known: swapped(known, "pod-su01-n01:compute1", "pod-storage-su01-leaf1:33")),
        "pod-su01-n01:compute1, rail 1 of unit 1, leads to",
        V,
    ),
    (
        TOP_18,
        rail_on_two_leaves,
        "rail 1 of unit 1 on ib-compute hangs on",
        V,
    ),
    (TOP_18, lambda: changed_switch(f"{LEAF}2", rail=None), "of which nobody states rail and unit", N),
    (
        TOP_18,
        lambda: cabled(lambda known: without(known, "pod-su01-n01:compute7")),
        "pod-su01-n01:compute7, rail 7 of unit 1: no cable is stated",
        N,
    ),
    (
        TOP_19,
        lambda: cabled(lambda known: without(known, *(f"{LEAF}1:{port}" for port in range(34, 65)))),
        "pod-compute-su01-leaf1 of ib-compute has 3 links down and 1 up",
        V,
    ),
    (TOP_25, storage_on_compute, "ib-compute carries compute and storage", V),
    (TOP_25, ethernet_at_a_leaf, "is Ethernet, and ends at a switch of ib-compute", V),
    (
        TOP_25,
        lambda: more(infiniband(f"{LEAF}1:20", "tor-1:30")),
        "is InfiniBand, and ends at an Ethernet switch",
        V,
    ),
    (
        TOP_25,
        lambda: more(infiniband(f"{LEAF}1:20", "pod-storage-su01-leaf1:20")),
        "joins ib-compute and ib-storage, which are two subnets",
        V,
    ),
    (
        TOP_25,
        lambda: cabled(lambda known: swapped(known, "pod-su01-n01:compute1", "pod-su01-n01:storage1")),
        "pod-su01-n01:compute1 is a port on ib-compute, and its cable leads to ib-storage",
        V,
    ),
)


@pytest.mark.parametrize(
    ("rule", "site", "words", "verdict"), DEFECTS, ids=[f"{rule.id} {words[:40]}" for rule, _, words, _ in DEFECTS]
)
def test_a_defect_is_found_by_its_rule(rule: Rule, site: Callable[[], Site], words: str, verdict: object) -> None:
    found = answer(rule, site(), plan())
    assert any(words in item.message for item in said(found)), said(found)
    assert found.verdict == verdict
    assert all(item.hint and item.witness for item in found.findings)


def test_two_crossed_cables_are_two_findings_and_none_of_another_rule() -> None:
    site = cabled(lambda known: swapped(known, "pod-su01-n02:compute3", "pod-su01-n02:compute4"))
    assert [len(answer(rule, site, plan()).findings) for rule in FABRIC_RULES] == [0, 2, 0, 0]


def test_an_empty_hall_is_a_whole_fabric_without_rails() -> None:
    """Leaves, spines and cables between them are there before the first node is."""
    site = full_site()
    empty = changed(site, **hall_parts(site, hall_file(nodes=0)))
    verdicts = [answer(rule, empty, plan()).verdict for rule in FABRIC_RULES]
    assert verdicts == [P, NA, NA, P]


@pytest.mark.parametrize("units", [1, 2, 3, 4, 16, 32])
def test_every_size_of_a_hall_is_the_fat_tree_of_the_formula(units: int) -> None:
    """Two tiers and three; with every place filled the leaves are as narrow as they may be."""
    hall = HallFile.model_validate(
        {
            "design": "h100-superpod", "units": units, "compute": "ib-compute",
            "nodes": {
                f"su{unit:02}-n{number:02}": {"serial": f"DGX-{unit}-{number}"}
                for unit in range(1, units + 1)
                for number in range(1, 33 if unit < units else 32)
            },
        }
    )  # fmt: skip
    (found,) = expand_halls({"pod": hall})
    assert len(found.gpu_nodes) == 32 * units - 1
    site = full_site().with_parts(
        hosts=found.hosts, gpu_nodes=found.gpu_nodes, fabric_switches=found.fabric_switches, cables=found.cables
    )
    for rule in FABRIC_RULES:
        result = answer(rule, site, plan())
        assert (result.verdict, result.findings) == (P, ()), rule.id
    tree = InfinibandCabling(site).trees["ib-compute"]
    leaves = tree.of_tier("leaf")
    # The subnet manager has four links, of which each is one of a leaf that a place has none on.
    assert sum(tree.down[leaf.name] for leaf in leaves) == 8 * (32 * units - 1) + 4
    assert {tree.up[leaf.name] for leaf in leaves} == {HALL_DESIGNS["h100-superpod"].fabrics[0].down}


def test_severities() -> None:
    assert [rule.severity for rule in FABRIC_RULES] == [Severity.ERROR] * 3 + [Severity.WARN]
    assert set(FABRIC_RULES) <= set(RULES)
