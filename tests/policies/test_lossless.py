"""TOP-22: fabrics with a circle of buffers beside the same fabrics without it, and what nobody states of either."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from interlock.model.site.completeness import Completeness
from interlock.model.site.inventory import Site, SwitchPortConfig
from interlock.model.site.networks import VlanPool
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies import Verdict
from policies.facts.lossless import circles, lossless_fabrics
from policies.facts.site import SiteFacts
from policies.rules.lossless import TOP_22
from tests.builders.lossless import fabric, pairs, switch_of
from tests.builders.pod64 import site_locked
from tests.policies import forgetting
from tests.policies.forgetting import undeclared
from tests.policies.one_rule import answer
from tests.policies.workspace import NA, N, P, V, changed, full_site
from tests.support.sampling import Sampling

CLOS = pairs(("l1", "l2", "l3"), ("s1", "s2"))


@cache
def plan() -> Plan:
    site = full_site()
    return plan_site(site, site_locked(site))


def found(site: Site) -> tuple[Verdict, list[str]]:
    """The verdict, and each finding's message without the name of the fabric."""
    result = answer(TOP_22, site, plan())
    return result.verdict, [item.message.partition(": ")[2] for item in result.findings]


def with_lists(port: SwitchPortConfig, leaf: str = "l1", *, pooled: bool = True, cables: int = 1) -> Site:
    """Two leaves below a spine, with cables between them, and the pool of RDMA on VLANs 1000-1999 alone."""
    site = fabric(*["l1 l2"] * cables, *pairs(("l1", "l2"), ("s1",)), switches=(switch_of(leaf, (port,)),))
    pool = VlanPool(physical_networks=("rdma",), vlans=((1000, 1999),))
    return changed(site, pools=site.pools.model_copy(update={"cluster": pool})) if pooled else site


def without_port_1(*complete: str, cables: int = 1) -> Site:
    """The same with no record of that port: of a switch whose ports are all listed, it is shut."""
    site = with_lists(listed((1000, 1000)), cables=cables)
    switches = (
        item.model_copy(update={"ports": item.ports[1:]}) if item.name == "l1" else item for item in site.switches
    )
    ports = Completeness(table="switch_ports", devices=complete, seen="2026-11-20", by="the test")
    return forgetting.changed(site, switches=tuple(switches), complete=(*site.complete, ports))


def listed(*tagged: tuple[int, int]) -> SwitchPortConfig:
    return SwitchPortConfig(port=1, mode="trunk", tagged=tagged)


INTACT: dict[str, Callable[[], Site]] = {
    "two tiers": lambda: fabric(*CLOS),
    "bundles": lambda: fabric(*CLOS, *CLOS, "l1 s1"),
    "leaves in a row": lambda: fabric("l1 l2", "l2 l3", "l3 l4"),
    "two leaves and the cables between them": lambda: fabric("l1 l2", "l1 l2"),
    "spines in a row": lambda: fabric(*pairs(("l1",), ("s1",)), "s1 s2", "s2 s3"),
    "management below a leaf": lambda: fabric(*CLOS, "l1 m1", unlisted=("m1",)),
    "a cable without VLANs of RDMA": lambda: with_lists(listed((2, 99))),
    "a cable without them at its other end": lambda: with_lists(listed((2, 99)), "l2"),
    "a port that carries nothing": lambda: with_lists(listed(), pooled=False),
    "a port without a record, of a switch whose ports are listed": lambda: without_port_1("l1"),
    "a port that is shut": lambda: with_lists(SwitchPortConfig(port=1, mode="disabled")),
}


@pytest.mark.parametrize("name", INTACT)
def test_no_circle(name: str) -> None:
    assert found(INTACT[name]()) == (P, [])


#: What is wrong -> the site, its verdict and words.
DEFECTS: dict[str, tuple[Callable[[], Site], Verdict, str]] = {
    "leaves in a ring": (
        lambda: fabric("l1 l2", "l2 l3", "l3 l1"), V, "buffers wait for each other in a circle: l1 – l2 – l3 – l1",
    ),
    "a cable between leaves below a spine": (
        lambda: fabric("l1 l2", *CLOS), V, "buffers wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "VLANs of RDMA on it": (
        lambda: with_lists(listed((2, 99), (1999, 2000))),
        V, "buffers wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "a native VLAN of RDMA on it": (
        lambda: with_lists(SwitchPortConfig(port=1, mode="trunk", untagged=1000)),
        V, "buffers wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "any VLAN on it, where no pool says which are RDMA's": (
        lambda: with_lists(listed((2, 99)), pooled=False),
        V, "buffers wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "a port that nobody listed": (
        without_port_1,
        N, "buffers may wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "two cables, of which one is listed": (
        lambda: without_port_1(cables=2),
        V, "buffers wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "a routed port": (
        lambda: with_lists(SwitchPortConfig(port=1, mode="routed")),
        V, "buffers wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "a tunnel of tags": (
        lambda: with_lists(SwitchPortConfig(port=1, mode="dot1q-tunnel", untagged=2)),
        N, "buffers may wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "a list that a driver fills": (
        lambda: with_lists(SwitchPortConfig(port=1, mode="trunk", tagged=((2, 99),), filled_by="neutron")),
        V, "buffers wait for each other in a circle: l1 – l2 – s1 – l1",
    ),
    "spines in a ring": (
        lambda: fabric("s1 s2", "s2 s3", "s3 s1"), N, "buffers may wait for each other in a circle: s1 – s2 – s3 – s1",
    ),
    "over switches of no place in a fabric": (
        lambda: fabric("l1 m1", "l2 m1", "l1 g1", "l2 g1"),
        N, "buffers may wait for each other in a circle: g1 – l1 – m1 – l2 – g1",
    ),
    "over switches of which nobody says that they pause": (
        lambda: fabric("l1 l2", "l2 l3", "l3 l1", unlisted=("l3",)),
        N, "buffers may wait for each other in a circle: l1 – l2 – l3 – l1",
    ),
    "cables that nobody listed": (
        lambda: undeclared(fabric(*CLOS), "cables", "s1"),
        N, "a cable that nobody listed may close a circle of buffers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_a_circle(name: str) -> None:
    site, verdict, words = DEFECTS[name]
    assert found(site()) == (verdict, [words])


def test_what_a_finding_shows() -> None:
    (item,) = answer(TOP_22, fabric("l1 l2", "l1 l2", *CLOS), plan()).findings
    assert item.witness == ("l1:1 – l2:1 and 1 more", "l2:3 – s1:2", "s1:1 – l1:3")
    assert (item.rule, str(item.severity), item.specificity) == ("TOP-22", "E", 34)
    (item,) = answer(TOP_22, DEFECTS["over switches of no place in a fabric"][0](), plan()).findings
    assert item.missing == tuple(
        f"which of {pair} is above the other" for pair in ("g1 and l1", "g1 and l2", "l1 and m1", "l2 and m1")
    )
    (item,) = answer(TOP_22, DEFECTS["over switches of which nobody says that they pause"][0](), plan()).findings
    assert item.missing == ("whether l3 pauses",)
    (item,) = answer(TOP_22, without_port_1(), plan()).findings
    assert item.missing == ("switches.l1.ports.1",)
    (item,) = answer(TOP_22, DEFECTS["cables that nobody listed"][0](), plan()).findings
    assert (item.missing, item.specificity) == (("complete.cables.s1",), 33)


def test_each_circle_is_told_once_and_what_may_be_one_only_beside_none() -> None:
    two = fabric("l1 l2", "l2 l3", "l3 l1", "l4 l5", "l5 l6", "l6 l4", "s1 s2", "s2 s3", "s3 s1")
    verdict, words = found(two)
    assert (verdict, [item.rpartition(": ")[2] for item in words]) == (
        V, ["l1 – l2 – l3 – l1", "l4 – l5 – l6 – l4", "s1 – s2 – s3 – s1"],
    )  # fmt: skip


def test_a_network_without_profile_is_lossless_by_its_pool() -> None:
    ring = fabric("l1 l2", "l2 l3", "l3 l1", profile=None)
    assert found(ring)[0] == P
    pool = VlanPool(physical_networks=("rdma",), vlans=((1000, 1999),))
    assert found(changed(ring, pools=ring.pools.model_copy(update={"roce": pool})))[0] == V
    assert found(changed(ring, pools=ring.pools.model_copy(update={"cluster": pool})))[0] == P


def test_nothing_to_look_at() -> None:
    site = full_site()
    rest = tuple(item.model_copy(update={"switches": ()}) for item in site.physical_networks)
    assert answer(TOP_22, changed(site, physical_networks=rest), plan()).verdict == NA


def test_against_every_walk_of_small_fabrics(sampling: Sampling) -> None:
    """Random fabrics of six switches: a circle is told if and only if a frame that walks by these rules comes back."""
    random = sampling.random("fabrics")
    names = ("l1", "l2", "l3", "s1", "s2", "s3")
    every = [f"{a} {b}" for index, a in enumerate(names) for b in names[index + 1 :]]
    told = set[bool]()
    for _ in range(200 if sampling.long else 25):
        joined = sorted(random.sample(every, random.randint(4, 8)))
        fabrics = lossless_fabrics(SiteFacts(fabric(*joined)))
        seen = any(list(circles(item.waiting(certain=False))) for item in fabrics)
        assert seen == walks_back(joined), joined
        told.add(seen)
    assert told == {True, False}


def walks_back(joined: list[str]) -> bool:
    """Whether a frame that never turns back, and at no leaf goes from a spine to a spine, is in a link twice."""
    ways = {(a, b) for text in joined for a, b in (text.split(), reversed(text.split()))}
    then = {(a, b): {(b, c) for d, c in ways if d == b and c != a and (a[0] + b[0] + c[0]) != "sls"} for a, b in ways}
    for start in ways:
        reached: set[tuple[str, str]] = set()
        new = set(then[start])
        while new:
            reached |= new
            new = {onward for way in new for onward in then[way]} - reached
        if start in reached:
            return True
    return False
