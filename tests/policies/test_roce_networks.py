"""What a physical network of the pool `roce` has to state: TOP-21, TOP-23 and, of nodes there, SW-08."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from interlock.model.site.inventory import PhysicalNetwork, Site, VlanPool
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies.rules.fabric import TOP_21, TOP_23
from policies.rules.node_fabrics import SW_08
from tests.builders.gpu_software import nodes_plan, roce_site
from tests.builders.lossless import PROFILE, fabric, pairs
from tests.builders.pod64 import site_locked
from tests.policies.one_rule import answer
from tests.policies.workspace import NA, N, P, V, changed, full_site

CLOS = pairs(("l1", "l2"), ("s1",))


@cache
def plan() -> Plan:
    site = full_site()
    return plan_site(site, site_locked(site))


def for_roce(site: Site, network: str = "rdma", **fields: Any) -> Site:
    """The site with the pool `roce` on one of its physical networks, whose fields these are."""
    networks = (item.model_copy(update=fields) if item.name == network else item for item in site.physical_networks)
    pool = VlanPool(physical_networks=(network,), vlans=((3000, 3099),))
    return changed(site, physical_networks=tuple(networks), pools=site.pools.model_copy(update={"roce": pool}))


def with_profile(site: Site, **fields: Any) -> Site:
    return changed(site, fabric_profiles=(PROFILE.model_copy(update=fields),))


def spines_of(site: Site, profile: str | None) -> Site:
    """The switches s1 and s2, as far as there are, on a physical network of their own."""
    names = tuple(name for name in ("s1", "s2") if name in site.switch)
    network = PhysicalNetwork(name="spines", switches=names, mtu=9000, profile=profile)
    return changed(site, physical_networks=(*site.physical_networks, network))


#: What the site is -> the answer of TOP-21: its verdict, words of its finding, what nobody states.
PROFILES: dict[str, tuple[Site, object, str, tuple[str, ...]]] = {
    "as it should be": (for_roce(fabric(*CLOS)), P, "", ()),
    "no profile": (
        for_roce(fabric(*CLOS), profile=None),
        N, "rdma is for RoCE, and nobody states which class its ports pause and what they mark",
        ("physical_networks.rdma.profile",),
    ),
    "no marks": (
        with_profile(for_roce(fabric(*CLOS)), ecn=False),
        V, "rdma is for RoCE, and by its profile paused its ports mark no congestion", (),
    ),
    "no marks, and not for RoCE": (with_profile(fabric(*CLOS), ecn=False), P, "", ()),
    "a spine of which nobody states it": (
        for_roce(fabric(*CLOS, unlisted=("s1",))),
        N, "rdma is for RoCE, and nobody states the profile of s1 between l1 and l2", ("switches.s1",),
    ),
    "two spines in a row": (
        for_roce(fabric("l1 s1", "s1 s2", "s2 l2", unlisted=("s1", "s2"))),
        N, "rdma is for RoCE, and nobody states the profile of s1, s2 between l1 and l2",
        ("switches.s1", "switches.s2"),
    ),
    "a spine with the same one": (spines_of(for_roce(fabric(*CLOS, unlisted=("s1",))), "paused"), P, "", ()),
    "a spine on a network without one": (
        spines_of(for_roce(fabric(*CLOS, unlisted=("s1",))), None),
        N, "rdma is for RoCE, and nobody states the profile of s1 between l1 and l2", ("switches.s1",),
    ),
    "switches below leaves, between none": (
        for_roce(fabric(*CLOS, "l1 m1", "l1 m1", "l2 m2", unlisted=("m1", "m2"))), P, "", (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROFILES)
def test_networks_for_roce_state_how_they_pause_and_mark(name: str) -> None:
    site, verdict, words, missing = PROFILES[name]
    found = answer(TOP_21, site, plan())
    assert found.verdict == verdict
    assert [(item.message, item.missing) for item in found.findings] == ([(words, missing)] if words else [])


def test_networks_for_roce_state_their_frames() -> None:
    """Elsewhere an MTU that is not stated refuses nothing."""
    assert answer(TOP_23, for_roce(fabric(*CLOS)), plan()).verdict == P
    assert answer(TOP_23, changed(fabric(*CLOS), physical_networks=()), plan()).verdict == NA
    found = answer(TOP_23, for_roce(fabric(*CLOS), mtu=None), plan())
    assert [(item.verdict, item.missing) for item in found.findings] == [(N, ("physical_networks.rdma.mtu",))]
    found = answer(TOP_23, for_roce(fabric(*CLOS), mtu=4000), plan())
    assert [(item.verdict, item.message) for item in found.findings] == [
        (V, "profile paused sends 4200 bytes, rdma takes 4000")
    ]


def test_nodes_on_a_network_for_roce_need_its_profile() -> None:
    """The nodes of the plan have their ports on `fabric100g`."""
    silent = changed(
        roce_site(),
        physical_networks=tuple(item.model_copy(update={"profile": None}) for item in roce_site().physical_networks),
    )
    tenant = nodes_plan(silent, infiniband=False)
    assert answer(SW_08, silent, tenant).verdict == NA
    found = answer(SW_08, for_roce(silent, "fabric100g"), tenant)
    assert [(item.verdict, item.missing) for item in found.findings] == [(N, ("physical_networks.fabric100g.profile",))]
    assert answer(SW_08, for_roce(roce_site(), "fabric100g"), tenant).verdict == P
    elsewhere = (*silent.physical_networks, PhysicalNetwork(name="elsewhere", switches=()))
    assert answer(SW_08, for_roce(changed(silent, physical_networks=elsewhere), "elsewhere"), tenant).verdict == NA
