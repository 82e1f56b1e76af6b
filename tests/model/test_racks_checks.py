"""Faults of racks in a site file: each is found, at its place, in words that say what to do."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.hardware.designs import POD_DESIGNS
from interlock.model.site.full_file import SwitchFile
from interlock.model.site.loading import LoadedSite, load_site
from interlock.model.site.places import fact_path, places
from interlock.model.text.errors import InputErrors

from .racks import SIZES, written
from .small_site import small_fleet

STACKS = Path(__file__).parents[2] / "stacks"

RACK = {"name": "r-1", "units": 48, "feeds": {"a": "22kW", "b": "22kW"}}
CLOSE = {"uplinks": "none"}

#: (design, changes, what the marked line holds, the message)
FAULTS: list[tuple[str, dict[str, Any], str, str]] = [
    ("ipu-pod64", {"gw": "looped"}, "gw: looped", "`looped` joins 2 to 4 logical racks: ipu-pod64 has 1"),
    ("bow-pod256", {"gw": "direct-pair"}, "gw: direct-pair", "`direct-pair` joins 2 logical racks: bow-pod256 has 4"),
    ("ipu-pod128", {"gw": "switched"}, "gw: switched", "ipu-pod128 has no switches for its GW-Links"),
    ("ipu-pod128", {"gw_switches": {"serials": "W-1"}}, "serials: W-1", "no GW-Link of this pod leads to a switch"),
    ("bow-pod256", {"gw_switches": None}, "gw_switches:", "`gw_switches` is missing: GW-Links are switched"),
    ("bow-pod256", {"gw_switches": {"serials": "W-1"}}, "W-1", "1 serials of GW-Link switches: bow-pod256 has 2"),
    (
        "ipu-pod128",
        {"address_plan": "factory"},
        "address_plan: factory",
        "the factory's addresses are those of one logical rack: ipu-pod128 has 2",
    ),
    ("bow-pod256", {"number": 252}, "number: 252", "`pod-4` would have the number 255: there are 1 to 254"),
    ("ipu-pod128", {"poplar": {"serials": "H-[1-5]"}}, "H-[1-5]", "5 servers: 2 logical racks cannot have the same"),
    (
        "ipu-pod128",
        {"poplar": {"serials": "H-[01-10]"}},
        "H-[01-10]",
        "10 serials of Poplar hosts: ipu-pod128 has 2 to 8",
    ),
    ("ipu-pod128", {"pdus": "pdu-[1-3]"}, "pdu-[1-3]", "3 PDUs: 2 logical racks cannot have the same number each"),
    (
        "ipu-pod128",
        {"machines": {"serials": "M-[01-31]"}},
        "M-[01-31]",
        "31 serials of IPU-Machines: ipu-pod128 has 32",
    ),
    ("ipu-pod128", {"tor": {"serials": "T-1"}}, "serials: T-1", "1 serials of switches: ipu-pod128 has 2"),
    ("ipu-pod128", {"tor": {"names": "t-[1-3]"}}, "t-[1-3]", "3 names of switches: ipu-pod128 has 2"),
    ("ipu-pod64", {"tor": {"serial": "T-2"}}, "serials: T-[1-1]", "`serial` and `serials` say the same thing"),
    ("ipu-pod64", {"tor": {"serials": None}}, "serials: null", "`serial` is missing"),
    ("ipu-pod64", {"pdu_serials": "P-[1-3]"}, "P-[1-3]", "3 serials of PDUs: ipu-pod64 has 2"),
    ("ipu-pod64", {"machines": {"sync_cables": 5}}, "sync_cables: 5", "5 Sync-Link cables: ipu-pod64 has 0 to 4"),
    (
        "ipu-pod64",
        {"machines": {"rnic_cables": 2}},
        "rnic_cables: 2",
        "2 RNIC cables of 16 machines take 32 of the ToR's 32 ports of 100G, and the servers need 8",
    ),
    (
        "ipu-pod64",
        {"machines": {"macs": {"gw": "02:00:00:00:01:[00-0e]"}}},
        "0e]",
        "15 MAC addresses: ipu-pod64 has 16",
    ),
    ("ipu-pod64", {"machines": {"macs": {"gw": "02:00:00:00:01:[0e-00]"}}}, "0e-00]", "is no range of addresses"),
    (
        "ipu-pod64",
        {"machines": {"macs": {"gw": "03:00:00:00:01:01"}}},
        "03:00",
        "`03:00:00:00:01:01` is the address of a",
    ),
    (
        "ipu-pod64",
        {"pdus": "pdu-1", "power": "both-pdus"},
        "power: both-pdus",
        "1 PDUs: the 2 inputs of each device need 2",
    ),
    ("ipu-pod64", {"machines": {"nameplate": "1500W"}}, "1500W", "a nameplate counts in a physical rack, and none is"),
    ("ipu-pod64", {"tor": {"weight": "9kg"}}, "9kg", "a weight counts in a physical rack, and none is stated"),
    ("ipu-pod64", {"machines": {"nameplate": 1500}, "rack": RACK}, "nameplate: 1500", "`1500` is no power"),
    ("ipu-pod64", {"rack": {"units": 42}}, "units: 42", "a physical rack has either `name` or `names`"),
    ("ipu-pod64", {"rack": {"name": "r-1", "units": 20}}, "units: 20", "`r-1` has 20 units: its devices take 1 to 22"),
    (
        "ipu-pod64",
        {"rack": {"name": "r-1", "units": 42, "first_unit": 22}},
        "units: 42",
        "`r-1` has 42 units: its devices take 22 to 43",
    ),
    (
        "bow-pod256",
        {"rack": {"name": "r-1", "units": 100}, "gw_switches": {"height": "1U"}},
        "name: r-1",
        "1 physical racks: 4 logical racks stand in them equally, at most 2 in each",
    ),
    (
        "ipu-pod128",
        {"rack": {"names": ["r-1", "r-1"], "units": 42}},
        "r-1",
        "one physical rack stands in the list twice",
    ),
    (
        "ipu-pod64",
        {"rack": {"name": "r-1", "room": "hall"}},
        "room: hall",
        "`room` of a rack that has no `units:` here",
    ),
    ("ipu-pod64", {"rack": {**RACK, "pdus": {"pdu-9": "a"}}}, "pdu-9: a", "`pdu-9` is no PDU of this pod"),
    ("ipu-pod64", {"rack": {**RACK, "pdus": {"pdu-1": "c"}}}, "pdu-1: c", "`c` is no feed of this rack"),
    (
        "ipu-pod64",
        {"tor": {"port_map": {"machine": "1-16"}}},
        "machine: 1-16",
        "`machine` is no block of this switch's",
    ),
    (
        "ipu-pod64",
        {"tor": {"port_map": {"spare": "34-40"}}},
        "spare: 34-40",
        "ports 34 to 40: the switch has ports 1 to 34",
    ),
    (
        "ipu-pod64",
        {"tor": {"port_map": {"servers": "25-32"}}},
        "25-32",
        "port 25 would be of `servers` and of `uplinks`",
    ),
    (
        "ipu-pod64",
        {"tor": {"port_map": {"servers": "25-33", **CLOSE, "spare": 34}}},
        "25-33",
        "ports 25 to 33 are not all of 100G, which `servers` needs",
    ),
    ("ipu-pod64", {"tor": {"port_map": {"servers": "17-20"}}}, "17-20", "4 ports for `servers`: 8 cables end there"),
    (
        "ipu-pod64",
        {"management": {"port_map": {"idrac": "none"}}},
        "idrac: none",
        "0 ports for `idrac`: 4 cables end there",
    ),
    ("ipu-pod64", {"tor": {"port_map": {"servers": "17-18,20"}}}, "17-18,20", "`17-18,20` is no block of ports"),
    ("bow-pod256", {"gw_switches": {"ports": {"83": "access"}}}, "'83'", "port 83: the switch has ports 1 to 82"),
]


@pytest.mark.parametrize(("design", "changes", "line", "message"), FAULTS, ids=lambda value: str(value)[:40])
def test_fault(tmp_path: Path, design: str, changes: dict[str, Any], line: str, message: str) -> None:
    found = faults_of(tmp_path, [written(design, **changes)])
    assert len(found) == 1, found
    assert message in found[0][1]
    assert line in found[0][0]


def test_a_height_that_is_in_no_document_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = POD_DESIGNS["ipu-pod64"]
    unread = replace(pod.rack.server.height, provenance=type(pod.rack.server.height.provenance).REMEMBERED)
    rack = replace(pod.rack, server=replace(pod.rack.server, height=unread))
    monkeypatch.setitem(POD_DESIGNS, "ipu-pod64", replace(pod, rack=rack))
    found = faults_of(tmp_path, [written("ipu-pod64", rack=RACK)])
    assert [message for _, message in found] == ["how high `poplar` are stands in no document that could be read"]


def test_a_torus_needs_a_chain_that_can_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = POD_DESIGNS["ipu-pod64"]
    open_chain = replace(pod.rack, closure=replace(pod.rack.closure, value=False))
    monkeypatch.setitem(POD_DESIGNS, "ipu-pod64", replace(pod, rack=open_chain))
    found = faults_of(tmp_path, [written("ipu-pod64", topology="torus")])
    assert found == [("  topology: torus", "ipu-pod64 has no cable from the last machine back to the first")]


def test_all_faults_of_a_rack_come_at_once_and_in_the_order_of_lines(tmp_path: Path) -> None:
    changes = {"machines": {"serials": "M-1"}, "pdus": "pdu-[1-3]", "gw": "looped", "rack": {"units": 42}}
    found = faults_of(tmp_path, [written("ipu-pod64", **changes)])
    assert [message.split(":")[0] for _, message in found] == [
        "1 serials of IPU-Machines",
        "3 PDUs",
        "`looped` joins 2 to 4 logical racks",
        "a physical rack has either `name` or `names`",
    ]


def test_numbers_of_logical_racks_are_unique(tmp_path: Path) -> None:
    racks = [named("a", number=3), named("b", number=3)]
    assert faults_of(tmp_path, racks) == [("  number: 3", "`b` has the number 3 of `a`")]


def test_a_site_has_as_many_racks_as_it_likes_without_the_pod_plan(tmp_path: Path) -> None:
    site = load(tmp_path, [named(f"r{number:03}") for number in range(1, 301)], "[mgmt-r001]").site
    assert [(rack.name, rack.number) for rack in site.logical_racks][299:] == [("r300", None)]
    assert len(site.machines) == 300 * 16


def test_the_pod_plan_has_254_numbers(tmp_path: Path) -> None:
    plan = {"address_plan": "pod"}
    racks = [named(f"r{number:03}", **plan) for number in range(1, 258)]
    with pytest.raises(InputErrors) as raised:
        load(tmp_path, racks)
    [fault] = raised.value.errors
    assert fault.message == "`r255` would have the number 255: there are 1 to 254"
    assert fault.hint is not None
    assert "leave out `address_plan: pod`" in fault.hint
    assert lines_of(tmp_path)[int(fault.position.split(":")[1]) - 1] == "- name: r255"


def test_a_free_number_below_is_a_way_out(tmp_path: Path) -> None:
    plan = {"address_plan": "pod"}
    first = named("r", number=254, **plan)
    assert len(faults_of(tmp_path / "wrong", [first, named("s", **plan)], "[mgmt-r]")) == 1
    assert faults_of(tmp_path / "right", [first, named("s", number=1, **plan)], "[mgmt-r]") == []


@pytest.mark.parametrize(
    ("plans", "network", "wrong"),
    [
        (("factory", "pod"), "[mgmt-a, mgmt-b]", ["a"]),
        (("factory", "factory"), "[mgmt-a, mgmt-b]", ["b"]),
        (("pod", "pod"), "[mgmt-a, mgmt-b]", []),
        (("factory", "pod"), "[mgmt-a]", []),
        ((None, "pod"), "[mgmt-a, mgmt-b]", []),
    ],
)
def test_the_factorys_addresses_are_alone_on_their_network(
    tmp_path: Path, plans: tuple[str | None, str], network: str, wrong: list[str]
) -> None:
    racks = [named(name, address_plan=plan) for name, plan in zip("ab", plans, strict=True)]
    found = faults_of(tmp_path, racks, management=network)
    assert [message.split("`")[1] for _, message in found] == wrong
    assert all("address_plan: factory" in line for line, _ in found)


def test_a_mac_address_is_one_device(tmp_path: Path) -> None:
    stated = {"macs": {"bmc": "02:00:00:00:01:[00-0f]", "gw": ["02:00:00:00:01:0f", "02:00:00:00:02:[01-0f]"]}}
    found = faults_of(tmp_path, [written("ipu-pod64", machines=stated)])
    # Lines of a list begin below its key: the first of them is marked.
    assert [message for _, message in found] == [
        "bmc of `ipum-16` has the MAC address 02:00:00:00:01:0f of gw of `ipum-01`"
    ]


def test_every_part_of_a_pod_has_a_place(tmp_path: Path) -> None:
    loaded = load(tmp_path, [written("bow-pod256", pdu_serials="P-[1-8]")])
    found = {place.name: (place.section, place.serial_path) for place in places(loaded.file)}
    assert found["ipum-64"] == ("machines", ("racks", 0, "machines", "serials"))
    assert found["poplar-16"] == ("hosts", ("racks", 0, "poplar", "serials"))
    assert found["mgmt-4"] == ("switches", ("racks", 0, "management", "serials"))
    assert found["gw-switch-2"] == ("switches", ("racks", 0, "gw_switches", "serials"))
    assert found["pdu-8"] == ("devices", ("racks", 0, "pdu_serials"))
    assert fact_path(loaded.file, "switches.tor-3.ports.16") == ("racks", 0, "tor", "ports", "machines")
    assert fact_path(loaded.file, "switches.tor-3.ip_routing") == ("racks", 0, "tor", "ip_routing")


@pytest.mark.parametrize(("first", "second"), [("tor-1", "tor-1.lab"), ("tor-1.lab", "tor-1")])
def test_of_two_names_with_dots_the_longer_is_meant(tmp_path: Path, first: str, second: str) -> None:
    file = load(tmp_path, [written("ipu-pod64")]).file
    switch = SwitchFile.model_construct(serial="T-9")
    file = file.model_copy(update={"racks": [], "switches": dict.fromkeys((first, second), switch)})
    for name in (first, second):
        assert fact_path(file, f"switches.{name}.ip_routing") == ("switches", name, "ip_routing")


def test_what_is_shared_is_found_though_its_name_holds_dots(tmp_path: Path) -> None:
    file = load(tmp_path, [written("ipu-pod64")]).file
    assert fact_path(file, "sharing.a.guards.b.guards.c") == ("sharing", "a.guards.b", "guards", "c")
    assert fact_path(file, "sharing.a.net.audience") == ("sharing", "a.net", "audience")
    assert fact_path(file, "sharing") == ("sharing",)


def test_a_moved_block_is_found_by_its_ports(tmp_path: Path) -> None:
    moved = {"port_map": {"servers": "25-32", "uplinks": "17-24"}}
    loaded = load(tmp_path, [written("ipu-pod64", tor=moved)])
    assert fact_path(loaded.file, "switches.tor-1.ports.25") == ("racks", 0, "tor", "ports", "servers")


def test_what_is_stated_of_power_comes_after_every_cable_that_was_there() -> None:
    """Cables of a rack keep their order: ports first, then the chain, and cords last."""
    loaded = load_site(STACKS / "lyon", STACKS.parent)
    rack = [cable for cable in loaded.site.cables if cable.kind != "power"]
    assert [str(cable.a) for cable in rack[:2]] == ["tor-1:1", "tor-1:2"]
    assert [str(cable.b) for cable in rack[16:18]] == ["poplar-1:ens161f0", "poplar-1:ens161f1"]
    kinds = [kind for kind, _ in groupby(cable.kind for cable in loaded.site.cables if cable.kind != "sync-link")]
    assert kinds == ["ethernet", "ipu-link", "power", "ethernet"]  # at last those beside the rack


def named(name: str, **changes: Any) -> dict[str, Any]:
    """A rack `ipu-pod64` whose devices are all called after it."""
    letter = name.upper()
    return written(
        "ipu-pod64",
        machines={"names": f"{name}-[01-16]", "serials": f"M{letter}-[01-16]"},
        poplar={"names": f"p{name}-[1-4]", "serials": f"H{letter}-[1-4]"},
        tor={"name": f"tor-{name}", "serials": f"T{letter}-[1-1]"},
        management={"name": f"mgmt-{name}", "serials": f"G{letter}-[1-1]"},
        pdus=f"pdu-{name}-[1-2]",
        **changes,
    ) | {"name": name}


def tors_of(rack: dict[str, Any]) -> list[str]:
    """What its Poplar hosts are cabled to: one ToR for each logical rack."""
    return [rack["tor"].get("name", f"tor-{number}") for number in range(1, SIZES[rack["design"]][1] + 1)]


def load(folder: Path, racks: list[dict[str, Any]], management: str = "[mgmt-1]") -> LoadedSite:
    """The short site with these racks alone, and nothing on their cables."""
    stacks = small_fleet(folder)
    file = stacks / "yard/site.yaml"
    site = yaml.safe_load(file.read_text(encoding="utf-8"))
    tors = [name for rack in racks for name in tors_of(rack)]
    site |= {"racks": racks, "hosts": {}, "cables": []}
    site["physical_networks"] |= {"fabric": tors, "mgmt": yaml.safe_load(management)}
    # Every value on a line of its own, so that a position tells one from the other.
    text = yaml.safe_dump(site, sort_keys=False, width=1000)
    file.write_text(text, encoding="utf-8")
    return load_site(stacks / "yard", stacks.parent)


def lines_of(folder: Path) -> list[str]:
    """The lines of the site's file."""
    return (folder / "stacks/yard/site.yaml").read_text(encoding="utf-8").split("\n")


def faults_of(folder: Path, racks: list[dict[str, Any]], management: str = "[mgmt-1]") -> list[tuple[str, str]]:
    """(line that is marked, message) of each fault."""
    try:
        load(folder, racks, management)
    except InputErrors as error:
        lines = lines_of(folder)
        return [(lines[int(item.position.split(":")[1]) - 1], item.message) for item in error.errors]
    return []
