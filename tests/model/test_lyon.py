"""The shipped site `lyon`: what its short form expands to, and where its parts stand in the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from interlock.model.load import Workspace, load_workspace
from interlock.model.site.inventory import Cable

STACKS = Path(__file__).parents[2] / "stacks"


@pytest.fixture(scope="module")
def lyon() -> Workspace:
    """The site as shipped."""
    return load_workspace(STACKS, "lyon")


def far_end(lyon: Workspace, device: str, interface: str) -> str:
    """What is plugged in at the other end of the cable there."""
    cable = lyon.site.cable_at[(device, interface)]
    return str(cable.b if str(cable.a) == f"{device}:{interface}" else cable.a)


def test_design_expands_to_a_whole_rack(lyon: Workspace) -> None:
    site = lyon.site
    assert [machine.name for machine in site.machines] == [f"ipum-{number:02}" for number in range(1, 17)]
    assert [machine.position for machine in site.machines] == list(range(1, 17))
    assert Counter(host.role for host in site.hosts) == {"poplar": 4, "infra": 2}
    assert [(switch.name, len(switch.ports)) for switch in site.switches] == [("tor-1", 34), ("mgmt-1", 52)]
    poplar = site.host["poplar-1"]
    assert (poplar.dedicated_cpus, poplar.huge_pages_gib, poplar.virtual_functions) == (224, 464, 16)
    serials = {item.serial for item in site.machines} | {item.serial for item in site.hosts}
    assert len(serials | {item.serial for item in site.switches}) == 24


def test_port_map_is_that_of_the_design(lyon: Workspace) -> None:
    assert far_end(lyon, "tor-1", "7") == "ipum-07:rnic"
    assert [far_end(lyon, "tor-1", str(port)) for port in (17, 18, 23, 24)] == [
        "poplar-1:ens161f0", "poplar-1:ens161f1", "poplar-4:ens161f0", "poplar-4:ens161f1",
    ]  # fmt: skip
    assert far_end(lyon, "mgmt-1", "16") == "ipum-16:mgmt"
    assert [far_end(lyon, "mgmt-1", str(port)) for port in (33, 37, 38, 44, 45, 46, 47)] == [
        "poplar-1:idrac", "poplar-1:eno1", "poplar-1:eno2", "poplar-4:eno2", "tor-1-management:mgmt",
        "pdu-1:mgmt", "pdu-2:mgmt",
    ]  # fmt: skip
    assert far_end(lyon, "tor-1", "25") == "filer-1:e0a"
    assert not any(("tor-1", str(port)) in lyon.site.cable_at for port in range(26, 35))


def test_chain_has_four_links_between_neighbours_and_no_wrap(lyon: Workspace) -> None:
    def pair(cable: Cable) -> tuple[str, str]:
        return cable.a.device, cable.b.device

    for kind in ("ipu-link", "sync-link"):
        found = Counter(pair(cable) for cable in lyon.site.cables if cable.kind == kind)
        assert found == {(f"ipum-{i:02}", f"ipum-{i + 1:02}"): 4 for i in range(1, 16)}


def test_no_plug_is_used_twice(lyon: Workspace) -> None:
    ends = Counter(str(end) for cable in lyon.site.cables for end in (cable.a, cable.b))
    assert set(ends.values()) == {1}


def test_switch_ports_are_set_as_the_file_says(lyon: Workspace) -> None:
    tor, management = lyon.site.switch["tor-1"].by_port, lyon.site.switch["mgmt-1"].by_port
    assert (tor[1].mode, tor[1].untagged) == ("access", None)
    assert (tor[17].mode, tor[17].untagged, tor[17].tagged) == ("trunk", None, ((1000, 2999),))
    assert (tor[25].mode, tor[25].untagged, tor[25].tagged) == ("trunk", None, ((2000, 2999),))
    assert tor[26].mode == tor[33].mode == "disabled"
    assert (management[1].mode, management[1].untagged) == ("access", None)
    assert (management[49].mode, management[49].tagged) == ("trunk", ((110, 199),))
    assert management[17].mode == "disabled"


def test_tenants_get_the_defaults_that_they_leave_out(lyon: Workspace) -> None:
    research = lyon.tenants["globex"].vpods[0]
    assert (research.machines, research.poplar.flavor, research.poplar.image) == (
        8,
        "poplar.quarter",
        "poplar",
    )
    assert research.poplar.volume is None
    assert lyon.tenants["globex"].access.ssh_from == ()
    volume = lyon.tenants["acme"].vpods[0].poplar.volume
    assert volume is not None
    assert (volume.size_gib, volume.volume_type, volume.on_delete) == (100, "fast", "erase")


#: Nothing at this site rests on these: no InfiniBand, private VLANs, NVLink or whole hosts.
UNSTATED = {"A6", "A7", "A8", "A13", "A14", "A23"}


def test_every_guard_that_something_rests_on_is_stated(lyon: Workspace) -> None:
    found = {entry.name: entry.guards for entry in lyon.site.sharing}
    found |= {entry.id: entry.guards for entry in lyon.site.assumptions}
    assert {name: len(guards) for name, guards in found.items() if name not in UNSTATED} == {
        "external": 3, "vipu-controller": 6, "filer": 4, "A1": 2, "A2": 2, "A3": 3, "A4": 3, "A5": 4, "A9": 1, "A10": 1,
        "A11": 2, "A15": 1, "A16": 1, "A17": 1, "A18": 2, "A19": 2, "A20": 1, "A21": 1, "A22": 1, "A24": 2,
    }  # fmt: skip
    for name, guards in found.items():
        unstated = set(guards) if name in UNSTATED else set()
        assert guards == {guard: None if guard in unstated else True for guard in guards}


def test_terms_are_as_the_file_says(lyon: Workspace) -> None:
    site = lyon.site
    assert site.limits.machines_per_tenant == 16
    assert site.prices is not None
    assert (site.prices.currency, site.prices.prices["ipu-machine"]) == ("EUR", "1.90")
    assert "bare-metal-host" not in site.prices.prices
    assert not any(network.mtu or network.profile for network in site.physical_networks)


def test_shares_have_an_appliance_a_type_and_an_address(lyon: Workspace) -> None:
    """The VIP lies between the router's address and those of servers, in the storage subnet of the vPOD."""
    (nfs,) = lyon.site.share_types
    assert (nfs.name, nfs.storage_class, nfs.mount_options) == (
        "nfs", "nfs-appliance", ("vers=4.1", "hard", "nconnect=16"),
    )  # fmt: skip
    assert lyon.site.pools.storage_vips == (2, 9)
    (share,) = lyon.tenants["acme"].shares
    assert (share.size_gib, share.share_type, share.vpods, share.mount_point) == (
        100, "nfs", ("train",), "/mnt/datasets",
    )  # fmt: skip
    lock = lyon.locks["acme"].allocation.vpods["train"]
    assert (lock.storage_subnet, lock.storage_vip) == ("10.48.0.0/24", "10.48.0.2")
    assert lyon.locks["globex"].allocation.vpods["research"].storage_vip is None


def test_the_rack_stands_and_has_power(lyon: Workspace) -> None:
    site = lyon.site
    units = {item.device: item.unit for item in site.placements if item.unit is not None}
    assert (units["ipum-01"], units["ipum-16"], units["poplar-1"]) == (1, 16, 17)
    assert len(units) == 16 + 4 + 2
    assert Counter(cable.kind for cable in site.cables)["power"] == 2 * (16 + 4 + 2)
    assert site.physical_racks[0].pdus == {"pdu-1": "a", "pdu-2": "b"}


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        ("assumptions.A3.no_forwarding", "no_forwarding:"),
        ("sharing.external.guards.no_tenant_ports", "no_tenant_ports:"),
        ("switches.tor-1.routed_vlans", "routed_vlans: []"),
        ("switches.mgmt-1.ports.50", "49-50: trunk"),
        ("switches.mgmt-1.ports.3", "machines: access # as above"),
        ("hosts.poplar-2.interfaces.fabric100g", "interfaces: {fabric100g"),
        ("hosts.infra-1.interfaces.external", "{serial: PLACEHOLDER-INFRA-1"),
        ("external.address_scope", "address_scope:"),
    ],
)
def test_facts_of_the_full_form_are_found_in_the_file(lyon: Workspace, fact: str, line: str) -> None:
    name, number, _ = lyon.fact_position(fact).split(":")
    assert name == "stacks/lyon/site.yaml"
    lines = (STACKS / "lyon/site.yaml").read_text(encoding="utf-8").splitlines()
    assert line in lines[int(number) - 1]
