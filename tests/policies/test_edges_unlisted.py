"""Edges to what no record tells of (E20), and to what a flavour hands out: each end, and each fact that is lacking."""

from __future__ import annotations

import pytest

from interlock.model.site.completeness import Table
from interlock.model.site.inventory import Site, SwitchPortConfig
from interlock.model.site.offers import FlavorSpec
from interlock.model.site.physical import Device
from policies.edges.shape import GraphFragment, Relation, premise
from tests.builders.pod64 import bare_metal_pod64, cable, cables
from tests.policies.forgetting import changed, undeclared
from tests.policies.joining import access, declared, marked, port, row, site_with, switch, tagged, vlan
from tests.policies.workspace import full_site

A100, B200 = vlan("a", 100), vlan("b", 200)
STRANGERS, OUTSIDE = "foreign:sandbox", "X:external"
SWITCHES = "where no table is complete, or a port has no cable, something may be there"
HOSTS = "a host may have interfaces that nobody listed"
DEVICES = "a machine or another device may be attached elsewhere, too"


# Switches.


@pytest.mark.parametrize(
    ("tables", "lacking"),
    [
        (("cables",), ("complete.cables.a",)),
        (("routing",), ("complete.routing.a",)),
        (("routing", "cables"), ("complete.cables.a", "complete.routing.a")),
        ((), ()),
    ],
)
def test_every_vlan_of_a_switch_may_meet_strangers(tables: tuple[Table, ...], lacking: tuple[str, ...]) -> None:
    site = site_with(switch("a", tagged(1, 100), access(2, 200)), switch("b"))
    for table in tables:
        site = undeclared(site, table, "a")
    found = row(SWITCHES, site, marked(A100, B200))
    # Ids that are used anywhere, and one for each stretch of the switches' lists.
    used = (10, 100, 110, 200, 1000, 2000)
    assert {(near, facts) for near, far, facts in found} == {(vlan("a", number), lacking) for number in used if lacking}
    assert {far for _, far, _ in found} <= {STRANGERS}


def test_every_vlan_of_a_switch_may_be_outside() -> None:
    site = undeclared(site_with(switch("a", tagged(1, 100))), "external_attachments", "a")
    found = row(SWITCHES, site, marked(A100))
    assert (A100, OUTSIDE, ("complete.external_attachments.a",)) in found
    assert {far for _, far, _ in found} == {OUTSIDE}


def test_each_group_of_a_private_vlan_may_meet_strangers() -> None:
    one = switch("a", access(1, 100, private_vlan="isolated"), access(2, 100, private_vlan="red"))
    links = [("box:eth0", "a:1"), ("other:eth0", "a:2")]
    site = undeclared(site_with(one, links=links, devices=["box", "other"]), "cables", "a")
    lacking = ("complete.cables.a",)
    found = {
        edge for edge in row(SWITCHES, site, marked(A100)) if edge[0].endswith(":100") and edge[0].startswith("L:SN-a")
    }
    groups = {"L:SN-a~port-1:100", "L:SN-a~group-red:100"}
    assert {edge[0] for edge in found} == {A100, *groups}
    assert {edge[1:] for edge in found} == {(STRANGERS, lacking)}


def opened(
    *ports: SwitchPortConfig, without: int | None = None, groups: tuple[tuple[int, int], ...] = ((1, 3),)
) -> Site:
    """Switch a with these ports, of which nobody saw that they are empty; without any record of one of them."""
    base = site_with(switch("a", *ports, port_groups=groups), links=[("box:eth0", "a:2")], devices=["box"])
    kept = {item.port: item for item in base.switch["a"].ports} | {item.port: item for item in ports}
    left = tuple(item for number, item in sorted(kept.items()) if number != without)
    others = tuple(item for item in base.switches if item.name != "a")
    return changed(base, switches=(*others, base.switch["a"].model_copy(update={"ports": left})))


@pytest.mark.parametrize(
    ("item", "vlans"),
    [
        (tagged(1, 100), {100}),
        (tagged(3, 100, 200), {100, 200}),
        (port(1, untagged=300), {300}),
        (tagged(1, 100, empty=True), set()),
        (port(1, mode="disabled"), set()),
        # With a cable: what is there is listed.
        (tagged(2, 100), set()),
    ],
)
def test_what_is_plugged_into_a_port_without_a_cable(item: SwitchPortConfig, vlans: set[int]) -> None:
    """All tables are complete, and yet the port is open."""
    place = (f"switches.a.ports.{item.port}",)
    expected = {(vlan("a", number), STRANGERS, place) for number in vlans}
    used = marked(A100, vlan("a", 200), vlan("a", 300))
    assert row(SWITCHES, opened(item), used) == expected
    both = row(SWITCHES, undeclared(opened(item), "cables", "a"), used)
    assert {edge[2] for edge in both if edge[0] == A100} == {("complete.cables.a", *(place if 100 in vlans else ()))}


def test_a_port_without_a_record_and_a_cable_may_carry_everything() -> None:
    found = row(SWITCHES, opened(without=3, groups=((1, 2), (10, 1))), marked(A100, vlan("a", 200)))
    assert {(A100, STRANGERS, ("switches.a.ports.3",)), (vlan("a", 200), STRANGERS, ("switches.a.ports.3",))} <= found
    # A switch of two ports has no third.
    assert row(SWITCHES, opened(without=3, groups=((1, 1), (10, 1))), marked(A100)) == set()


def test_two_ports_without_a_cable_are_both_named() -> None:
    found = row(SWITCHES, opened(tagged(1, 100), tagged(3, 100)), marked(A100))
    assert found == {(A100, STRANGERS, ("switches.a.ports.1", "switches.a.ports.3"))}


# Hosts.

LEG = "L:SN-poplar-1/ens161f0:1000"


def test_vlans_of_a_hypervisor_may_leave_by_an_interface_that_nobody_listed() -> None:
    site = undeclared(full_site(), "attachments", "poplar-1")
    used = marked(LEG, "L:SN-poplar-2/ens161f0:1000", vlan("tor-1", 1000), "dev:SN-poplar-1")
    assert row(HOSTS, site, used) == {(LEG, STRANGERS, ("complete.attachments.poplar-1",))}
    assert row(HOSTS, full_site(), used) == set()


def lent(*hosts: str) -> GraphFragment:
    """A tenant's server on each of these hosts."""
    facts = tuple(premise(Relation.METAL, f"dev:acme:on-{host}", host) for host in hosts)
    return GraphFragment("acme", (), {}, facts)


def test_a_whole_host_may_be_attached_elsewhere_too() -> None:
    site = undeclared(bare_metal_pod64(), "attachments", "poplar-1")
    lacking = ("complete.attachments.poplar-1",)
    own = {f"dev:SN-poplar-1/{name}" for name in ("ens161f0", "ens161f1", "eno1", "idrac")}
    servers = {"dev:acme:on-poplar-1"}
    found = row(HOSTS, site, lent("poplar-1", "poplar-2"))
    assert found == {(node, STRANGERS, lacking) for node in own | servers}


# A hypervisor's plug that is in no list.

ATTACHED = "what is cabled to a switch port is attached there"


@pytest.mark.parametrize(
    ("plug", "known", "expected"),
    [
        ("eno9", True, ()),
        ("eno9", False, ("complete.attachments.poplar-1",)),
        ("idrac", False, ()),
    ],
)
def test_a_plug_of_a_hypervisor_in_no_list(plug: str, known: bool, expected: tuple[str, ...]) -> None:
    """It may be its guests' as well as its own; its BMC is neither."""
    site = site_with(switch("a", access(1, 100)), links=[(f"poplar-1:{plug}", "a:1")])
    site = site if known else undeclared(site, "attachments", "poplar-1")
    at = f"dev:SN-poplar-1/{plug}"
    assert {edge for edge in row(ATTACHED, site) if edge[0] == at} == {(at, "port:SN-a/1", expected)}


def test_a_plug_of_a_whole_host_or_of_a_device_is_its_own() -> None:
    """Their unlisted attachments are another row."""
    base = bare_metal_pod64()
    site = undeclared(base, "attachments", "poplar-1", "ipum-01")
    assert {facts for _, _, facts in row(ATTACHED, site)} == {()}


# Devices that a flavour hands out.

GUEST = "dev:acme:guest"
FUNCTIONS = "a network function of a flavour reaches every VLAN"


def handed(host: str, flavor: str) -> GraphFragment:
    """A server with a device of its host, and VLANs that are in use."""
    given = premise(Relation.PASSTHROUGH, GUEST, host, flavor)
    labels = {A100: frozenset({"acme"}), B200: frozenset({"acme"})}
    return GraphFragment("acme", (), labels, (given,))


def with_flavor(*ports: SwitchPortConfig, **fields: object) -> Site:
    """A host of which one leg is at port 1 of switch a, and the other at port 2 if that has a record."""
    flavor = FlavorSpec.model_validate(
        {"name": "gpu", "role": "poplar", "vcpus": 1, "ram_gib": 1, "disk_gib": 1} | fields
    )
    plugs = [cable("poplar-1:ens161f0", "a:1"), cable("poplar-1:ens161f1", "a:2")]
    kept = [item for item in cables() if item.a.device != "poplar-1"]
    one = switch("a", *ports)
    return site_with(one, flavors=(flavor,), cables=(*kept, *plugs))


BOTH = (tagged(1, 100), access(2, 200))
SAID = ("flavors.gpu.devices",)


@pytest.mark.parametrize(("devices", "lacking"), [("network", ()), (None, SAID)])
def test_a_function_reaches_every_vlan_behind_its_host(devices: str | None, lacking: tuple[str, ...]) -> None:
    found = row(FUNCTIONS, with_flavor(*BOTH, devices=devices), handed("poplar-1", "site:Flavor/gpu"))
    assert found == {(GUEST, A100, lacking), (GUEST, vlan("a", 200), lacking)}


@pytest.mark.parametrize("flavor", ["site:Flavor/gpu", "site:Flavor/none", "flavor"])
def test_a_device_that_is_no_network_function(flavor: str) -> None:
    """Of a flavour that the site does not list nobody says what it hands out: a rule of its own asks."""
    site = undeclared(with_flavor(*BOTH, devices="other"), "attachments", "poplar-1")
    assert row(FUNCTIONS, site, handed("poplar-1", flavor)) == set()


def test_a_server_after_one_that_has_no_function() -> None:
    given = (
        premise(Relation.PASSTHROUGH, "dev:acme:first", "poplar-1", "site:Flavor/none"),
        premise(Relation.PASSTHROUGH, GUEST, "poplar-1", "site:Flavor/gpu"),
    )
    share = GraphFragment("acme", (), {A100: frozenset({"acme"})}, given)
    assert (GUEST, A100, ()) in row(FUNCTIONS, with_flavor(*BOTH, devices="network"), share)


def test_a_function_behind_a_port_without_a_record() -> None:
    found = row(FUNCTIONS, with_flavor(access(2, 200)), handed("poplar-1", "site:Flavor/gpu"))
    doubt = (*SAID, "switches.a.ports.1")
    assert {(GUEST, A100, doubt), (GUEST, vlan("a", 200), doubt), (GUEST, vlan("a", 200), SAID)} <= found
    assert (GUEST, A100, SAID) not in found


@pytest.mark.parametrize(("devices", "said"), [("network", ()), (None, SAID)])
def test_a_function_of_a_host_with_unlisted_interfaces(devices: str | None, said: tuple[str, ...]) -> None:
    site = undeclared(with_flavor(*BOTH, devices=devices), "attachments", "poplar-1")
    found = row(FUNCTIONS, site, handed("poplar-1", "site:Flavor/gpu"))
    assert {edge for edge in found if edge[1] == STRANGERS} == {
        (GUEST, STRANGERS, (*said, "complete.attachments.poplar-1"))
    }


# Machines and other devices.


def test_each_part_of_a_machine_may_be_attached_elsewhere_too() -> None:
    site = undeclared(full_site(), "attachments", "ipum-01")
    parts = {f"dev:SN-ipum-01/{name}" for name in ("rnic", "gw", "bmc")}
    assert row(DEVICES, site) == {(part, STRANGERS, ("complete.attachments.ipum-01",)) for part in parts}


@pytest.mark.parametrize(
    ("role", "shared", "is_lacking"),
    [
        ("other", False, True), ("appliance", False, True), ("other", True, False),
        # These have one attachment by what they are.
        ("pdu", False, False), ("switch-management", False, False),
    ],
)  # fmt: skip
def test_a_device_may_be_attached_elsewhere_too(role: str, shared: bool, is_lacking: bool) -> None:
    site = site_with(
        switch("a", access(1, 100)),
        links=[("box:eth0", "a:1")],
        devices=["box"],
        sharing=declared("box" if shared else "another"),
    )
    site = changed(site, devices=(Device.model_validate({"name": "box", "role": role}),))
    expected = {("dev:box/eth0", STRANGERS, ("complete.attachments.box",))} if is_lacking else set()
    assert row(DEVICES, site) == set()
    assert row(DEVICES, undeclared(site, "attachments", "box")) == expected
