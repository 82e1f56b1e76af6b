"""Whatever an unstated fact turns out to be, its edge was one of those that might be, and no known one goes.

Two switches with random ports, one cable between them, a device on each, and facts of which some are left out.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.model.site.inventory import Site, SwitchPortConfig
from interlock.model.site.physical import Vrf, Vtep
from tests.policies.joining import NO, PERHAPS, YES, declared, edges, joined, marked, port, site_with, switch, vlan, way
from tests.policies.workspace import assumptions

VLANS = (100, 200, 300)
NODES = [vlan(name, number) for name in "ab" for number in VLANS] + ["dev:box/eth0", "dev:other/eth0", "dev:watch"]
#: Facts that may be unstated, and what each may be.
FACTS: dict[str, tuple[Any, ...]] = {
    "a.tag_native": (True, False),
    "b.tag_native": (True, False),
    "ip_routing": (True, False),
    "routed_vlans": ((), (100,), (200, 300)),
    "encapsulation": ("vxlan", "geneve"),
    "no_proxying": (True, False),
    "private_vlan_enforced": (True, False),
}
VLAN = st.sampled_from(VLANS)
ROLE = st.sampled_from([None, "isolated", "x"])


@st.composite
def uplinks(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of one end of the cable between the switches."""
    mode = draw(st.sampled_from(["access", "trunk", "trunk", "routed", "disabled"]))
    if mode in ("routed", "disabled"):
        return {"mode": mode}
    found: dict[str, Any] = {"mode": mode, "untagged": draw(st.none() | VLAN)}
    if mode == "trunk":
        listed = draw(st.lists(VLAN, unique=True, max_size=2))
        found["tagged"] = tuple((number, number) for number in listed if number != found["untagged"])
        inner = draw(st.lists(st.sampled_from(listed), unique=True)) if listed else []
        found["translations"] = tuple((draw(VLAN), number) for number in inner)
    return found


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    """Everything that is always stated."""
    return {
        "a": draw(uplinks()),
        "b": draw(uplinks()),
        "box": {"mode": "access", "untagged": 100, "private_vlan": draw(ROLE)},
        "other": {"mode": "access", "untagged": draw(st.sampled_from([100, 100, 200])), "private_vlan": draw(ROLE)},
        "watch": {"mode": "access", "untagged": draw(VLAN)},
        "vtep": draw(VLAN),
        "vrf": draw(st.just([]) | st.lists(VLAN, unique=True, max_size=2)),
        "declared": draw(st.booleans()),
    }


def made_of(layout: dict[str, Any], facts: dict[str, Any]) -> Site:
    """The site with these facts; those that are not among them are unstated."""
    ends = {name: _setting(layout[name], 1, facts.get(f"{name}.tag_native")) for name in "ab"}
    hosts = [_setting(layout[name], number) for number, name in ((2, "box"), (3, "watch"), (4, "other"))]
    wrapped: Literal["vxlan", "geneve"] | None = facts.get("encapsulation")
    vteps = [
        Vtep(vlan=layout["vtep"], vni=7, underlay="u", encapsulation=wrapped),
        Vtep(vlan=300, vni=7, underlay="u", encapsulation="vxlan"),
    ]
    routing = {name: facts.get(name) for name in ("ip_routing", "routed_vlans")}
    vrfs = (Vrf(name="red", vlans=tuple(layout["vrf"])),)
    one = switch("a", ends["a"], *hosts, **routing, vteps=(vteps[0],), vrfs=vrfs)
    declaration = declared("watch", no_proxying=facts.get("no_proxying")) if layout["declared"] else declared("nothing")
    return site_with(
        one,
        switch("b", ends["b"], vteps=(vteps[1],)),
        links=[("a:1", "b:1"), ("box:eth0", "a:2"), ("watch:eth0", "a:3"), ("other:eth0", "a:4")],
        devices=["box", "watch", "other"],
        sharing=declaration,
        assumptions=assumptions(private_vlan_enforced=facts.get("private_vlan_enforced")),
    )


def _setting(settings_of: dict[str, Any], number: int, tag_native: bool | None = None) -> SwitchPortConfig:
    trunk = settings_of["mode"] == "trunk"
    return port(number, **settings_of, tag_native=tag_native if trunk else None)


def joined_pairs(site: Site) -> dict[tuple[str, str], bool | None]:
    found = edges(site, [marked(*NODES)])
    return {pair: way(found, *pair) for pair in combinations(NODES, 2)}


@settings(max_examples=max(80, settings().max_examples * 2), suppress_health_check=[HealthCheck.too_slow])
@given(layout=layouts(), data=st.data())
def test_what_is_unstated_is_neither_held_nor_broken(layout: dict[str, Any], data: st.DataObject) -> None:
    truth = {name: data.draw(st.sampled_from(values), label=name) for name, values in FACTS.items()}
    left_out = data.draw(st.sets(st.sampled_from(sorted(FACTS))) | st.just(set(FACTS)), label="left out")
    stated = {name: value for name, value in truth.items() if name not in left_out}
    whole, part = joined_pairs(made_of(layout, truth)), joined_pairs(made_of(layout, stated))
    for pair, real in whole.items():
        assert part[pair] is not NO or real is not YES, pair
        assert part[pair] is not YES or real is YES, pair


@pytest.mark.parametrize(("routes", "expected"), [(True, YES), (None, PERHAPS), (False, NO)])
def test_a_switch_of_which_nobody_says_whether_it_routes_passes_nothing_on_for_certain(
    routes: bool | None, expected: bool | None
) -> None:
    """Found by a long run: an address on a private VLAN broke its roles for certain, with `ip_routing` unstated."""
    isolated = port(2, mode="access", untagged=100, private_vlan="isolated")
    one = switch("a", isolated, ip_routing=routes, routed_vlans=(100,))
    site = site_with(one, links=[("box:eth0", "a:2")], devices=["box"])
    assert joined(site, "dev:box/eth0", vlan("a", 100), marked(vlan("a", 100))) is expected
