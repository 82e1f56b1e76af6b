"""Sites of one fleet may not claim one thing (A12); another fleet is no concern of theirs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interlock.model.fleet import default_site
from interlock.model.load import InputErrors, load_fleet, load_workspace
from tests.model.small_site import changed, small_fleet


def second_site(stacks: Path, name: str = "yard2", *, own_serials: bool) -> Path:
    """A copy of `yard` under another name, with the same cloud."""
    folder = stacks / name
    shutil.copytree(stacks / "yard", folder)
    changed(folder / "site.yaml", "name: yard", f"name: {folder.name}")
    if own_serials:
        for serial in ("M-[", "H-[", "T-1", "G-1", "I-1"):
            changed(folder / "site.yaml", serial, f"X{serial}")
    return folder


def test_two_sites_with_one_cloud_are_refused(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    second_site(stacks, own_serials=True)
    with pytest.raises(InputErrors) as raised:
        load_workspace(stacks, "yard")
    assert [str(error).splitlines()[0] for error in raised.value.errors] == [
        "stacks/yard2/site.yaml:3:8: IN-040 the cloud `nowhere` belongs to stacks/yard/site.yaml already"
    ]


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("paris", "lyon", None),
        (
            "paris",
            "paris",
            "4:9: IN-040 region `paris` of the cloud `nowhere`",
        ),
        ("paris", None, "3:8: IN-040 the cloud `nowhere`"),
        (None, "paris", "3:8: IN-040 the cloud `nowhere`"),
    ],
)
def test_sites_of_one_cloud_are_told_apart_by_region(
    tmp_path: Path, first: str | None, second: str | None, told: str | None
) -> None:
    """Two regions of one Keystone share no network and no server (decision 2); who states none may mean either."""
    stacks = small_fleet(tmp_path)
    for folder, region in ((stacks / "yard", first), (second_site(stacks, own_serials=True), second)):
        if region is not None:
            changed(folder / "site.yaml", "cloud: nowhere", f"cloud: nowhere\nregion: {region}")
    if told is None:
        assert [item.site.region for item in load_fleet(stacks, tmp_path)] == [first, second]
        return
    with pytest.raises(InputErrors) as raised:
        load_fleet(stacks, tmp_path)
    assert [str(error).splitlines()[0] for error in raised.value.errors] == [
        f"stacks/yard2/site.yaml:{told} belongs to stacks/yard/site.yaml already"
    ]


def test_every_serial_that_two_sites_claim_is_told(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    changed(second_site(stacks, own_serials=False) / "site.yaml", "cloud: nowhere", "cloud: elsewhere")
    with pytest.raises(InputErrors) as raised:
        load_fleet(stacks, tmp_path)
    assert {error.code for error in raised.value.errors} == {"IN-040"}
    assert len(raised.value.errors) == 16 + 4 + 2 + 1


def test_a_serial_in_capitals_is_the_same_device(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    other = second_site(stacks, own_serials=True)
    changed(other / "site.yaml", "cloud: nowhere", "cloud: elsewhere")
    assert load_fleet(stacks, tmp_path)
    changed(other / "site.yaml", "XT-1", "t-1")
    with pytest.raises(InputErrors, match=r"IN-040 the serial `t-1` belongs to stacks/yard/site\.yaml already"):
        load_fleet(stacks, tmp_path)


def faults_of_two(stacks: Path, first: str, second: str) -> list[str]:
    """Messages about two sites that are apart but for these lines at the end of their files."""
    other = second_site(stacks, own_serials=True)
    changed(other / "site.yaml", "cloud: nowhere", "cloud: elsewhere")
    for folder, lines in ((stacks / "yard", first), (other, second)):
        with (folder / "site.yaml").open("a", encoding="utf-8") as file:
            file.write(lines)
    try:
        load_fleet(stacks, stacks.parent)
    except InputErrors as raised:
        return [f"{error.position} {error.code} {error.message}" for error in raised.errors]
    return []


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("underlays: {core: {mtu: 9216}}\n", "underlays: {core: {mtu: 1500}}\n", "the underlay `core`"),
        (
            "infiniband: {quantum: {prefix: fe80000000000007}}\n",
            "infiniband: {ndr: {prefix: FE80000000000007}}\n",
            "the InfiniBand subnet `fe80000000000007`",
        ),
        (
            "devices: {filer: {role: appliance, serial: F-1}}\n",
            "devices: {nas: {role: appliance, serial: F-1}}\n",
            "the serial `F-1`",
        ),
    ],
)
def test_two_sites_with_one_thing_are_refused(tmp_path: Path, first: str, second: str, told: str) -> None:
    found = faults_of_two(small_fleet(tmp_path), first, second)
    assert [text.split(" ", 1)[1] for text in found] == [f"IN-040 {told} belongs to stacks/yard/site.yaml already"]
    assert found[0].startswith("stacks/yard2/site.yaml:51:")


def test_two_sites_may_use_one_name_for_things_of_their_own(tmp_path: Path) -> None:
    """Names of racks, networks, profiles and InfiniBand subnets are local to a site."""
    lines = (
        "fabric_profiles: {roce: {pfc_priority: 3, dscp: 26, ecn: true, mtu: 9000}}\ninfiniband: {q: {prefix: %s}}\n"
    )
    assert faults_of_two(small_fleet(tmp_path), lines % ("a" * 16), lines % ("b" * 16)) == []


def test_a_site_in_another_fleet_may_look_the_same(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    case = second_site(stacks, "leaky/vlan_taken", own_serials=False)
    (case / "fleet.yaml").write_text("name: vlan_taken\n", encoding="utf-8")
    assert load_workspace(stacks, "yard").site.name == "yard"
    assert load_workspace(stacks, "leaky/vlan_taken").site.name == "vlan_taken"


def test_a_site_that_is_its_own_fleet_may_be_called_otherwise(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    case = second_site(stacks, "leaky/vlan_taken", own_serials=False)
    (case / "fleet.yaml").write_text("name: vlan_taken\n", encoding="utf-8")
    changed(case / "site.yaml", "name: vlan_taken", "name: yard")
    assert load_workspace(stacks, "leaky/vlan_taken").site.name == "yard"


def test_a_site_without_a_fleet_is_refused(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    (stacks / "fleet.yaml").unlink()
    with pytest.raises(InputErrors, match=r"stacks/fleet\.yaml: IN-020 the site belongs to no fleet"):
        load_workspace(stacks, "yard")


def test_the_only_site_is_the_default_without_a_fleet_file(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    (stacks / "fleet.yaml").unlink()
    assert default_site(stacks) == "yard"
    second_site(stacks, own_serials=True)
    with pytest.raises(InputErrors, match=r"stacks/fleet\.yaml: IN-020"):
        default_site(stacks)


def test_a_site_that_is_not_there_suggests_one(tmp_path: Path) -> None:
    with pytest.raises(InputErrors, match=r"IN-020 there is no such site\n  hint: did you mean `yard`\?"):
        load_workspace(small_fleet(tmp_path), "yrad")
