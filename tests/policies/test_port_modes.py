"""How switch ports are set, by record and by bundle; which ids pass, and by which VLAN inside; networks and roles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from interlock.model.site.inventory import Lag, Site, SwitchPortConfig
from interlock.model.site.physical import Vrf, Vtep
from interlock.vocabulary import NetworkRole
from policies.facts.logical_ports import LogicalPorts, one_mode
from policies.facts.port_modes import NO_PORT, PortMode, SwitchEnd, configured_vlans, is_disabled, recorded_mode
from tests.policies.forgetting import undeclared
from tests.policies.joining import access, port, small, switch, tagged
from tests.policies.plan_share import network, plan

A1, A2, A3, B1 = SwitchEnd("a", 1), SwitchEnd("a", 2), SwitchEnd("a", 3), SwitchEnd("b", 1)


def mode(*listed: int, **fields: object) -> PortMode:
    """A trunk that lists these VLANs."""
    known: dict[str, object] = {"known": True, "tagged": tuple((number, number) for number in listed)}
    return PortMode(**(known | fields))  # type: ignore[arg-type]


# Which ids pass.


@pytest.mark.parametrize(("tag", "passes"), [(0, False), (1, True), (2, True), (4094, True), (4095, False)])
def test_a_trunk_without_a_list(tag: int, passes: bool) -> None:
    assert PortMode(known=True, tagged=None).carries(tag) is passes


@pytest.mark.parametrize(("tag", "passes"), [(99, False), (100, True), (101, True), (102, False), (200, True)])
def test_a_trunk_with_a_list(tag: int, passes: bool) -> None:
    found = PortMode(known=True, tagged=((100, 101), (200, 200)))
    assert found.carries(tag) is passes
    assert found.inside(tag) == ({tag} if passes else set())
    assert found.perhaps_inside(tag) == set()


@pytest.mark.parametrize(
    ("item", "tag", "certain", "perhaps"),
    [
        # 200 on the wire is 100 inside, and that is what the list names: 100 itself does not pass.
        (mode(100, translations=((200, 100),)), 200, {100}, set()),
        (mode(100, translations=((200, 100),)), 100, set(), set()),
        (mode(100, 300, translations=((200, 100),)), 300, {300}, set()),
        # The list names 200: the VLAN of that id, or what 200 is inside.
        (mode(200, translations=((200, 100),)), 200, set(), {100, 200}),
        # It names both.
        (mode(100, 200, translations=((200, 100),)), 200, {100}, {200}),
        # It names neither.
        (mode(300, translations=((200, 100),)), 200, set(), set()),
        (mode(300, translations=((200, 100),)), 300, {300}, set()),
        # A list of another id lets in no translated one.
        (mode(200, 300, translations=((200, 100), (300, 400))), 200, set(), {100, 200}),
        (mode(200, translations=((200, 100), (300, 400))), 200, set(), {100, 200}),
        (mode(100, 200, 300, translations=((300, 100),)), 200, {200}, set()),
    ],
)
def test_a_translation(item: PortMode, tag: int, certain: set[int], perhaps: set[int]) -> None:
    assert item.inside(tag) == certain
    assert item.perhaps_inside(tag) == perhaps


def test_by_which_ids_a_vlan_goes() -> None:
    found = mode(100, translations=((200, 100), (300, 100), (500, 400)))
    assert [found.tags_of(number) for number in (100, 400, 600)] == [{200, 300}, {500}, {600}]
    both = PortMode(known=True, members=(found, mode(100)))
    assert both.tags_of(100) == {100, 200, 300}


def test_a_bundle_of_two_settings() -> None:
    """What one member surely takes is not among what may be, whatever the other does with it."""
    one, other = mode(200, translations=((200, 100),)), mode(200)
    both = PortMode(known=True, members=(one, other))
    assert both.inside(200) == {200}
    assert both.perhaps_inside(200) == {100}


# Bundles.


def test_settings_of_a_bundle_are_added_up() -> None:
    one = mode(100, untagged=frozenset({1}), tag_native=False, private="red", translations=((7, 100),))
    other = mode(100, 200, private="red", routed=True)
    found = one_mode([one, other, one])
    assert found == PortMode(
        known=True, untagged=frozenset({1}), tagged=((100, 100), (200, 200)), tag_native=False,
        translations=((7, 100),), private="red", routed=True, members=(one, other),
    )  # fmt: skip
    assert one_mode([one, one]) == one


def test_one_member_without_a_list_is_enough() -> None:
    assert one_mode([mode(100), PortMode(known=True, tagged=None)]).tagged is None
    assert one_mode([mode(100), PortMode(known=True, tagged=())]).tagged == ((100, 100),)


def test_one_member_that_nobody_knows_is_enough() -> None:
    found = one_mode([mode(100), PortMode(known=False, unmodelled=True)])
    assert (found.known, found.unmodelled, found.routed) == (False, True, False)


@pytest.mark.parametrize(
    ("roles", "expected"), [(("red", "blue"), None), (("red", None), None), (("red", "red"), "red")]
)
def test_members_with_two_roles_are_promiscuous(roles: tuple[str | None, ...], expected: str | None) -> None:
    first, second = (mode(number, private=name) for number, name in zip((100, 200), roles, strict=True))
    assert one_mode([first, second]).private == expected


NATIVE = frozenset({1})


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ((mode(1, untagged=NATIVE, tag_native=True), mode(2)), True),
        ((mode(1, untagged=NATIVE, tag_native=False), mode(2, tag_native=True)), False),
        ((mode(1, untagged=NATIVE, tag_native=False), mode(2, untagged=NATIVE, tag_native=True)), None),
        # None has a native VLAN: what all say.
        ((mode(1, tag_native=True), mode(2, tag_native=True)), True),
        ((mode(1, tag_native=True), mode(2)), None),
    ],
)
def test_whether_a_bundle_tags_its_native_vlan(modes: tuple[PortMode, ...], expected: bool | None) -> None:
    assert one_mode(modes).tag_native is expected


def test_what_one_member_surely_sends_without_a_tag() -> None:
    unsure = mode(untagged=frozenset({1, 2}), perhaps_tagged=frozenset({1, 2}))
    sure = mode(untagged=frozenset({1, 3}), perhaps_tagged=frozenset({3}))
    assert one_mode([unsure, sure]).perhaps_tagged == {2, 3}


def bundled(*ports: SwitchPortConfig, device: str = "x", interfaces: tuple[str, ...] = ("1", "2")) -> LogicalPorts:
    """Ports 1 and 2 of switch a lead to `x`, port 3 to switch b, port 4 nowhere."""
    links = (("x:1", "a:1"), ("x:2", "a:2"), ("b:1", "a:3"), ("x:3", "y:1"))
    lags = (Lag(name="bond", device=device, interfaces=interfaces),)
    return LogicalPorts(small(switch("a", *ports), switch("b"), links=links, lags=lags))


def test_the_far_ends_of_a_bundle_are_one_port() -> None:
    found = bundled(access(1, 100), access(2, 100))
    assert found.bundle(A1) == found.bundle(A2) == found.members(A1) == (A1, A2)
    assert found.bundle(A3) == (A3,)


def test_both_ends_of_a_bundle_of_a_switch() -> None:
    found = bundled(device="a", interfaces=("3", "2"))
    assert found.bundle(A2) == found.bundle(A3) == (A2, A3)
    # At the far end there is one switch port only.
    assert found.bundle(B1) == (B1,)


@pytest.mark.parametrize("interfaces", [("1", "none"), ("1", "3"), ("1",)])
def test_a_bundle_of_which_one_leg_leads_to_a_switch(interfaces: tuple[str, ...]) -> None:
    assert bundled(interfaces=interfaces).bundle(A1) == (A1,)


def test_a_disabled_member_is_like_no_other() -> None:
    """A plan sets the others by it once it is in use, and never it by them."""
    found = bundled(access(1, 100), port(2, mode="disabled"))
    assert (found.members(A1), found.members(A2)) == ((A1,), (A2,))
    assert (found.set_with(A1), found.set_with(A2)) == ((A1, A2), (A2,))


def test_an_interface_without_a_number_is_no_port() -> None:
    """Ports are numbered from 1."""
    assert SwitchEnd.at("a", "mgmt") == SwitchEnd("a", NO_PORT)
    assert NO_PORT < 1


# Records.


def listed(*ports: SwitchPortConfig, is_complete: bool = False) -> Site:
    site = small(switch("a", *ports), links=(("x:y", "a:1"), ("x:z", "a:2")))
    if not is_complete:
        return undeclared(site, "switch_ports", "a")
    declared = site.complete[0].model_copy(update={"table": "switch_ports", "devices": ("a",)})
    return small(switch("a", *ports), links=(("x:y", "a:1"), ("x:z", "a:2")), complete=(*site.complete, declared))


def test_a_port_without_a_record_is_disabled_where_all_are_listed() -> None:
    """An interface that is no number is no port that a list could have."""
    known, unknown = listed(access(1, 100), is_complete=True), listed(access(1, 100))
    nowhere = SwitchEnd("a", NO_PORT)
    assert [is_disabled(known, end) for end in (A1, A2, nowhere)] == [False, True, False]
    assert [is_disabled(unknown, end) for end in (A1, A2, nowhere)] == [False, False, False]
    assert recorded_mode(known, A2) == PortMode(known=True)
    assert recorded_mode(unknown, A2) == PortMode(known=False)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (port(1, mode="disabled", untagged=100), PortMode(known=True)),
        (port(1, mode="routed", untagged=100), PortMode(known=True, routed=True)),
        (port(1, mode="dot1q-tunnel", untagged=100), PortMode(known=False, unmodelled=True)),
        (
            access(1, 100, tagged=((7, 7),), translations=((7, 8),), private_vlan="red"),
            PortMode(known=True, untagged=frozenset({100}), private="red"),
        ),
        (access(1, 100, tag_native=True), PortMode(known=True, untagged=frozenset({100}), tag_native=True)),
        (
            tagged(1, 7, untagged=100, translations=((7, 8),)),
            mode(7, untagged=frozenset({100}), perhaps_tagged=frozenset({100}), translations=((7, 8),)),
        ),
        (tagged(1, 7, untagged=100, tag_native=False), mode(7, untagged=frozenset({100}), tag_native=False)),
        (tagged(1, 7, untagged=100, tag_native=True), mode(7, 100, tag_native=True)),
        (port(1, untagged=100, tagged=None, tag_native=True), PortMode(known=True, tagged=None, tag_native=True)),
    ],
)
def test_what_a_record_says(item: SwitchPortConfig, expected: PortMode) -> None:
    assert recorded_mode(listed(item), A1) == expected


def test_vlans_that_a_site_puts_to_use() -> None:
    ports = (access(1, 10), tagged(2, 20, translations=((30, 31),)), port(3))
    vtep = Vtep(vlan=40, vni=7, underlay="u")
    first = switch("a", *ports, routed_vlans=(50,), vrfs=(Vrf(name="r", vlans=(60, 61)),), vteps=(vtep,))
    assert configured_vlans([first, switch("b", routed_vlans=None)]) == {10, 30, 31, 40, 50, 60, 61}


# Networks of a vPOD by role.


def test_networks_by_role() -> None:
    data, other = network("data", role=NetworkRole.IPU_DATA, vpod="train"), network("other", vpod="train")
    elsewhere = network("elsewhere", role=NetworkRole.IPU_DATA, vpod="infer")
    found = plan(networks=(data, other, elsewhere))
    assert found.role("train", NetworkRole.IPU_DATA) == (data,)
    assert found.role("train", NetworkRole.STORAGE) == ()


@pytest.mark.parametrize("is_tenant", [True, False])
def test_networks_that_do_not_say_what_they_are_for(is_tenant: bool) -> None:
    own, said = network("own", vpod="train"), network("said", role=NetworkRole.STORAGE, vpod="train")
    other, loose = network("other", vpod="infer"), network("loose")
    outside = network("outside", external=True)
    found = plan(networks=(own, said, other, loose, outside), is_tenant=is_tenant)
    assert found.without_role("train") == ((own, loose) if is_tenant else (own,))
    assert [item.name for item in found.networks if found.lacks_role(item)] == [
        "own", "other", *(["loose"] if is_tenant else []),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("natives", "found"),
    [
        (PortMode(known=True, untagged=frozenset({5})), {5: {5}, 6: set()}),
        (PortMode(known=True, untagged=frozenset({5}), translations=((70, 5), (71, 6))), {5: {5}, 70: {5}, 71: set()}),
        (PortMode(known=True, tagged=((5, 5),)), {5: set()}),
        # It may join anything, so nothing is said of it here.
        (PortMode(known=False, untagged=frozenset({5})), {5: set()}),
    ],
)
def test_native_vlans_that_a_tag_may_belong_to(natives: PortMode, found: dict[int, set[int]]) -> None:
    """By the id of the VLAN inside, or by what it is called on the wire."""
    assert {tag: natives.natives_of(tag) for tag in found} == found


def test_what_a_driver_fills() -> None:
    """A list gets the VLANs of its switches; without a list, or where nothing is filled, the port is what it was."""
    trunk = PortMode(known=True, tagged=((7, 7),), filled=frozenset({"a", "b"}))
    vlans = {"a": frozenset({20, 10}), "c": frozenset({30})}
    assert trunk.filled_with(vlans) == replace(trunk, tagged=((7, 7), (10, 10), (20, 20)))
    others = (replace(trunk, tagged=None), replace(trunk, filled=frozenset()))
    assert [one.filled_with(vlans) is one for one in others] == [True, True]
    for one in others:
        bundle = replace(one, members=(trunk, one))
        assert bundle.filled_with(vlans) == replace(one, members=(trunk.filled_with(vlans), one))
    bundle = replace(trunk, members=(trunk,))
    assert bundle.filled_with(vlans) == replace(trunk.filled_with(vlans), members=(trunk.filled_with(vlans),))
