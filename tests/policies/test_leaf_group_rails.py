"""TOP-18 of RoCE: a node that has some of its Ethernet rails in a leaf group has all of them in one.

The site of `roce_sites`, without InfiniBand, so that nothing else of the rule speaks: two units of 4 nodes, each a leaf
group.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from interlock.model.site.inventory import Host, Site
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Verdict
from policies.rules.fat_trees import TOP_18
from tests.builders.gpu_sites import node_name
from tests.builders.pod64 import site_locked
from tests.builders.roce_sites import RAIL_NAMES, roce_site
from tests.builders.states import out
from tests.policies.one_rule import answer, findings
from tests.policies.workspace import NA, N, P, V, changed, full_site

NODE, REST = node_name(1, 1), RAIL_NAMES[:-1]
BUT_ONE = (f"roce-su01: {', '.join(REST)}",)


@cache
def plan() -> Plan:
    site = full_site()
    return plan_site(site, site_locked(site))


@cache
def intact() -> Site:
    nodes = (item.model_copy(update={"ports": ()}) for item in roce_site().gpu_nodes)
    return roce_site(gpu_nodes=tuple(nodes), fabric_switches=())


def cabled(*rails: str) -> Site:
    """Of the node only these rails have a cable."""
    kept = (item for item in intact().cables if item.a.device != NODE or item.a.interface in ("eth0", *rails))
    return changed(intact(), cables=tuple(kept))


def node_with(change: Callable[[Host], dict[str, object]]) -> Site:
    hosts = (item.model_copy(update=change(item)) if item.name == NODE else item for item in intact().hosts)
    return changed(intact(), hosts=tuple(hosts))


def on(**networks: tuple[str, ...]) -> Site:
    """The interfaces of the node on its leaf groups."""
    names = {name.replace("_", "-"): rails for name, rails in networks.items()}
    return node_with(lambda host: {"interfaces": {"inband": host.interfaces["inband"], **names}})


def without_mac() -> Site:
    return node_with(lambda host: {"macs": {name: mac for name, mac in host.macs.items() if name != "eth8"}})


#: What is said of the node -> verdict, how many rails of which leaf group are known, what nobody states.
CASES: dict[str, tuple[Callable[[], Site], Verdict, str, tuple[str, ...]]] = {
    "seven of eight cabled": (lambda: cabled(*REST), N, "7 in roce-su01", (f"the cable at {NODE}:eth8",)),
    "one without a MAC address": (without_mac, N, "7 in roce-su01", (f"hosts.{NODE}.macs.eth8",)),
    "seven stated": (lambda: on(roce_su01=REST), N, "7 in roce-su01", (f"hosts.{NODE}.interfaces.roce-su01",)),
    "the last one elsewhere, without a cable": (
        lambda: changed(cabled(*REST), hosts=on(roce_su01=REST, roce_su02=("eth8",)).hosts),
        N, "7 in roce-su01", (f"the cable at {NODE}:eth8",),
    ),
    "divided": (
        lambda: on(roce_su01=RAIL_NAMES[:3], roce_su02=RAIL_NAMES[3:]), V, "3 in roce-su01 and 5 in roce-su02", (),
    ),
    "divided, and one that nobody knows besides": (
        lambda: on(roce_su01=RAIL_NAMES[:3], roce_su02=(*RAIL_NAMES[3:], "eth9")),
        V, "3 in roce-su01 and 5 in roce-su02", (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_node_that_lacks_some_of_its_rails(case: str) -> None:
    site, verdict, known, missing = CASES[case]
    (found,) = findings(TOP_18, site(), plan())
    assert (found.verdict, found.missing, found.order) == (verdict, missing, 35)
    assert found.message == (
        f"{NODE} has, of its 8 Ethernet rails, {known} with MAC address and cable; a RoCE cluster takes nodes with all "
        "of them in one leaf group"
    )
    if verdict is N:
        assert found.witness == BUT_ONE
    else:
        assert found.witness == ("roce-su01: eth1, eth2, eth3", "roce-su02: eth4, eth5, eth6, eth7, eth8")


def below_a_hypervisor() -> Site:
    return changed(cabled(*REST), hosts=tuple(
        item.model_copy(update={"provisioning": "hypervisor"}) if item.name == NODE else item for item in intact().hosts
    ))  # fmt: skip


def unlisted() -> Site:
    """The node is no host of the site."""
    return changed(cabled(*REST), hosts=tuple(item for item in intact().hosts if item.name != NODE))


def of_another_type() -> Site:
    """Of a type without Ethernet compute ports."""
    nodes = (
        item.model_copy(update={"node_type": "gcore-l40s"}) if item.name == NODE else item
        for item in intact().gpu_nodes
    )
    return changed(cabled(*REST), gpu_nodes=tuple(nodes))


@pytest.mark.parametrize(
    ("site", "count"),
    [
        (intact, 8),
        # Of one leaf group with all, and some in another one besides.
        (lambda: on(roce_su01=RAIL_NAMES, roce_su02=("eth1",)), 8),
        # Nothing is cabled yet, or it is not given out, or not whole, or it is not said to be for RoCE.
        (cabled, 8),
        (lambda: out(cabled(*REST), NODE), 7),
        (below_a_hypervisor, 7),
        (unlisted, 7),
        (of_another_type, 7),
        (on, 7),
    ],
)
def test_a_node_that_lacks_nothing_or_is_not_for_roce(site: Callable[[], Site], count: int) -> None:
    result = answer(TOP_18, site(), plan())
    assert (result.verdict, result.count) == (P, count)


def test_without_a_pool_for_roce_nothing_is_asked() -> None:
    pools = intact().pools.model_copy(update={"roce": None, "roce_subnets": None})
    assert answer(TOP_18, changed(cabled(*REST), pools=pools), plan()).verdict is NA
