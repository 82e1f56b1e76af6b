"""The site `superpod` as it is shipped: files of their generator, and clusters placed as meant."""

from __future__ import annotations

from collections import Counter
from functools import cache

from interlock.model.load import Workspace, load_workspace
from tests.builders.superpod import SITE, STACKS, TENANTS, inventory, request


@cache
def workspace() -> Workspace:
    return load_workspace(STACKS, SITE)


def test_its_files_are_those_of_the_generator() -> None:
    folder = STACKS / SITE
    assert (folder / "nodes.csv").read_text(encoding="utf-8") == inventory(4)
    found = {path.stem: path.read_text(encoding="utf-8") for path in (folder / "tenants").glob("*.yaml")}
    assert found == {name: request(name, clusters) for name, clusters in TENANTS.items()}


def test_it_has_the_nodes_and_switches_of_the_makers_table() -> None:
    """127 nodes, 32 leaves and 16 spines; 1 016 cables of nodes, 1 024 between switches, and 4 of UFM."""
    site = workspace().site
    assert Counter(node.unit for node in site.gpu_nodes) == {1: 32, 2: 32, 3: 32, 4: 31}
    assert Counter(switch.tier for switch in site.fabric_switches) == {"leaf": 32, "spine": 16}
    assert sum(cable.kind == "infiniband" for cable in site.cables) == 1016 + 1024 + 4
    # The last place is UFM's: two appliances with two ports each, on four leaves of the last unit.
    managed = {cable.b.device for cable in site.cables if cable.a.device.startswith("pod-ufm-")}
    assert managed == {f"pod-compute-su04-leaf{rail}" for rail in range(1, 5)}
    assert {cable.b.interface for cable in site.cables if cable.a.device.startswith("pod-ufm-")} == {"32"}


def test_its_clusters_are_in_as_few_units_as_fit() -> None:
    """That of 40 nodes in two, and that of 31 has the whole unit that UFM is in."""
    unit_of = {node.name: node.unit for node in workspace().site.gpu_nodes}
    given = {
        (tenant, name): [unit_of[host] for host in cluster.hosts]
        for tenant, lock in workspace().locks.items()
        for name, cluster in lock.allocation.clusters.items()
    }
    wanted = {(tenant, name): nodes for tenant, own in TENANTS.items() for name, (nodes, _) in own.items()}
    assert {place: len(units) for place, units in given.items()} == wanted
    assert Counter(given.pop(("acme", "train"))) == {1: 32, 2: 8}
    assert given["globex", "train"] == [4] * 31
    assert all(len(set(units)) == 1 for units in given.values())
    clusters = [one for lock in workspace().locks.values() for one in lock.allocation.clusters.values()]
    hosts = [host for one in clusters for host in one.hosts]
    assert len(set(hosts)) == len(hosts) == 124
