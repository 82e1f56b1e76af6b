"""What only shows when all files of a site are read together."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.model.load import InputErrors, Workspace, load_workspace
from tests.model.small_site import changed, small_fleet


def faults(stacks: Path) -> list[str]:
    """First lines of everything that is wrong."""
    with pytest.raises(InputErrors) as raised:
        load_workspace(stacks, "yard")
    return [str(error).splitlines()[0] for error in raised.value.errors]


def add_tenant(stacks: Path, name: str, old: str = "Acme", new: str = "Acme") -> None:
    """Another tenant file, a copy of acme's with one change."""
    tenants = stacks / "yard/tenants"
    (tenants / name).write_text((tenants / "acme.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    changed(tenants / name, old, new)


def test_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    add_tenant(stacks, "globex.yaml", "machines: 4", "machines: 5")
    changed(stacks / "yard/tenants/acme.yaml", "machines: 4", "ipus: 6")
    (stacks / "yard/site.lock.json").write_text("{}", encoding="utf-8")
    assert [line.split(" ")[:2] for line in faults(stacks)] == [
        ["stacks/yard/site.lock.json:1:1:", "IN-034"],
        ["stacks/yard/tenants/acme.yaml:5:11:", "IN-004"],
        ["stacks/yard/tenants/globex.yaml:5:15:", "IN-004"],
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("globex.yml", "a tenant's file ends in `.yaml`, not `.yml`"),
        ("site.yaml", "`site` is reserved"),
        ("op.yaml", "`op` is reserved"),
        ("world.yaml", "`world` is reserved"),
        ("foreign.yaml", "`foreign` is reserved"),
        ("cloud.yaml", "`cloud` is reserved"),
        ("Globex.yaml", "`Globex` is no name here"),
        ("yard-controllers.yaml", "`yard-controllers` is the project of controllers"),
    ],
)
def test_the_name_of_the_file_is_the_id(tmp_path: Path, name: str, words: str) -> None:
    stacks = small_fleet(tmp_path)
    add_tenant(stacks, name)
    assert faults(stacks) == [f"stacks/yard/tenants/{name}: IN-006 {words}"]


def test_two_tenants_cannot_make_one_name(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    changed(stacks / "yard/tenants/acme.yaml", "train:", "x-y:")
    add_tenant(stacks, "acme-x.yaml", "x-y:", "y:")
    found = faults(stacks)
    assert len(found) == 1
    assert found[0].endswith("IN-009 on the cloud `acme-x-y` would be a name of tenant `acme-x` too")


def test_a_vpod_that_is_released_keeps_its_name(tmp_path: Path) -> None:
    """Its volumes stay, and are called by it."""
    stacks = small_fleet(tmp_path)
    changed(stacks / "yard/tenants/acme.yaml", "train:", "x-y:\n    state: released")
    add_tenant(stacks, "acme-x.yaml", "x-y:\n    state: released", "y:")
    found = faults(stacks)
    assert len(found) == 1
    assert found[0].endswith("IN-009 on the cloud `acme-x-y` would be a name of tenant `acme-x` too")


def test_a_guard_that_is_left_out_or_unknown_is_none(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    changed(stacks / "yard/site.yaml", "{vlan_lists_enforced: true}", "{vlan_lists_enforced: unknown}")
    site = load_workspace(stacks, "yard").site
    assumed, (external,) = {item.id: item.guards for item in site.assumptions}, site.sharing
    assert assumed["A1"]["vlan_lists_enforced"] is None
    assert assumed.get("A5", {}).get("iommu") is None
    assert external.guards["no_tenant_ports"] is True
    assert external.guards.get("address_scope_closed") is None
    assert site.switch["tor-1"].ip_routing is None
    assert site.switch["tor-1"].routed_vlans is None


def test_a_workspace_cannot_be_changed(tmp_path: Path) -> None:
    workspace = load_workspace(small_fleet(tmp_path), "yard")
    with pytest.raises(TypeError):
        workspace.tenants["eve"] = workspace.tenants["acme"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        workspace.site = workspace.site  # type: ignore[misc]


def test_the_folder_may_be_given_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_fleet(tmp_path)
    monkeypatch.chdir(tmp_path)
    workspace: Workspace = load_workspace(Path("stacks"), "yard")
    assert workspace.position("cloud") == "stacks/yard/site.yaml:3:8"
    assert workspace.position("vpods", "train", tenant="acme") == "stacks/yard/tenants/acme.yaml:5:5"
