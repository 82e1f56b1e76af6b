"""Regions: which one is meant is stated or the only one, and nothing is chosen by the order of a catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlock.model.site.loading import load_site
from interlock.planning import SiteHashes
from interlock.provider.clouds import Cloud
from interlock.provider.diffing import compare
from interlock.provider.errors import Failure
from interlock.provider.regions import Catalogue
from interlock.store.home import cloud_of
from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from interlock.store.refusals import Foreign
from interlock.vocabulary import CloudFingerprint

TWO = ("RegionOne", "RegionTwo")
ONE_HERE, TWO_HERE = (CloudFingerprint("5eed", region) for region in TWO)


def _catalogue(**regions: tuple[str, ...]) -> Catalogue:
    entries: list[dict[str, Any]] = [
        {"type": kind.replace("_", "-"), "endpoints": [{"region_id": name} for name in names]}
        for kind, names in regions.items()
    ]
    return Catalogue.of(entries)


@pytest.mark.parametrize(
    ("regions", "stated", "chosen"),
    [
        ({"network": TWO, "compute": TWO}, "RegionTwo", "RegionTwo"),
        ({"network": TWO[:1], "compute": TWO[:1]}, "", "RegionOne"),
        # A region with nothing but storage or identity is none that a network could be in.
        ({"network": TWO[:1], "compute": TWO[:1], "image": TWO, "identity": ("global",)}, "", "RegionOne"),
        ({"object-store": TWO[:1]}, "", "RegionOne"),
        ({}, "", ""),
        ({}, "RegionOne", "RegionOne"),
    ],
)
def test_the_region_is_the_stated_one_or_the_only_one(regions: Any, stated: str, chosen: str) -> None:
    assert _catalogue(**regions).chosen("paris", stated) == chosen


@pytest.mark.parametrize(
    "regions", [{"network": TWO, "compute": TWO}, {"network": TWO[:1], "compute": TWO}, {"network": TWO[::-1]}]
)
def test_of_two_regions_none_is_chosen_and_both_are_named(regions: Any) -> None:
    with pytest.raises(Failure, match=r"has the regions RegionOne, RegionTwo, and nobody states which one"):
        _catalogue(**regions).chosen("paris", "")


def test_a_region_that_the_catalogue_does_not_have_is_refused() -> None:
    with pytest.raises(Failure, match=r"has no region regionone: its catalogue has RegionOne, RegionTwo"):
        _catalogue(network=TWO).chosen("paris", "regionone")


def test_a_service_is_looked_for_in_the_region_in_use() -> None:
    found = _catalogue(identity=("global",), network=TWO, image=("RegionOne",))
    assert found.region_for("network", "RegionTwo", stated=True) == "RegionTwo"
    assert found.region_for("identity", "RegionTwo", stated=True) is None
    # A stated region has its own images or none: never another's.
    assert found.region_for("image", "RegionTwo", stated=True) == "RegionTwo"


def test_the_region_is_part_of_the_fingerprint() -> None:
    assert [CloudFingerprint.parse(str(one)) for one in (ONE_HERE, TWO_HERE)] == [ONE_HERE, TWO_HERE]
    assert not ONE_HERE.may_be(TWO_HERE)
    assert CloudFingerprint.parse("5eed").may_be(TWO_HERE)
    assert not CloudFingerprint.parse("other").may_be(TWO_HERE)


def test_an_old_fingerprint_is_rewritten_by_the_next_up() -> None:
    from interlock.resources import Router

    news = Router(name="r", project="p", external_network=None).canonical() | {"owner": "ab"}
    olds = news | {"cloud_id": "5eed", "marker": "interlock:ab:r", "broken": ""}
    assert compare("Router", "r", olds, news, present=ONE_HERE).changed == {"cloud_id": False}
    assert compare("Router", "r", olds | {"cloud_id": str(ONE_HERE)}, news, present=ONE_HERE).changed == {}
    assert compare("Router", "r", olds, news).changed == {}


CLOUDS = """
clouds:
  one: {auth: {auth_url: "http://127.0.0.1:1/v3", username: u, password: p, project_name: q}, region_name: RegionOne}
  both: {auth: {auth_url: "http://127.0.0.1:1/v3", username: u, password: p, project_name: q}, regions: [RegionOne, RegionTwo]}
  none: {auth: {auth_url: "http://127.0.0.1:1/v3", username: u, password: p, project_name: q}}
"""  # noqa: E501


@pytest.fixture
def clouds_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "clouds.yaml"
    path.write_text(CLOUDS)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
    return path


@pytest.mark.usefixtures("clouds_yaml")
@pytest.mark.parametrize(
    ("cloud", "of_site", "region"),
    [
        ("one", "", "RegionOne"), ("one", "RegionOne", "RegionOne"), ("both", "RegionTwo", "RegionTwo"),
        ("both", "", "RegionOne"), ("none", "RegionTwo", "RegionTwo"), ("none", "", ""),
    ],
)  # fmt: skip
def test_the_site_chooses_among_the_regions_of_clouds_yaml(cloud: str, of_site: str, region: str) -> None:
    assert Cloud(cloud, site_region=of_site).region == region


@pytest.mark.usefixtures("clouds_yaml")
def test_a_site_in_another_region_than_its_cloud_is_refused() -> None:
    with pytest.raises(Failure, match=r"the site is in region RegionTwo, and cloud 'one' .* is set to RegionOne"):
        _ = Cloud("one", site_region="RegionTwo").region


# --- the store of claims -----------------------------------------------------------------------------------


def _store(folder: Path, region: str = "") -> Ledger:
    return Ledger(open_store(folder.as_uri(), "lyon", region))


def test_two_regions_have_claims_of_their_own_and_one_region_never_two_stores(tmp_path: Path) -> None:
    _store(tmp_path).keep_cloud(ONE_HERE)
    names = [_store(tmp_path, region).store.name for region in ("", *TWO)]
    assert names[0] == names[1]
    assert names[2] == f"{names[0]}%40RegionTwo"
    _store(tmp_path, "RegionTwo").keep_cloud(TWO_HERE)
    assert [cloud_of(_store(tmp_path, region).store) for region in TWO] == [ONE_HERE, TWO_HERE]


def test_claims_of_another_region_or_cloud_are_refused(tmp_path: Path) -> None:
    ledger = _store(tmp_path)
    with pytest.raises(Foreign, match="do not say in which region"):
        ledger.check_cloud(ONE_HERE, recorded_only=True)
    ledger.keep_cloud(ONE_HERE)
    ledger.check_cloud(ONE_HERE, recorded_only=True)
    with pytest.raises(
        Foreign, match=r"about cloud 5eed \(region RegionOne\); the one in use is 5eed \(region Reg"
    ) as it:
        ledger.check_cloud(TWO_HERE)
    assert "region: RegionTwo" in str(it.value)
    with pytest.raises(Foreign, match="about cloud 5eed"):
        ledger.keep_cloud(CloudFingerprint("other", "RegionOne"))
    assert cloud_of(ledger.store) == ONE_HERE


# --- the site file -----------------------------------------------------------------------------------------

LYON = Path(__file__).parents[2] / "stacks" / "lyon"


def test_a_region_is_part_of_what_locks_rest_on_and_one_left_out_changes_no_lock() -> None:
    import json

    site = load_site(LYON, LYON.parent).site
    lock = json.loads((LYON / "site.lock.json").read_text())
    assert SiteHashes(site).whole == lock["site"]
    there = [SiteHashes(site.model_copy(update={"region": region})).whole for region in ("", *TWO)]
    assert there[0] == lock["site"]
    assert len(set(there)) == 3
