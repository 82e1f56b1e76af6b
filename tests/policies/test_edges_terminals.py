"""Declared sharing: devices on switch ports, routing instances and InfiniBand ports, split while their guards hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest

from interlock.model.site.guards import SHARING_GUARDS
from interlock.model.site.inventory import Sharing, Site, Switch, SwitchPortConfig
from interlock.model.site.offers import SharingKind
from interlock.model.site.physical import Vrf, Vtep
from policies.edges.shape import GraphFragment, Relation, Union, premise
from policies.edges.site_labels import site_labels
from policies.facts.site import PLANNED_SHARING, SiteFacts
from tests.builders.pod64 import hosts
from tests.policies.joining import (
    NO,
    PERHAPS,
    YES,
    access,
    declared,
    edges,
    joined,
    marked,
    site_with,
    switch,
    tagged,
    vlan,
    without,
)
from tests.policies.workspace import assumptions, changed, sharing

A100, A200 = vlan("a", 100), vlan("a", 200)
ACME, GLOBEX = marked(A100), marked(A200, owner="globex")
BOTH = (ACME, GLOBEX)


def watched(entries: Sequence[Sharing], *ports: SwitchPortConfig) -> Site:
    """The device `watch`, cabled to ports of switch a; without any, to one that carries both VLANs."""
    ports = ports or (tagged(1, 100, 200),)
    links = [(f"watch:eth{item.port}", f"a:{item.port}") for item in ports]
    return site_with(switch("a", *ports), links=links, devices=["watch"], sharing=tuple(entries))


def test_an_undeclared_device_joins_what_it_is_cabled_to() -> None:
    assert joined(watched(sharing()), A100, A200, *BOTH) is YES


@pytest.mark.parametrize("kind", sorted(set(get_args(SharingKind)) - PLANNED_SHARING))
def test_a_declared_device_is_split(kind: SharingKind) -> None:
    assert joined(watched(declared("watch", kind)), A100, A200, *BOTH) is NO
    for guard in SHARING_GUARDS[kind]:
        assert joined(watched(declared("watch", kind, **{guard: None})), A100, A200, *BOTH) is PERHAPS
        assert joined(watched(declared("watch", kind, **{guard: False})), A100, A200, *BOTH) is YES


@pytest.mark.parametrize("kind", sorted(PLANNED_SHARING))
def test_gateways_and_controllers_are_no_devices(kind: SharingKind) -> None:
    assert joined(watched(declared("watch", kind)), A100, A200, *BOTH) is YES


@pytest.mark.parametrize(("guard", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
def test_a_declared_device_with_two_cables(guard: bool | None, expected: bool | None) -> None:
    site = watched(declared("watch", no_proxying=guard), access(1, 100), access(2, 200))
    assert joined(site, A100, A200, *BOTH) is expected
    assert joined(site, "dev:watch", A100, *BOTH) is expected


def test_its_copies_stay_on_their_wire() -> None:
    site = watched(declared("watch"))
    assert joined(site, "dev:watch/eth1@100", A100, *BOTH) is YES
    assert joined(site, "dev:watch/eth1@100", "dev:watch/eth1@200", *BOTH) is NO


def test_a_port_that_nobody_configured_may_carry_anything() -> None:
    site = site_with(switch("a"), links=[("watch:eth1", "a:1")], devices=["watch"], sharing=declared("watch"))
    assert joined(site, "dev:watch/eth1@100", A100, *BOTH) is PERHAPS


def test_a_machine_is_no_terminal() -> None:
    """Whoever has it runs code on it, whatever the site declares."""
    site = site_with(switch("a", tagged(1, 100, 200)), links=[("ipum-01:rnic-2", "a:1")], sharing=declared("ipum-01"))
    assert joined(site, A100, A200, *BOTH) is YES


def test_the_bmc_of_a_declared_host_is_no_terminal() -> None:
    one = switch("a", tagged(1, 100, 200), tagged(2, 100, 200))
    declared_host = declared("infra-1", "registry")
    split = site_with(one, links=[("infra-1:eno9", "a:1")], sharing=declared_host)
    assert joined(split, A100, A200, *BOTH) is NO
    stated = tuple(item.model_copy(update={"bmc": "xcc"}) for item in hosts() if item.name == "infra-1")
    by_bmc = site_with(one, links=[("infra-1:xcc", "a:2")], sharing=declared_host, hosts=stated)
    assert joined(by_bmc, A100, A200, *BOTH) is YES


# Audiences.


@pytest.mark.parametrize(("audience", "expected"), [(("*",), NO), (("acme", "globex"), NO), (("acme",), YES)])
def test_whoever_is_not_in_the_audience_meets_the_device(audience: tuple[str, ...], expected: bool | None) -> None:
    site = watched(declared("watch", "monitoring", *audience))
    assert joined(site, A200, "dev:watch", *BOTH) is expected
    assert joined(site, A100, "dev:watch", *BOTH) is NO


def test_an_uninvited_tenant_that_comes_over_an_uplink() -> None:
    """The copy is on switch a; globex is on switch b, and the cable between the two carries its VLAN."""
    remote = marked(vlan("b", 200), owner="globex")
    ports = (tagged(1, 100, 200), tagged(2, 200))
    links = [("watch:eth1", "a:1"), ("a:2", "b:1")]

    def site(far: SwitchPortConfig | None) -> Site:
        fields = {"links": links, "devices": ["watch"], "sharing": declared("watch", "monitoring", "acme")}
        return site_with(switch("a", *ports), switch("b", *[far] if far else ()), **fields)  # type: ignore[arg-type]

    assert joined(site(tagged(1, 200)), vlan("b", 200), "dev:watch", ACME, remote) is YES
    assert joined(site(tagged(1, 300)), A200, "dev:watch", ACME, remote) is NO
    assert joined(site(None), A200, "dev:watch", ACME, remote) is PERHAPS


# Routing instances of switches (examples 37 and 49).


@pytest.mark.parametrize(("guard", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
def test_a_declared_vrf_is_split(guard: bool | None, expected: bool | None) -> None:
    instance = switch("a", vrfs=(Vrf(name="relay", vlans=(100, 200)),))
    entries = declared("a/relay", "name-and-time", listeners_listed=guard)
    assert joined(site_with(instance), A100, A200, *BOTH) is YES
    assert joined(site_with(instance, sharing=entries), A100, A200, *BOTH) is expected
    assert joined(site_with(instance, sharing=entries), "R:SN-a/relay@100", A100, *BOTH) is YES


@pytest.mark.parametrize(("guard", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
def test_a_declared_switch_is_split(guard: bool | None, expected: bool | None) -> None:
    entries = declared("a", "name-and-time", listeners_listed=guard)
    routing = switch("a", routed_vlans=(100, 200), ip_routing=True)
    assert joined(site_with(routing, sharing=entries), A100, A200, *BOTH) is expected
    quiet = switch("a", routed_vlans=(100, 200), ip_routing=False)
    assert joined(site_with(quiet, sharing=entries), A100, "R:SN-a@100", *BOTH) is NO


def test_the_audience_of_a_vrf() -> None:
    instance = switch("a", vrfs=(Vrf(name="relay", vlans=(100, 200)),))
    site = site_with(instance, sharing=declared("a/relay", "name-and-time", "acme"))
    assert joined(site, A100, "R:SN-a/relay", *BOTH) is NO
    assert joined(site, A200, "R:SN-a/relay", *BOTH) is YES
    # The audience is why: it is known to be another.
    joining = [edge for edge in edges(site, BOTH) if {edge.a, edge.b} == {"R:SN-a/relay@200", "R:SN-a/relay"}]
    assert [str(fact) for edge in joining for fact in edge.broken] == ["sharing.extra.audience"]


def test_labels_of_what_is_the_operators() -> None:
    instance = switch("a", tagged(1, 100, 200), vrfs=(Vrf(name="relay", vlans=(100,)),))
    site = site_with(instance, links=[("watch:eth1", "a:1")], devices=["watch"], sharing=declared("watch"))
    found = site_labels(Union(SiteFacts(site), BOTH))
    assert found["dev:watch"] == found["R:SN-a/relay"] == {"op"}
    assert "dev:watch/eth1@100" not in found


# Private VLANs: a promiscuous terminal meets each group by itself.


def back_end(entries: Sequence[Sharing], **fields: object) -> Site:
    """Two isolated boxes and the filer on a promiscuous port of VLAN 100."""
    ports = (access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="isolated"), access(3, 100))
    links = [("box-1:eth0", "a:1"), ("box-2:eth0", "a:2"), ("filer:e0", "a:3")]
    devices = ["box-1", "box-2", "filer"]
    return site_with(switch("a", *ports), links=links, devices=devices, sharing=tuple(entries), **fields)


BOXES = ("dev:box-1/eth0", "dev:box-2/eth0")
PRIVATE: SharingKind = "private-vlan-back-end"


@pytest.mark.parametrize(("guard", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
def test_isolated_members_before_a_terminal(guard: bool | None, expected: bool | None) -> None:
    assert joined(back_end(sharing()), *BOXES, ACME) is YES
    site = back_end(declared("filer", PRIVATE, roles_enforced=guard))
    assert joined(site, *BOXES, ACME) is expected
    assert joined(site, BOXES[0], "dev:filer/e0@100~port-1", ACME) is YES


@pytest.mark.parametrize(("guard", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
def test_isolated_members_need_the_mechanism(guard: bool | None, expected: bool | None) -> None:
    stated = assumptions(private_vlan_enforced=guard)
    assert joined(back_end(declared("filer", PRIVATE), assumptions=stated), *BOXES, ACME) is expected


@pytest.mark.parametrize(("mapped", "expected"), [(100, YES), (200, NO)])
def test_an_overlay_of_a_private_vlan_joins_its_groups(mapped: int, expected: bool) -> None:
    """Roles end with the switch: frames of the overlay come back as anybody's."""
    site = back_end(declared("filer", PRIVATE))
    fields = {name: getattr(site.switch["a"], name) for name in Switch.model_fields}
    over = Switch(**(fields | {"vteps": (Vtep(vlan=mapped, vni=7, underlay="spine", encapsulation="vxlan"),)}))
    others = tuple(item for item in site.switches if item.name != "a")
    assert joined(changed(site, switches=(*others, over)), *BOXES, ACME) is expected


def test_isolated_members_without_the_assumption() -> None:
    assert joined(back_end(declared("filer", PRIVATE), assumptions=without("A7")), *BOXES, ACME) is PERHAPS


def test_the_audience_of_a_back_end() -> None:
    boxes = (marked(BOXES[0]), marked(BOXES[1], owner="globex"))
    site = back_end(declared("filer", PRIVATE, "acme"))
    assert joined(site, BOXES[0], "dev:filer", *boxes) is NO
    assert joined(site, BOXES[1], "dev:filer", *boxes) is YES


# E19: InfiniBand ports (example 26).

KEY, STORE, FABRIC = "K:fe80:0x0100", "0000abcdef012345", "fabric:fe80"
PORTS = ("guid:000000000000000a", "guid:000000000000000b")


def members(full: str) -> tuple[GraphFragment, ...]:
    """One limited member for each tenant, and one full one."""
    rows = [(port, "limited") for port in PORTS] + [(full, "full")]
    keys = tuple(premise(Relation.KEY, KEY, port, membership, FABRIC) for port, membership in rows)
    return GraphFragment("op", (), {KEY: frozenset({"op"})}, keys), marked(PORTS[0]), marked(PORTS[1], owner="globex")


def test_limited_members_before_an_undeclared_full_one() -> None:
    assert joined(site_with(), *PORTS, *members(f"guid:{STORE}")) is YES


@pytest.mark.parametrize(("guard", "expected"), [(True, NO), (None, PERHAPS), (False, YES)])
def test_limited_members_before_a_terminal(guard: bool | None, expected: bool | None) -> None:
    site = site_with(sharing=declared(STORE.upper(), "storage-appliance", vips_per_owner=guard))
    assert joined(site, *PORTS, *members(f"guid:{STORE}")) is expected
    assert joined(site, PORTS[0], f"guid:{STORE}", *members(f"guid:{STORE}")) is expected


def test_a_second_full_member_that_is_no_terminal() -> None:
    site = site_with(sharing=declared(STORE, "storage-appliance"))
    more = GraphFragment("acme", (), {}, (premise(Relation.KEY, KEY, "guid:000000000000000c", "full", FABRIC),))
    assert joined(site, *PORTS, *members(f"guid:{STORE}"), more) is YES


def test_the_audience_of_an_infiniband_terminal() -> None:
    site = site_with(sharing=declared(STORE, "storage-appliance", "acme"))
    assert joined(site, PORTS[0], f"guid:{STORE}", *members(f"guid:{STORE}")) is NO
    assert joined(site, PORTS[1], f"guid:{STORE}", *members(f"guid:{STORE}")) is YES


def test_ports_that_no_tenant_calls_its_own_are_the_operators() -> None:
    site = site_with(sharing=declared(STORE, "storage-appliance"))
    found = site_labels(Union(SiteFacts(site), members("guid:000000000000000c")))
    assert found["guid:000000000000000c"] == found[f"guid:{STORE}"] == {"op"}
    assert not set(PORTS) & set(found)


def test_the_default_partition_has_members_of_both_kinds() -> None:
    """A6: without its guards all are one, limited or not."""
    keys = members(f"guid:{STORE}")
    entries = declared(STORE, "storage-appliance")
    for guard in ("subnet_manager_keys_set", "keys_enforced_at_switch", "default_partition_limited"):
        for value, expected in ((True, NO), (None, PERHAPS), (False, YES)):
            site = site_with(sharing=entries, assumptions=assumptions(**{guard: value}))
            assert joined(site, *PORTS, *keys) is expected


def test_a_port_of_two_owners_is_welcome_only_if_both_are() -> None:
    site = site_with(sharing=declared(STORE, "storage-appliance", "acme"))
    shares = (*members(f"guid:{STORE}"), marked(PORTS[0], owner="globex"))
    assert joined(site, PORTS[0], f"guid:{STORE}", *shares) is YES
    both = site_with(sharing=declared(STORE, "storage-appliance", "acme", "globex"))
    assert joined(both, PORTS[0], f"guid:{STORE}", *shares) is NO


# Two declarations on one node: all guards of both count, and whoever is in the audience of one is welcome.


def twice(node: str, first: Sharing, second: Sharing) -> tuple[Sharing, ...]:
    """The usual declarations and two of one node."""
    one, other = (item.model_copy(update={"node": node}) for item in (first, second))
    return (*sharing(), one.model_copy(update={"name": "one"}), other.model_copy(update={"name": "other"}))


def only(kind: SharingKind, *audience: str, **guards: bool | None) -> Sharing:
    return declared("", kind, *audience, **guards)[-1]


@pytest.mark.parametrize("guard", [True, None, False])
@pytest.mark.parametrize("place", [0, 1])
def test_all_guards_of_two_declarations_count(guard: bool | None, place: int) -> None:
    pair = [only("monitoring"), only("bastion")]
    pair[place] = only(pair[place].kind, no_proxying=guard)
    expected = {True: NO, None: PERHAPS, False: YES}[guard]
    assert joined(watched(twice("watch", *pair)), A100, A200, *BOTH) is expected
    routing = switch("a", vrfs=(Vrf(name="relay", vlans=(100, 200)),))
    assert joined(site_with(routing, sharing=twice("a/relay", *pair)), A100, A200, *BOTH) is expected
    keys = members(f"guid:{STORE}")
    assert joined(site_with(sharing=twice(STORE, *pair)), *PORTS, *keys) is expected


@pytest.mark.parametrize(("others", "expected"), [(("globex",), NO), (("initech",), YES)])
def test_two_declarations_have_two_audiences(others: tuple[str, ...], expected: bool) -> None:
    pair = (only("monitoring", "acme"), only("bastion", *others))
    assert joined(watched(twice("watch", *pair)), A200, "dev:watch", *BOTH) is expected
    assert joined(watched(twice("watch", *pair)), A100, "dev:watch", *BOTH) is NO
    assert (
        joined(site_with(sharing=twice(STORE, *pair)), PORTS[1], f"guid:{STORE}", *members(f"guid:{STORE}")) is expected
    )


@pytest.mark.parametrize("guard", [True, None, False])
@pytest.mark.parametrize("place", [0, 1])
def test_a_port_is_one_however_its_two_declarations_write_it(guard: bool | None, place: int) -> None:
    """The second one was the only one that counted, and the guard of the first went unseen."""
    pair = [only("monitoring"), only("bastion")]
    pair[place] = only(pair[place].kind, no_proxying=guard)
    first, second = twice(STORE, *pair)[-2:]
    entries = (*sharing(), first, second.model_copy(update={"node": STORE.upper()}))
    expected = {True: NO, None: PERHAPS, False: YES}[guard]
    assert joined(site_with(sharing=entries), *PORTS, *members(f"guid:{STORE}")) is expected
