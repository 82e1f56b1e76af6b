"""The full form of a site, printed and loaded again, is the same site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given

from infra.cli.formats import Format
from infra.commands.site import written as text_of
from infra.reports.site_summary import summary
from interlock.model.fleet import site_folders
from interlock.model.site.expansion import expand_site
from interlock.model.site.file import SiteFile, TenantDefaultsFile
from interlock.model.site.full import full_form
from interlock.model.site.inventory import Site, Vrf, Vtep
from interlock.model.site.loading import LoadedSite, load_site
from interlock.model.site.places import fact_path
from interlock.model.text.source import Source
from interlock.model.text.validation import validated
from tests.model.racks import SIZES
from tests.model.random_sites import sites
from tests.model.wide_site import loaded, wide

STACKS = Path(__file__).parents[2] / "stacks"
SHIPPED = ["lyon", *sorted(path.relative_to(STACKS).as_posix() for path in (STACKS / "leaky").iterdir())]


def again(site: LoadedSite, folder: Path, form: Format) -> LoadedSite:
    """The site loaded with all checks from its full form."""
    home = folder / site.site.name
    home.mkdir()
    text = text_of(full_form(site.site, site.defaults), form)
    (home / "site.yaml").write_text(text, encoding="utf-8")
    return load_site(home, folder)


def test_every_shipped_site_is_among_those_tested() -> None:
    found = {path.relative_to(STACKS).as_posix() for path in site_folders(STACKS)}
    assert found <= set(SHIPPED)


@pytest.mark.parametrize("form", [Format.YAML, Format.JSON])
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_sites_come_back(name: str, form: Format, tmp_path: Path) -> None:
    site = load_site(STACKS / name, STACKS.parent)
    back = again(site, tmp_path, form)
    assert back.site == site.site
    assert back.defaults == site.defaults
    assert back.file.racks == []


@pytest.mark.parametrize("design", SIZES)
def test_a_site_with_something_in_every_section_comes_back(design: str, tmp_path: Path) -> None:
    site = loaded(wide(design), tmp_path / "short")
    # What was read of controllers is in files beside the site's own.
    assert all(getattr(site.site, name) not in ((), {}, None) for name in {*Site.model_fields} - {"controllers_read"})
    (tmp_path / "full").mkdir()
    back = again(site, tmp_path / "full", Format.YAML)
    assert (back.site, back.defaults) == (site.site, site.defaults)
    assert back.defaults.share_type == "nfs"


def test_a_rack_without_a_number_comes_back_without_one(tmp_path: Path) -> None:
    document = wide("ipu-pod64")
    del document["racks"][0]["address_plan"]
    site = loaded(document, tmp_path / "short")
    (tmp_path / "full").mkdir()
    back = again(site, tmp_path / "full", Format.YAML)
    assert [(rack.name, rack.number) for rack in back.site.logical_racks] == [("pod", None), ("spare", 77)]


@pytest.mark.parametrize("design", SIZES)
def test_the_order_of_the_file_is_kept(design: str, tmp_path: Path) -> None:
    """What comes from racks first, then what is beside them."""
    site = loaded(wide(design), tmp_path).site
    assert [item.name for item in site.machines][-1] == "spare-01"
    assert [item.name for item in site.switches][-4:] == ["spine-1", "dumb-1", "dark-1", "grey-1"]
    assert [str(cable.a) for cable in site.cables[-5:]] == [
        "spine-1:9", "spine-1:10", "spine-1:11", "spare-01:psu-1", "dumb-1:1",
    ]  # fmt: skip
    assert [rack.name for rack in site.logical_racks][-1] == "spare"


def test_ports_are_disabled_only_where_the_table_is_declared_complete(tmp_path: Path) -> None:
    site = loaded(wide("ipu-pod64"), tmp_path).site
    assert site.switch["dumb-1"].ports == ()
    assert site.switch["dark-1"].ports == ()
    assert {port.mode for port in site.switch["grey-1"].ports} == {"disabled"}


def test_words_of_switches_are_read_and_written(tmp_path: Path) -> None:
    site = loaded(wide("ipu-pod64"), tmp_path)
    spine = site.site.switch["spine-1"]
    assert [spine.by_port[port].tag_native for port in (8, 9)] == [True, None]
    assert spine.by_port[9].translations == ((210, 110), (260, 160))
    assert [spine.by_port[port].private_vlan for port in (11, 12, 14)] == [None, "isolated", "batch"]
    assert (spine.by_port[15].mode, spine.by_port[15].untagged) == ("dot1q-tunnel", 13)
    assert spine.vrfs == (Vrf(name="acme", vlans=(1001,)), Vrf(name="GLOBEX_prod", vlans=(1002, 1005, 1006)))
    assert spine.vteps[0] == Vtep(vlan=1001, vni=7001, underlay="core", encapsulation="vxlan")
    assert [underlay.neutron for underlay in site.site.underlays] == [True, None]
    written = full_form(site.site, site.defaults)["switches"]["spine-1"]
    assert written["ports"]["1-8"] == {"mode": "trunk all native 7", "tag_native": True}
    assert written["ports"]["13-14"] == {"mode": "access 12", "private_vlan": "batch"}
    assert (written["ports"]["11"], written["ports"]["15"]) == ("access 12", "dot1q-tunnel 13")
    assert written["vteps"][1] == {"vlan": 1002, "vni": 7002, "underlay": "core"}


def test_every_switch_of_a_rack_has_its_vrfs_and_vteps(tmp_path: Path) -> None:
    document = wide("ipu-pod128")
    document["racks"][0]["tor"] |= {"vrfs": {"acme": 1001}, "vteps": [{"vlan": 1001, "vni": 7001, "underlay": "core"}]}
    site = loaded(document, tmp_path).site
    for name in ("tor-1", "tor-2"):
        assert site.switch[name].vrfs == (Vrf(name="acme", vlans=(1001,)),)
        assert [vtep.vni for vtep in site.switch[name].vteps] == [7001]
    assert site.switch["mgmt-1"].vteps == ()


def test_a_fault_of_a_port_leads_to_the_word_in_its_mapping(tmp_path: Path) -> None:
    site = loaded(wide("ipu-pod64"), tmp_path)
    path = fact_path(site.file, "switches.spine-1.ports.9.translations")
    assert path == ("switches", "spine-1", "ports", "9", "translations")


def test_where_a_state_stands_is_found_in_a_rack_and_beside_it(tmp_path: Path) -> None:
    document = wide("ipu-pod64")
    states = {"ipum-[03-04]": {"state": "failed", "reason": "RNIC dead"}}
    document["racks"][0]["machines"]["states"] = states
    file = loaded(document, tmp_path).file
    assert fact_path(file, "machines.ipum-04.state") == ("racks", 0, "machines", "states", "ipum-[03-04]")
    assert fact_path(file, "hosts.poplar-1.state") == ("racks", 0, "poplar", "states", "poplar-1")
    assert fact_path(file, "machines.spare-01.state") == ("machines", "spare-01", "state")


def test_ranges_stand_for_each_of_their_names(tmp_path: Path) -> None:
    site = loaded(wide("ipu-pod128"), tmp_path).site
    assert site.physical_network["fabric"].switches == ("tor-1", "tor-2", "spine-1")
    assert [str(cable.b) for cable in site.cables if cable.a.device == "spine-1"] == [
        "bare-1:ens1", "bare-1:ens2", "filer:e0",
    ]  # fmt: skip
    assert site.lags[-1].interfaces == ("9", "10")
    assert site.pools.vlans_by_name["ipu_data"].physical_networks == ("fabric", "mgmt")


def test_values_are_as_they_were_meant(tmp_path: Path) -> None:
    site = loaded(wide("ipu-pod64"), tmp_path).site
    assert site.prices is not None
    assert site.prices.prices == {"ipu-machine": "1.90", "bucket": "5", "volume-gib": "0.08"}
    assert site.infiniband[0].prefix == "fe80000000000007"
    assert site.pools.partition_keys[0].keys == ((0x0001, 0x00FF), (0x7FFE, 0x7FFE))
    assert site.pools.storage_vips == (2, 9)
    assert site.machine["spare-01"].macs == {"bmc": "02:00:00:00:09:01", "rnic": "02:00:00:00:09:03"}
    assert [(item.name, item.state, item.state_reason) for item in site.machines if not item.in_service] == [
        ("spare-01", "failed", "RNIC dead, ticket 123")
    ]
    assert [(item.name, item.state, item.state_reason) for item in site.hosts if not item.in_service] == [
        ("gpu-su01-n31", "failed", "GPU 3 fell off"), ("bare-1", "maintenance", "new firmware"),
    ]  # fmt: skip
    assert [item.node for item in site.sharing] == ["external", "filer"]
    assert [item.rule for item in site.sharing] == ["L3-08", "SEC-14"]
    assert {item.id: item.guards for item in site.assumptions}["A11"]["bucket_rules_enforced"] is False


def test_the_full_form_has_no_short_form_and_no_anchors(tmp_path: Path) -> None:
    site = load_site(STACKS / "lyon", STACKS.parent)
    text = text_of(full_form(site.site, site.defaults), Format.YAML)
    document = yaml.safe_load(text)
    assert "racks" not in document
    assert not any(line.split("#")[0].rstrip().endswith(("&id001", "*id001")) for line in text.splitlines())
    assert json.loads(text_of(full_form(site.site, site.defaults), Format.JSON)) == document
    assert set(document) <= set(SiteFile.model_fields)


def test_the_summary_counts_and_names_what_is_unknown(tmp_path: Path) -> None:
    lines = summary(loaded(wide("ipu-pod128"), tmp_path).site).splitlines()
    words = {" ".join(line.split()) for line in lines}
    assert "machines 33 32 ipu-m2000, 1 bow-2000" in words
    guards = "does not hold: address_scope_closed; unknown: l3_agent_enforces_scopes"
    assert f"external external-network any tenant rule L3-08 {guards}" in words
    assert "switches: ports dumb-1, dark-1" in words
    assert "switches: encapsulation of VTEPs spine-1" in words
    assert "prices poplar-vcpu, poplar-ram-gib, bare-metal-host, controller and 2 more" in words


@given(site=sites())
def test_any_site_comes_back(site: Site) -> None:
    """Written, parsed and expanded, whether or not its names lead anywhere."""
    defaults = TenantDefaultsFile(flavor="f")
    text = text_of(full_form(site, defaults), Format.YAML)
    file = validated(SiteFile, Source(Path("site.yaml"), "site.yaml", text))
    assert expand_site(file) == site
    assert file.tenant_defaults == defaults
