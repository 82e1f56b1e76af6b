"""Look-ups of a small site: bridge, switch port, device and declaration behind a name, a cable or an interface."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from interlock.model.site.completeness import Completeness
from interlock.model.site.inventory import Endpoint, PhysicalNetwork, Site
from interlock.model.site.physical import Vrf
from policies.facts.port_modes import PortMode, SwitchEnd
from policies.facts.site import SiteFacts
from tests.builders.pod64 import cable, machines
from tests.policies.forgetting import undeclared
from tests.policies.joining import access, declared, host, port, small, switch, tagged
from tests.policies.workspace import assumptions, full_site, sharing

A, B = switch("a", tagged(1, 100), access(2, 100)), switch("b", tagged(1, 200))


def cabled(*links: tuple[str, str], **fields: Any) -> SiteFacts:
    """Host h and two switches, with these cables."""
    return SiteFacts(small(A, B, links=links, **({"hosts": (host(),)} | fields)))


def end(text: str) -> Endpoint:
    """`device:interface`"""
    device, interface = text.split(":")
    return Endpoint(device=device, interface=interface)


def names(*found: SwitchEnd) -> list[str]:
    """`switch:port` of each."""
    return [f"{item.switch}:{item.port}" for item in found]


def test_facts_of_a_site_are_made_once() -> None:
    facts = SiteFacts(small())
    assert SiteFacts.of(facts) is facts
    assert SiteFacts.of(small()).site == small()


def test_what_nobody_declared() -> None:
    site = undeclared(full_site(), "cables", "tor-1")
    assert [str(fact) for fact in SiteFacts(site).undeclared("cables", "tor-1")] == ["complete.cables.tor-1"]
    assert SiteFacts(full_site()).undeclared("cables", "tor-1") == ()


def test_declarations_count_as_of_a_day() -> None:
    """Of one that is told, or else of today: of what was seen long ago or just now, one day may be too late."""

    def counts(seen: date, today: date | None) -> bool:
        item = Completeness(table="cables", devices=("a",), seen=seen.isoformat(), by="anne")
        moment = None if today is None else datetime.combine(today, time(), UTC)
        return not SiteFacts(small(A, complete=(item,), complete_max_age_h=48), moment).undeclared("cables", "a")

    now, old = datetime.now(UTC).date(), date(2020, 1, 10)
    assert [counts(old, date(2020, 1, day)) for day in (10, 12, 13)] == [True, True, False]
    assert [counts(now, None), counts(now - timedelta(days=5), None), counts(old, None)] == [True, False, False]


def test_an_assumption_is_asked_for_its_guards() -> None:
    facts = SiteFacts(full_site(assumptions=assumptions(iommu=False, pages_zeroed=None)))
    states = [
        facts.assumption("A5"), facts.assumption("A5", only="mitigations"), facts.assumption("A5", only="pages_zeroed"),
        facts.assumption("A5", without="iommu"), facts.assumption("A3"), facts.assumption("A5"),
    ]  # fmt: skip
    assert [state.value for state in states] == [False, True, None, None, True, False]


# Bridges.


def test_bridges_of_hosts() -> None:
    """One interface under two physical networks is one bridge; a host that is given out whole has none."""
    one = host(interfaces={"fabric": ("e0", "e1"), "other": ("e1", "e2")})
    facts = cabled(hosts=(one, host("m", provisioning="bare-metal")))
    bridges = {f"SN-h/{name}": (one, name) for name in ("e0", "e1", "e2")}
    assert facts.host_of_bridge == bridges
    assert facts.bridges_of("h") == tuple(bridges)
    assert facts.bridges_of("m") == facts.bridges_of("gone") == ()
    assert facts.bridges("h", "fabric") == ("SN-h/e0", "SN-h/e1")
    assert facts.bridges("h", "other") == ("SN-h/e1", "SN-h/e2")
    for whose, network in (
        (None, "fabric"),
        ("gone", "fabric"),
        ("h", None),
        ("h", "third"),
        ("m", "fabric"),
        ("", "fabric"),
    ):
        assert facts.bridges(whose, network) == ()


def test_switches_of_physical_networks() -> None:
    networks = (
        PhysicalNetwork(name="fabric", switches=("a", "gone")),
        PhysicalNetwork(name="wide", switches=("b", "a")),
    )
    facts = cabled(physical_networks=networks)
    assert {name: [item.name for item in found] for name, found in facts.switches_of.items()} == {
        "fabric": ["a"], "wide": ["b", "a"],
    }  # fmt: skip
    assert {bridge: item.name for bridge, item in facts.switch_of_bridge.items()} == {"SN-a": "a", "SN-b": "b"}
    assert facts.segments("wide", 7) == ("L:SN-b:7", "L:SN-a:7")
    assert facts.segments("gone", 7) == facts.segments(None, 7) == ()


# Cables.


def test_ends_of_cables() -> None:
    """Whichever end stands first; what is no frames' is left out."""
    power = cable("h:psu", "pdu:1").model_copy(update={"kind": "power"})
    links = [("h:e0", "a:1"), ("b:2", "h:e1"), ("cam:eth0", "a:2"), ("b:1", "a:3"), ("h:e2", "cam:eth1")]
    facts = cabled(cables=(power, *(cable(a, b) for a, b in links)))
    assert [(str(near.device), near.interface, *names(far)) for near, far in facts.device_ends] == [
        ("h", "e0", "a:1"), ("h", "e1", "b:2"), ("cam", "eth0", "a:2"),
    ]  # fmt: skip
    assert {name: [(at, *names(far)) for at, far in found] for name, found in facts.ends_of.items()} == {
        "h": [("e0", "a:1"), ("e1", "b:2")]
    }
    assert len(facts.ethernet) == 5
    link = (SwitchEnd("b", 1), SwitchEnd("a", 3))
    assert facts.switch_links == (link,)
    assert facts.links_of == {"SN-b": {link[0]: (link,)}, "SN-a": {link[1]: (link,)}}
    assert [facts.switch_end(end(text)) for text in ("a:1", "h:e0", "a:mgmt")] == [
        SwitchEnd("a", 1), None, SwitchEnd("a", 0),
    ]  # fmt: skip
    assert {bridge: names(far) for bridge, far in facts.uplink.items()} == {"SN-h/e0": ["a:1"], "SN-h/e1": ["b:2"]}


def test_an_interface_without_a_cable_has_no_uplink() -> None:
    assert {bridge: names(far) for bridge, far in cabled(("h:e1", "a:1")).uplink.items()} == {"SN-h/e1": ["a:1"]}


def test_several_cables_of_one_port() -> None:
    facts = cabled(("a:1", "b:1"), ("a:1", "b:2"))
    first, second = facts.switch_links
    assert facts.links_of["SN-a"] == {SwitchEnd("a", 1): (first, second)}


def test_what_is_behind_switch_ports() -> None:
    """A host's bridge, a declared device, or what may send any frame."""
    site = cabled(
        ("h:e0", "a:1"),
        ("h:bmc", "a:2"),
        ("cam:eth0", "b:1"),
        ("box:eth0", "b:2"),
        sharing=declared("cam", "monitoring"),
    )
    assert [near.interface for near, _ in site.ordinary_ends] == ["bmc", "eth0"]
    assert [near.device for near, _ in site.ordinary_ends] == ["h", "box"]
    assert [(near.device, *names(far)) for near, far in site.declared_ends] == [("cam", "b:1")]


@pytest.mark.parametrize(
    ("vlan", "network", "expected"),
    [
        # A flat external network has its interface for itself; the kernel is on all others.
        (None, "fabric", {"dev:SN-h/e2": "b:2"}),
        (7, "fabric", {"dev:SN-h/e0": "a:1", "dev:SN-h/e1": "b:1", "dev:SN-h/e2": "b:2"}),
        (None, "other", {"dev:SN-h/e0": "a:1", "dev:SN-h/e1": "b:1"}),
        (None, "third", {"dev:SN-h/e0": "a:1", "dev:SN-h/e1": "b:1", "dev:SN-h/e2": "b:2"}),
    ],
)
def test_interfaces_that_the_kernel_is_on(vlan: int | None, network: str, expected: dict[str, str]) -> None:
    one = host(interfaces={"fabric": ("e0", "e1"), "other": ("e2",)})
    outside = full_site().external.model_copy(update={"vlan": vlan, "physical_network": network})
    facts = cabled(("h:e0", "a:1"), ("h:e1", "b:1"), ("h:e2", "b:2"), ("h:bmc", "a:2"), hosts=(one,), external=outside)
    assert {node: names(far)[0] for node, far in facts.kernel_at.items()} == expected


# Hosts that are given out whole.

PLUGS = (("m:e0", "a:1"), ("m:e9", "b:1"), ("m:bmc", "b:2"))


def whole(bmc: str | None = "bmc", **interfaces: tuple[str, ...]) -> SiteFacts:
    """Host m is given out whole, host h is not."""
    networks = (PhysicalNetwork(name="fabric", switches=("a",)), PhysicalNetwork(name="side", switches=("b",)))
    item = host("m", provisioning="bare-metal", bmc=bmc, interfaces=interfaces or {"fabric": ("e0", "e1")})
    return cabled(("h:e0", "a:2"), *PLUGS, hosts=(host(), item), physical_networks=networks)


def test_whole_hosts() -> None:
    facts = whole()
    assert [facts.is_bare_metal(name) for name in ("m", "h", "gone")] == [True, False, False]
    assert [item.name for item in facts.site.whole_hosts] == ["m"]
    assert facts.interfaces("m") == ("dev:SN-m/e0", "dev:SN-m/e9")
    assert facts.interfaces("h") == ("dev:SN-h/e0",)
    assert facts.interfaces("gone") == ()
    assert facts.lendable == {"dev:SN-m/e0", "dev:SN-m/e9"}
    assert (facts.bmc("m"), whole(None).bmc("m")) == ("dev:SN-m/bmc", "dev:SN-m/unstated-bmc")


def test_plugs_that_may_lead_to_a_bmc() -> None:
    """Only of a host of which nobody stated which one does, and only those in no list."""
    assert whole().doubtful_plugs("m") == whole().doubtful_plugs("gone") == ()
    assert whole(None).doubtful_plugs("m") == ("e9", "bmc")
    assert whole(None, side=("e9",)).doubtful_plugs("m") == ("e0", "bmc")
    assert whole(None).interfaces("m") == ("dev:SN-m/e0",)


@pytest.mark.parametrize(
    ("of", "network", "expected"),
    [
        ("m", "fabric", ["a:1"]),
        # Nothing is listed there: whatever is cabled to a switch that the network reaches.
        ("m", "side", ["b:1", "b:2"]), ("m", "gone", []), ("m", None, []),
        ("h", "fabric", []), ("gone", "fabric", []), (None, "fabric", []),
    ],
)  # fmt: skip
def test_switch_ports_behind_a_whole_host(of: str | None, network: str | None, expected: list[str]) -> None:
    assert names(*whole().bare_metal_ends(of, network)) == expected


# Machines.


def test_machines_and_their_parts() -> None:
    two = machines()[:2]
    stated = (
        two[0].model_copy(update={"macs": {"rnic": "AA-BB", "gw": "CC"}}),
        two[1].model_copy(update={"macs": {"gw": "DD"}}),
    )
    facts = cabled(machines=stated, hosts=())
    parts = {f"dev:SN-{name}/{part}" for name in ("ipum-01", "ipum-02") for part in ("gw", "bmc")}
    assert facts.management_parts == parts
    assert facts.machine_of_rnic == {"dev:SN-ipum-01/rnic": "ipum-01", "dev:SN-ipum-02/rnic": "ipum-02"}
    assert facts.lendable == set(facts.machine_of_rnic)
    assert [facts.held_with(item) for item in stated] == [
        ("machine:SN-ipum-01", "mac:aa%3Abb"), ("machine:SN-ipum-02",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("ipum-01:rnic", ("rnic",)), ("ipum-01:mgmt", ("gw", "bmc")),
        # A plug that the model does not have may be any part's.
        ("ipum-01:other", ("rnic", "gw", "bmc")),
    ],
)  # fmt: skip
def test_parts_behind_a_plug_of_a_machine(at: str, expected: tuple[str, ...]) -> None:
    facts = cabled(machines=machines()[:1])
    assert set(facts.devices_behind(end(at))) == {f"dev:SN-ipum-01/{part}" for part in expected}


def test_other_devices_behind_a_plug() -> None:
    facts = cabled()
    assert facts.devices_behind(end("h:e0")) == ("dev:SN-h/e0",)
    assert facts.devices_behind(end("cam:eth0")) == ("dev:cam/eth0",)
    assert (facts.serial("h"), facts.serial("cam")) == ("SN-h", "cam")


# VLANs and modes.


def test_stretches_of_ids_that_no_list_divides() -> None:
    def stretches(*ports: Any) -> tuple[tuple[int, int], ...]:
        return SiteFacts(small(switch("a", *ports))).stretches

    assert stretches() == ()
    assert stretches(port(1, tagged=((10, 20),))) == ((10, 20),)
    assert stretches(port(1, tagged=((10, 20),)), port(2, tagged=((15, 30), (40, 40)))) == (
        (10, 14), (15, 20), (21, 30), (40, 40),
    )  # fmt: skip
    assert stretches(port(1, tagged=None), port(2, tagged=((4000, 4094),))) == ((1, 3999), (4000, 4094))


def test_modes_of_switch_ports() -> None:
    facts = cabled()
    assert facts.configured(SwitchEnd("a", 1)) == facts.recorded(SwitchEnd("a", 1))
    assert facts.configured(SwitchEnd("a", 1)) == PortMode(known=True, tagged=((100, 100),))
    assert facts.configured(SwitchEnd("a", 2)).untagged == {100}
    assert not facts.configured(SwitchEnd("a", 999)).known
    assert facts.configured(SwitchEnd("a", 1)) is facts.configured(SwitchEnd("a", 1))
    assert facts.vlans == {100}


# Declarations.


def site_of(*nodes: tuple[str, str], **fields: Any) -> Site:
    """With these declarations, (node, kind), alone."""
    items = tuple(
        declared(node, kind)[-1].model_copy(update={"name": f"d{number}"})  # type: ignore[arg-type]
        for number, (node, kind) in enumerate(nodes)
    )
    return small(A, B, sharing=items, **fields)


GUID = "0011223344556677"


def test_declared_devices_switches_and_ports() -> None:
    site = site_of(
        ("cam", "monitoring"), ("b/red", "name-and-time"), ("cam", "registry"), (GUID, "storage-appliance"),
        (GUID.replace("f", "F"), "storage-appliance"), ("external", "external-network"), ("ctl", "vipu-controller"),
        switches=(A, B.model_copy(update={"vrfs": (Vrf(name="red", vlans=(7,)),)})),
    )  # fmt: skip
    facts = SiteFacts(site)
    found = {node: [item.name for item in items] for node, items in facts.shared.items()}
    assert found == {"cam": ["d0", "d2"], "b/red": ["d1"], GUID: ["d3", "d4"]}
    assert [item.name for item in facts.shared_switches] == ["b"]
    assert [item.name for item in SiteFacts(site_of(("a", "monitoring"))).shared_switches] == ["a"]


def test_one_infiniband_port_however_it_is_written() -> None:
    upper, lower = "00AABBCCDDEEFF00", "00aabbccddeeff00"
    facts = SiteFacts(site_of((upper, "storage-appliance"), (lower, "storage-appliance"), ("cam", "monitoring")))
    assert {node: [item.name for item in items] for node, items in facts.shared_ports.items()} == {
        f"guid:{lower}": ["d0", "d1"]
    }


@pytest.mark.parametrize(
    ("node", "at", "is_shared"),
    [
        ("cam", "cam:eth0", True), ("cam", "box:eth0", False), ("h", "h:e0", True),
        # Never a BMC, a machine, or what is lent out.
        ("h", "h:bmc", False), ("ipum-01", "ipum-01:rnic", False), ("m", "m:e0", False),
    ],
)  # fmt: skip
def test_declarations_at_the_end_of_a_cable(node: str, at: str, is_shared: bool) -> None:
    site = site_of((node, "monitoring"), hosts=(host(), host("m", provisioning="bare-metal")), machines=machines()[:1])
    assert [item.name for item in SiteFacts(site).shared_at(end(at))] == (["d0"] if is_shared else [])


def test_what_is_not_declared_is_not_shared() -> None:
    assert SiteFacts(small(A, sharing=sharing())).shared == {}
