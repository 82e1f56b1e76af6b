"""Halls in the short form: what they expand to, also from an inventory, in full, and as slices of locks see them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.reports.site_summary import summary
from interlock.model.hall.file import HallFile
from interlock.model.lock.record import Allocation, ClusterAllocation
from interlock.model.site.full import full_form
from interlock.model.site.inventory import Site
from interlock.model.site.loading import LoadedSite, load_site
from interlock.model.site.places import fact_path
from interlock.model.text.errors import InputErrors
from interlock.planning.hashes import SiteHashes

BASE = Path(__file__).parents[1] / "errors" / "base"
#: Switches and cables of one unit without storage: 8 leaves, 4 spines, 8 cables each between two of them, 4 of UFM.
LEAVES, SPINES, BETWEEN, OF_MANAGERS = 8, 4, 256, 4


def document(**hall: Any) -> dict[str, Any]:
    """The small site with a hall `pod`, whose keys these are."""
    found: dict[str, Any] = yaml.safe_load((BASE / "yard/site.yaml").read_text(encoding="utf-8"))
    found["halls"] = {"pod": {"design": "h100-superpod", "units": 1, "compute": "ib-compute"} | hall}
    found["infiniband"] = {"ib-compute": {"prefix": "fe80000000000001"}, "ib-storage": {"prefix": "fe80000000000002"}}
    return found


def node(number: int) -> dict[str, Any]:
    """A node with a GUID on each compute port."""
    guids = {f"compute{rail}": f"0002c9{number:08x}{rail:02x}" for rail in range(1, 9)}
    return {"serial": f"DGX-{number}", "guids": guids, "macs": {"eno1": f"02:00:00:01:00:{number:02x}"}}


def load(folder: Path, found: dict[str, Any], inventory: str = "") -> LoadedSite:
    home = folder / "yard"
    home.mkdir(parents=True, exist_ok=True)
    (home / "site.yaml").write_text(yaml.safe_dump(found, sort_keys=False), encoding="utf-8")
    if inventory:
        (home / "nodes.csv").write_text(inventory, encoding="utf-8")
    return load_site(home, folder)


def table(*numbers: int) -> str:
    """An inventory of these nodes at the places of the same numbers."""
    ports = [f"guid compute{rail}" for rail in range(1, 9)]
    lines = [",".join(["place", "serial", "mac eno1", *ports])]
    for number in numbers:
        found = node(number)
        lines.append(
            ",".join([f"su01-n{number:02}", found["serial"], *found["macs"].values(), *found["guids"].values()])
        )
    return "\n".join(lines) + "\n"


IN_BAND = {"physical_network": "fabric", "ports": {"eno1": ["tor-1:29-32"]}}


def hall_of(*numbers: int, **hall: Any) -> dict[str, Any]:
    return document(nodes={f"su01-n{number:02}": node(number) for number in numbers}, in_band=IN_BAND, **hall)


def test_a_hall_is_spread_out_to_the_last_cable(tmp_path: Path) -> None:
    site = load(tmp_path, hall_of(1, 3)).site
    assert [item.name for item in site.gpu_nodes] == ["pod-su01-n01", "pod-su01-n03"]
    host, first = site.host["pod-su01-n03"], site.gpu_node["pod-su01-n01"]
    assert (host.role, host.provisioning, host.model, host.ram_gib) == ("gpu", "bare-metal", "dgx-h100", 2048)
    assert host.interfaces == {"fabric": ("eno1",)}
    assert [(port.name, port.rail, port.guid) for port in first.ports_for("compute")][:2] == [
        ("compute1", 1, "0002c90000000101"), ("compute2", 2, "0002c90000000102"),
    ]  # fmt: skip
    assert first.ports_for("storage") == ()
    assert Counter(item.tier for item in site.fabric_switches) == {"leaf": LEAVES, "spine": SPINES}
    assert sum(item.kind == "infiniband" for item in site.cables) == BETWEEN + 2 * LEAVES + OF_MANAGERS
    assert str(site.far_end("pod-su01-n03", "compute7")) == "pod-compute-su01-leaf7:3"
    # The third place has the third switch port, whoever stands at the second.
    assert str(site.far_end("pod-su01-n03", "eno1")) == "tor-1:31"


def test_a_hall_without_nodes_has_its_leaves_and_their_cables(tmp_path: Path) -> None:
    site = load(tmp_path, document()).site
    assert len(site.fabric_switches) == LEAVES + SPINES
    assert sum(item.kind == "infiniband" for item in site.cables) == BETWEEN + OF_MANAGERS


def test_storage_is_a_fabric_only_where_it_has_a_subnet(tmp_path: Path) -> None:
    site = load(tmp_path, hall_of(1, storage="ib-storage")).site
    storage = site.gpu_nodes[0].ports_for("storage")
    assert [(port.name, port.infiniband, port.rail) for port in storage] == [
        ("storage1", "ib-storage", 1), ("storage2", "ib-storage", 2),
    ]  # fmt: skip
    assert {item.infiniband for item in site.fabric_switches} == {"ib-compute", "ib-storage"}


def test_racks_of_the_design_hold_four_nodes_each(tmp_path: Path) -> None:
    site = load(tmp_path, hall_of(1, 2, 4, racks={"units": 52})).site
    placed = {item.device: (item.rack, item.unit, item.height_u, item.nameplate_w) for item in site.placements}
    assert placed["pod-su01-n02"] == ("pod-su01-rack01", 9, 8, 10200)
    assert placed["pod-su01-n04"] == ("pod-su01-rack01", 25, 8, 10200)
    assert [rack.name for rack in site.physical_racks] == [f"pod-su01-rack{number:02}" for number in range(1, 9)]


def test_an_inventory_says_what_nodes_would(tmp_path: Path) -> None:
    stated = load(tmp_path / "yaml", hall_of(1, 2, 4)).site
    found = document(in_band=IN_BAND, inventory="nodes.csv")
    assert load(tmp_path / "csv", found, table(1, 2, 4)).site == stated
    # Those that the file has, too, come first in it, and stand at their places all the same.
    both = hall_of(2, inventory="nodes.csv")
    assert load(tmp_path / "both", both, table(1, 4)).site == stated


def test_an_inventory_may_have_a_mark_carriage_returns_and_blanks(tmp_path: Path) -> None:
    found = document(in_band=IN_BAND, inventory="nodes.csv")
    plain = load(tmp_path / "plain", found, table(1, 2)).site
    text = "\ufeff" + table(1, 2).replace(",", " , ").replace("\n", "\r\n") + "\r\n"
    assert load(tmp_path / "marked", found, text).site == plain


def test_a_fault_of_a_node_is_told_where_the_inventory_has_it(tmp_path: Path) -> None:
    found = document(in_band=IN_BAND, inventory="nodes.csv")
    with pytest.raises(InputErrors) as raised:
        load(tmp_path, found, table(1, 2).replace("DGX-2", "I-1"))
    assert "yard/site.yaml" in str(raised.value)
    with pytest.raises(InputErrors) as raised:
        load(tmp_path, found, table(1, 2).replace("0002c90000000201", "0002c90000000101"))
    assert str(raised.value).startswith("yard/nodes.csv:3:34: IN-009 compute1 of `pod-su01-n02` has the GUID")


@pytest.mark.parametrize("units", [1, 4])
def test_a_hall_in_full_is_the_same_hall(units: int, tmp_path: Path) -> None:
    short = load(tmp_path / "short", hall_of(1, 2, 3, units=units, storage="ib-storage", racks={}))
    back = load(tmp_path / "full", full_form(short.site, short.defaults))
    assert back.site == short.site
    assert back.file.halls == {}


def test_where_a_switch_stands_is_found_in_its_hall_and_beside_it(tmp_path: Path) -> None:
    found = hall_of(1, switches={"compute-su01-leaf2": {"serial": "LEAF-2"}})
    found["fabric_switches"] = {"leaf-9": {"infiniband": "ib-storage", "tier": "leaf", "ports": 64}}
    loaded = load(tmp_path, found)
    path = ("halls", "pod", "switches", "compute-su01-leaf2")
    assert fact_path(loaded.file, "fabric_switches.pod-compute-su01-leaf2") == path
    assert fact_path(loaded.file, "fabric_switches.leaf-9.rail") == ("fabric_switches", "leaf-9", "rail")
    assert loaded.source.position(path) == loaded.source.position(("halls", "pod", "switches", "compute-su01-leaf2"))


def test_the_summary_counts_nodes_and_fabrics(tmp_path: Path) -> None:
    lines = summary(load(tmp_path, hall_of(1, 2)).site).splitlines()
    assert "  GPU nodes           2  2 dgx-h100 in pod" in lines
    assert "  InfiniBand         12  8 leaf of ib-compute, 4 spine of ib-compute" in lines


# What locks rest on.


def of_cluster(*hosts: str) -> Allocation:
    cluster = ClusterAllocation(
        hosts=hosts, cluster_network="fabric", cluster_vlan=700, cluster_subnet="10.96.0.0/24",
        partition_keys={"ib-compute": 1},
    )  # fmt: skip
    return Allocation(vpods={}, clusters={"train": cluster})


def slice_of(site: Site, allocation: Allocation) -> str:
    return SiteHashes(site).slice_hash(allocation)


def test_a_lock_rests_on_the_nodes_that_it_has_and_not_on_the_hall(tmp_path: Path) -> None:
    claims = of_cluster("pod-su01-n01")
    before = slice_of(load(tmp_path / "two", hall_of(1, 2)).site, claims)
    assert slice_of(load(tmp_path / "three", hall_of(1, 2, 3)).site, claims) == before
    another = hall_of(1, 2)
    another["halls"]["pod"]["nodes"]["su01-n02"]["guids"]["compute1"] = "00000000000000ff"
    assert slice_of(load(tmp_path / "another", another).site, claims) == before
    own = hall_of(1, 2)
    own["halls"]["pod"]["nodes"]["su01-n01"]["guids"]["compute1"] = "00000000000000ff"
    assert slice_of(load(tmp_path / "own", own).site, claims) != before
    moved = document(nodes={"su01-n01": node(1), "su01-n02": node(2)}, in_band=IN_BAND | {"ports": {"eno1": []}})
    assert slice_of(load(tmp_path / "moved", moved).site, claims) != before


def test_a_lock_without_clusters_knows_of_no_hall(tmp_path: Path) -> None:
    plain = hall_of()
    del plain["halls"]
    nobody = Allocation(vpods={})
    before = slice_of(load(tmp_path / "plain", plain).site, nobody)
    assert slice_of(load(tmp_path / "hall", hall_of(1, 2)).site, nobody) == before


def test_the_largest_hall_loads_from_its_inventory(tmp_path: Path) -> None:
    """1 023 nodes in 32 units, three tiers: every node with eight GUIDs of its own."""
    places = [(unit, place) for unit in range(1, 33) for place in range(1, 33)][:-1]
    ports = [f"guid compute{rail}" for rail in range(1, 9)]
    lines = [",".join(["place", "serial", *ports])]
    for number, (unit, place) in enumerate(places, start=1):
        guids = (f"0002c9{number:08x}{rail:02x}" for rail in range(1, 9))
        lines.append(",".join([f"su{unit:02}-n{place:02}", f"DGX-{number}", *guids]))
    site = load(tmp_path, document(units=32, inventory="nodes.csv"), "\n".join(lines) + "\n").site
    assert len(site.gpu_nodes) == 1023
    assert Counter(item.tier for item in site.fabric_switches) == {"leaf": 256, "spine": 256, "core": 128}
    assert len({port.guid for item in site.gpu_nodes for port in item.ports}) == 8 * 1023
    assert sum(item.kind == "infiniband" for item in site.cables) == 8 * 1023 + 4 + 2 * 8192


def test_the_form_of_a_hall_says_what_it_needs() -> None:
    required = {name for name, info in HallFile.model_fields.items() if info.is_required()}
    assert required == {"design", "units"}
