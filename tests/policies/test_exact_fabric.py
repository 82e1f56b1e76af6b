"""TOP-21, TOP-23 and ISO-13: which networks are one fabric, which frames fit, which ids are one space."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from interlock.model.site.inventory import SegmentRangeSpec, Site, VlanPool
from interlock.model.site.networks import PhysicalNetwork, Underlay
from interlock.planning import plan_site
from interlock.planning.plan import Plan
from policies.rules.fabric import ISO_13, TOP_21, TOP_23
from tests.builders.pod64 import pools, site_locked, tenant
from tests.policies.asking import answered, messages, told
from tests.policies.test_site_rules import with_networks
from tests.policies.workspace import changed, edited, full_site, made

NETWORK = "acme-train-storage"
MANAGEMENT = "acme-train-management"
TUNNEL = "acme-train-control"


@cache
def acme() -> Plan:
    return made(full_site(), tenant("acme")).plan


def of_site(site: Site) -> Plan:
    return plan_site(site, site_locked(site))


# TOP-21 and the site's part of TOP-23.


@pytest.mark.parametrize(
    ("site", "count", "expected"),
    [
        (full_site, 0, []),
        (with_networks, 2, []),
        (lambda: with_networks(profile_mtu=9000), 2, []),
        (lambda: with_networks(mtu=None), 1, []),
        (
            lambda: with_networks(mtu=9001),
            2,
            ["V one fabric has different MTUs: fabric100g: 9000, second: 9001"],
        ),
        (
            lambda: with_networks(profile_mtu=9001),
            2,
            [f"V profile roce sends 9001 bytes, {name} takes 9000" for name in ("fabric100g", "second")],
        ),
        (
            lambda: with_networks(profile=None, profile_mtu=9001),
            2,
            ["V profile roce sends 9001 bytes, fabric100g takes 9000"],
        ),
    ],
    ids=["none", "alike", "as large", "one stated", "unlike", "too large", "no profile"],
)
def test_frames_of_a_fabric(site: Callable[[], Site], count: int, expected: list[str]) -> None:
    answer = answered(TOP_23, site(), of_site(site()))
    assert (answer.count, messages(answer)) == (count, expected)


def test_all_that_is_said_of_a_fabric_of_unlike_networks() -> None:
    site = with_networks(mtu=1500, profile="other")
    assert told(answered(TOP_23, site, of_site(site))) == [
        "V 32: one fabric has different MTUs: fabric100g: 9000, second: 1500",
        "  witness: fabric100g: 9000 / second: 1500",
        "V 32: profile other sends 4200 bytes, second takes 1500",
        "  witness: profile other: 4200 / second: 1500",
    ]
    assert told(answered(TOP_21, site, of_site(site))) == [
        "V 32: one fabric has different profiles: fabric100g: roce, second: other",
        "  witness: fabric100g: roce / second: other",
    ]


# Networks of a tenant.


def with_mtus(*underlays: int | None, physical: int | None = 9000) -> Site:
    site = with_networks(mtu=physical)
    sizes = {"fabric100g": physical, "mgmt1g": 1500, "second": 4000}
    networks = tuple(item.model_copy(update={"mtu": sizes.get(item.name)}) for item in site.physical_networks)
    made_of = tuple(Underlay(name=f"tunnels-{number}", mtu=mtu) for number, mtu in enumerate(underlays))
    return changed(site, physical_networks=networks, underlays=made_of)


@pytest.mark.parametrize(
    ("site", "network", "mtu", "limit"),
    [
        (with_mtus(), NETWORK, 9000, None),
        (with_mtus(), NETWORK, 9001, 9000),
        (with_mtus(), MANAGEMENT, 1500, None),
        (with_mtus(), MANAGEMENT, 1501, 1500),
        (with_mtus(physical=None), NETWORK, 99999, None),
        (with_mtus(9000, None, 1500, 4000), TUNNEL, 1450, None),
        (with_mtus(9000, None, 1500, 4000), TUNNEL, 1451, 1450),
        (with_mtus(None), TUNNEL, 99999, None),
        (with_mtus(), TUNNEL, 99999, None),
    ],
)
def test_frames_that_fit(site: Site, network: str, mtu: int, limit: int | None) -> None:
    """Of several underlays the smallest counts: nobody states which one a network runs over. What is not stated
    refuses nothing."""
    answer = answered(TOP_23, site, edited(acme(), network, mtu=mtu))
    assert answer.count == 1
    (fact,) = (item.resource for item in acme().resources if item.name == network)
    kind, segment = getattr(fact, "network_type", ""), getattr(fact, "segmentation_id", 0)
    label = getattr(fact, "physical_network", None)
    where = f"VXLAN {segment}" if kind == "vxlan" else f"VLAN {segment} on {label}"
    assert told(answer) == ([] if limit is None else [
        f"V 32: network {network} ({where}) has frames of {mtu} bytes, {limit} fit",
        f"  witness: network {network}: {mtu} / {where}: {limit}",
        f"  about: {network}",
    ])  # fmt: skip


def test_a_tenants_plan_says_nothing_of_the_fabric() -> None:
    assert answered(TOP_23, with_networks(mtu=1500), acme()).count == 0


# ISO-13.


def spec(low: int, high: int, network: str | None = "fabric100g", kind: str | None = None) -> SegmentRangeSpec:
    kind = kind or ("vxlan" if network is None else "vlan")
    return SegmentRangeSpec.model_validate(
        {"network_type": kind, "physical_network": network, "minimum": low, "maximum": high}
    )


def giving(*ranges: SegmentRangeSpec, **fields: object) -> Site:
    return full_site(segment_ranges=ranges, **fields)


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ((spec(3000, 3099),), []),
        ((spec(500, 999),), []),
        ((spec(500, 1000),), ["1000-1000 on fabric100g by itself, and the pool ipu_data"]),
        ((spec(2999, 3099),), ["2999-2999 on fabric100g by itself, and the pool storage"]),
        ((spec(1998, 2001),), ["1998-1999 on fabric100g by itself, and the pool ipu_data",
                               "2000-2001 on fabric100g by itself, and the pool storage"]),
        ((spec(100, 150, "mgmt1g"),), ["110-150 on mgmt1g by itself, and the pool management"]),
        ((spec(1000, 1999, "mgmt1g"),), []),
        ((spec(1000, 1999, None),), []),
        ((spec(5999, 7000, None),), ["5999-5999 by itself, and the pool control"]),
        # A range of VLANs is none of VXLAN ids, whatever stands in it.
        ((spec(5000, 5999, None, "vlan"),), []),
        # In the order of their kinds, networks and ids.
        (
            (spec(5000, 5000, None), spec(110, 110, "mgmt1g"), spec(2000, 2000), spec(1000, 1000)),
            [
                "1000-1000 on fabric100g by itself, and the pool ipu_data",
                "2000-2000 on fabric100g by itself, and the pool storage",
                "110-110 on mgmt1g by itself, and the pool management",
                "5000-5000 by itself, and the pool control",
            ],
        ),
    ],
)  # fmt: skip
def test_ids_that_are_in_a_pool(ranges: tuple[SegmentRangeSpec, ...], expected: list[str]) -> None:
    site = giving(*ranges)
    answer = answered(ISO_13, site, of_site(site))
    assert messages(answer) == [f"V the cloud may give out {words} holds them too" for words in expected]
    assert answer.count == len(ranges)


def test_two_labels_on_one_switch_have_one_space_of_ids() -> None:
    """And two on two switches have two."""
    networks = full_site().physical_networks
    for switch, expected in (("tor-1", ["ipu_data"]), ("mgmt-1", [])):
        labels = (*networks, PhysicalNetwork(name="second", switches=(switch,)))
        site = giving(spec(1000, 1000, "second"), physical_networks=labels)
        found = answered(ISO_13, site, of_site(site)).violated
        assert [item.message.split(" the pool ")[1].split()[0] for item in found] == expected


def test_the_first_range_of_a_pool_that_is_met_is_told() -> None:
    pool = VlanPool(physical_networks=("fabric100g",), vlans=((100, 199), (300, 399), (500, 599)))
    site = giving(spec(350, 550), pools=pools(ipu_data=pool))
    assert told(answered(ISO_13, site, of_site(site))) == [
        "V 64: the cloud may give out 350-399 on fabric100g by itself, and the pool ipu_data holds them too",
        "  witness: segment range 350-550 on fabric100g / pool ipu_data on fabric100g",
    ]


def test_all_that_is_said_of_a_range_of_vxlan_ids() -> None:
    site = giving(spec(4000, 5000, None))
    assert told(answered(ISO_13, site, of_site(site))) == [
        "V 64: the cloud may give out 5000-5000 by itself, and the pool control holds them too",
        "  witness: segment range 4000-5000 / pool control on VXLAN",
    ]


def test_ranges_of_the_site_and_of_the_plan_count_both() -> None:
    """What is planned may have been edited since; what both have is one range."""
    site = giving(spec(1000, 1000))
    plan = of_site(site)
    (name,) = (item.name for item in plan.resources if item.resource.KIND == "SegmentRange")
    answer = answered(ISO_13, site, edited(plan, name, minimum=2000, maximum=2000))
    assert answer.count == 2
    assert [item.message.split()[5] for item in answer.violated] == ["1000-1000", "2000-2000"]
